//! A provider is asked at each connect; what it cannot give now it may give later.

use std::{future::pending, io, time::Duration};

use echo_wire::connector::{Cause, Config, Connection, Connector, Credentials, Error, Pool, Step};
use tokio::time::Instant;

use crate::{
    bed::{Vault, event, failed, fenced, kill, policy, user, whoami},
    support::{Script, bounded, everywhere},
};

#[test]
fn a_password_that_rotates_is_fetched_anew_when_the_connection_is_killed() {
    everywhere(async |server, config| {
        user(server, "app", &[">first"]);
        let vault = Vault::holding("first");
        let connector = Connector::connect(vault.provides(config.policy(policy()))).await.unwrap();
        let mut events = connector.events();
        for (round, token) in ["second", "third"].into_iter().enumerate() {
            assert_eq!((whoami(&connector).await.as_str(), vault.asked()), ("app", round + 1));
            user(server, "app", &[&format!(">{token}")]);
            vault.put(token);
            kill(server);
            fenced(&mut events).await;
        }
        assert_eq!(whoami(&connector).await, "app");
    });
}

#[test]
fn a_provider_that_is_behind_the_server_is_asked_again_and_does_not_end_the_connector() {
    everywhere(async |server, config| {
        user(server, "app", &[">first"]);
        let vault = Vault::holding("first");
        let connector = Connector::connect(vault.provides(config.policy(policy()))).await.unwrap();
        let mut events = connector.events();
        user(server, "app", &[">second"]);
        kill(server);
        let Error::NotReady { step, cause: Cause::Reply(words) } = failed(&mut events).await else {
            panic!("that is for ever")
        };
        assert!(matches!(step, Step::Hello | Step::Auth), "{step}");
        assert_eq!(words.code(), "WRONGPASS");
        vault.put("second");
        bounded("it comes back", connector.ready()).await.unwrap();
        assert_eq!(whoami(&connector).await, "app");
    });
}

#[test]
fn a_provider_that_fails_is_a_failed_attempt_with_its_own_words() {
    everywhere(async |server, config| {
        user(server, "app", &[">first"]);
        let vault = Vault::default();
        let config = vault.provides(config.policy(policy()));
        let error = Connection::connect(&config).await.unwrap_err();
        assert!(!error.is_fatal() && !error.maybe_executed());
        let words = "not ready at credentials: the provider has none: the vault is locked";
        assert_eq!(error.to_string(), words);
        let Error::NotReady { step: Step::Credentials, cause: Cause::Provider(own) } = error else {
            panic!("{error:?}")
        };
        assert!(own.downcast_ref::<io::Error>().is_some());

        // A connector tries again, at first and later.
        let connect = tokio::spawn(Connector::connect(config));
        bounded("it is asked again", async {
            while vault.asked() < 4 {
                tokio::task::yield_now().await;
            }
        })
        .await;
        vault.put("first");
        let connector = connect.await.unwrap().unwrap();
        let mut events = connector.events();
        vault.lock();
        kill(server);
        assert_eq!(failed(&mut events).await.to_string(), words);
        vault.put("first");
        fenced(&mut events).await;
        assert_eq!(whoami(&connector).await, "app");
    });
}

#[test]
fn a_connector_that_gives_up_waiting_tells_what_the_provider_said() {
    everywhere(async |_, config| {
        let mut policy = policy();
        policy.ready_within = Duration::from_millis(50);
        let config = Vault::default().provides(config.policy(policy));
        let error = Connector::connect(config).await.unwrap_err();
        assert!(matches!(error, Error::NotReady { step: Step::Credentials, .. }), "{error:?}");
    });
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_never_answers_is_given_up_at_the_connect_deadline() {
    let within = Duration::from_secs(5);
    let config = Config::tcp("h", 1).connect_timeout(within).unwrap();
    let config = config.credentials_from(pending::<Result<Credentials, io::Error>>);
    let (stream, peer) = Script::memory();
    let script = tokio::spawn(peer.stall());
    let began = Instant::now();
    let error = Connection::over(stream, &config).await.unwrap_err();
    assert!(
        matches!(error, Error::NotReady { step: Step::Credentials, cause: Cause::Deadline }),
        "{error:?}"
    );
    assert_eq!(began.elapsed(), within);
    script.abort();
}

#[test]
fn every_kind_of_connection_asks() {
    everywhere(async |server, config| {
        user(server, "app", &[">first"]);
        let vault = Vault::holding("first");
        let config = vault.provides(config.policy(policy()));
        let pool = Pool::connect(config.clone(), 3).await.unwrap();
        assert_eq!(vault.asked(), 3);
        user(server, "app", &[">second"]);
        vault.put("second");
        // Those that are there stay; new ones are as the vault says now.
        let worker = pool.dedicated().await.unwrap();
        assert_eq!(vault.asked(), 4);
        Connection::connect(&config).await.unwrap().close().await;
        assert_eq!(vault.asked(), 5);
        worker.close().await;
        pool.close().await;
    });
}

#[test]
fn credentials_that_do_not_change_are_refused_for_good() {
    everywhere(async |server, config| {
        user(server, "app", &[">first"]);
        let config = config.user_and_password("app", "first").policy(policy());
        let connector = Connector::connect(config).await.unwrap();
        let mut events = connector.events();
        user(server, "app", &[">second"]);
        kill(server);
        let why = event(&mut events, |event| match event {
            echo_wire::connector::Event::Fatal(why) => Some(why),
            _ => None,
        });
        assert!(matches!(why.await, Error::AuthRefused { .. }));
    });
}
