//! Several connectors as one: taken in turn, passed over while away, stopped together.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail"
)]

mod support;

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use echo_wire::{
    connector::{Config, Error, Event, Found, Pipeline, Policy, Pool},
    keyspace::VERSION_KEY,
    resp::Command,
};
use support::{MemoryStore, Server, bounded, flavors, until};
use tokio::net::TcpStream;

fn on_servers(test: impl AsyncFn(&Server, Config)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for flavor in flavors() {
        let server = flavor.server().start();
        runtime.block_on(test(&server, Config::from_url(&server.url()).unwrap()));
    }
}

fn echo(word: u32) -> Command<'static> {
    Command::new("ECHO").arg(word)
}

#[test]
fn connections_are_taken_in_turn_and_their_counters_summed() {
    on_servers(async |server, config| {
        let pool = Pool::connect(config, 4).await.unwrap();
        assert_eq!(server.clients().len(), 4);
        for i in 0..8 {
            assert_eq!(pool.command(echo(i)).await.unwrap().to::<u32>().unwrap(), i);
        }
        let pair = Pipeline::new().command(echo(1)).command(echo(2));
        for _ in 0..4 {
            let replies = pool.pipeline(&pair).await.unwrap();
            assert_eq!(replies.to::<(u32, u32)>().unwrap(), (1, 2));
            let replies = pool.transaction(&pair).await.unwrap().done().unwrap();
            assert_eq!(replies.to::<(u32, u32)>().unwrap(), (1, 2));
        }
        // Twelve batches came upon eight commands, four connections: five turns each.
        let each: Vec<_> = pool.connectors().iter().map(|it| it.stats().commands).collect();
        let sum: u64 = each.iter().sum();
        assert_eq!((pool.stats().commands, pool.stats().connects), (sum, 4));
        assert_eq!(sum, 8 + 4 * 2 + 4 * 4);
        assert!(each.iter().all(|commands| *commands > 0), "{each:?}");

        let mut dedicated = pool.dedicated().await.unwrap();
        let nothing = Command::new("BLPOP").arg("q").arg(0.001);
        assert!(dedicated.command(nothing).await.unwrap().is_null());
        drop(dedicated);
        pool.close().await;
        until("all are gone from the server", || server.clients().is_empty()).await;
        assert!(matches!(pool.command(echo(0)).await, Err(Error::Closed)));
    });
}

#[test]
fn an_empty_store_is_claimed_by_one_of_them_and_verified_by_the_others() {
    on_servers(async |server, config| {
        let pool = Pool::connect(config, 8).await.unwrap();
        assert_eq!(pool.stats().fences_vanished, 0);
        assert_eq!(server.cli(&["GET", VERSION_KEY]), support::WIRE);
        let theirs = Config::from_url(&server.url()).unwrap().wire("acme:1").unwrap();
        let refused = Pool::connect(theirs, 8).await;
        assert!(matches!(refused, Err(Error::VersionFence { .. })), "{refused:?}");
        until("no socket of the refused is left", || server.clients().len() == 8).await;
    });
}

#[test]
fn one_that_is_away_is_passed_over() {
    on_servers(async |server, config| {
        let (address, refuses) = (server.address(), Arc::new(AtomicBool::new(false)));
        let dial = {
            let refuses = Arc::clone(&refuses);
            move || {
                let (address, refused) = (address.clone(), refuses.load(SeqCst));
                async move {
                    match refused {
                        true => Err(io::ErrorKind::ConnectionRefused.into()),
                        false => TcpStream::connect(address).await,
                    }
                }
            }
        };
        let pool = Pool::over(dial, config, 3).await.unwrap();
        let mut events = pool.events();
        refuses.store(true, SeqCst);
        let victim = server.clients()[0].split(' ').next().unwrap().replace("id=", "");
        server.cli(&["CLIENT", "KILL", "ID", &victim]);
        let lost =
            async { while !matches!(events.next().await, Some(Event::Reconnecting { .. })) {} };
        bounded("the loss is told", lost).await;
        for i in 0..30 {
            assert_eq!(pool.command(echo(i)).await.unwrap().to::<u32>().unwrap(), i);
        }
        refuses.store(false, SeqCst);
        bounded("it comes back", pool.ready()).await.unwrap();
        assert_eq!(pool.stats().reconnects, 1);
    });
}

#[test]
fn another_wire_met_by_one_stops_them_all() {
    on_servers(async |server, config| {
        let hour = Duration::from_secs(3600);
        let config = config.policy(Policy { heartbeat: hour, ..Policy::default() });
        let pool = Pool::connect(config, 4).await.unwrap();
        let mut dedicated = pool.dedicated().await.unwrap();
        server.cli(&["SET", VERSION_KEY, "acme:1"]);
        let victim = server.clients()[0].split(' ').next().unwrap().replace("id=", "");
        server.cli(&["CLIENT", "KILL", "ID", &victim]);
        let is_fence = |error: &Error| matches!(error, Error::VersionFence { got: Found::Value(got) } if got == "acme:1");
        for connector in pool.connectors() {
            let stopped = async {
                loop {
                    match connector.command(echo(1)).await {
                        Err(error @ Error::VersionFence { .. }) => return error,
                        _ => tokio::task::yield_now().await,
                    }
                }
            };
            assert!(is_fence(&bounded("every connector stops", stopped).await));
        }
        assert!(is_fence(&dedicated.command(echo(1)).await.unwrap_err()));
        assert!(is_fence(&pool.dedicated().await.unwrap_err()));
        let batch = Pipeline::new().command(echo(1));
        assert!(is_fence(&pool.noreply_pipeline(&batch).await.unwrap_err()));
        drop(dedicated);
        until("no socket is left", || server.clients().is_empty()).await;
    });
}

#[tokio::test(start_paused = true)]
async fn the_last_handle_ends_every_task_also_of_a_pool_that_did_not_come_about() {
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let settle = || tokio::time::sleep(Duration::from_secs(1));
    let server = MemoryStore::new();
    let config = Config::tcp("memory", 1);
    let pool = Pool::over(server.dialer(), config.clone(), 5).await.unwrap();
    let clone = pool.clone();
    drop(pool);
    assert!(clone.command(echo(1)).await.is_ok());
    drop(clone);
    settle().await;
    assert_eq!(tasks(), 0, "serving");

    server.set(VERSION_KEY, "acme:1");
    assert!(Pool::over(server.dialer(), config.clone(), 5).await.is_err());
    settle().await;
    assert_eq!(tasks(), 0, "refused");

    server.silent(true);
    let connecting = Pool::over(server.dialer(), config.clone(), 5);
    drop(tokio::time::timeout(Duration::from_secs(1), connecting).await);
    server.silent(false);
    settle().await;
    assert_eq!(tasks(), 0, "dropped while it connected");

    let nobody = Pool::over(server.dialer(), config, 0).await;
    assert!(matches!(nobody, Err(Error::Misuse(_))));
}
