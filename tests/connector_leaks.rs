//! Handles that go leave nothing behind: no task, no descriptor, no client at the server; and a
//! connection that is lost again and again costs no more than the first time. One test at a time:
//! descriptors are the whole process's.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "a test stops where it fails"
)]

mod support;

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::{Mutex, PoisonError},
    task::Poll,
    time::Duration,
};

use echo_wire::{
    connector::{Config, Connector, Event, Policy, WhenAway},
    resp::Command,
};
use support::{Cut, Gauge, Listener, Proxy, Server, VERSION_KEY, Way, bounded, flavors, until};
use tokio::{
    runtime::{Builder, Runtime},
    task::yield_now,
};

const HOUR: Duration = Duration::from_secs(3600);

fn policy() -> Policy {
    Policy {
        heartbeat: HOUR,
        watchdog: HOUR,
        response_timeout: HOUR,
        drain_within: HOUR,
        backoff_base: Duration::from_millis(4),
        backoff_cap: Duration::from_millis(40),
        backoff_reset: Duration::ZERO,
        ..Policy::default()
    }
}

fn config(url: &str) -> Config {
    Config::from_url(url).unwrap().policy(policy())
}

async fn connect(url: &str) -> Connector {
    Connector::connect(config(url)).await.unwrap()
}

/// Polls once. That is not enough for it, as a rule.
async fn begin<F: Future>(future: &mut Pin<&mut F>) {
    poll_fn(|cx| {
        drop(future.as_mut().poll(cx));
        Poll::Ready(())
    })
    .await;
}

async fn lost(connector: &Connector, cut: impl FnOnce()) {
    let mut events = connector.events();
    cut();
    let lost = async { while !matches!(events.next().await, Some(Event::Disconnected(_))) {} };
    bounded("it is lost", lost).await;
}

/// Connectors of one kind, each made, brought into the state, and dropped.
struct Bed {
    server: Server,
    /// In front of it.
    proxy: Proxy,
    /// Takes connections and never answers.
    mute: Listener,
}

impl Bed {
    async fn idle(&self) {
        drop(connect(&self.server.url()).await);
    }

    async fn with_a_call_in_flight(&self) {
        let connector = connect(&self.server.url()).await;
        let command = Command::new("EVAL").arg("return redis.call('GET', KEYS[1])").arg(1).arg("k");
        let mut call = pin!(connector.command(&command));
        begin(&mut call).await;
    }

    async fn with_calls_that_outlive_the_handle(&self) {
        let connector = connect(&self.server.url()).await;
        let calls: Vec<_> = (0..5)
            .map(|n| {
                let connector = connector.clone();
                tokio::spawn(async move { connector.command(Command::new("ECHO").arg(n)).await })
            })
            .collect();
        drop(connector);
        for call in calls {
            assert!(bounded("it is answered", call).await.unwrap().is_ok());
        }
    }

    async fn connecting(&self) {
        let mut connect = pin!(Connector::connect(config(&self.mute.url())));
        begin(&mut connect).await;
        // Until it has said HELLO and waits; one of an earlier turn may have dialled once more in
        // the moment in which it was dropped.
        while self.mute.accept().await.command_or_close().await.is_none() {}
    }

    async fn backing_off(&self) {
        let connector = connect(&self.proxy.url()).await;
        self.proxy.refuse();
        lost(&connector, || self.proxy.cut(Cut::Close)).await;
        drop(connector);
        self.proxy.listen();
    }

    async fn with_a_call_that_waits_for_a_connection(&self) {
        let waits = Policy { when_away: WhenAway::WaitAtMost(HOUR), ..policy() };
        let config = config(&self.proxy.url()).policy(waits);
        let connector = Connector::connect(config).await.unwrap();
        self.proxy.refuse();
        lost(&connector, || self.proxy.cut(Cut::Reset)).await;
        {
            let mut call = pin!(connector.command(Command::new("PING")));
            begin(&mut call).await;
        }
        drop(connector);
        self.proxy.listen();
    }

    async fn closing(&self) {
        let connector = connect(&self.proxy.url()).await;
        self.proxy.stall(Way::Down);
        let mut call = pin!(connector.command(Command::new("PING")));
        begin(&mut call).await;
        let mut close = pin!(connector.close());
        begin(&mut close).await;
        self.proxy.resume();
        bounded("it closes", close).await;
    }

    async fn closing_and_given_up(&self) {
        let connector = connect(&self.proxy.url()).await;
        self.proxy.stall(Way::Down);
        {
            let mut call = pin!(connector.command(Command::new("PING")));
            begin(&mut call).await;
            let mut close = pin!(connector.close());
            begin(&mut close).await;
        }
        drop(connector);
        self.proxy.resume();
    }

    async fn subscribed(&self) {
        let connector = connect(&self.server.url()).await;
        let subscription = connector.subscribe(["channel"]).await.unwrap();
        drop(connector);
        drop(subscription);
    }

    async fn blocked(&self) {
        let connector = connect(&self.server.url()).await;
        let mut dedicated = connector.dedicated().await.unwrap();
        {
            let mut pop = pin!(dedicated.command(Command::new("BLPOP").arg("empty").arg(0)));
            begin(&mut pop).await;
            yield_now().await;
        }
        drop((connector, dedicated));
    }

    async fn stopped_by_another_wire(&self) {
        let connector = connect(&self.proxy.url()).await;
        let mut raw = self.server.raw();
        raw.text(&["SET", VERSION_KEY, "other:1"]);
        self.proxy.cut(Cut::Close);
        let stopped = async {
            while connector.ready().await.is_ok() {
                yield_now().await;
            }
        };
        bounded("it is stopped", stopped).await;
        raw.text(&["SET", VERSION_KEY, support::WIRE]);
    }

    async fn refused_at_once(&self) {
        let config = config(&self.server.url()).user_and_password("nobody", "wrong");
        Connector::connect(config).await.unwrap_err();
    }
}

/// Serialises the tests of this file.
fn alone() -> impl Drop {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn runtimes() -> [Runtime; 2] {
    [
        Builder::new_current_thread().enable_all().build().unwrap(),
        Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap(),
    ]
}

const EACH: usize = 85;

#[test]
fn a_thousand_handles_dropped_in_every_state_leave_nothing() {
    let _alone = alone();
    for flavor in flavors() {
        for runtime in runtimes() {
            let server = flavor.server().start();
            runtime.block_on(async {
                let proxy = Proxy::start(server.address());
                let bed = Bed { server, proxy, mute: Listener::open() };
                bed.idle().await;
                until("the first is gone", || bed.server.clients().is_empty()).await;
                let start = Gauge::read();
                for _ in 0..EACH {
                    bed.idle().await;
                    bed.with_a_call_in_flight().await;
                    bed.with_calls_that_outlive_the_handle().await;
                    bed.connecting().await;
                    bed.backing_off().await;
                    bed.with_a_call_that_waits_for_a_connection().await;
                    bed.closing().await;
                    bed.closing_and_given_up().await;
                    bed.subscribed().await;
                    bed.blocked().await;
                    bed.stopped_by_another_wire().await;
                    bed.refused_at_once().await;
                }
                start.returns().await;
                until("no client is left", || bed.server.clients().is_empty()).await;
                bed.proxy.open_becomes(0).await;
            });
        }
    }
}

#[test]
fn two_hundred_lost_connections_cost_no_more_than_one() {
    let _alone = alone();
    for flavor in flavors() {
        for runtime in runtimes() {
            let server = flavor.server().start();
            runtime.block_on(async {
                let connector = connect(&server.url()).await;
                let mut subscription = connector.subscribe(["channel"]).await.unwrap();
                let mut raw = server.raw();
                let start = Gauge::read();
                for lost in 1..=200 {
                    let call = connector.command(Command::new("ECHO").arg("x"));
                    raw.send(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]).unwrap();
                    raw.send(&["CLIENT", "KILL", "TYPE", "pubsub"]).unwrap();
                    drop(call.await);
                    drop((raw.read().unwrap(), raw.read().unwrap()));
                    until("it is back", || connector.stats().reconnects >= lost).await;
                    bounded("it is ready", connector.ready()).await.unwrap();
                    // The gap, told to its reader.
                    bounded("it is told", subscription.next()).await.unwrap();
                }
                start.returns().await;
                assert_eq!(raw.text(&["CLIENT", "LIST"]).lines().count(), 2);
                let stats = connector.stats();
                assert_eq!((stats.pending, stats.protocol_errors), (0, 0));
                drop((connector, subscription));
                until("no client is left", || server.clients().len() == 1).await;
            });
        }
    }
}
