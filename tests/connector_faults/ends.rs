//! However a connector comes to its end, everybody is told, and nobody waits for ever.

use std::{
    net::SocketAddr,
    sync::{
        atomic::{AtomicBool, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

use echo_wire::{
    connector::{Addresses, Config, Connector, Error, Policy, Resolve, WhenAway},
    resp::Command,
};
use tokio::{runtime::Builder, task::yield_now};

use crate::{
    bed::{HOUR, config, disconnected, echo, everywhere, fatal, millis, on_each_server, policy},
    support::{Cut, Proxy, VERSION_KEY, Way, bounded, until},
};

#[test]
fn callers_elsewhere_are_told_when_the_runtime_of_a_connector_ends() {
    on_each_server(async |flavor| {
        let server = flavor.server().start();
        let proxy = Proxy::start(server.address());
        let (hand_out, connectors) = mpsc::channel();
        let (end, ending) = mpsc::channel::<()>();
        let url = proxy.url();
        let elsewhere = thread::spawn(move || {
            let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
            let runtime = runtime.unwrap();
            let connector = runtime.block_on(Connector::connect(config(&url, policy()))).unwrap();
            hand_out.send(connector).unwrap();
            ending.recv().unwrap();
            drop(runtime);
        });
        let connector = connectors.recv().unwrap();
        assert_eq!(echo(&connector, "across").await.unwrap(), "across");
        proxy.stall(Way::Down);
        let waiting = tokio::spawn({
            let connector = connector.clone();
            async move { connector.command(Command::new("INCR").arg("n")).await }
        });
        until("it has run", || server.cli(&["EXISTS", "n"]) == "1").await;
        end.send(()).unwrap();
        let error = bounded("it is told", waiting).await.unwrap().unwrap_err();
        assert!(error.maybe_executed(), "{error:?}");
        elsewhere.join().unwrap();
        let error = echo(&connector, "later").await.unwrap_err();
        assert!(matches!(error, Error::Closed), "{error:?}");
        bounded("it closes", connector.close()).await;
        assert!(connector.ready().await.is_err());
    });
}

/// Leads somewhere once, and then fails as badly as code can.
#[derive(Debug)]
struct Broken(SocketAddr, AtomicBool);

impl Resolve for Broken {
    fn resolve<'a>(&'a self, _host: &'a str, _port: u16) -> Addresses<'a> {
        let is_first = !self.1.swap(true, SeqCst);
        Box::pin(async move {
            assert!(is_first, "the resolver is broken, as this test wants it");
            Ok(vec![self.0])
        })
    }
}

#[test]
fn callers_are_told_when_a_resolver_of_their_own_panics() {
    everywhere(async |server| {
        let broken = Broken(server.address().parse().unwrap(), false.into());
        let waits = Policy { when_away: WhenAway::WaitAtMost(HOUR), ..policy() };
        let config = Config::tcp("broken", 1).policy(waits).resolver(broken);
        let connector = Connector::connect(config).await.unwrap();
        let mut events = connector.events();
        server.cli(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
        disconnected(&mut events).await;
        let error = bounded("it is told", echo(&connector, "waits")).await.unwrap_err();
        assert!(matches!(error, Error::Closed), "{error:?}");
        bounded("it closes", connector.close()).await;
    });
}

#[test]
fn closing_twice_at_once_and_after_the_end_is_closing() {
    everywhere(async |server| {
        let connector = Connector::connect(config(&server.url(), policy())).await.unwrap();
        let closing = || {
            let connector = connector.clone();
            tokio::spawn(async move { connector.close().await })
        };
        for close in [closing(), closing(), closing()] {
            bounded("it closes", close).await.unwrap();
        }
        bounded("it is closed", connector.close()).await;
        assert!(matches!(echo(&connector, "later").await.unwrap_err(), Error::Closed));

        let policy = Policy { heartbeat: millis(10), ..policy() };
        let stopped = Connector::connect(config(&server.url(), policy)).await.unwrap();
        let mut events = stopped.events();
        server.cli(&["SET", VERSION_KEY, "other:1"]);
        fatal(&mut events).await;
        bounded("it is closed", stopped.close()).await;
        let error = echo(&stopped, "later").await.unwrap_err();
        assert!(matches!(error, Error::VersionFence { .. }), "the first reason stays: {error:?}");
    });
}

#[test]
fn a_close_answers_what_is_in_flight_however_much_it_is() {
    everywhere(async |server| {
        let connector = Connector::connect(config(&server.url(), policy())).await.unwrap();
        let calls: Vec<_> = (0..2_000)
            .map(|n| {
                let connector = connector.clone();
                tokio::spawn(async move { connector.command(Command::new("INCR").arg(n)).await })
            })
            .collect();
        until("some are taken", || connector.stats().commands > 0).await;
        bounded("it closes", connector.close()).await;
        let (mut answered, mut closed) = (0, 0);
        for call in calls {
            match bounded("it is told", call).await.unwrap() {
                Ok(reply) => answered += reply.to::<u64>().unwrap(),
                Err(Error::Closed) => closed += 1,
                Err(error) => panic!("{error:?}"),
            }
        }
        assert_eq!(answered + closed, 2_000);
        assert_eq!(server.cli(&["DBSIZE"]), (answered + 1).to_string(), "and the fence");
    });
}

#[test]
fn a_connector_lost_while_it_closes_is_closed() {
    everywhere(async |server| {
        let proxy = Proxy::start(server.address());
        let connector = Connector::connect(config(&proxy.url(), policy())).await.unwrap();
        proxy.stall(Way::Down);
        let sent = connector.stats().bytes_out;
        let call = tokio::spawn({
            let connector = connector.clone();
            async move { echo(&connector, "in flight").await }
        });
        until("it has left", || connector.stats().bytes_out > sent).await;
        let closing = tokio::spawn({
            let connector = connector.clone();
            async move { connector.close().await }
        });
        // From when it takes nothing new.
        while connector.ready().await.is_ok() {
            yield_now().await;
        }
        assert_eq!(connector.stats().pending, 1);
        proxy.cut(Cut::Reset);
        proxy.resume();
        bounded("it closes", closing).await.unwrap();
        let error = bounded("it is told", call).await.unwrap().unwrap_err();
        assert!(error.maybe_executed(), "{error:?}");
        assert!(matches!(echo(&connector, "later").await.unwrap_err(), Error::Closed));
        assert_eq!(proxy.connections(), 1, "nobody comes back for it");
    });
}
