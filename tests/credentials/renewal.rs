//! A live connection becomes somebody else, and nobody who shares it notices.

use echo_wire::{
    connector::{Cause, Config, Connector, Credentials, Delivery, Error, Pool, Step},
    resp::Command,
};

use crate::{
    bed::{Vault, fenced, kill, policy, user, whoami},
    support::{MemoryStore, Server, bounded, everywhere},
};

/// As `app`, whose password is `first`, beside `other`, whose password is `else`.
async fn connected(server: &Server, config: Config) -> Connector {
    user(server, "app", &[">first"]);
    user(server, "other", &[">else"]);
    let config = config.user_and_password("app", "first").policy(policy());
    Connector::connect(config).await.unwrap()
}

#[test]
fn the_new_user_is_who_comes_back_and_a_subscription_goes_on() {
    everywhere(async |server, config| {
        let connector = connected(server, config).await;
        let mut events = connector.events();
        let is_resp3 = connector.command(Command::new("CLIENT").arg("INFO")).await.unwrap();
        let is_resp3 = is_resp3.to::<String>().unwrap().contains("resp=3");
        let mut news = match is_resp3 {
            true => Some(connector.subscribe(["news"]).await.unwrap()),
            false => None,
        };
        let id = connector.command(Command::new("CLIENT").arg("ID")).await.unwrap();

        connector.authenticate(Credentials::user_and_password("other", "else")).await.unwrap();
        assert_eq!(whoami(&connector).await, "other");
        let same = connector.command(Command::new("CLIENT").arg("ID")).await.unwrap();
        assert_eq!(same.to::<u64>().unwrap(), id.to::<u64>().unwrap());
        if let Some(news) = &mut news {
            server.cli(&["PUBLISH", "news", "of today"]);
            let Some(Delivery::Message(message)) = news.next().await else { panic!() };
            assert_eq!(message.payload(), b"of today");
        }

        server.cli(&["ACL", "DELUSER", "app"]);
        kill(server);
        fenced(&mut events).await;
        assert_eq!(whoami(&connector).await, "other");
        if let Some(news) = &mut news {
            assert!(matches!(news.next().await, Some(Delivery::Gap)));
            server.cli(&["PUBLISH", "news", "of tomorrow"]);
            let Some(Delivery::Message(message)) = news.next().await else { panic!() };
            assert_eq!(message.payload(), b"of tomorrow");
        }
        let worker = connector.dedicated().await.unwrap();
        let clients = server.clients();
        let others = clients.iter().filter(|client| client.contains("user=other ")).count();
        assert_eq!(others, 2, "{clients:?}");
        drop(worker);
    });
}

#[test]
fn credentials_that_are_refused_change_nothing_and_are_not_shown() {
    everywhere(async |server, config| {
        let connector = connected(server, config).await;
        let mut events = connector.events();
        let wrong = Credentials::user_and_password("other", "hunter2");
        let error = connector.authenticate(wrong).await.unwrap_err();
        assert!(matches!(error, Error::AuthRefused { step: Step::Auth, .. }), "{error:?}");
        assert!(!format!("{error} {error:?} {connector:?}").contains("hunter2"));
        assert_eq!(whoami(&connector).await, "app");
        kill(server);
        fenced(&mut events).await;
        assert_eq!(whoami(&connector).await, "app");
    });
}

#[test]
fn a_server_that_repeats_the_password_does_not_bring_it_into_the_error() {
    for flavor in crate::support::flavors() {
        let server = flavor.server().args(["--rename-command", "AUTH", ""]).start();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let connector = Connector::connect(server.url().parse().unwrap()).await.unwrap();
            for credentials in [
                Credentials::password("hunter2"),
                Credentials::user_and_password("worker", "hunter2"),
            ] {
                let error = connector.authenticate(credentials).await.unwrap_err();
                assert!(matches!(error, Error::AuthRefused { .. }), "{error:?}");
                assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
            }
        });
    }
}

#[test]
fn it_is_one_command_among_those_of_others() {
    everywhere(async |server, config| {
        let connector = connected(server, config).await;
        let tasks: Vec<_> = (0..16)
            .map(|task: usize| {
                let connector = connector.clone();
                tokio::spawn(async move {
                    for n in 0..200 {
                        let word = format!("{task}:{n}");
                        let reply = connector.command(Command::new("ECHO").arg(&word)).await;
                        assert_eq!(reply.unwrap().to::<String>().unwrap(), word);
                    }
                })
            })
            .collect();
        for round in 0..20 {
            let (name, password) = [("other", "else"), ("app", "first")][round % 2];
            let credentials = Credentials::user_and_password(name, password);
            connector.authenticate(credentials).await.unwrap();
            assert_eq!(whoami(&connector).await, name);
        }
        for task in tasks {
            bounded("it ends", task).await.unwrap();
        }
        assert_eq!(connector.stats().reconnects, 0);
    });
}

#[test]
fn connectors_of_one_config_are_each_their_own_user() {
    everywhere(async |server, config| {
        user(server, "app", &[">first"]);
        user(server, "other", &[">else"]);
        let config = config.user_and_password("app", "first").policy(policy());
        let changed = Connector::connect(config.clone()).await.unwrap();
        let other = Connector::connect(config.clone()).await.unwrap();
        let (mut first, mut second) = (changed.events(), other.events());
        changed.authenticate(Credentials::user_and_password("other", "else")).await.unwrap();
        kill(server);
        fenced(&mut first).await;
        fenced(&mut second).await;
        assert_eq!(whoami(&changed).await, "other");
        assert_eq!(whoami(&other).await, "app");
        let third = Connector::connect(config).await.unwrap();
        assert_eq!(whoami(&third).await, "app");
    });
}

#[test]
fn a_pool_changes_as_a_whole() {
    everywhere(async |server, config| {
        user(server, "other", &[">else"]);
        let pool = Pool::connect(config, 3).await.unwrap();
        pool.authenticate(Credentials::user_and_password("other", "else")).await.unwrap();
        for connector in pool.connectors() {
            assert_eq!(whoami(connector).await, "other");
        }
    });
}

#[test]
fn a_provider_is_asked_for_a_connection_that_is_there() {
    everywhere(async |server, config| {
        user(server, "app", &[">first", ">second"]);
        let vault = Vault::holding("first");
        let connector = Connector::connect(vault.provides(config.policy(policy()))).await.unwrap();
        let mut events = connector.events();
        vault.put("second");
        connector.renew_credentials().await.unwrap();
        assert_eq!((vault.asked(), whoami(&connector).await.as_str()), (2, "app"));

        vault.lock();
        let error = connector.renew_credentials().await.unwrap_err();
        let Error::NotReady { step: Step::Credentials, cause: Cause::Provider(_) } = error else {
            panic!("{error:?}")
        };
        // Later connects ask it, whoever the connection became meanwhile.
        user(server, "other", &[">else"]);
        connector.authenticate(Credentials::user_and_password("other", "else")).await.unwrap();
        vault.put("second");
        kill(server);
        fenced(&mut events).await;
        assert_eq!(whoami(&connector).await, "app");

        let nobody = Connector::connect(server.url().parse().unwrap()).await.unwrap();
        let error = nobody.renew_credentials().await.unwrap_err();
        assert!(matches!(error, Error::Misuse(_)), "{error:?}");
    });
}

#[tokio::test]
async fn a_server_that_knows_passwords_only_gets_the_password_alone() {
    let store = MemoryStore::new();
    let config = Config::tcp("h", 1).password("first");
    let connector = Connector::over(store.dialer(), config).await.unwrap();
    let begun = store.log().len();
    store.answer("AUTH", "-ERR wrong number of arguments for 'auth' command\r\n");
    let error = connector.authenticate(Credentials::password("second")).await.unwrap_err();
    assert!(matches!(error, Error::AuthRefused { .. }), "{error:?}");
    assert_eq!(store.log()[begun..], ["AUTH default second", "AUTH second"]);
    // A user's name cannot be left out.
    let named = Credentials::user_and_password("app", "second");
    connector.authenticate(named).await.unwrap_err();
    assert_eq!(store.log()[begun + 2..], ["AUTH app second"]);
}

#[test]
fn no_secret_is_in_a_debug() {
    let credentials = Credentials::user_and_password("app", "hunter2");
    let given = Config::tcp("h", 1).credentials(credentials.clone());
    let config = Config::tcp("h", 1);
    let provided = Vault::holding("hunter2").provides(config);
    let shown = format!("{credentials:?} {credentials:#?} {given:?} {given:#?} {provided:?}");
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("identity: Provider"), "{shown}");
}
