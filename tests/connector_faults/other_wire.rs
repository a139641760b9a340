//! The store turns out to speak another wire, or to have forgotten that it spoke ours: after a
//! reconnect, and under a live connection.

use std::{future::Future, pin::Pin, task::Poll};

use echo_wire::{
    connector::{Connector, Error, Event, Found, Passage, Pipeline, Policy, WhenAway},
    keyspace::VERSION_KEY,
    resp::Command,
};
use tokio::{runtime::Handle, task::JoinSet};

use crate::{
    bed::{
        HOUR, config, disconnected, echo, event, everywhere, fatal, fenced, millis, on_each_server,
        policy,
    },
    load::Load,
    support::{Cut, Proxy, WIRE, bounded, until},
    witness::{Witness, is_only_the_fence, statistics},
};

fn found(error: &Error) -> Option<&[u8]> {
    match error {
        Error::VersionFence { got: Found::Value(value) } => Some(value),
        _ => None,
    }
}

/// Polls the future once, which must not be enough.
async fn begin<T>(mut future: Pin<Box<dyn Future<Output = T> + Send>>) -> impl Future<Output = T> {
    let polled = std::future::poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx).is_ready())).await;
    assert!(!polled, "it was to wait");
    future
}

#[test]
fn a_server_that_comes_back_with_another_wire_stops_everybody_and_sees_the_fence_alone() {
    everywhere(async |server| {
        let waits = Policy { when_away: WhenAway::WaitAtMost(HOUR), ..policy() };
        let proxy = Proxy::start(server.address());
        let connector = Connector::connect(config(&proxy.url(), waits)).await.unwrap();
        let mut events = connector.events();
        let load = Load::start(&connector, 16);
        load.goes_on(100).await;

        let other = server.flavor().server().start();
        other.cli(&["SET", VERSION_KEY, "other:1.0.0"]);
        other.cli(&["CONFIG", "RESETSTAT"]);
        let mut witness = Witness::of(&other);
        let before = statistics(&other);
        proxy.refuse();
        proxy.cut(Cut::Close);
        disconnected(&mut events).await;
        let mut waiting = Vec::new();
        for n in 0..100 {
            let connector = connector.clone();
            let call = async move { echo(&connector, &n.to_string()).await };
            waiting.push(begin(Box::pin(call)).await);
        }
        proxy.switch_target(other.address());
        proxy.listen();

        let why = fatal(&mut events).await;
        assert_eq!(found(&why), Some(&b"other:1.0.0"[..]), "{why:?}");
        for call in waiting {
            let error = bounded("it is told", call).await.unwrap_err();
            assert_eq!(found(&error), found(&why), "{error:?}");
        }
        let tally = load.ends().await;
        assert_eq!(tally.ended.len(), 16, "{tally:?}");
        assert!(tally.ended.iter().all(|error| found(error) == found(&why)), "{tally:?}");
        let pipeline = Pipeline::new().command(Command::new("INCR").arg("n"));
        for later in [
            echo(&connector, "later").await.map(drop),
            connector.pipeline(&pipeline).await.map(drop),
            connector.transaction(&pipeline).await.map(drop),
            connector.ready().await,
        ] {
            let error = later.unwrap_err();
            assert!(found(&error) == found(&why) && !error.maybe_executed(), "{error:?}");
        }
        let seen = witness.seen(&other);
        assert!(is_only_the_fence(&seen), "{seen:#?}");
        assert_eq!(seen.iter().filter(|command| command.starts_with("\"GET\"")).count(), 1);
        let ran = statistics(&other);
        let ran: Vec<_> = ran.iter().filter(|line| !before.contains(line)).collect();
        let harmless = ["client", "config|get", "echo:calls=1", "get:calls=1", "hello", "monitor"];
        assert!(ran.iter().all(|line| harmless.iter().any(|it| line.starts_with(it))), "{ran:?}");
        // Nothing is left that could try again.
        until("its task ends", || Handle::current().metrics().num_alive_tasks() == 0).await;
    });
}

#[test]
fn a_key_changed_under_a_live_connection_stops_it_at_the_next_heartbeat() {
    everywhere(async |server| {
        for (change, shown) in [
            (&["SET", VERSION_KEY, "other:2.0.0"][..], "other:2.0.0"),
            (&["LPUSH", VERSION_KEY, WIRE], "wrong type"),
        ] {
            server.cli(&["DEL", VERSION_KEY]);
            let policy = Policy { heartbeat: millis(20), ..policy() };
            let connector = Connector::connect(config(&server.url(), policy)).await.unwrap();
            let mut events = connector.events();
            let load = Load::start(&connector, 16);
            load.goes_on(100).await;
            // In one step, so that it is never seen absent.
            let steps: Vec<&[&str]> = vec![&["MULTI"], &["DEL", VERSION_KEY], change, &["EXEC"]];
            let mut raw = server.raw();
            steps.iter().for_each(|step| drop(raw.text(step)));
            let why = fatal(&mut events).await;
            assert!(matches!(why, Error::VersionFence { .. }), "{why:?}");
            assert!(why.to_string().contains(shown), "{why}");
            let tally = load.ends().await;
            assert_eq!(tally.ended.len(), 16);
            assert!(tally.ended.iter().all(|error| error.to_string() == why.to_string()));
            until("it closes its socket", || server.clients().len() == 1).await;

            let mut witness = Witness::of(&server);
            for _ in 0..100 {
                let error = echo(&connector, "later").await.unwrap_err();
                assert_eq!(error.to_string(), why.to_string());
            }
            assert_eq!(witness.seen(&server), [""; 0], "nothing more is sent");
        }
    });
}

#[test]
fn a_fence_that_is_gone_is_claimed_again_and_told_on_a_live_connection_and_on_a_new_one() {
    everywhere(async |server| {
        let policy = Policy { heartbeat: millis(20), ..policy() };
        let live = Connector::connect(config(&server.url(), policy.clone())).await.unwrap();
        let mut events = live.events();
        let vanished = |event| matches!(event, Event::FenceVanished).then_some(());
        let load = Load::start(&live, 8);
        for n in 1..=3 {
            load.goes_on(50).await;
            server.cli(&["FLUSHALL"]);
            event(&mut events, vanished).await;
            assert_eq!(server.cli(&["GET", VERSION_KEY]), WIRE);
            assert_eq!(live.stats().fences_vanished, n);
        }
        assert_eq!(live.stats().connects, 1, "the connection was kept");
        load.finish().await;
        live.close().await;

        let patient = Policy { heartbeat: HOUR, ..policy };
        let back = Connector::connect(config(&server.url(), patient)).await.unwrap();
        let mut events = back.events();
        let mut raw = server.raw();
        for n in 1..=3 {
            raw.text(&["FLUSHALL"]);
            raw.text(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
            let passage = event(&mut events, |event| match event {
                Event::Fenced(passage) => Some(passage),
                _ => None,
            });
            assert_eq!(passage.await, Passage::Claimed);
            event(&mut events, vanished).await;
            assert_eq!(back.stats().fences_vanished, n);
        }
        // One that was there all the time is not told of.
        raw.text(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
        fenced(&mut events).await;
        assert_eq!((back.stats().reconnects, back.stats().fences_vanished), (4, 3));
    });
}

#[test]
fn a_fence_that_was_evicted_is_claimed_again_and_told() {
    on_each_server(async |flavor| {
        let server = flavor.server().args(["--maxmemory-policy", "allkeys-lru"]).start();
        let policy = Policy { heartbeat: HOUR, ..policy() };
        let connector = Connector::connect(config(&server.url(), policy)).await.unwrap();
        let mut events = connector.events();
        let mut raw = server.raw();
        raw.text(&["CONFIG", "SET", "maxmemory", "4mb"]);
        let filling = "x".repeat(10_000);
        // So much that nothing which is not used stays.
        let is_evicted = (0..5_000).any(|n| {
            raw.text(&["SET", &format!("filling:{n}"), &filling]);
            raw.text(&["EXISTS", VERSION_KEY]) == "0"
        });
        assert!(is_evicted, "the server keeps it all");
        raw.text(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
        event(&mut events, |event| matches!(event, Event::FenceVanished).then_some(())).await;
        assert_eq!(connector.stats().fences_vanished, 1);
        assert_eq!(raw.text(&["GET", VERSION_KEY]), WIRE);
        assert_eq!(echo(&connector, "on").await.unwrap(), "on");
    });
}

#[test]
fn after_a_restart_all_that_run_speak_one_wire_and_the_others_are_stopped() {
    everywhere(async |server| {
        let policy = Policy { heartbeat: millis(20), ..policy() };
        let ours = config(&server.url(), policy);
        let theirs = ours.clone().wire("other:7").unwrap();
        let mut runs = JoinSet::new();
        for _ in 0..8 {
            let connector = Connector::connect(ours.clone()).await.unwrap();
            runs.spawn(async move { (WIRE, connector) });
        }
        server.kill();
        for _ in 0..8 {
            let theirs = theirs.clone();
            // These may be refused at once, which is their end.
            runs.spawn(async move {
                match Connector::connect(theirs.clone()).await {
                    Ok(connector) => ("other:7", connector),
                    Err(error) => {
                        assert_eq!(found(&error), Some(WIRE.as_bytes()), "{error:?}");
                        std::future::pending().await
                    }
                }
            });
        }
        server.restart();
        until("the store is claimed", || server.cli(&["EXISTS", VERSION_KEY]) == "1").await;
        let holder = server.cli(&["GET", VERSION_KEY]);
        let mut ran = 0;
        while let Some(Ok((wire, connector))) = runs.try_join_next() {
            if wire == holder {
                bounded("it runs", connector.ready()).await.unwrap();
                assert_eq!(echo(&connector, wire).await.unwrap(), wire);
                ran += 1;
            } else {
                let error = bounded("it is stopped", async {
                    loop {
                        if let Err(error) = connector.ready().await {
                            return error;
                        }
                        tokio::task::yield_now().await;
                    }
                });
                assert_eq!(found(&error.await), Some(holder.as_bytes()));
            }
        }
        assert!(holder != WIRE || ran == 8);
        assert_eq!(server.cli(&["GET", VERSION_KEY]), holder);
    });
}

#[test]
fn another_wire_met_by_one_connection_of_a_family_stops_them_all() {
    everywhere(async |server| {
        // Met by a dedicated one, which dials anew, while the shared one has not looked yet.
        let connector = Connector::connect(config(&server.url(), policy())).await.unwrap();
        let mut events = connector.events();
        let (mut first, mut second) =
            (connector.dedicated().await.unwrap(), connector.dedicated().await.unwrap());
        first.command(Command::new("SET").arg("k").arg("v")).await.unwrap();
        server.cli(&["SET", VERSION_KEY, "other:1"]);
        server.cli(&["CLIENT", "KILL", "ID", &first.client_id().unwrap().to_string()]);
        let lost_or_told = bounded("it is told", async {
            loop {
                // The first may still find the old socket open.
                let result = first.command(Command::new("GET").arg("k")).await;
                if let Err(error @ Error::VersionFence { .. }) = result {
                    return error;
                }
            }
        })
        .await;
        assert_eq!(found(&lost_or_told), Some(&b"other:1"[..]));
        let why = fatal(&mut events).await;
        for told in [
            why,
            echo(&connector, "later").await.unwrap_err(),
            second.command(Command::new("GET").arg("k")).await.unwrap_err(),
            connector.dedicated().await.map(drop).unwrap_err(),
        ] {
            assert_eq!(found(&told), Some(&b"other:1"[..]), "{told:?}");
        }

        // Met by the shared one's heartbeat, while a dedicated one waits on the server.
        server.cli(&["SET", VERSION_KEY, WIRE]);
        let policy = Policy { heartbeat: millis(20), ..policy() };
        let connector = Connector::connect(config(&server.url(), policy)).await.unwrap();
        let mut waiting = connector.dedicated().await.unwrap();
        let waits = tokio::spawn(async move {
            let result = waiting.command(Command::new("BLPOP").arg("empty").arg(0)).await;
            (waiting, result)
        });
        until("it waits", || server.cli(&["INFO", "clients"]).contains("blocked_clients:1")).await;
        server.cli(&["SET", VERSION_KEY, "other:2"]);
        let (mut waiting, result) = bounded("it is told", waits).await.unwrap();
        let error = result.unwrap_err();
        assert!(found(&error) == Some(b"other:2") || error.maybe_executed(), "{error:?}");
        let error = waiting.command(Command::new("GET").arg("k")).await.unwrap_err();
        assert_eq!(found(&error), Some(&b"other:2"[..]), "{error:?}");
        until("all are closed", || server.clients().is_empty()).await;
    });
}
