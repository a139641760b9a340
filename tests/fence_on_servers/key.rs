//! What the version key may hold, and in which database.

use echo_wire::connector::{Connection, Error, Found, Passage, Step, WIRE_VERSION};
use echo_wire::keyspace::VERSION_KEY;
use echo_wire::resp::Command;

use super::doors::{calls, each_door, refused};

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
