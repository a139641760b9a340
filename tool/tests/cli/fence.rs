//! `fence`: verdicts, histories and exit codes; what is written, by the server's count.

use std::{
    io::{self, Read as _},
    net::{TcpListener, TcpStream},
    process::Command,
    thread,
};

use crate::{
    runs::{command, finish, run},
    support::{Port, Server, WIRE, flavors},
};

/// Each server, in both generations, on an empty store.
fn everywhere(test: impl Fn(&Server, &str)) {
    for flavor in flavors() {
        let server = flavor.server().start();
        for protocol in [2, 3] {
            server.cli(&["FLUSHALL"]);
            server.cli(&["CONFIG", "RESETSTAT"]);
            test(&server, &format!("{}?protocol={protocol}", server.url()));
        }
    }
}

/// SETs that the server has seen.
fn sets(server: &Server) -> String {
    let stats = server.cli(&["INFO", "commandstats"]);
    let set = stats.lines().find_map(|line| line.strip_prefix("cmdstat_set:calls="));
    set.map_or("0", |rest| rest.split(',').next().unwrap()).to_owned()
}

#[test]
fn an_empty_store_is_claimed_once_and_verified_from_then_on() {
    everywhere(|server, url| {
        let claimed = run(&["fence", url]);
        assert_eq!(claimed.code, 0, "{claimed:?}");
        assert!(claimed.out.starts_with("claimed  "), "{claimed:?}");
        assert!(claimed.out.contains("SET {emq}:version echomq:2.0.0 NX"), "{claimed:?}");
        assert!(claimed.out.contains("2 round trips, 1 write, the claim"), "{claimed:?}");
        assert_eq!(server.cli(&["GET", "{emq}:version"]), WIRE);

        let verified = run(&["fence", url]);
        assert_eq!(verified.code, 0, "{verified:?}");
        assert!(verified.out.starts_with("verified  "), "{verified:?}");
        assert!(verified.out.contains("1 round trip, nothing written"), "{verified:?}");
        assert_eq!(sets(server), "1");
    });
}

#[test]
fn a_dry_run_tells_what_a_connect_would_do_and_writes_nothing() {
    everywhere(|server, url| {
        let looked = run(&["fence", url, "--dry-run"]);
        assert_eq!(looked.code, 5, "{looked:?}");
        assert!(looked.out.starts_with("unclaimed  "), "{looked:?}");
        assert!(looked.out.contains("a connect would claim it for echomq:2.0.0"), "{looked:?}");
        assert_eq!(server.cli(&["DBSIZE"]), "0");

        server.cli(&["SET", "{emq}:version", "acme:1"]);
        assert_eq!(run(&["fence", url, "--dry-run"]).code, 3);
        let own = run(&["fence", url, "--dry-run", "--wire", "acme:1"]);
        assert_eq!(own.code, 0, "{own:?}");
        assert!(own.out.contains("speaks acme:1"), "{own:?}");
        assert_eq!(sets(server), "1", "the test's own");
    });
}

#[test]
fn another_wire_is_refused_with_what_was_found() {
    everywhere(|server, url| {
        server.cli(&["SET", "{emq}:version", "acme:\x1b[31m1"]);
        let refused = run(&["fence", url]);
        assert_eq!(refused.code, 3, "{refused:?}");
        assert!(refused.out.starts_with("refused  "), "{refused:?}");
        assert!(refused.out.contains("not echomq:2.0.0"), "{refused:?}");
        assert!(!refused.out.contains('\x1b'), "what the store holds is escaped: {refused:?}");

        let json = run(&["fence", url, "--json"]).json();
        assert_eq!((&json["verdict"], &json["exit"]), (&"refused".into(), &3.into()));
        assert_eq!(json["found"], "acme:\x1b[31m1");
        assert_eq!(sets(server), "1", "the test's own");

        server.cli(&["DEL", "{emq}:version"]);
        server.cli(&["LPUSH", "{emq}:version", "x"]);
        let refused = run(&["fence", url]);
        assert_eq!(refused.code, 3, "{refused:?}");
        assert!(refused.out.contains("a version key that is no string"), "{refused:?}");
        assert_eq!(run(&["fence", url, "--json"]).json()["found"], "(wrong type)");
    });
}

#[test]
fn the_history_is_what_was_sent_and_answered_in_its_flights() {
    everywhere(|_server, url| {
        let json = run(&["fence", url, "--json"]).json();
        let steps = json["steps"].as_array().unwrap();
        let told = |step: &serde_json::Value| {
            let words: Vec<_> =
                step["sent"].as_array().unwrap().iter().map(|w| w.as_str().unwrap()).collect();
            let answer = step["answer"]["text"].as_str().unwrap();
            format!("{} {} => {answer}", step["flight"], words.join(" "))
        };
        let told: Vec<_> = steps.iter().map(told).collect();
        let last = &told[told.len() - 3..];
        assert_eq!(
            last,
            [
                "1 GET {emq}:version => nothing",
                "2 SET {emq}:version echomq:2.0.0 NX => OK",
                "2 GET {emq}:version => echomq:2.0.0",
            ]
        );
        let (protocol, first) = match url.contains("protocol=3") {
            true => (3, "1 HELLO 3 => "),
            false => (2, "1 CLIENT SETNAME echo-wire => OK"),
        };
        assert_eq!(
            (json["protocol"].as_i64(), json["round_trips"].as_i64()),
            (Some(protocol), Some(2))
        );
        assert!(told[0].starts_with(first), "{told:?}");
    });
}

#[test]
fn a_unix_socket_has_a_history_as_well() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let claimed = run(&["fence", &server.unix_url()]);
        assert_eq!(claimed.code, 0, "{claimed:?}");
        assert!(claimed.out.contains("GET {emq}:version"), "{claimed:?}");
    }
}

#[test]
fn no_password_is_shown_right_or_wrong() {
    for flavor in flavors() {
        let server = flavor.server().arg("--requirepass").arg("hunter2").start();
        for protocol in [2, 3] {
            let url = |password: &str| {
                format!("redis://:{password}@{}?protocol={protocol}", server.address())
            };
            for (password, code) in [("hunter2", 0), ("hunter3", 1)] {
                for json in [&[][..], &["--json"]] {
                    let ran = run(&[&["fence", &url(password)], json].concat());
                    assert_eq!(ran.code, code, "{ran:?}");
                    assert!(!ran.out.contains("hunter"), "{ran:?}");
                    assert!(!ran.err.contains("hunter"), "{ran:?}");
                    assert!(ran.out.contains("(secret)"), "{ran:?}");
                }
            }
        }
        // From the environment it is not in the list of processes either.
        let mut quiet = command(&["fence"]);
        quiet.env("ECHO_WIRE_URL", format!("redis://:hunter2@{}", server.address()));
        assert_eq!(finish(quiet.output().unwrap()).code, 0);
    }
}

#[test]
fn a_server_that_is_not_there_is_not_ready() {
    let port = Port::claim();
    let url = format!("redis://127.0.0.1:{}", port.number());
    let ran = run(&["fence", &url]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.out.starts_with("not ready  "), "{ran:?}");
    assert_eq!(run(&["fence", &url, "--json"]).json()["verdict"], "not ready");
}

#[test]
fn a_server_that_does_not_answer_in_time_is_not_ready() {
    let server = flavors()[0].server().start();
    server.pause();
    let ran = run(&["fence", &server.url(), "--timeout", "200ms"]);
    server.resume();
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.out.contains("the deadline passed"), "{ran:?}");
    assert!(ran.out.contains("(no answer)"), "{ran:?}");
}

#[test]
fn what_was_not_heard_is_not_told_as_nothing() {
    let server = flavors()[0].server().start();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    let upstream = server.address();
    // A proxy that hangs up on HELLO: on the tool's own socket and on the crate's first one.
    thread::spawn(move || {
        for (count, socket) in listener.incoming().enumerate() {
            let mut socket = socket.unwrap();
            if count < 2 {
                drop(socket.read(&mut [0; 4096]));
                continue;
            }
            let mut server = TcpStream::connect(&upstream).unwrap();
            let (mut back, mut there) = (socket.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || io::copy(&mut server, &mut back));
            thread::spawn(move || io::copy(&mut socket, &mut there));
        }
    });
    let claimed = run(&["fence", &url, "--json"]).json();
    assert_eq!((&claimed["verdict"], &claimed["protocol"]), (&"claimed".into(), &2.into()));
    assert!(claimed["writes"].is_null() && claimed["round_trips"].is_null(), "{claimed}");
    assert_eq!(server.cli(&["GET", "{emq}:version"]), WIRE);
}

#[test]
fn colours_are_for_terminals_and_for_those_who_want_them() {
    let server = flavors()[0].server().start();
    let url = server.url();
    let has_colours = |text: &str| text.contains("\x1b[");
    assert!(!has_colours(&run(&["fence", &url]).out), "a pipe");
    assert!(has_colours(&run(&["fence", &url, "--color", "always"]).out));

    // `script` runs a command on a terminal of its own.
    let binary = env!("CARGO_BIN_EXE_echo-wire");
    let on_a_terminal = |options: &str, no_color: &str| {
        let line = format!("{binary} fence {url} {options}");
        let mut script = Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm").env("NO_COLOR", no_color);
        String::from_utf8(script.output().unwrap().stdout).unwrap()
    };
    let shown = on_a_terminal("", "");
    assert!(shown.contains("\x1b[1;32mverified"), "{shown}");
    for (options, no_color) in [("", "1"), ("--color never", "")] {
        let shown = on_a_terminal(options, no_color);
        assert!(shown.contains("verified") && !has_colours(&shown), "{shown}");
    }
    assert!(has_colours(&on_a_terminal("--color always", "1")), "what is asked for goes first");
}
