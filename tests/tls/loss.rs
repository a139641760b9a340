//! A link that dies is lost, however it dies, and the next one passes the fence.

use std::time::Duration;

use echo_wire::{
    connector::{Config, Connection, Connector, Endpoint, Error, Event, Found, Passage, Policy},
    resp::Command,
};

use crate::{
    bed::{bed, echo, event},
    support::{Cut, Proxy, bounded},
};

#[tokio::test]
async fn an_end_without_a_close_notify_is_a_disconnect() {
    let Some(bed) = bed() else { return };
    let proxy = Proxy::start(bed.address());
    let config = Config::tcp("127.0.0.1", proxy.port()).tls(bed.tls()).unwrap();
    let config = config.policy(crate::bed::policy());
    let mut connection = Connection::connect(&config).await.unwrap();
    echo(&mut connection).await;
    proxy.cut(Cut::Close);
    let error = connection.command(Command::new("PING")).await.unwrap_err();
    assert!(matches!(error, Error::Disconnected { .. }), "{error:?}");
    assert!(connection.is_closed());

    let connector = Connector::connect(config).await.unwrap();
    let mut events = connector.events();
    proxy.cut(Cut::Close);
    let why = event(&mut events, |event| match event {
        Event::Disconnected(why) => Some(why),
        _ => None,
    });
    let why = why.await;
    assert!(matches!(why, Error::Disconnected { .. }), "{why:?}");
    bounded("it comes back", connector.ready()).await.unwrap();
    connector.command(Command::new("PING")).await.unwrap();
}

#[tokio::test]
async fn a_server_that_is_killed_in_use_is_found_again_and_fenced_again() {
    let Some(bed) = bed() else { return };
    let connector = Connector::connect(bed.config()).await.unwrap();
    let mut events = connector.events();
    for round in 1..=3 {
        let calls: Vec<_> = (0..64).map(|_| tokio::spawn(storm(connector.clone()))).collect();
        while connector.stats().replies < round * 1000 {
            tokio::task::yield_now().await;
        }
        bed.server.kill();
        for call in calls {
            let error = bounded("each call ends", call).await.unwrap();
            let lost = matches!(error, Error::Disconnected { .. });
            assert!(lost, "{error:?}");
        }
        bed.server.restart();
        let passage = event(&mut events, |event| match event {
            Event::Fenced(passage) => Some(passage),
            _ => None,
        });
        // It keeps nothing: the store that comes back is empty.
        assert_eq!(passage.await, Passage::Claimed);
        connector.command(Command::new("PING")).await.unwrap();
        assert_eq!(bed.server.cli(&["GET", "{emq}:version"]), "echomq:2.0.0");
    }
    assert_eq!(connector.stats().reconnects, 3);
}

#[tokio::test]
async fn a_server_that_closes_whoever_is_idle_is_found_again_and_no_call_is_lost() {
    let Some(bed) = bed() else { return };
    bed.server.cli(&["CONFIG", "SET", "timeout", "1"]);
    let Endpoint::Tcp { port, .. } = *Config::from_url(&bed.server.url()).unwrap().endpoint()
    else {
        panic!("it listens on TCP, too")
    };
    for config in [bed.config(), Config::tcp("127.0.0.1", port)] {
        let policy = Policy { heartbeat: Duration::from_secs(3600), ..crate::bed::policy() };
        let connector = Connector::connect(config.policy(policy)).await.unwrap();
        let mut events = connector.events();
        for _ in 0..2 {
            let why = event(&mut events, |event| match event {
                Event::Disconnected(why) => Some(why),
                _ => None,
            });
            let why = why.await;
            assert!(matches!(why, Error::Disconnected { maybe_executed: false }), "{why:?}");
            bounded("it comes back", connector.ready()).await.unwrap();
            connector.command(Command::new("PING")).await.unwrap();
        }
    }
}

/// Calls until one fails.
async fn storm(connector: Connector) -> Error {
    loop {
        if let Err(error) = connector.command(Command::new("INCR").arg("n")).await {
            return error;
        }
    }
}

#[tokio::test]
async fn a_store_that_comes_back_with_another_wire_ends_the_connector() {
    let Some(bed) = bed() else { return };
    let proxy = Proxy::start(bed.address());
    let config = Config::tcp("127.0.0.1", proxy.port()).tls(bed.tls()).unwrap();
    let connector = Connector::connect(config.policy(crate::bed::policy())).await.unwrap();
    let mut events = connector.events();
    bed.server.cli(&["SET", "{emq}:version", "acme:1"]);
    proxy.cut(Cut::Reset);
    let why = event(&mut events, |event| match event {
        Event::Fatal(why) => Some(why),
        _ => None,
    });
    let Error::VersionFence { got: Found::Value(got) } = why.await else { panic!() };
    assert_eq!(got, "acme:1");
}
