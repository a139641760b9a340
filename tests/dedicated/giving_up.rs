//! Whoever gives up on a command that waits loses nothing: not the element, not the connection, and
//! not the server.

use std::{collections::BTreeSet, sync::mpsc, thread, time::Duration};

use echo_wire::{
    connector::{Connector, Event, Events, Pipeline, Policy},
    resp::Command,
};
use tokio::{select, task::yield_now};

use crate::{
    bed::{blocked, blpop, dedicated, give_up, popped, push, queue, rescued},
    support::{bounded, everywhere, until},
};

async fn orphan_is_told(events: &mut Events) {
    let told = async { while !matches!(events.next().await, Some(Event::Orphaned { .. })) {} };
    bounded("the orphan is told", told).await;
}

#[test]
fn a_dropped_pop_pops_nothing_and_the_connection_goes_on() {
    everywhere(async |server, config| {
        let (connector, mut dedicated) = dedicated(config).await;
        for _ in 0..3 {
            give_up(server, dedicated.command(blpop(0))).await;
            rescued(&mut dedicated).await;
            push(&connector, "x").await;
            assert_eq!(queue(&connector).await, ["x"]);
            assert_eq!(popped(&dedicated.command(blpop(0)).await.unwrap()), "x");
        }
        let stats = connector.stats();
        assert_eq!((stats.dedicated, stats.orphans), (1, 0), "the same connection");
    });
}

#[test]
fn a_pop_that_was_never_polled_is_never_sent() {
    everywhere(async |server, config| {
        let (connector, mut dedicated) = dedicated(config).await;
        drop(dedicated.command(blpop(0)));
        push(&connector, "x").await;
        rescued(&mut dedicated).await;
        assert_eq!((queue(&connector).await, blocked(server)), (vec!["x".to_owned()], 0));
        assert_eq!(connector.stats().dedicated, 1);
    });
}

#[test]
fn a_handle_dropped_with_its_pop_pops_nothing_and_is_gone_from_the_server() {
    everywhere(async |server, config| {
        let (connector, mut dedicated) = dedicated(config).await;
        give_up(server, dedicated.command(blpop(0))).await;
        drop(dedicated);
        until("only the shared link is left", || server.clients().len() == 1).await;
        push(&connector, "x").await;
        assert_eq!(queue(&connector).await, ["x"]);
    });
}

#[test]
fn an_element_popped_in_the_moment_of_giving_up_is_an_orphan_and_told() {
    everywhere(async |server, config| {
        let (connector, mut dedicated) = dedicated(config).await;
        let mut events = connector.events();
        let mut pop = Box::pin(dedicated.command(blpop(0)));
        select! {
            reply = &mut pop => panic!("{reply:?} came"),
            () = until("the pop waits", || blocked(server) == 1) => {}
        }
        // The answer is on its way, and nobody reads it.
        server.cli(&["RPUSH", "q", "x", "y"]);
        drop(pop);
        orphan_is_told(&mut events).await;
        let orphans = connector.take_orphans();
        assert_eq!((orphans.len(), orphans[0].command()), (1, "BLPOP"));
        assert_eq!(popped(orphans[0].reply()), "x");
        assert!(connector.take_orphans().is_empty(), "each is given once");
        // The next call has its own.
        assert_eq!(popped(&dedicated.command(blpop(0)).await.unwrap()), "y");
        assert_eq!(connector.stats().orphans, 1);
    });
}

#[test]
fn a_large_element_popped_in_that_moment_is_whole() {
    everywhere(async |server, config| {
        let (connector, mut dedicated) = dedicated(config).await;
        let mut events = connector.events();
        let large = vec![b'l'; 8 << 20];
        connector.command(Command::new("RPUSH").arg("from").arg(&large)).await.unwrap();
        let mut pop = Box::pin(dedicated.command(blpop(0)));
        select! {
            reply = &mut pop => panic!("{reply:?} came"),
            () = until("the pop waits", || blocked(server) == 1) => {}
        }
        server.cli(&["RPOPLPUSH", "from", "q"]);
        drop(pop);
        orphan_is_told(&mut events).await;
        let orphan = connector.take_orphans().remove(0).into_reply();
        let (_key, element): (String, Vec<u8>) = orphan.to().unwrap();
        assert!(element == large);
    });
}

#[test]
fn in_a_race_of_pushes_and_dropped_pops_every_element_is_somewhere_once() {
    everywhere(async |server, config| {
        let (connector, mut dedicated) = dedicated(config).await;
        let (orders, inbox) = mpsc::channel::<u32>();
        let mut raw = server.raw();
        let pushes = thread::spawn(move || {
            for element in inbox {
                raw.text(&["RPUSH", "q", &element.to_string()]);
            }
        });
        let mut seen = Vec::new();
        for round in 0..1500 {
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
        rescued(&mut dedicated).await;
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

#[test]
fn a_dropped_pipeline_of_pops_loses_none_of_those_that_came() {
    everywhere(async |server, config| {
        let (connector, mut dedicated) = dedicated(config).await;
        let mut pops = Pipeline::new();
        for _ in 0..4 {
            pops.push(blpop(0));
            pops.push(Command::new("INCR").arg("n"));
        }
        let mut call = Box::pin(dedicated.pipeline(&pops));
        select! {
            replies = &mut call => panic!("{replies:?} came"),
            () = until("the first pop waits", || blocked(server) == 1) => {}
        }
        server.cli(&["RPUSH", "q", "a", "b"]);
        drop(call);
        rescued(&mut dedicated).await;
        push(&connector, "c").await;
        let orphans = connector.take_orphans();
        let elements: Vec<_> = orphans.iter().map(|orphan| popped(orphan.reply())).collect();
        assert_eq!(elements, ["a", "b"], "counters are no orphans");
        assert_eq!(queue(&connector).await, ["c"]);
    });
}

#[test]
fn without_the_right_to_unblock_nothing_is_lost_either() {
    everywhere(async |server, config| {
        let user = ["ACL", "SETUSER", "app", "on", ">pw", "~*", "&*", "+@all", "-client|unblock"];
        server.cli(&user);
        let (connector, mut dedicated) = dedicated(config.user_and_password("app", "pw")).await;
        give_up(server, dedicated.command(blpop(0))).await;
        rescued(&mut dedicated).await;
        push(&connector, "x").await;
        assert_eq!(queue(&connector).await, ["x"]);
        assert_eq!(connector.stats().dedicated, 2, "on a new connection");
    });
}

#[test]
fn while_clients_are_paused_giving_up_harms_neither_the_server_nor_the_queue() {
    everywhere(async |server, config| {
        let bound = Policy { drain_within: Duration::from_millis(300), ..Policy::default() };
        let (connector, mut dedicated) = dedicated(config.policy(bound)).await;
        server.cli(&["CLIENT", "PAUSE", "600000", "WRITE"]);
        give_up(server, dedicated.command(blpop(0))).await;
        rescued(&mut dedicated).await;
        assert!(server.is_running());
        server.cli(&["CLIENT", "UNPAUSE"]);
        push(&connector, "x").await;
        assert_eq!(queue(&connector).await, ["x"]);
        assert_eq!(popped(&dedicated.command(blpop(0)).await.unwrap()), "x");
    });
}

#[test]
fn giving_up_on_other_waits_leaves_no_orphans() {
    everywhere(async |server, config| {
        let (connector, mut dedicated) = dedicated(config).await;
        for command in [
            Command::new("WAIT").arg(3).arg(0),
            Command::new("XREAD").arg("BLOCK").arg(0).arg("STREAMS").arg("s").arg("$"),
            Command::new("BZPOPMIN").arg("z").arg(0),
            Command::new("BLMOVE").arg("a").arg("b").arg("LEFT").arg("LEFT").arg(0),
        ] {
            give_up(server, dedicated.command(&command)).await;
            rescued(&mut dedicated).await;
            assert_eq!((blocked(server), connector.take_orphans().len()), (0, 0), "{command:?}");
        }
    });
}

#[test]
fn a_reply_that_came_to_a_dropped_call_that_does_not_wait_goes_to_nobody() {
    everywhere(async |_server, config| {
        let (connector, mut dedicated) = dedicated(config).await;
        for turns in 0..30 {
            let dropped = dedicated.command(Command::new("ECHO").arg("dropped"));
            let patience = async {
                for _ in 0..turns {
                    yield_now().await;
                }
            };
            select! {
                biased;
                reply = dropped => assert_eq!(reply.unwrap().to::<String>().unwrap(), "dropped"),
                () = patience => {}
            }
            let next = dedicated.command(Command::new("ECHO").arg(turns)).await.unwrap();
            assert_eq!(next.to::<u32>().unwrap(), turns);
        }
        assert!(connector.take_orphans().is_empty());
        assert_eq!(connector.stats().dedicated, 1);
    });
}

#[test]
fn closing_ends_a_pop_and_what_it_had_popped_still_comes() {
    everywhere(async |server, config| {
        let (connector, mut first) = dedicated(config).await;
        let mut second = connector.dedicated().await.unwrap();
        let (mut popping, mut waiting) = (
            Box::pin(first.command(blpop(0))),
            Box::pin(second.command(Command::new("BLPOP").arg("other").arg(0))),
        );
        select! {
            reply = &mut popping => panic!("{reply:?} came"),
            reply = &mut waiting => panic!("{reply:?} came"),
            () = until("both wait", || blocked(server) == 2) => {}
        }
        server.cli(&["RPUSH", "q", "x"]);
        let (reply, ended, ()) = tokio::join!(popping, waiting, connector.close());
        assert_eq!(popped(&reply.unwrap()), "x");
        assert!(ended.unwrap().is_null(), "as if its time had been up");
        drop((first, second));
        until("all is gone from the server", || server.clients().is_empty()).await;
    });
}

#[test]
fn in_a_race_of_pushes_and_closing_every_element_is_somewhere_once() {
    everywhere(async |server, config| {
        let observer = Connector::connect(config.clone()).await.unwrap();
        let (orders, inbox) = mpsc::channel::<u32>();
        let mut raw = server.raw();
        let pushes = thread::spawn(move || {
            for element in inbox {
                raw.text(&["RPUSH", "q", &element.to_string()]);
            }
        });
        let mut seen = Vec::new();
        for round in 0..60 {
            let (connector, mut dedicated) = dedicated(config.clone()).await;
            let mut pop = Box::pin(dedicated.command(blpop(0)));
            let close = async {
                orders.send(round).unwrap();
                for _ in 0..round % 20 {
                    yield_now().await;
                }
                connector.close().await;
            };
            // Every other one is dropped while it closes.
            if round % 2 == 0 {
                let (reply, ()) = tokio::join!(pop, close);
                seen.extend(reply.ok().filter(|it| !it.is_null()).map(|it| popped(&it)));
            } else {
                select! {
                    reply = &mut pop => seen.extend(reply.ok().map(|it| popped(&it))),
                    () = yield_now() => drop(pop),
                }
                close.await;
            }
            seen.extend(connector.take_orphans().iter().map(|orphan| popped(orphan.reply())));
        }
        drop(orders);
        pushes.join().unwrap();
        seen.extend(queue(&observer).await);
        let once: BTreeSet<_> = seen.iter().collect();
        assert_eq!((once.len(), seen.len()), (60, 60));
    });
}

#[test]
fn closing_waits_for_what_was_given_up_before() {
    everywhere(async |server, config| {
        let connector = Connector::connect(config).await.unwrap();
        let mut dedicated = connector.dedicated().await.unwrap();
        let mut pop = Box::pin(dedicated.command(blpop(0)));
        select! {
            reply = &mut pop => panic!("{reply:?} came"),
            () = until("the pop waits", || blocked(server) == 1) => {}
        }
        server.cli(&["RPUSH", "q", "x"]);
        drop(pop);
        connector.close().await;
        let orphans = connector.take_orphans();
        assert_eq!((orphans.len(), popped(orphans[0].reply())), (1, "x".to_owned()));
    });
}
