//! Servers in a state in which nobody can be served, or that need a warning.

use echo_wire::connector::{Cause, Config, Connection, Error, Passage, Step, WIRE_VERSION};
use echo_wire::keyspace::VERSION_KEY;
use tokio::net::TcpStream;

use super::doors::{doors, each_door, refused, runtime, tcp_doors};
use crate::support::{Answer, flavors, until};

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
        runtime().block_on(async {
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
fn a_socket_that_somebody_left_in_multi_is_a_protocol_error() {
    for flavor in flavors() {
        let server = flavor.server().start();
        server.cli(&["SET", VERSION_KEY, WIRE_VERSION]);
        runtime().block_on(async {
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
        runtime().block_on(async {
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
        runtime().block_on(async {
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
