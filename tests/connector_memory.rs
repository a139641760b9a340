//! What a shared connection holds: bounded whatever callers do while no answer comes, and given
//! back afterwards. Counted by an allocator that counts what this thread does, on a runtime of one
//! thread; the servers are processes of their own.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test stops where it fails"
)]

mod support;

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    task::Poll,
    time::Duration,
};

use allocation_counter::{AllocationInfo, measure};
use bytes::Bytes;
use echo_wire::{
    connector::{Config, Connector, Error, Event, Pipeline, Policy, WhenAway},
    resp::{Command, Reply},
};
use support::{Cut, Flavor, Proxy, Server, bounded, flavors, until};
use tokio::runtime::{Builder, Runtime};

const KIB: i64 = 1024;
const MIB: i64 = 1024 * KIB;
const HOUR: Duration = Duration::from_secs(3600);

fn policy() -> Policy {
    Policy { heartbeat: HOUR, watchdog: HOUR, response_timeout: HOUR, ..Policy::default() }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// A server, and a runtime of one thread.
fn on_each_server(test: impl Fn(&Server, &Runtime)) {
    for flavor in flavors() {
        let server = Flavor::server(flavor).start();
        test(&server, &runtime());
    }
}

async fn connect(url: &str, policy: Policy) -> Connector {
    let config = Config::from_url(url).unwrap().policy(policy);
    Connector::connect(config).await.unwrap()
}

/// What `work` allocated on this thread. A first round takes what is allocated once for all.
fn costs(runtime: &Runtime, work: impl AsyncFn()) -> AllocationInfo {
    runtime.block_on(work());
    measure(|| runtime.block_on(work()))
}

type Call<'c> = Pin<Box<dyn Future<Output = Result<Reply, Error>> + 'c>>;

/// The result, if one poll is enough for it.
async fn once(call: &mut Call<'_>) -> Option<Result<Reply, Error>> {
    poll_fn(|cx| match call.as_mut().poll(cx) {
        Poll::Ready(result) => Poll::Ready(Some(result)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// Waits until heartbeats have met a quiet connection.
async fn at_rest(connector: &Connector) {
    let beats = connector.stats().heartbeats + 2;
    until("the heart beats", || connector.stats().heartbeats >= beats).await;
    drop(connector.command(Command::new("ECHO").arg("hi")).await.unwrap());
}

/// Connected once, and now its server is gone.
async fn without_a_server(server: &Server, policy: Policy) -> Connector {
    let proxy = Proxy::start(server.address());
    let connector = connect(&proxy.url(), policy).await;
    let mut events = connector.events();
    proxy.refuse();
    proxy.cut(Cut::Close);
    let lost = async { while !matches!(events.next().await, Some(Event::Disconnected(_))) {} };
    bounded("it is lost", lost).await;
    connector
}

#[test]
fn a_million_calls_without_a_server_are_told_and_hold_nothing() {
    on_each_server(|server, runtime| {
        let value = [b'x'; 1000];
        let connector = runtime.block_on(without_a_server(server, policy()));
        let costs = measure(|| {
            runtime.block_on(async {
                for n in 0..1_000_000_u64 {
                    let set = Command::new("SET").arg(n).arg(&value);
                    let error = connector.command(set).await.unwrap_err();
                    assert!(matches!(error, Error::Disconnected { maybe_executed: false }));
                }
            });
        });
        let held = i64::try_from(costs.bytes_max).unwrap();
        assert!(held < MIB, "{held} bytes at most");
        assert_eq!((connector.stats().commands, connector.stats().pending), (0, 0));
    });
}

#[test]
fn calls_that_wait_for_a_server_hold_their_own_memory_and_take_it_along() {
    on_each_server(|server, runtime| {
        let waits = Policy { when_away: WhenAway::WaitAtMost(HOUR), ..policy() };
        let value = [b'x'; 1000];
        let connector = runtime.block_on(without_a_server(server, waits));
        let waiting = 100_000;
        let costs = costs(runtime, async || {
            let mut calls: Vec<Call<'_>> = Vec::new();
            for n in 0..waiting {
                let command = Command::new("SET").arg(n).arg(&value);
                let mut call: Call<'_> = Box::pin(connector.command(command));
                assert!(once(&mut call).await.is_none());
                calls.push(call);
            }
        });
        let (most, left) = (i64::try_from(costs.bytes_max).unwrap(), costs.bytes_current);
        assert!(most / waiting < 2 * KIB, "{} bytes a call", most / waiting);
        assert!(left < 64 * KIB, "{left} bytes are left");
        assert_eq!((connector.stats().commands, connector.stats().pending), (0, 0));
    });
}

#[test]
fn a_server_that_stopped_reading_costs_no_more_than_the_bounds_and_gives_it_all_back() {
    on_each_server(|server, runtime| {
        let bound = 16 * MIB;
        let max_buffered = usize::try_from(bound).unwrap();
        let policy = Policy { max_buffered, heartbeat: Duration::from_millis(20), ..policy() };
        let value = [b'x'; 1000];
        let connector = runtime.block_on(connect(&server.url(), policy));
        let flood = async || {
            server.pause();
            let mut calls: Vec<Call<'_>> = Vec::new();
            let mut overloaded = 0;
            for n in 0..1_000_000_u64 {
                let set = Command::new("SET").arg(n % 100).arg(&value);
                let mut call: Call<'_> = Box::pin(connector.command(set));
                match once(&mut call).await {
                    None => calls.push(call),
                    Some(Err(Error::Overloaded)) => overloaded += 1,
                    Some(result) => panic!("{result:?}"),
                }
                if n % 64 == 0 {
                    tokio::task::yield_now().await;
                }
            }
            assert_eq!(overloaded + calls.len(), 1_000_000);
            assert!(overloaded > 900_000, "{overloaded}");
            server.resume();
            let answered = async {
                for call in calls {
                    call.await.unwrap();
                }
            };
            bounded("they are answered", answered).await;
            at_rest(&connector).await;
        };
        // The first time is counted as well: nothing is allocated once for all here.
        let costs = measure(|| runtime.block_on(flood()));
        let (most, left) = (i64::try_from(costs.bytes_max).unwrap(), costs.bytes_current);
        // The buffers double as they grow, and the calls themselves take room.
        assert!(most < 4 * bound, "{} MiB at most", most / MIB);
        assert!(left < MIB / 2, "{left} bytes are left");
    });
}

#[test]
fn a_giant_leaves_nothing_of_itself_in_the_buffers() {
    on_each_server(|server, runtime| {
        let giant = Bytes::from(vec![b'x'; 64 << 20]);
        let connectors: Vec<_> =
            (0..4).map(|_| runtime.block_on(connect(&server.url(), policy()))).collect();
        let small_talk = async |connector: &Connector| {
            for _ in 0..100 {
                let reply = connector.command(Command::new("ECHO").arg("hi")).await.unwrap();
                assert_eq!(reply.to::<String>().unwrap(), "hi");
            }
        };
        let costs = costs(runtime, async || {
            for connector in &connectors {
                // By reference, copied, read, and in a pipeline.
                let by_reference = Command::new("SET").arg("g").arg(&giant);
                let copied = Command::new("SET").arg("g").arg(&giant[..]);
                bounded("it is set", connector.command(by_reference)).await.unwrap();
                bounded("it is set", connector.command(copied)).await.unwrap();
                let get = connector.command(Command::new("GET").arg("g"));
                let value: Bytes = bounded("it is read", get).await.unwrap().to().unwrap();
                assert_eq!(value.len(), giant.len());
                drop(value);
                let pipeline = Pipeline::new()
                    .command(Command::new("GET").arg("g"))
                    .command(Command::new("GET").arg("g"));
                drop(bounded("it is read", connector.pipeline(&pipeline)).await.unwrap());
                small_talk(connector).await;
            }
        });
        let left = costs.bytes_current;
        assert!(left < MIB, "{left} bytes are left in 4 connections");
    });
}

#[test]
fn a_burst_leaves_little_behind() {
    on_each_server(|server, runtime| {
        let mut pipeline = Pipeline::new();
        for n in 0..50_000_u64 {
            pipeline.push(Command::new("ECHO").arg(n));
        }
        // The first burst is counted as well: nothing is allocated once for all here.
        let policy = Policy { heartbeat: Duration::from_millis(20), ..policy() };
        let connector = runtime.block_on(connect(&server.url(), policy));
        let costs = measure(|| {
            runtime.block_on(async {
                let replies = bounded("answered", connector.pipeline(&pipeline)).await.unwrap();
                assert_eq!(replies.len(), 50_000);
                drop(replies);
                at_rest(&connector).await;
            });
        });
        let left = costs.bytes_current;
        assert!(left < MIB / 2, "{left} bytes are left");
    });
}
