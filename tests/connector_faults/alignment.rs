//! Every caller gets the reply to its own command, whatever becomes of the others: dropped at any
//! point, out of time, failing in a pipeline, with pushes and attributes in between.

use std::{future::Future, sync::Arc};

use echo_wire::{
    connector::{Connector, Error, Pipeline, Policy, WhenFull},
    resp::{Command, Protocol},
};
use tokio::task::{JoinSet, yield_now};

use crate::{
    bed::{
        config, echo, everywhere, millis, on_each_runtime, on_each_server, over_scripts, policy,
    },
    support::{Proxy, Random, WIRE, Way, at_most, bounded, bulk, until},
};

/// What one caller's calls came to.
#[derive(Default)]
struct Fates {
    answered: u64,
    dropped: u64,
}

async fn call_and_drop(connector: Connector, caller: u64, calls: u64) -> Fates {
    let mut random = Random::new(caller);
    let mut fates = Fates::default();
    for call in 0..calls {
        let tag = format!("{caller}:{call}");
        // Half of them wait long enough for a reply, the others go anywhere before it.
        let patience = [1, 2, 1 << random.below(8), u64::MAX, u64::MAX, u64::MAX];
        let polls = patience[random.below(6) as usize];
        let is_answered = match random.below(4) {
            0 => at_most(polls, connector.pipeline(&echoes(&tag, 3))).await.map(|replies| {
                let replies = replies.unwrap();
                assert!(replies[3].is_error());
                let tags = replies[..3].iter().map(|reply| reply.to::<String>().unwrap());
                assert!(tags.eq((0..3).map(|n| format!("{tag}/{n}"))), "{tag}: {replies:?}");
            }),
            1 => at_most(polls, connector.transaction(&echoes(&tag, 2))).await.map(|ended| {
                let ended = ended.unwrap();
                let is_aborted = format!("{ended:?}").contains("EXECABORT");
                assert!(is_aborted, "the third command cannot be queued: {ended:?}");
            }),
            _ => at_most(polls, echo(&connector, &tag)).await.map(|word| {
                assert_eq!(word.unwrap(), tag);
            }),
        };
        match is_answered {
            Some(()) => fates.answered += 1,
            None => fates.dropped += 1,
        }
    }
    fates
}

/// `n` echoes of the tag, and one command that fails.
fn echoes(tag: &str, n: u64) -> Pipeline {
    let mut pipeline = Pipeline::new();
    (0..n).for_each(|n| pipeline.push(Command::new("ECHO").arg(&format!("{tag}/{n}"))));
    pipeline.command(Command::new("ECHO"))
}

#[test]
fn calls_dropped_at_any_point_shift_nobodys_reply() {
    everywhere(async |server| {
        let roomy = policy();
        // Here most callers wait for room, and are dropped while they do.
        let tight = Policy { max_pending: 16, when_full: WhenFull::Wait, ..policy() };
        for (policy, calls) in [(roomy, 500), (tight, 200)] {
            server.cli(&["CONFIG", "RESETSTAT"]);
            let connector = Connector::connect(config(&server.url(), policy)).await.unwrap();
            let mut callers = JoinSet::new();
            for caller in 0..64 {
                callers.spawn(call_and_drop(connector.clone(), caller, calls));
            }
            let (mut answered, mut dropped) = (0, 0);
            while let Some(fates) = bounded("a caller ends", callers.join_next()).await {
                let fates = fates.unwrap();
                answered += fates.answered;
                dropped += fates.dropped;
            }
            assert!(answered > 3000 && dropped > 3000, "{answered} answered, {dropped} dropped");
            until("the last replies come", || connector.stats().pending == 0).await;
            let stats = connector.stats();
            assert_eq!(stats.commands, stats.replies, "a reply for each command");
            assert_eq!((stats.connects, stats.protocol_errors), (1, 0));
        }
    });
}

#[test]
fn a_call_that_was_never_polled_sends_nothing() {
    on_each_server(async |flavor| {
        let server = flavor.server().start();
        let connector = Connector::connect(config(&server.url(), policy())).await.unwrap();
        for _ in 0..100 {
            assert!(at_most(0, connector.command(Command::new("INCR").arg("n"))).await.is_none());
        }
        assert_eq!(echo(&connector, "on").await.unwrap(), "on");
        assert_eq!(connector.stats().commands, 1);
        assert_eq!(server.cli(&["EXISTS", "n"]), "0");
    });
}

#[test]
fn a_pipeline_that_fails_in_any_place_leaves_its_neighbours_their_replies() {
    everywhere(async |server| {
        let connector = Connector::connect(config(&server.url(), policy())).await.unwrap();
        server.cli(&["SET", "text", "x"]);
        let mut callers = JoinSet::new();
        // Bit i says whether the command in place i fails.
        for failing in 0..64_u64 {
            let connector = connector.clone();
            callers.spawn(async move {
                let fails = |place: u64| failing & (1 << place) != 0;
                for turn in 0..20 {
                    let mut pipeline = Pipeline::new();
                    let tag = |place: u64| format!("{failing}:{turn}:{place}");
                    for place in 0..6 {
                        let tag = tag(place);
                        pipeline.push(match fails(place) {
                            true => Command::new("LPUSH").arg("text").arg("1"),
                            false => Command::new("ECHO").arg(&tag),
                        });
                    }
                    let replies = connector.pipeline(&pipeline).await.unwrap();
                    assert_eq!(replies.len(), 6);
                    for (place, reply) in (0..).zip(&replies) {
                        match reply.as_error() {
                            Some(words) => assert!(fails(place) && words.code() == "WRONGTYPE"),
                            None => assert_eq!(reply.to::<String>().unwrap(), tag(place)),
                        }
                    }
                    let alone = connector.command(Command::new("LPUSH").arg("text").arg("1")).await;
                    assert!(matches!(alone, Err(Error::Server(_))), "{alone:?}");
                }
            });
        }
        while let Some(caller) = bounded("a caller ends", callers.join_next()).await {
            caller.unwrap();
        }
    });
}

/// The replies that a dropped call still gets, cut at each of their bytes: before the cut the call
/// is there, behind it somebody else waits.
#[test]
fn a_call_dropped_between_two_reads_of_its_reply_leaves_the_rest_to_nobody() {
    on_each_runtime(async || {
        let (connector, mut script, _scripts) = over_scripts(policy(), 1 << 16).await;
        type Dropped = fn(&Connector) -> tokio::task::JoinHandle<()>;
        let kinds: [(Dropped, usize, Vec<u8>); 3] = [
            (
                |connector| spawn(connector, async |it| drop(echo(&it, "first").await)),
                1,
                bulk("0123456789"),
            ),
            (
                |connector| {
                    spawn(connector, async |it| drop(it.pipeline(&echoes("first", 2)).await))
                },
                3,
                [bulk("one"), b"-ERR two\r\n".to_vec(), bulk("three")].concat(),
            ),
            (
                |connector| {
                    spawn(connector, async |it| drop(it.transaction(&echoes("first", 1)).await))
                },
                4,
                b"+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n$3\r\none\r\n$3\r\ntwo\r\n".to_vec(),
            ),
        ];
        for (dropped, commands, replies) in kinds {
            for cut in 0..replies.len() {
                let call = dropped(&connector);
                for _ in 0..commands {
                    script.command().await;
                }
                script.send(&replies[..cut]).await;
                script.taken().await;
                call.abort();
                assert!(call.await.unwrap_err().is_cancelled());
                let tag = format!("second after {cut}");
                let (next, ()) = tokio::join!(echo(&connector, &tag), async {
                    script.expect_command(&["ECHO", &tag]).await;
                    script.send(&replies[cut..]).await;
                    script.taken().await;
                    script.send(bulk(&tag)).await;
                });
                assert_eq!(next.unwrap(), tag);
            }
        }
        let stats = connector.stats();
        assert_eq!((stats.pending, stats.connects, stats.protocol_errors), (0, 1, 0));
    });
}

fn spawn<F: Future<Output = ()> + Send + 'static>(
    connector: &Connector,
    call: impl FnOnce(Connector) -> F,
) -> tokio::task::JoinHandle<()> {
    tokio::spawn(call(connector.clone()))
}

#[test]
fn replies_that_come_after_their_time_are_read_and_given_to_nobody() {
    everywhere(async |server| {
        let proxy = Proxy::start(server.address());
        let policy = Policy { response_timeout: millis(20), ..policy() };
        let connector = Connector::connect(config(&proxy.url(), policy)).await.unwrap();
        for round in 0..5 {
            proxy.stall(Way::Down);
            let late = (0..100).map(|n| {
                let connector = connector.clone();
                tokio::spawn(async move { echo(&connector, &format!("late {n}")).await })
            });
            for call in late.collect::<Vec<_>>() {
                let result = bounded("it is told", call).await.unwrap();
                assert!(
                    matches!(result, Err(Error::Timeout { maybe_executed: true })),
                    "{result:?}"
                );
            }
            proxy.resume();
            // The first of these may still meet its own deadline behind the late ones.
            let tag = format!("next {round}");
            loop {
                match echo(&connector, &tag).await {
                    Ok(word) => break assert_eq!(word, tag),
                    Err(error) => assert!(matches!(error, Error::Timeout { .. }), "{error:?}"),
                }
            }
        }
        until("the last replies come", || connector.stats().pending == 0).await;
        let stats = connector.stats();
        assert!(stats.timeouts >= 500 && stats.connects == 1, "{stats:?}");
        assert_eq!(stats.commands, stats.replies);
    });
}

#[test]
fn a_push_anywhere_among_replies_answers_nobody() {
    on_each_runtime(async || {
        let (connector, mut script, _scripts) = over_scripts(policy(), 1 << 16).await;
        let push = b">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n";
        let unknown = b"|1\r\n+ttl\r\n:1\r\n>1\r\n$7\r\nnobody?\r\n";
        let replies = [&push[..], &bulk("a"), unknown, push, &bulk("b"), push, &bulk("c"), unknown];
        let stream = replies.concat();
        let words = Pipeline::new()
            .command(Command::new("ECHO").arg("a"))
            .command(Command::new("ECHO").arg("b"));
        for cut in 0..stream.len() {
            let (pair, last, ()) =
                tokio::join!(connector.pipeline(&words), echo(&connector, "c"), async {
                    for _ in 0..3 {
                        script.command().await;
                    }
                    script.send_split(&stream, &[cut]).await;
                });
            let pair: Vec<String> = pair.unwrap().iter().map(|it| it.to().unwrap()).collect();
            assert_eq!((pair, last.unwrap()), (vec!["a".into(), "b".into()], "c".into()));
        }
        script.send_split(&stream[..push.len()], &(1..push.len()).collect::<Vec<_>>()).await;
        script.taken().await;
        let (alone, ()) = tokio::join!(echo(&connector, "d"), async {
            script.command().await;
            script.send(bulk("d")).await;
        });
        assert_eq!(alone.unwrap(), "d");
        let stats = connector.stats();
        assert_eq!(stats.pushes, 5 * stream.len() as u64 + 1);
        assert_eq!((stats.connects, stats.protocol_errors), (1, 0));
    });
}

#[test]
fn a_servers_own_pushes_and_attributes_answer_nobody() {
    everywhere(async |server| {
        let config = config(&server.url(), policy()).protocol(Protocol::Resp3);
        let connector = Arc::new(Connector::connect(config).await.unwrap());
        let mut callers = JoinSet::new();
        for caller in 0..16 {
            let connector = Arc::clone(&connector);
            callers.spawn(async move {
                for turn in 0..50 {
                    let tag = format!("{caller}:{turn}");
                    let odd = ["push", "attrib"][turn % 2];
                    let odd = Command::new("DEBUG").arg("PROTOCOL").arg(odd);
                    let (odd, word) = tokio::join!(connector.command(&odd), echo(&connector, &tag));
                    let odd = odd.unwrap().to::<String>().unwrap();
                    assert!(odd.starts_with("Some real reply following the"), "{odd}");
                    assert_eq!(word.unwrap(), tag);
                }
            });
        }
        while let Some(caller) = bounded("a caller ends", callers.join_next()).await {
            caller.unwrap();
        }
        assert_eq!(connector.stats().pushes, 16 * 25);
    });
}

#[test]
fn a_call_goes_on_in_another_task_than_the_one_that_began_it() {
    everywhere(async |server| {
        let proxy = Proxy::start(server.address());
        let connector = Connector::connect(config(&proxy.url(), policy())).await.unwrap();
        for n in 0..50 {
            proxy.stall(Way::Down);
            let word = format!("moved {n}");
            let (connector, sent) = (connector.clone(), word.clone());
            let mut call = Box::pin(async move { echo(&connector, &sent).await });
            assert!(at_most(2, &mut call).await.is_none(), "it has begun");
            let moved = tokio::spawn(call);
            yield_now().await;
            proxy.resume();
            assert_eq!(bounded("it is answered", moved).await.unwrap().unwrap(), word);
        }
    });
}

#[test]
fn the_fence_asks_behind_a_half_written_command_and_ahead_of_what_gathers() {
    on_each_runtime(async || {
        let policy = Policy { heartbeat: millis(20), ..policy() };
        let (connector, mut peer, _scripts) = over_scripts(policy, 1024).await;
        let mut in_between = 0;
        for _ in 0..10 {
            let set = spawn(&connector, async |it| {
                let large = "x".repeat(100_000);
                let set = it.command(Command::new("SET").arg("k").arg(&large)).await;
                set.unwrap().to::<()>().unwrap();
            });
            until("it is taken", || connector.stats().pending > 0).await;
            let behind = spawn(&connector, async |it| {
                assert_eq!(echo(&it, "behind").await.unwrap(), "behind");
            });
            // A KiB of the SET has left; the rest waits for us, and meanwhile the heart beats.
            until("the fence has asked", || connector.stats().pending == 3).await;
            let mut order = Vec::new();
            for _ in 0..3 {
                let command = peer.command().await;
                order.push(command[0].clone());
                match command[0].as_str() {
                    "GET" => peer.send(bulk(WIRE)).await,
                    "SET" => peer.send("+OK\r\n").await,
                    _ => peer.send(bulk(&command[1])).await,
                }
            }
            assert_eq!(order[2], "ECHO", "{order:?}");
            in_between += u32::from(order == ["SET", "GET", "ECHO"]);
            bounded("it is set", set).await.unwrap();
            bounded("it is echoed", behind).await.unwrap();
        }
        assert!(in_between > 0);
        assert_eq!((connector.stats().connects, connector.stats().protocol_errors), (1, 0));
    });
}
