//! Servers that are no primary.

use echo_wire::connector::{Cause, Config, Connection, Error, Passage, Step, WIRE_VERSION};
use echo_wire::keyspace::VERSION_KEY;

use super::doors::{doors, each_door, refused, runtime};
use crate::support::{flavors, until};

#[test]
fn a_replica_is_not_ready_unless_reading_from_one_is_asked_for() {
    for flavor in flavors() {
        let primary = flavor.server().args(["--repl-diskless-sync-delay", "0"]).start();
        let replica = flavor.server().start();
        let port = primary.port().to_string();
        replica.cli(&["REPLICAOF", "127.0.0.1", &port]);
        let linked = || replica.cli(&["INFO", "replication"]).contains("master_link_status:up");
        runtime().block_on(async {
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
