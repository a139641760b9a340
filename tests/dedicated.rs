//! Commands that wait, on a connection of one's own: whoever gives up on one loses nothing, and
//! the fence holds there as everywhere.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail"
)]

mod support;

use std::{collections::BTreeSet, sync::mpsc, thread};

use echo_wire::{
    connector::{Config, Connector, Error, Event, Policy},
    resp::{Command, Protocol, Reply},
};
use support::{Server, bounded, flavors, until};
use tokio::{select, task::yield_now};

/// Each server in both generations of the protocol, and a connector there.
fn everywhere(test: impl AsyncFn(&Server, Connector)) {
    everywhere_with(Policy::default(), test);
}

fn everywhere_with(policy: Policy, test: impl AsyncFn(&Server, Connector)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for flavor in flavors() {
        let server = flavor.server().start();
        for protocol in [Protocol::Resp2, Protocol::Resp3] {
            server.cli(&["FLUSHALL"]);
            let config = Config::from_url(&server.url()).unwrap().protocol(protocol);
            runtime.block_on(async {
                let config = config.policy(policy.clone());
                test(&server, Connector::connect(config).await.unwrap()).await;
            });
        }
    }
}

fn blpop(timeout: u32) -> Command<'static> {
    Command::new("BLPOP").arg("q").arg(timeout)
}

fn popped(reply: &Reply) -> String {
    let (key, element): (String, String) = reply.to().unwrap();
    assert_eq!(key, "q");
    element
}

fn blocked(server: &Server) -> usize {
    let is_blocked = |line: &&String| {
        let flags = line.split(' ').find_map(|field| field.strip_prefix("flags="));
        flags.is_some_and(|flags| flags.contains('b'))
    };
    server.clients().iter().filter(is_blocked).count()
}

/// Starts the call, waits until the server holds it, and drops it.
async fn give_up(server: &Server, call: impl Future<Output = Result<Reply, Error>>) {
    select! {
        reply = call => panic!("{reply:?} came"),
        () = until("the command waits on the server", || blocked(server) == 1) => {}
    }
}

async fn push(connector: &Connector, element: &str) {
    connector.command(Command::new("RPUSH").arg("q").arg(element)).await.unwrap();
}

async fn queue(connector: &Connector) -> Vec<String> {
    let range = Command::new("LRANGE").arg("q").arg(0).arg(-1);
    connector.command(range).await.unwrap().to().unwrap()
}

#[test]
fn a_pop_waits_on_a_connection_of_its_own_and_holds_up_nobody() {
    everywhere(async |server, connector| {
        let mut dedicated = connector.dedicated().await.unwrap();
        let feed = async {
            until("the pop waits", || blocked(server) == 1).await;
            push(&connector, "x").await;
        };
        let (reply, ()) = tokio::join!(dedicated.command(blpop(0)), feed);
        assert_eq!(popped(&reply.unwrap()), "x");
        // A time that is up is a reply like any other.
        let reply = dedicated.command(Command::new("BLPOP").arg("q").arg(0.01)).await.unwrap();
        assert!(reply.is_null());
        assert_eq!(connector.stats().dedicated, 1);
        dedicated.close().await;
    });
}

#[test]
fn a_dropped_pop_pops_nothing_and_the_connection_goes_on() {
    everywhere(async |server, connector| {
        let mut dedicated = connector.dedicated().await.unwrap();
        let id = dedicated.client_id().unwrap();
        for _ in 0..3 {
            give_up(server, dedicated.command(blpop(0))).await;
            let pong = dedicated.command(Command::new("PING")).await.unwrap();
            assert_eq!(pong.to::<String>().unwrap(), "PONG");
            push(&connector, "x").await;
            assert_eq!(queue(&connector).await, ["x"]);
            assert_eq!(popped(&dedicated.command(blpop(0)).await.unwrap()), "x");
        }
        assert_eq!(dedicated.client_id(), Some(id), "the same connection");
        assert_eq!((connector.stats().dedicated, connector.stats().orphans), (1, 0));
    });
}

#[test]
fn a_handle_dropped_with_its_pop_pops_nothing_and_is_gone_from_the_server() {
    everywhere(async |server, connector| {
        let mut dedicated = connector.dedicated().await.unwrap();
        give_up(server, dedicated.command(blpop(0))).await;
        drop(dedicated);
        until("only the shared link is left", || server.clients().len() == 1).await;
        push(&connector, "x").await;
        assert_eq!(queue(&connector).await, ["x"]);
    });
}

#[test]
fn an_element_popped_in_the_moment_of_giving_up_is_an_orphan_and_told() {
    everywhere(async |server, connector| {
        let mut events = connector.events();
        let mut dedicated = connector.dedicated().await.unwrap();
        let mut pop = Box::pin(dedicated.command(blpop(0)));
        select! {
            reply = &mut pop => panic!("{reply:?} came"),
            () = until("the pop waits", || blocked(server) == 1) => {}
        }
        // The answer is on its way, and nobody reads it.
        server.cli(&["RPUSH", "q", "x", "y"]);
        drop(pop);
        let event = async {
            loop {
                if let Event::Orphaned { command } = events.next().await.unwrap() {
                    return command;
                }
            }
        };
        assert_eq!(bounded("the orphan is told", event).await, "BLPOP");
        // The next call does not get it.
        assert_eq!(popped(&dedicated.command(blpop(0)).await.unwrap()), "y");
        let orphans = connector.take_orphans();
        assert_eq!((orphans.len(), popped(orphans[0].reply())), (1, "x".to_owned()));
        assert!(connector.take_orphans().is_empty(), "each is given once");
        assert_eq!(connector.stats().orphans, 1);
    });
}

#[test]
fn in_a_race_of_pushes_and_dropped_pops_every_element_is_somewhere_once() {
    everywhere(async |server, connector| {
        let (orders, inbox) = mpsc::channel::<u32>();
        let mut raw = server.raw();
        let pushes = thread::spawn(move || {
            for element in inbox {
                raw.text(&["RPUSH", "q", &element.to_string()]);
            }
        });
        let mut dedicated = connector.dedicated().await.unwrap();
        let mut seen = Vec::new();
        let rounds = 1500;
        for round in 0..rounds {
            let patience = async {
                orders.send(round).unwrap();
                for _ in 0..round % 50 {
                    yield_now().await;
                }
            };
            let mut pop = Box::pin(dedicated.command(blpop(0)));
            select! {
                biased;
                reply = &mut pop => seen.push(popped(&reply.unwrap())),
                () = patience => {}
            }
        }
        drop(orders);
        pushes.join().unwrap();
        // When it is answered, the last rescue has come to its end.
        dedicated.command(Command::new("PING")).await.unwrap();
        let returned = seen.len();
        let orphans = connector.take_orphans();
        seen.extend(orphans.iter().map(|orphan| popped(orphan.reply())));
        let kept = queue(&connector).await;
        seen.extend(kept.iter().cloned());
        let once: BTreeSet<_> = seen.iter().collect();
        assert_eq!((once.len(), seen.len()), (1500, 1500));
        assert!(returned > 0 && !kept.is_empty(), "it was a race");
        let stats = connector.stats();
        assert_eq!((stats.orphans, stats.orphans_lost), (orphans.len() as u64, 0));
    });
}
