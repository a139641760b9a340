//! The claim of an empty store: races, and what can come between its two flights.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use echo_wire::connector::{Cause, Config, Connection, Error, Found, Passage, Step, WIRE_VERSION};
use echo_wire::keyspace::VERSION_KEY;
use tokio::net::TcpStream;

use super::doors::{each_door, refused};
use crate::support::{Raw, Server, Watched, flavors};

/// Connects over a stream that lets `step_in` run between the first flight and the claim.
async fn claim_after(
    server: &Server,
    config: &Config,
    mut step_in: impl FnMut(&mut Raw) + Send + 'static,
) -> Result<Connection, Error> {
    let mut raw = server.raw();
    let stream = TcpStream::connect(server.address()).await.unwrap();
    let (stream, _flights) = Watched::new(stream);
    let stream = stream.before(move |flight| {
        if flight == 2 {
            step_in(&mut raw);
        }
    });
    Connection::over(stream, config).await
}

#[test]
fn the_loser_of_a_race_reads_what_the_winner_wrote() {
    each_door(async |server, config| {
        let lost_to =
            |wire: &'static str| move |raw: &mut Raw| drop(raw.text(&["SET", VERSION_KEY, wire]));
        let connection = claim_after(server, &config, lost_to(WIRE_VERSION)).await.unwrap();
        assert_eq!(connection.passage(), Passage::Verified);
        server.cli(&["DEL", VERSION_KEY]);
        let error = refused(claim_after(server, &config, lost_to("acme:1")).await);
        assert!(
            matches!(&error, Error::VersionFence { got: Found::Value(got) } if got == "acme:1")
        );
    });
}

#[test]
fn no_memory_at_the_claim_is_not_ready_unless_a_peer_has_claimed() {
    each_door(async |server, config| {
        server.cli(&["CONFIG", "SET", "maxmemory", "1"]);
        let error = refused(Connection::connect(&config).await);
        let Error::NotReady { step: Step::FenceClaim, cause: Cause::Reply(reply) } = &error else {
            panic!("{error:?}")
        };
        assert_eq!(reply.code(), "OOM");
        assert!(!error.is_fatal());
        server.cli(&["CONFIG", "SET", "maxmemory", "0"]);

        let connection = claim_after(server, &config, |raw| {
            raw.text(&["SET", VERSION_KEY, WIRE_VERSION]);
            raw.text(&["CONFIG", "SET", "maxmemory", "1"]);
        });
        assert_eq!(connection.await.unwrap().passage(), Passage::Verified);
        server.cli(&["CONFIG", "SET", "maxmemory", "0"]);
    });
}

#[test]
fn too_few_replicas_for_the_claim_is_not_ready() {
    each_door(async |server, config| {
        server.cli(&["CONFIG", "SET", "min-replicas-to-write", "1"]);
        let error = refused(Connection::connect(&config).await);
        let Error::NotReady { step: Step::FenceClaim, cause: Cause::Reply(reply) } = &error else {
            panic!("{error:?}")
        };
        assert_eq!(reply.code(), "NOREPLICAS");
        server.cli(&["CONFIG", "SET", "min-replicas-to-write", "0"]);
        assert_eq!(Connection::connect(&config).await.unwrap().passage(), Passage::Claimed);
    });
}

#[test]
fn a_server_demoted_between_the_flights_is_not_ready() {
    each_door(async |server, config| {
        let error = refused(
            claim_after(server, &config, |raw| {
                raw.text(&["REPLICAOF", "127.0.0.1", "1"]);
            })
            .await,
        );
        let Error::NotReady { step: Step::FenceClaim, cause: Cause::Reply(reply) } = &error else {
            panic!("{error:?}")
        };
        assert_eq!(reply.code(), "READONLY");
        server.cli(&["REPLICAOF", "NO", "ONE"]);
    });
}

#[test]
fn sixteen_connectors_of_two_wires_race_and_none_is_mixed() {
    each_door(async |server, config| {
        let mut race = tokio::task::JoinSet::new();
        for at in 0..16 {
            let wire = if at % 2 == 0 { "acme:1" } else { "bolt:2" };
            let config = config.clone().wire(wire).unwrap();
            race.spawn(async move { (wire, Connection::connect(&config).await) });
        }
        let results = race.join_all().await;
        let stored = server.cli(&["GET", VERSION_KEY]);
        let mut claimed = 0;
        for (wire, result) in results {
            match result {
                Ok(connection) => {
                    assert_eq!(wire, stored);
                    claimed += usize::from(connection.passage() == Passage::Claimed);
                }
                Err(Error::VersionFence { got: Found::Value(got) }) => {
                    assert_ne!(wire, stored);
                    assert_eq!(got, stored);
                }
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(claimed, 1);
    });
}

#[test]
fn with_somebody_deleting_the_key_all_the_time_every_connect_comes_to_an_end() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let (mut deleter, is_over) = (server.raw(), Arc::new(AtomicBool::new(false)));
        let over = Arc::clone(&is_over);
        let deletes = std::thread::spawn(move || {
            while !over.load(SeqCst) {
                deleter.text(&["DEL", VERSION_KEY]);
            }
        });
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let ends = runtime.block_on(async {
            let mut race = tokio::task::JoinSet::new();
            for at in 0..100 {
                let wire = if at % 2 == 0 { "acme:1" } else { "bolt:2" };
                let config = Config::from_url(&server.url()).unwrap().wire(wire).unwrap();
                race.spawn(async move { (wire, Connection::connect(&config).await) });
            }
            race.join_all().await
        });
        is_over.store(true, SeqCst);
        deletes.join().unwrap();
        for (wire, end) in ends {
            match end {
                Ok(_) | Err(Error::VersionFence { got: Found::Absent }) => {}
                Err(Error::VersionFence { got: Found::Value(got) }) => assert_ne!(got, wire),
                Err(error) => panic!("{error:?}"),
            }
        }
    }
}
