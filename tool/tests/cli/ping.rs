//! `ping`: counts and figures; it writes nothing.

use crate::{
    runs::run,
    support::{WIRE, flavors},
};

#[test]
fn it_measures_as_many_round_trips_as_it_sends_pings() {
    for flavor in flavors() {
        let server = flavor.server().start();
        server.cli(&["SET", "{emq}:version", WIRE]);
        server.cli(&["CONFIG", "RESETSTAT"]);
        let json = run(&["ping", &server.url(), "-c", "40", "-i", "0ms", "--json"]).json();
        assert_eq!(json["count"], 40);
        let buckets = json["histogram"].as_array().unwrap();
        let sum: u64 = buckets.iter().map(|bucket| bucket["count"].as_u64().unwrap()).sum();
        assert_eq!(sum, 40, "{json}");
        let figures =
            ["min_us", "p50_us", "p90_us", "p99_us", "max_us"].map(|it| json[it].as_f64().unwrap());
        assert!(figures.is_sorted() && figures[0] > 0.0, "{json}");
        // The PINGs of `cli` are not among them: it sends none.
        let stats = server.cli(&["INFO", "commandstats"]);
        assert!(stats.contains("cmdstat_ping:calls=40,"), "{stats}");
    }
}

#[test]
fn the_spread_is_drawn_as_bars() {
    let server = flavors()[0].server().start();
    server.cli(&["SET", "{emq}:version", WIRE]);
    let ran = run(&["ping", &server.url(), "--count", "20", "--interval", "0ms"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("20 round trips"), "{ran:?}");
    assert!(ran.out.contains(&"█".repeat(40)), "{ran:?}");
}

#[test]
fn a_store_that_nobody_has_claimed_stays_so_and_another_wire_is_refused() {
    let server = flavors()[0].server().start();
    let ran = run(&["ping", &server.url(), "-c", "1"]);
    assert_eq!((ran.code, ran.out.as_str()), (5, ""), "{ran:?}");
    assert!(ran.err.contains("`echo-wire fence` does"), "{ran:?}");
    assert_eq!(server.cli(&["DBSIZE"]), "0");
    server.cli(&["SET", "{emq}:version", "acme:1"]);
    let ran = run(&["ping", &server.url(), "-c", "1"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.err.contains("found acme:1"), "{ran:?}");
    assert!(ran.err.contains(&server.address()), "{ran:?}");
    let ran = run(&["ping", &server.url(), "-c", "1", "--json"]);
    let error = ran.json()["error"].as_str().unwrap().to_owned();
    assert!(ran.code == 3 && error.contains("found acme:1"), "{ran:?}");
    assert_eq!(run(&["ping", &server.url(), "-c", "1", "--wire", "acme:1"]).code, 0);
}
