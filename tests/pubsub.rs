//! Publish and subscribe on the shared connection, on real servers: what is promised to the reader,
//! to everybody else on the connection, and to the server.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test stops where it fails"
)]

mod support;

use std::time::Duration;

use echo_wire::{
    connector::{
        Config, Connector, Delivery, Error, Event, Events, Pipeline, Policy, Subscription, WhenAway,
    },
    resp::{Command, Protocol},
};
use support::{Answer, BOUND, Raw, Server, bounded, flavors, until};

async fn connect(server: &Server) -> Connector {
    connect_with(server, Policy::default()).await
}

async fn connect_with(server: &Server, policy: Policy) -> Connector {
    let config = Config::from_url(&server.url()).unwrap().policy(Policy {
        backoff_base: Duration::from_millis(5),
        when_away: WhenAway::WaitAtMost(BOUND),
        ..policy
    });
    Connector::connect(config).await.unwrap()
}

fn publish(raw: &mut Raw, channel: &str, payload: &str) -> i64 {
    match raw.call(&["PUBLISH", channel, payload]) {
        Answer::Integer(receivers) => receivers,
        answer => panic!("{answer}"),
    }
}

/// What the reader is told next, as text.
async fn next(subscription: &mut Subscription) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    match bounded("a delivery", subscription.next()).await {
        Some(Delivery::Message(message)) => {
            let pattern = message.pattern().map(|pattern| format!(" by {}", text(pattern)));
            let (channel, payload) = (text(message.channel()), text(message.payload()));
            format!("{channel}{}: {payload}", pattern.unwrap_or_default())
        }
        Some(Delivery::Lagged(lost)) => format!("lost {lost}"),
        Some(Delivery::Gap) => "gap".into(),
        Some(other) => format!("{other:?}"),
        None => "end".into(),
    }
}

async fn wait_for(events: &mut Events, pick: impl Fn(&Event) -> bool) {
    let found = async { while !pick(&events.next().await.unwrap()) {} };
    bounded("an event", found).await;
}

async fn echoes(connector: &Connector, word: &str) {
    let reply = connector.command(Command::new("ECHO").arg(word)).await.unwrap();
    assert_eq!(reply.to::<String>().unwrap(), word);
}

fn subscribers(raw: &mut Raw, channel: &str) -> String {
    raw.call(&["PUBSUB", "NUMSUB", channel]).to_string()
}

#[tokio::test]
async fn channels_patterns_and_shard_channels_reach_their_readers() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let (connector, mut raw) = (connect(&server).await, server.raw());
        let mut channels = connector.subscribe(["a", "b"]).await.unwrap();
        let mut patterns = connector.psubscribe(["a*"]).await.unwrap();
        let mut shards = connector.ssubscribe(["s"]).await.unwrap();
        assert_eq!(publish(&mut raw, "a", "1"), 2);
        assert_eq!(publish(&mut raw, "b", "2"), 1);
        assert_eq!(publish(&mut raw, "ab", "3"), 1);
        assert_eq!(raw.call(&["SPUBLISH", "s", "4"]), Answer::Integer(1));
        assert_eq!([next(&mut channels).await, next(&mut channels).await], ["a: 1", "b: 2"]);
        let by_pattern = [next(&mut patterns).await, next(&mut patterns).await];
        assert_eq!(by_pattern, ["a by a*: 1", "ab by a*: 3"]);
        assert_eq!(next(&mut shards).await, "s: 4");
    }
}

#[tokio::test]
async fn readers_share_a_channel_and_the_last_one_to_go_ends_it() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let (connector, mut raw) = (connect(&server).await, server.raw());
        let one = connector.subscribe(["c", "only"]).await.unwrap();
        let mut two = connector.subscribe(["c"]).await.unwrap();
        assert_eq!(publish(&mut raw, "c", "x"), 1, "one connection");
        one.unsubscribe().await.unwrap();
        assert!(subscribers(&mut raw, "only").contains('0'), "confirmed is done");
        assert_eq!(publish(&mut raw, "c", "y"), 1);
        assert_eq!([next(&mut two).await, next(&mut two).await], ["c: x", "c: y"]);
        drop(two);
        until("the drop reaches the server", || publish(&mut raw, "c", "z") == 0).await;
        echoes(&connector, "in step").await;
    }
}

#[tokio::test]
async fn a_refused_subscription_owns_one_slot_and_shifts_nothing() {
    for flavor in flavors() {
        let server = flavor.server().start();
        server.cli(&["ACL", "SETUSER", "app", "on", ">pw", "~*", "+@all", "resetchannels", "&ok*"]);
        let config = Config::from_url(&server.url()).unwrap().user_and_password("app", "pw");
        let connector = Connector::connect(config).await.unwrap();
        let (good, bad) = (["ok1", "ok2", "ok3"], ["ok1", "no", "ok2"]);
        let (good, before, bad, after) = tokio::join!(
            connector.subscribe(good),
            connector.command(Command::new("ECHO").arg("before")),
            connector.subscribe(bad),
            connector.command(Command::new("ECHO").arg("after")),
        );
        assert!(matches!(bad, Err(Error::Server(error)) if error.code() == "NOPERM"));
        assert_eq!(before.unwrap().to::<String>().unwrap(), "before");
        assert_eq!(after.unwrap().to::<String>().unwrap(), "after");
        let (mut good, mut raw) = (good.unwrap(), server.raw());
        assert_eq!(publish(&mut raw, "ok3", "x"), 1);
        assert_eq!(next(&mut good).await, "ok3: x");
        until("nothing is owed", || connector.stats().pending == 0).await;
    }
}

#[tokio::test]
async fn resp2_cannot_subscribe_and_nothing_is_sent() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let config = Config::from_url(&server.url()).unwrap().protocol(Protocol::Resp2);
        let connector = Connector::connect(config).await.unwrap();
        let sent = connector.stats().commands;
        assert!(matches!(connector.subscribe(["c"]).await, Err(Error::RequiresResp3)));
        assert_eq!(connector.stats().commands, sent);
        echoes(&connector, "still here").await;
    }
}

#[tokio::test]
async fn raw_subscribe_commands_are_refused_everywhere() {
    let server = flavors()[0].server().start();
    let connector = connect(&server).await;
    for verb in ["SUBSCRIBE", "psubscribe", "SSubscribe", "UNSUBSCRIBE"] {
        let command = Command::new(verb).arg("c");
        let refused = |error| matches!(error, Error::Refused(_));
        assert!(connector.command(&command).await.is_err_and(refused));
        let pipeline = Pipeline::new().command(&command);
        assert!(connector.pipeline(&pipeline).await.is_err_and(refused));
        assert!(connector.transaction(&pipeline).await.is_err_and(refused));
    }
}

#[tokio::test]
async fn a_subscription_survives_reconnects_and_tells_of_the_gap() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let connector = connect(&server).await;
        let mut events = connector.events();
        let mut channels = connector.subscribe(["a", "b"]).await.unwrap();
        let mut patterns = connector.psubscribe(["p*"]).await.unwrap();
        let mut raw = server.raw();
        publish(&mut raw, "a", "before");
        assert_eq!(next(&mut channels).await, "a: before");
        for kill in 1..=3 {
            match kill {
                1 => drop(server.cli(&["CLIENT", "KILL", "TYPE", "pubsub"])),
                2 => drop(server.cli(&["CLIENT", "KILL", "SKIPME", "yes"])),
                _ => {
                    server.kill();
                    server.restart();
                }
            }
            wait_for(&mut events, |event| matches!(event, Event::Fenced(_))).await;
            let mut raw = server.raw();
            until("subscribed again", || publish(&mut raw, "b", "probe") == 1).await;
            until("subscribed again", || publish(&mut raw, "p1", "x") == 1).await;
            // Read before the next kill: what a killed socket still held is in the gap.
            assert_eq!([next(&mut channels).await, next(&mut channels).await], ["gap", "b: probe"]);
            let by_pattern = [next(&mut patterns).await, next(&mut patterns).await];
            assert_eq!(by_pattern, ["gap", "p1 by p*: x"]);
        }
        echoes(&connector, "in step").await;
    }
}

#[tokio::test]
async fn what_was_unsubscribed_while_away_does_not_come_back() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let connector = connect(&server).await;
        let mut events = connector.events();
        let gone = connector.subscribe(["gone", "shared"]).await.unwrap();
        let dropped = connector.subscribe(["dropped"]).await.unwrap();
        let _kept = connector.subscribe(["kept", "shared"]).await.unwrap();
        server.kill();
        wait_for(&mut events, |event| matches!(event, Event::Disconnected(_))).await;
        gone.unsubscribe().await.unwrap();
        drop(dropped);
        server.restart();
        let mut raw = server.raw();
        until("subscribed again", || {
            publish(&mut raw, "kept", "x") == 1 && publish(&mut raw, "shared", "x") == 1
        })
        .await;
        assert_eq!([publish(&mut raw, "gone", "x"), publish(&mut raw, "dropped", "x")], [0, 0]);
    }
}

#[tokio::test]
async fn a_name_that_may_not_be_renewed_ends_its_readers_and_no_others() {
    for flavor in flavors() {
        let server = flavor.server().start();
        server.cli(&["ACL", "SETUSER", "app", "on", ">pw", "~*", "+@all", "allchannels"]);
        let config = Config::from_url(&server.url()).unwrap().user_and_password("app", "pw");
        let connector = Connector::connect(config).await.unwrap();
        let mut secret = connector.subscribe(["secret"]).await.unwrap();
        let mut open = connector.subscribe(["open"]).await.unwrap();
        // Takes the right away and, as servers do, the connections that used it.
        server.cli(&["ACL", "SETUSER", "app", "resetchannels", "&open"]);
        assert_eq!(next(&mut secret).await, "end");
        assert!(matches!(secret.end(), Some(Error::Server(error)) if error.code() == "NOPERM"));
        let mut raw = server.raw();
        until("subscribed again", || publish(&mut raw, "open", "x") == 1).await;
        assert_eq!([next(&mut open).await, next(&mut open).await], ["gap", "open: x"]);
    }
}

#[tokio::test]
async fn a_reader_that_sleeps_loses_its_own_messages_and_holds_up_nobody() {
    const MESSAGES: u64 = 100_000;
    for flavor in flavors() {
        let server = flavor.server().start();
        let policy = Policy { max_messages: 100, ..Policy::default() };
        let connector = connect_with(&server, policy).await;
        let mut sleeper = connector.subscribe(["flood"]).await.unwrap();
        let mut awake = connector.subscribe(["calm"]).await.unwrap();
        let mut raw = server.raw();
        for batch in 0..MESSAGES / 1000 {
            for n in 0..1000 {
                raw.send(&["PUBLISH", "flood", &(batch * 1000 + n).to_string()]).unwrap();
            }
            (0..1000).for_each(|_| drop(raw.read().unwrap()));
            echoes(&connector, &batch.to_string()).await;
        }
        raw.call(&["PUBLISH", "calm", "over"]);
        assert_eq!(next(&mut awake).await, "calm: over");
        let lost = next(&mut sleeper).await;
        assert_eq!(lost, format!("lost {}", MESSAGES - 100));
        for n in MESSAGES - 100..MESSAGES {
            assert_eq!(next(&mut sleeper).await, format!("flood: {n}"));
        }
        assert_eq!(connector.stats().messages_lost, MESSAGES - 100);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn subscriptions_come_and_go_among_commands_and_nothing_shifts() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let connector = connect(&server).await;
        let tasks: Vec<_> = (0..20)
            .map(|task| {
                let connector = connector.clone();
                tokio::spawn(async move {
                    for turn in 0..100 {
                        let names = [format!("c{}", turn % 7), format!("t{task}")];
                        let subscription = connector.subscribe(names).await.unwrap();
                        echoes(&connector, &format!("{task}.{turn}")).await;
                        match turn % 3 {
                            0 => subscription.unsubscribe().await.unwrap(),
                            1 => drop(subscription),
                            _ => {
                                // Given up half-way.
                                let names = ["x", "y", "z"];
                                let half = connector.subscribe(names);
                                drop(tokio::time::timeout(Duration::ZERO, half).await);
                            }
                        }
                    }
                })
            })
            .collect();
        for task in tasks {
            bounded("a task", task).await.unwrap();
        }
        let mut raw = server.raw();
        until("nothing stays subscribed", || {
            raw.call(&["PUBSUB", "CHANNELS"]) == Answer::List(vec![])
        })
        .await;
        assert_eq!(connector.stats().pending, 0);
        assert_eq!(connector.stats().reconnects, 0);
    }
}

#[tokio::test]
async fn a_subscription_alone_keeps_its_connector_and_ends_with_it() {
    let server = flavors()[0].server().start();
    let connector = connect(&server).await;
    let mut subscription = connector.subscribe(["c"]).await.unwrap();
    let closer = connector.clone();
    drop(connector);
    assert_eq!(publish(&mut server.raw(), "c", "x"), 1);
    assert_eq!(next(&mut subscription).await, "c: x");
    closer.close().await;
    assert_eq!(next(&mut subscription).await, "end");
    assert!(matches!(subscription.end(), Some(Error::Closed)));
    drop((closer, subscription));
    until("the socket is closed", || server.clients().is_empty()).await;
}
