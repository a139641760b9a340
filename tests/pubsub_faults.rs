//! Subscriptions where the server cannot just now, falls silent, or never stops talking.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "a test stops where it fails"
)]

mod support;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use echo_wire::{
    connector::{Config, Connector, Delivery, Error, Event, Policy, Subscription},
    resp::Command,
};
use support::{BOUND, MemoryStore, bounded, flavors};
use tokio::time::{sleep, timeout};

const CONFIRMED: &str = ">3\r\n+subscribe\r\n+news\r\n:1\r\n";

#[tokio::test(start_paused = true)]
async fn a_subscription_that_a_server_cannot_renew_just_now_is_asked_for_until_it_can() {
    for words in ["BUSY a script", "LOADING a dump", "TRYAGAIN later", "ERR BUSY a proxy's words"] {
        let server = MemoryStore::new();
        server.answer("SUBSCRIBE", CONFIRMED);
        server.answer("UNSUBSCRIBE", ">3\r\n+unsubscribe\r\n+gone\r\n:0\r\n");
        let connector = Connector::over(server.dialer(), Config::tcp("memory", 1)).await.unwrap();
        let mut news = connector.subscribe(["news"]).await.unwrap();
        let gone = connector.subscribe(["gone"]).await.unwrap();
        server.answer("SUBSCRIBE", &format!("-{words}\r\n"));
        server.cut();
        let asked = |name: &str| {
            server.log().iter().filter(|line| **line == format!("SUBSCRIBE {name}")).count()
        };
        let asked_again = async |times: usize| {
            let until = asked("news") + times;
            while asked("news") < until {
                sleep(Duration::from_secs(1)).await;
            }
        };
        bounded("it is asked for again", asked_again(3)).await;
        assert_eq!(asked("gone"), asked("news"));
        gone.unsubscribe().await.unwrap();
        let before = asked("gone");
        bounded("it is asked for again", asked_again(2)).await;
        assert_eq!(asked("gone"), before, "nobody wants it any more");
        server.answer("SUBSCRIBE", CONFIRMED);
        assert_eq!(bounded("it is told", news.next()).await, Some(Delivery::Gap), "{words}");
        // On a connection that was good for everything else all the time.
        connector.command(Command::new("ECHO").arg("in step")).await.unwrap();
        assert_eq!(connector.stats().reconnects, 1);
        let before = asked("news");
        sleep(Duration::from_secs(60)).await;
        assert_eq!(asked("news"), before, "it is in force");
    }
}

/// The next message, or what else there is.
async fn next(news: &mut Subscription) -> String {
    match bounded("a delivery", news.next()).await {
        Some(Delivery::Message(message)) => String::from_utf8(message.payload().to_vec()).unwrap(),
        other => format!("{other:?}"),
    }
}

#[tokio::test]
async fn the_end_of_one_subscription_does_not_end_the_next_one_to_the_same_name() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let connector = Connector::connect(Config::from_url(&server.url()).unwrap()).await.unwrap();
        let mut raw = server.raw();
        let mut news = connector.subscribe(["news", "old"]).await.unwrap();
        for turn in 0..200 {
            match turn % 2 {
                // Its UNSUBSCRIBE is on its way when the next SUBSCRIBE follows.
                0 => drop(news),
                _ => {
                    let ended = news.unsubscribe();
                    let begun = connector.subscribe(["news"]);
                    let (ended, begun) = tokio::join!(ended, begun);
                    ended.unwrap();
                    drop(begun.unwrap());
                }
            }
            news = connector.subscribe(["news"]).await.unwrap();
            raw.call(&["PUBLISH", "news", &turn.to_string()]);
            assert_eq!(next(&mut news).await, turn.to_string());
        }
    }
}

#[tokio::test]
async fn a_subscriber_who_is_idle_finds_out_that_its_server_fell_silent() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let policy = Policy {
            heartbeat: Duration::from_millis(10),
            watchdog: Duration::from_millis(100),
            backoff_base: Duration::from_millis(5),
            backoff_cap: Duration::from_millis(50),
            ..Policy::default()
        };
        let config = Config::from_url(&server.url()).unwrap().policy(policy);
        let config = config.connect_timeout(Duration::from_millis(250)).unwrap();
        let connector = Connector::connect(config).await.unwrap();
        let mut events = connector.events();
        let mut news = connector.subscribe(["news"]).await.unwrap();
        // Nobody else is there who could write and so find out.
        drop(connector);
        server.pause();
        let found_out = async {
            while !matches!(events.next().await, Some(Event::Disconnected(Error::Timeout { .. }))) {
            }
        };
        bounded("it finds out", found_out).await;
        server.resume();
        assert_eq!(next(&mut news).await, "Some(Gap)");
        server.raw().call(&["PUBLISH", "news", "hello"]);
        assert_eq!(next(&mut news).await, "hello");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_messages_without_a_pause_lets_commands_and_the_heartbeat_through() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let policy = Policy { heartbeat: Duration::from_millis(20), ..Policy::default() };
        let config = Config::from_url(&server.url()).unwrap().policy(policy);
        let connector = Connector::connect(config).await.unwrap();
        let _sleeper = connector.subscribe(["flood"]).await.unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let flood = {
            let (mut raw, over, connector) = (server.raw(), Arc::clone(&over), connector.clone());
            let mut published = 0_u64;
            // There is always something to read, and never so much that the server gives us up.
            thread::spawn(move || {
                while !over.load(Relaxed) {
                    if published > connector.stats().pushes + 4_000 {
                        thread::yield_now();
                        continue;
                    }
                    (0..500).for_each(|_| raw.send(&["PUBLISH", "flood", "a drop"]).unwrap());
                    (0..500).for_each(|_| drop(raw.read().unwrap()));
                    published += 500;
                }
            })
        };
        let calls = async {
            let mut n = 0_u64;
            // As long as it takes for the flood to have been one.
            while n < 50 || connector.stats().pushes < 5_000 || connector.stats().heartbeats < 5 {
                n += 1;
                let echo = connector.command(Command::new("ECHO").arg(n)).await.unwrap();
                assert_eq!(echo.to::<u64>().unwrap(), n);
            }
        };
        let done = timeout(BOUND, calls).await;
        over.store(true, Relaxed);
        flood.join().unwrap();
        assert!(done.is_ok(), "{:?}", connector.stats());
        assert_eq!((connector.stats().connects, connector.stats().timeouts), (1, 0));
    }
}
