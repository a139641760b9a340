//! Who connects, and what they may do.

use echo_wire::connector::{Config, Connection, Error, Passage, Step, WIRE_VERSION};
use echo_wire::keyspace::VERSION_KEY;
use echo_wire::resp::{Command, Protocol};

use super::doors::{calls, doors, each_door, refused, runtime};
use crate::support::flavors;

#[test]
fn a_server_that_wants_a_password_refuses_without_one_and_with_a_wrong_one() {
    for flavor in flavors() {
        let server = flavor.server().arg("--requirepass").arg("secret").start();
        runtime().block_on(async {
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
        runtime().block_on(async {
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
