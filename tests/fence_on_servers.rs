//! The fence on real servers: every row of its table, over TCP and a Unix socket, in both
//! generations of the protocol.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail"
)]

mod support;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::SeqCst},
};

use echo_wire::{
    connector::{Cause, Config, Connection, Error, Found, Passage, Step, WIRE_VERSION},
    keyspace::VERSION_KEY,
    resp::{Command, Protocol},
};
use support::{Answer, Raw, Server, Watched, flavors, until};
use tokio::net::TcpStream;

/// A server, and each way in.
fn each_door(test: impl AsyncFn(&Server, Config)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for flavor in flavors() {
        let server = flavor.server().start();
        for config in doors(&server) {
            server.cli(&["FLUSHALL"]);
            runtime.block_on(test(&server, config));
        }
    }
}

fn doors(server: &Server) -> Vec<Config> {
    let urls = [server.url(), server.unix_url()];
    let protocols = [Protocol::Resp2, Protocol::Resp3];
    let door = |url: &String, protocol| Config::from_url(url).unwrap().protocol(protocol);
    urls.iter().flat_map(|url| protocols.map(|protocol| door(url, protocol))).collect()
}

fn tcp_doors(server: &Server) -> Vec<Config> {
    doors(server).into_iter().take(2).collect()
}

/// How many calls of a command the server has counted; refused ones, too.
fn calls(server: &Server, command: &str) -> u64 {
    let stats = server.cli(&["INFO", "commandstats"]);
    let line = stats.lines().find(|line| line.starts_with(&format!("cmdstat_{command}:")));
    let count = |line: &str, field: &str| -> u64 {
        let (_, rest) = line.split_once(field).unwrap();
        rest.split([',', '\r']).next().unwrap().parse().unwrap()
    };
    line.map_or(0, |line| count(line, "calls=") + count(line, "rejected_calls="))
}

fn refused(result: Result<Connection, Error>) -> Error {
    result.map(|connection| panic!("{connection:?} came about")).unwrap_err()
}

#[test]
fn an_empty_store_is_claimed_then_verified() {
    each_door(async |server, config| {
        let mut connection = Connection::connect(&config).await.unwrap();
        assert_eq!(connection.passage(), Passage::Claimed);
        let value = connection.command(&Command::new("GET").arg(VERSION_KEY)).await.unwrap();
        assert_eq!(value.to::<String>().unwrap(), WIRE_VERSION);
        assert_eq!(server.cli(&["TTL", VERSION_KEY]), "-1", "it never expires");
        connection.close().await;

        let connection = Connection::connect(&config).await.unwrap();
        assert_eq!(connection.passage(), Passage::Verified);
    });
}

#[test]
fn another_identity_is_refused_and_nothing_is_written() {
    each_door(async |server, config| {
        server.cli(&["SET", VERSION_KEY, "echomq:1.0.0"]);
        server.cli(&["CONFIG", "RESETSTAT"]);
        let error = refused(Connection::connect(&config).await);
        let Error::VersionFence { got: Found::Value(got) } = &error else { panic!("{error:?}") };
        assert_eq!(got, "echomq:1.0.0");
        assert!(error.is_fatal() && !error.maybe_executed());
        assert_eq!(calls(server, "set"), 0);
        assert_eq!(server.cli(&["GET", VERSION_KEY]), "echomq:1.0.0");
    });
}

#[test]
fn another_crate_names_its_own_wire() {
    each_door(async |_server, config| {
        let theirs = config.clone().wire("acme-jobs:7").unwrap();
        assert_eq!(Connection::connect(&theirs).await.unwrap().passage(), Passage::Claimed);
        assert_eq!(Connection::connect(&theirs).await.unwrap().passage(), Passage::Verified);
        let error = refused(Connection::connect(&config).await);
        assert!(error.to_string().contains("acme-jobs:7"), "{error}");
    });
}

#[test]
fn a_key_of_another_type_is_refused() {
    each_door(async |server, config| {
        server.cli(&["RPUSH", VERSION_KEY, WIRE_VERSION]);
        let error = refused(Connection::connect(&config).await);
        assert!(matches!(error, Error::VersionFence { got: Found::WrongType }), "{error:?}");
    });
}

#[test]
fn a_huge_value_is_shown_by_its_length_and_head() {
    each_door(async |server, config| {
        server.cli(&["SETRANGE", VERSION_KEY, "1048575", "x"]);
        let error = refused(Connection::connect(&config).await);
        let shown = error.to_string();
        assert!(shown.contains(&"\\x00".repeat(64)), "{shown}");
        assert!(shown.contains("(1048576 bytes)") && shown.len() < 400, "{shown}");
    });
}

#[test]
fn a_match_takes_one_flight_and_a_claim_two() {
    for flavor in flavors() {
        let server = flavor.server().arg("--requirepass").arg("secret").start();
        let without_hello = flavor.server().args(["--rename-command", "HELLO", ""]).start();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let config = Config::tcp("unused", 1).password("secret").client_name("w1").unwrap();
            let claimed = [(Passage::Claimed, 2), (Passage::Verified, 1)];
            for protocol in [Protocol::Resp2, Protocol::Resp3] {
                server.cli(&["FLUSHALL"]);
                for expected in claimed {
                    let config = config.clone().protocol(protocol);
                    assert_eq!(over(&server, &config).await, expected, "{protocol:?}");
                }
            }
            // The fall-back costs one flight more.
            let config = Config::tcp("unused", 1);
            assert_eq!(over(&without_hello, &config).await, (Passage::Claimed, 3));
            assert_eq!(over(&without_hello, &config).await, (Passage::Verified, 2));
        });
    }
}

/// How it came through, and in how many flights.
async fn over(server: &Server, config: &Config) -> (Passage, usize) {
    let stream = TcpStream::connect(server.address()).await.unwrap();
    let (stream, flights) = Watched::new(stream);
    let connection = Connection::over(stream, config).await.unwrap();
    (connection.passage(), flights.load(SeqCst))
}

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
fn a_replica_is_not_ready_unless_reading_from_one_is_asked_for() {
    for flavor in flavors() {
        let (primary, replica) = (flavor.server().start(), flavor.server().start());
        let port = primary.port().to_string();
        replica.cli(&["REPLICAOF", "127.0.0.1", &port]);
        let linked = || replica.cli(&["INFO", "replication"]).contains("master_link_status:up");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            until("the replica has its primary", linked).await;
            for config in doors(&replica) {
                let error = refused(Connection::connect(&config).await);
                let Error::NotReady { step, cause: Cause::Replica } = error else {
                    panic!("{error:?}")
                };
                assert!(matches!(step, Step::Hello | Step::Role));

                let reads = config.read_from_replica(true);
                let error = refused(Connection::connect(&reads).await);
                let Error::NotReady { step: Step::FenceRead, cause: Cause::Unclaimed } = error
                else {
                    panic!("{error:?}")
                };
            }
            // Nor does it claim a primary that is empty.
            let reads = Config::from_url(&primary.url()).unwrap().read_from_replica(true);
            let error = refused(Connection::connect(&reads).await);
            assert!(matches!(error, Error::NotReady { cause: Cause::Unclaimed, .. }), "{error:?}");
            assert_eq!(primary.cli(&["DBSIZE"]), "0");

            primary.cli(&["SET", VERSION_KEY, WIRE_VERSION]);
            let copied = || replica.cli(&["GET", VERSION_KEY]) == WIRE_VERSION;
            until("the key is copied", copied).await;
            for config in doors(&replica) {
                let reads = config.read_from_replica(true);
                let connection = Connection::connect(&reads).await.unwrap();
                assert_eq!(connection.passage(), Passage::Verified);
            }
        });
    }
}

#[test]
fn a_replica_that_lost_its_primary_is_not_ready() {
    each_door(async |server, config| {
        server.cli(&["SET", VERSION_KEY, WIRE_VERSION]);
        server.cli(&["CONFIG", "SET", "replica-serve-stale-data", "no"]);
        server.cli(&["REPLICAOF", "127.0.0.1", "1"]);
        let error = refused(Connection::connect(&config).await);
        assert!(
            matches!(
                error,
                Error::NotReady { step: Step::Hello | Step::Role | Step::FenceRead, .. }
            ),
            "{error:?}"
        );
        let error = refused(Connection::connect(&config.read_from_replica(true)).await);
        let Error::NotReady { step: Step::FenceRead, cause: Cause::Reply(reply) } = &error else {
            panic!("{error:?}")
        };
        assert_eq!(reply.code(), "MASTERDOWN");
        server.cli(&["REPLICAOF", "NO", "ONE"]);
    });
}

#[test]
fn a_server_that_loads_its_data_is_not_ready_and_later_is() {
    for flavor in flavors() {
        let server = flavor.server().start();
        server.cli(&["SET", VERSION_KEY, WIRE_VERSION]);
        server.cli(&["DEBUG", "POPULATE", "2000"]);
        server.cli(&["SAVE"]);
        let interval = "--loading-process-events-interval-bytes";
        server.add_args(&["--key-load-delay", "3000", interval, "1024"]);
        server.restart_loading();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for config in doors(&server) {
                let error = refused(Connection::connect(&config).await);
                let Error::NotReady { cause: Cause::Reply(reply), .. } = &error else {
                    panic!("{error:?}")
                };
                assert_eq!(reply.code(), "LOADING", "{error}");
            }
            server.cli(&["CONFIG", "SET", "key-load-delay", "0"]);
            let config = Config::from_url(&server.url()).unwrap();
            let passage = loop {
                match Connection::connect(&config).await {
                    Ok(connection) => break connection.passage(),
                    Err(error) => assert!(!error.is_fatal(), "{error}"),
                }
                tokio::task::yield_now().await;
            };
            assert_eq!(passage, Passage::Verified);
        });
    }
}

#[test]
fn a_server_busy_with_a_script_is_not_ready_and_later_is() {
    each_door(async |server, config| {
        server.cli(&["CONFIG", "SET", "busy-reply-threshold", "50"]);
        let mut busy = server.raw();
        busy.send(&["EVAL", "while true do end", "0"]).unwrap();
        let mut probe = server.raw();
        let is_busy =
            || matches!(probe.call(&["PING"]), Answer::Error(line) if line.starts_with("BUSY"));
        until("the server is busy", is_busy).await;
        for database in [0, 3] {
            let error = refused(Connection::connect(&config.clone().database(database)).await);
            let Error::NotReady { cause: Cause::Reply(reply), .. } = &error else {
                panic!("{error:?}")
            };
            assert_eq!(reply.code(), "BUSY");
        }
        probe.text(&["SCRIPT", "KILL"]);
        busy.read().unwrap();
        assert_eq!(Connection::connect(&config).await.unwrap().passage(), Passage::Claimed);
    });
}

#[test]
fn a_server_that_wants_a_password_refuses_without_one_and_with_a_wrong_one() {
    for flavor in flavors() {
        let server = flavor.server().arg("--requirepass").arg("secret").start();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for config in doors(&server) {
                let error = refused(Connection::connect(&config).await);
                let Error::AuthRefused { step, reply } = &error else { panic!("{error:?}") };
                assert!(matches!(step, Step::Hello | Step::FenceRead), "{step}");
                assert_eq!(reply.code(), "NOAUTH");

                let error = refused(Connection::connect(&config.clone().password("wrong")).await);
                let Error::AuthRefused { step, reply } = &error else { panic!("{error:?}") };
                assert!(matches!(step, Step::Hello | Step::Auth), "{step}");
                assert_eq!(reply.code(), "WRONGPASS");
                assert!(error.is_fatal());

                assert!(Connection::connect(&config.password("secret")).await.is_ok());
            }
        });
    }
}

#[test]
fn a_wrong_password_is_refused_though_the_default_user_is_open() {
    each_door(async |server, config| {
        server.cli(&["ACL", "SETUSER", "worker", "on", ">right", "~*", "+@all"]);
        server.cli(&["CONFIG", "RESETSTAT"]);
        for present in [false, true] {
            if present {
                server.cli(&["SET", VERSION_KEY, WIRE_VERSION]);
                server.cli(&["CONFIG", "RESETSTAT"]);
            }
            let wrong = config.clone().user_and_password("worker", "wrong");
            let error = refused(Connection::connect(&wrong).await);
            let Error::AuthRefused { reply, .. } = &error else { panic!("{error:?}") };
            assert_eq!(reply.code(), "WRONGPASS");
            assert_eq!(calls(server, "set"), 0, "nothing is claimed");
        }
    });
}

#[test]
fn a_database_that_is_not_there_is_refused_though_the_first_holds_our_identity() {
    each_door(async |server, config| {
        server.cli(&["CONFIG", "RESETSTAT"]);
        for present in [false, true] {
            if present {
                server.cli(&["SET", VERSION_KEY, WIRE_VERSION]);
                server.cli(&["CONFIG", "RESETSTAT"]);
            }
            let error = refused(Connection::connect(&config.clone().database(99)).await);
            assert!(matches!(error, Error::BootRefused { step: Step::Select, .. }), "{error:?}");
            assert_eq!(calls(server, "set"), 0, "nothing is claimed");
        }
    });
}

#[test]
fn the_fence_stands_in_the_database_that_is_asked_for() {
    each_door(async |server, config| {
        server.cli(&["SET", VERSION_KEY, "acme:1"]);
        let mut fifth = Connection::connect(&config.clone().database(5)).await.unwrap();
        assert_eq!(fifth.passage(), Passage::Claimed);
        fifth.command(&Command::new("SET").arg("here").arg(1)).await.unwrap();
        assert_eq!(server.cli(&["EXISTS", "here"]), "0");
        let select = fifth.command(&Command::new("select").arg(0)).await.unwrap_err();
        assert!(matches!(select, Error::Refused(_)), "a way past the fence: {select:?}");
    });
}

#[test]
fn users_with_few_permissions_are_refused_where_they_lack_one() {
    each_door(async |server, config| {
        let user = |name: &str, rules: &[&str]| {
            server.cli(&[&["ACL", "SETUSER", name, "reset", "on", ">pw"], rules].concat());
            config.clone().user_and_password(name.to_owned(), "pw")
        };
        let keys_only = user("keys", &["~app:*", "+@read", "+@connection"]);
        let error = refused(Connection::connect(&keys_only).await);
        assert!(matches!(error, Error::BootRefused { step: Step::FenceRead, .. }), "{error:?}");

        let no_get = user("noget", &["~*", "+@all", "-get"]);
        let error = refused(Connection::connect(&no_get).await);
        assert!(matches!(error, Error::BootRefused { step: Step::FenceRead, .. }), "{error:?}");

        let reader = user("reader", &["~*", "+@read", "+@connection"]);
        let error = refused(Connection::connect(&reader).await);
        assert!(matches!(error, Error::BootRefused { step: Step::FenceClaim, .. }), "{error:?}");

        let no_select = user("noselect", &["~*", "+@all", "-select"]).database(2);
        let error = refused(Connection::connect(&no_select).await);
        assert!(matches!(error, Error::BootRefused { step: Step::Select, .. }), "{error:?}");

        server.cli(&["SET", VERSION_KEY, WIRE_VERSION]);
        assert_eq!(Connection::connect(&reader).await.unwrap().passage(), Passage::Verified);

        let name = |config: Config| config.client_name("w1").unwrap();
        let no_name = name(user("noname", &["~*", "+@all", "-client", "-config", "-role"]));
        let connection = Connection::connect(&no_name).await.unwrap();
        let declined: Vec<Step> = connection.declined().iter().map(|(step, _)| *step).collect();
        assert!(declined.contains(&Step::SetName) && declined.contains(&Step::Policy));
    });
}

#[test]
fn a_server_without_hello_is_spoken_to_in_resp2() {
    for flavor in flavors() {
        let server = flavor.server().args(["--rename-command", "HELLO", ""]).start();
        server.cli(&["ACL", "SETUSER", "worker", "on", ">pw", "~*", "+@all"]);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let config = Config::from_url(&server.url()).unwrap();
            let worker = config.clone().user_and_password("worker", "pw").database(4);
            let mut connection = Connection::connect(&worker).await.unwrap();
            assert_eq!(connection.protocol(), Protocol::Resp2);
            let who = connection.command(&Command::new("ACL").arg("WHOAMI")).await.unwrap();
            assert_eq!(who.to::<String>().unwrap(), "worker");
            let info = connection.command(&Command::new("CLIENT").arg("INFO")).await.unwrap();
            assert!(info.to::<String>().unwrap().contains(" db=4 "));

            let insists = config.protocol(Protocol::Resp3);
            let error = refused(Connection::connect(&insists).await);
            assert!(matches!(error, Error::BootRefused { step: Step::Hello, .. }), "{error:?}");
        });
    }
}

#[test]
fn a_socket_that_somebody_left_in_multi_is_a_protocol_error() {
    for flavor in flavors() {
        let server = flavor.server().start();
        server.cli(&["SET", VERSION_KEY, WIRE_VERSION]);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for config in tcp_doors(&server) {
                use tokio::io::{AsyncReadExt, AsyncWriteExt};
                let mut stream = TcpStream::connect(server.address()).await.unwrap();
                stream.write_all(b"MULTI\r\n").await.unwrap();
                stream.read_exact(&mut [0; 5]).await.unwrap();
                let error = refused(Connection::over(stream, &config).await);
                assert!(matches!(error, Error::Protocol { .. }), "{error:?}");
                assert!(error.to_string().contains("QUEUED"), "{error}");
            }
        });
    }
}

#[test]
fn too_many_clients_before_the_first_byte_is_not_ready_with_the_servers_words() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let mut keeper = server.raw();
        keeper.text(&["CONFIG", "SET", "maxclients", "1"]);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let auto = Config::from_url(&server.url()).unwrap();
            for config in doors(&server).into_iter().chain([auto]) {
                let error = refused(Connection::connect(&config).await);
                let Error::NotReady { cause: Cause::Reply(reply), .. } = &error else {
                    panic!("{error:?}")
                };
                assert_eq!(reply.as_bytes(), b"ERR max number of clients reached");
            }
        });
        keeper.text(&["CONFIG", "SET", "maxclients", "100"]);
        let refused: u64 = keeper
            .text(&["INFO", "stats"])
            .lines()
            .find_map(|line| line.strip_prefix("rejected_connections:"))
            .map(|count| count.trim().parse().unwrap())
            .unwrap();
        assert_eq!(refused, 5, "none was tried again in RESP2");
    }
}

#[test]
fn a_cluster_node_without_the_slot_is_not_ready_and_one_that_knows_its_owner_names_it() {
    for flavor in flavors() {
        let server = flavor.server().arg("--cluster-enabled").arg("yes").start();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for config in doors(&server) {
                let error = refused(Connection::connect(&config).await);
                let Error::NotReady { step: Step::FenceRead, cause: Cause::Reply(reply) } = &error
                else {
                    panic!("{error:?}")
                };
                assert_eq!(reply.code(), "CLUSTERDOWN");
            }
            let owner = flavor.server().arg("--cluster-enabled").arg("yes").start();
            owner.cli(&["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]);
            server.cli(&["CLUSTER", "MEET", "127.0.0.1", &owner.port().to_string()]);
            let knows = || server.cli(&["CLUSTER", "INFO"]).contains("cluster_state:ok");
            until("the node knows the owner", knows).await;
            for config in doors(&server) {
                let error = refused(Connection::connect(&config).await);
                let Error::BootRefused { step: Step::FenceRead, .. } = &error else {
                    panic!("{error:?}")
                };
                assert!(error.to_string().contains(&owner.address()), "{error}");
            }
        });
    }
}

#[test]
fn an_evicting_policy_is_seen_where_it_may_be_seen() {
    each_door(async |server, config| {
        assert_eq!(Connection::connect(&config).await.unwrap().eviction_policy(), None);
        server.cli(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]);
        let connection = Connection::connect(&config).await.unwrap();
        assert_eq!(connection.eviction_policy(), Some("allkeys-lru"));
        let blind = config.look_for_eviction(false);
        assert_eq!(Connection::connect(&blind).await.unwrap().eviction_policy(), None);
        server.cli(&["CONFIG", "SET", "maxmemory-policy", "noeviction"]);
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
