//! What a connector does about time: deadlines, the heartbeat, the watchdog, the waits between
//! attempts. On tokio's paused clock, over a server in memory, so each figure is exact.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "a test stops where it fails"
)]

mod support;

use std::{
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

use echo_wire::{
    connector::{
        Cause, Config, Connector, Error, Event, Events, Found, Pipeline, Policy, WhenAway, WhenFull,
    },
    resp::Command,
};
use support::{MemoryStore, VERSION_KEY};
use tokio::time::{Instant, advance, sleep, timeout};

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn policy() -> Policy {
    Policy {
        response_timeout: seconds(10),
        heartbeat: seconds(60),
        watchdog: seconds(30),
        backoff_base: Duration::from_millis(100),
        backoff_cap: seconds(2),
        backoff_reset: seconds(5),
        ready_within: seconds(20),
        drain_within: seconds(3),
        ..Policy::default()
    }
}

async fn connect(server: &MemoryStore, policy: Policy) -> Result<Connector, Error> {
    Connector::over(server.dialer(), Config::tcp("memory", 1).policy(policy)).await
}

fn echo(word: &str) -> Command<'_> {
    Command::new("ECHO").arg(word)
}

async fn echoes(connector: &Connector, word: &str) {
    let reply = connector.command(echo(word)).await.unwrap();
    assert_eq!(reply.to::<String>().unwrap(), word);
}

/// Runs `wait` and answers how long it took by the paused clock.
async fn timed<T>(wait: impl Future<Output = T>) -> (T, Duration) {
    let start = Instant::now();
    (wait.await, start.elapsed())
}

/// The next event for which `pick` has an answer.
async fn event<T>(events: &mut Events, pick: impl Fn(Event) -> Option<T>) -> T {
    loop {
        let event = timeout(seconds(3600), events.next()).await.unwrap().unwrap();
        if let Some(picked) = pick(event) {
            return picked;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_does_not_come_ends_in_a_timeout_and_shifts_nothing() {
    let server = MemoryStore::new();
    let connector = connect(&server, policy()).await.unwrap();
    server.silent(true);
    let (result, took) = timed(connector.command(echo("late"))).await;
    assert!(matches!(result, Err(Error::Timeout { maybe_executed: true })));
    assert_eq!(took.as_secs(), 10);
    // The late reply comes first, and goes to nobody.
    server.silent(false);
    echoes(&connector, "next").await;
    assert_eq!((connector.stats().timeouts, connector.stats().pending), (1, 0));
    assert_eq!(server.dials(), 1, "the connection went on");
}

#[tokio::test(start_paused = true)]
async fn deadlines_count_from_each_command_by_itself() {
    let server = MemoryStore::new();
    let connector = connect(&server, policy()).await.unwrap();
    server.silent(true);
    let early = connector.command(echo("a"));
    let late = async {
        sleep(seconds(4)).await;
        timed(connector.command(echo("b"))).await
    };
    let ((_, early), (_, late)) = tokio::join!(timed(early), async { ((), late.await.1) });
    assert_eq!((early.as_secs(), late.as_secs()), (10, 10));
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_owes_replies_and_says_nothing_is_left() {
    let server = MemoryStore::new();
    let patient = Policy { response_timeout: seconds(3600), ..policy() };
    let connector = connect(&server, patient).await.unwrap();
    let mut events = connector.events();
    sleep(seconds(50)).await;
    server.silent(true);
    let (result, took) = timed(connector.command(echo("x"))).await;
    assert!(matches!(result, Err(Error::Disconnected { maybe_executed: true })), "{result:?}");
    assert_eq!(took.as_secs(), 30, "silence counts from when a reply was owed");
    event(&mut events, |event| matches!(event, Event::Disconnected(_)).then_some(())).await;
    server.silent(false);
    connector.ready().await.unwrap();
    echoes(&connector, "back").await;
    assert_eq!((connector.stats().silences, connector.stats().reconnects), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_asks_for_the_fence_and_nothing_else() {
    let server = MemoryStore::new();
    let connector = connect(&server, policy()).await.unwrap();
    let before = server.log().len();
    sleep(seconds(601)).await;
    let beats = server.log().split_off(before);
    assert_eq!(beats.len(), 10);
    assert!(beats.iter().all(|line| line == "GET {emq}:version"), "{beats:?}");
    assert_eq!(connector.stats().heartbeats, 10);
}

#[tokio::test(start_paused = true)]
async fn an_idle_peer_that_died_is_found_by_the_heartbeat() {
    let server = MemoryStore::new();
    let connector = connect(&server, policy()).await.unwrap();
    let mut events = connector.events();
    server.silent(true);
    let found = event(&mut events, |event| matches!(event, Event::Disconnected(_)).then_some(()));
    let ((), took) = timed(found).await;
    assert_eq!(took.as_secs(), 60 + 30);
}

#[tokio::test(start_paused = true)]
async fn a_version_key_changed_behind_a_live_connection_stops_it_at_the_next_heartbeat() {
    let server = MemoryStore::new();
    let connector = connect(&server, policy()).await.unwrap();
    let mut events = connector.events();
    server.set(VERSION_KEY, "other:1.0.0");
    let stop = event(&mut events, |event| match event {
        Event::Fatal(why) => Some(why),
        _ => None,
    });
    let (why, took) = timed(stop).await;
    assert_eq!(took.as_secs(), 60);
    let is_fence = |error: &Error| matches!(error, Error::VersionFence { got: Found::Value(v) } if v == "other:1.0.0");
    assert!(is_fence(&why));
    let ran = server.log().len();
    assert!(is_fence(&connector.command(echo("x")).await.unwrap_err()));
    sleep(seconds(600)).await;
    assert_eq!((server.log().len(), server.dials()), (ran, 1), "nothing is retried, ever");
}

#[tokio::test(start_paused = true)]
async fn a_fence_that_vanished_under_a_live_connection_is_claimed_again_and_told() {
    let server = MemoryStore::new();
    let connector = connect(&server, policy()).await.unwrap();
    let mut events = connector.events();
    server.del(VERSION_KEY);
    let told = event(&mut events, |event| matches!(event, Event::FenceVanished).then_some(()));
    let ((), took) = timed(told).await;
    assert_eq!(took.as_secs(), 60);
    assert_eq!(server.get(VERSION_KEY).as_deref(), Some(support::WIRE));
    echoes(&connector, "on").await;
    assert_eq!((connector.stats().fences_vanished, server.dials()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn nothing_of_a_callers_leaves_while_the_fence_is_in_doubt() {
    let server = MemoryStore::new();
    let connector = connect(&server, policy()).await.unwrap();
    server.del(VERSION_KEY);
    server.answer("SET", "+OK\r\n");
    server.answer("GET", "_\r\n");
    // The heartbeat finds no key, and three rounds of claims read none back.
    sleep(seconds(59)).await;
    let calls = (0..5).map(|i| {
        let connector = connector.clone();
        tokio::spawn(async move {
            sleep(Duration::from_millis(1000)).await;
            connector.command(echo(&i.to_string())).await
        })
    });
    for call in calls.collect::<Vec<_>>() {
        let result = call.await.unwrap();
        assert!(
            matches!(result, Ok(_) | Err(Error::VersionFence { got: Found::Absent })),
            "{result:?}"
        );
    }
    let log = server.log();
    let first_claim = log.iter().position(|line| line.starts_with("SET {emq}")).unwrap();
    assert!(!log[first_claim..].iter().any(|line| line.starts_with("ECHO")), "{log:?}");
    assert_eq!(log.iter().filter(|line| line.starts_with("SET {emq}")).count(), 3);
}

#[tokio::test(start_paused = true)]
async fn waits_between_attempts_grow_are_capped_and_start_afresh_after_a_served_period() {
    let server = MemoryStore::new();
    let connector = connect(&server, policy()).await.unwrap();
    let mut events = connector.events();
    let wait = |event| match event {
        Event::Reconnecting { after, .. } => Some(after),
        _ => None,
    };
    server.away(true);
    server.cut();
    let mut ceiling = Duration::from_millis(100);
    for _ in 0..8 {
        let after = event(&mut events, wait).await;
        assert!(after >= ceiling / 10 - Duration::from_nanos(1) && after <= ceiling, "{after:?}");
        ceiling = (ceiling * 2).min(seconds(2));
    }
    server.away(false);
    connector.ready().await.unwrap();
    sleep(seconds(6)).await;
    server.cut();
    let after = event(&mut events, wait).await;
    assert!(after <= Duration::from_millis(100), "{after:?}");
}

#[tokio::test(start_paused = true)]
async fn fifty_connectors_that_lost_one_server_do_not_come_back_in_step() {
    let server = MemoryStore::new();
    let dials = Arc::new(Mutex::new(Vec::new()));
    let mut connectors = Vec::new();
    for _ in 0..50 {
        let (dial, dials) = (server.dialer(), Arc::clone(&dials));
        let dial = move || {
            dials.lock().unwrap().push(Instant::now());
            dial()
        };
        let config =
            Config::tcp("memory", 1).policy(Policy { backoff_cap: seconds(10), ..policy() });
        connectors.push(Connector::over(dial, config).await.unwrap());
    }
    dials.lock().unwrap().clear();
    let start = Instant::now();
    server.away(true);
    server.cut();
    sleep(seconds(10)).await;
    let after: Vec<u128> =
        dials.lock().unwrap().iter().map(|at| at.duration_since(start).as_millis()).collect();
    let each = after.len() / 50;
    assert!((4..=15).contains(&each), "{each} attempts in ten seconds");
    // Who is first, second, … comes in the order of time; the first fifty are not one crowd.
    assert!(after.iter().all(|ms| *ms >= 10), "none comes back at once");
    let mut crowds = [0_u32; 1000];
    after.iter().filter(|ms| **ms < 10_000).for_each(|ms| crowds[(ms / 10) as usize] += 1);
    let largest = crowds.iter().max().unwrap();
    assert!(*largest <= 25, "{largest} of fifty came within 10 ms");
    server.away(false);
    for connector in &connectors {
        connector.ready().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn connect_gives_up_with_the_last_cause_when_time_did_not_heal() {
    let server = MemoryStore::new();
    server.answer("GET", "-LOADING Valkey is loading the dataset in memory\r\n");
    let (result, took) = timed(connect(&server, policy())).await;
    let Err(Error::NotReady { cause: Cause::Reply(words), .. }) = result else {
        panic!("{result:?}")
    };
    assert_eq!((words.code(), took.as_secs()), ("LOADING", 20));
    let dials = server.dials();
    sleep(seconds(600)).await;
    assert_eq!(server.dials(), dials, "nobody goes on behind a failed connect");
}

#[tokio::test(start_paused = true)]
async fn connect_waits_for_what_time_heals() {
    let server = MemoryStore::new();
    server.answer("GET", "-BUSY Valkey is busy running a script\r\n");
    let healing = async {
        sleep(seconds(7)).await;
        server.answer_as_usual("GET");
    };
    let (connector, ()) = tokio::join!(connect(&server, policy()), healing);
    echoes(&connector.unwrap(), "up").await;
}

#[tokio::test(start_paused = true)]
async fn while_the_server_is_away_calls_fail_at_once_or_wait_as_long_as_the_policy_says() {
    let server = MemoryStore::new();
    let fast = connect(&server, policy()).await.unwrap();
    let waits = Policy { when_away: WhenAway::WaitAtMost(seconds(4)), ..policy() };
    let waiting = connect(&server, waits).await.unwrap();
    let mut events = waiting.events();
    server.away(true);
    server.cut();
    event(&mut events, |event| matches!(event, Event::Disconnected(_)).then_some(())).await;

    let not_sent = |result: &Result<_, Error>| {
        matches!(result, Err(Error::Disconnected { maybe_executed: false }))
    };
    let (result, took) = timed(fast.command(echo("x"))).await;
    assert!(not_sent(&result) && took.is_zero());
    let (result, took) = timed(waiting.command(echo("x"))).await;
    assert!(not_sent(&result) && took.as_secs() == 4, "{result:?} {took:?}");

    let back = async {
        sleep(seconds(1)).await;
        server.away(false);
    };
    let (reply, ()) = tokio::join!(waiting.command(echo("y")), back);
    assert_eq!(reply.unwrap().to::<String>().unwrap(), "y");
    assert_eq!(server.callers_log(), ["ECHO y"], "what failed was never sent");
}

#[tokio::test(start_paused = true)]
async fn too_much_in_flight_fails_at_once_or_waits_for_room() {
    let server = MemoryStore::new();
    let fails = connect(&server, Policy { max_pending: 4, ..policy() }).await.unwrap();
    let waits = Policy { max_pending: 4, when_full: WhenFull::Wait, ..policy() };
    let waits = connect(&server, waits).await.unwrap();
    server.silent(true);
    let fill = |connector: &Connector| {
        (0..4)
            .map(|i| {
                let connector = connector.clone();
                tokio::spawn(async move { connector.command(echo(&i.to_string())).await.unwrap() })
            })
            .collect::<Vec<_>>()
    };
    let (filled, waited) = (fill(&fails), fill(&waits));
    tokio::task::yield_now().await;

    let (result, took) = timed(fails.command(echo("fifth"))).await;
    assert!(matches!(result, Err(Error::Overloaded)) && took.is_zero());
    let (result, took) = timed(waits.command(echo("fifth"))).await;
    assert!(matches!(result, Err(Error::Overloaded)) && took.as_secs() == 10, "{result:?}");
    drop((filled, waited));
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_room_comes_in_when_there_is_some() {
    let server = MemoryStore::new();
    let policy = Policy { max_pending: 8, when_full: WhenFull::Wait, ..policy() };
    let connector = connect(&server, policy).await.unwrap();
    let calls: Vec<_> = (0..500)
        .map(|i| {
            let connector = connector.clone();
            tokio::spawn(async move { echoes(&connector, &i.to_string()).await })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!(connector.stats().pending, 0);
}

#[tokio::test(start_paused = true)]
async fn close_answers_what_is_in_flight_and_turns_the_rest_away() {
    let server = MemoryStore::new();
    let connector = connect(&server, policy()).await.unwrap();
    server.silent(true);
    let call = tokio::spawn({
        let connector = connector.clone();
        async move { connector.command(echo("in flight")).await }
    });
    tokio::task::yield_now().await;
    let closing = tokio::spawn({
        let connector = connector.clone();
        async move { timed(connector.close()).await.1 }
    });
    tokio::task::yield_now().await;
    advance(seconds(1)).await;
    assert!(matches!(connector.command(echo("late")).await, Err(Error::Closed)));
    server.silent(false);
    assert_eq!(call.await.unwrap().unwrap().to::<String>().unwrap(), "in flight");
    assert_eq!(closing.await.unwrap().as_secs(), 1);
    assert!(matches!(connector.command(echo("later")).await, Err(Error::Closed)));
}

#[tokio::test(start_paused = true)]
async fn close_while_the_server_is_away_is_at_once() {
    let server = MemoryStore::new();
    let waits = Policy { when_away: WhenAway::WaitAtMost(seconds(3600)), ..policy() };
    let connector = connect(&server, waits).await.unwrap();
    server.away(true);
    server.cut();
    let waiting = tokio::spawn({
        let connector = connector.clone();
        async move {
            sleep(seconds(1)).await;
            connector.command(echo("x")).await
        }
    });
    sleep(seconds(2)).await;
    let ((), took) = timed(connector.close()).await;
    assert!(took.is_zero());
    assert!(matches!(waiting.await.unwrap(), Err(Error::Closed)));
}

#[tokio::test(start_paused = true)]
async fn close_waits_no_longer_than_its_bound() {
    let server = MemoryStore::new();
    let connector = connect(&server, policy()).await.unwrap();
    server.silent(true);
    let call = tokio::spawn({
        let connector = connector.clone();
        async move { connector.command(echo("never")).await }
    });
    tokio::task::yield_now().await;
    let ((), took) = timed(connector.close()).await;
    assert_eq!(took.as_secs(), 3);
    let result = call.await.unwrap();
    assert!(matches!(result, Err(Error::Disconnected { maybe_executed: true })), "{result:?}");
}

#[tokio::test(start_paused = true)]
async fn close_while_the_server_is_away_waits_for_nothing_and_lets_nothing_in() {
    let server = MemoryStore::new();
    let waits = Policy { when_away: WhenAway::WaitAtMost(seconds(60)), ..policy() };
    let connector = connect(&server, waits).await.unwrap();
    let mut events = connector.events();
    server.away(true);
    server.cut();
    event(&mut events, |event| matches!(event, Event::Disconnected(_)).then_some(())).await;
    let waiting = tokio::spawn({
        let connector = connector.clone();
        async move { connector.command(echo("waits")).await }
    });
    tokio::task::yield_now().await;
    server.away(false);
    let ((), took) = timed(connector.close()).await;
    assert!(took.is_zero(), "{took:?}");
    assert!(matches!(waiting.await.unwrap(), Err(Error::Closed)));
    assert!(matches!(connector.command(echo("later")).await, Err(Error::Closed)));
    assert!(server.callers_log().is_empty(), "{:?}", server.callers_log());
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_room_is_told_when_the_connection_is_lost_and_may_wait_on_if_the_policy_says()
{
    for (when_away, is_told) in [(WhenAway::Fail, true), (WhenAway::WaitAtMost(seconds(3)), false)]
    {
        let server = MemoryStore::new();
        let policy = Policy { max_pending: 1, when_full: WhenFull::Wait, when_away, ..policy() };
        let connector = connect(&server, policy).await.unwrap();
        server.silent(true);
        server.answer("ECHO", "CLOSE");
        let call = |word: &'static str| {
            let connector = connector.clone();
            tokio::spawn(async move { timed(connector.command(echo(word))).await })
        };
        let (first, second) = (call("first"), call("second"));
        tokio::task::yield_now().await;
        server.answer_as_usual("ECHO");
        server.silent(false);
        let (first, _) = first.await.unwrap();
        assert!(matches!(first, Err(Error::Disconnected { maybe_executed: true })), "{first:?}");
        let (second, took) = second.await.unwrap();
        if is_told {
            let not_sent = matches!(second, Err(Error::Disconnected { maybe_executed: false }));
            assert!(not_sent && took.is_zero(), "{second:?} {took:?}");
        } else {
            assert_eq!(second.unwrap().to::<String>().unwrap(), "second");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_refused_by_a_replica_leaves_it_only_where_a_primary_is_wanted() {
    for (from_replica, dials) in [(false, 2), (true, 1)] {
        let server = MemoryStore::new();
        server.answer("SADD", "-READONLY You can't write against a read only replica.\r\n");
        let config = Config::tcp("memory", 1).policy(policy()).read_from_replica(from_replica);
        let connector = Connector::over(server.dialer(), config).await.unwrap();
        let refused = connector.command(Command::new("SADD").arg("s").arg("x")).await.unwrap_err();
        assert!(matches!(&refused, Error::Server(words) if words.code() == "READONLY"));
        assert!(!refused.maybe_executed());
        sleep(seconds(1)).await;
        echoes(&connector, "on").await;
        assert_eq!(server.dials(), dials);
    }
}

#[tokio::test(start_paused = true)]
async fn waits_without_end_are_not_over_at_once() {
    let server = MemoryStore::new();
    let endless = Policy {
        response_timeout: Duration::MAX,
        heartbeat: Duration::MAX,
        watchdog: Duration::MAX,
        ready_within: Duration::MAX,
        drain_within: Duration::MAX,
        when_away: WhenAway::WaitAtMost(Duration::MAX),
        ..policy()
    };
    let config = Config::tcp("memory", 1).policy(endless).connect_timeout(Duration::MAX).unwrap();
    let connector = Connector::over(server.dialer(), config).await.unwrap();
    server.silent(true);
    let call = tokio::spawn({
        let connector = connector.clone();
        async move { connector.command(echo("patient")).await }
    });
    tokio::task::yield_now().await;
    let closing = tokio::spawn({
        let connector = connector.clone();
        async move { connector.close().await }
    });
    sleep(seconds(3600)).await;
    assert!(!call.is_finished() && !closing.is_finished());
    server.silent(false);
    assert_eq!(call.await.unwrap().unwrap().to::<String>().unwrap(), "patient");
    closing.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_last_handle_ends_everything_in_every_state() {
    let server = MemoryStore::new();
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    // Serving, with a call in flight.
    let connector = connect(&server, policy()).await.unwrap();
    server.silent(true);
    drop(timeout(seconds(1), connector.command(echo("x"))).await);
    drop(connector);
    server.silent(false);
    sleep(seconds(1)).await;
    assert_eq!(tasks(), 0, "serving");
    // Waiting to reconnect.
    let connector = connect(&server, policy()).await.unwrap();
    server.away(true);
    server.cut();
    sleep(seconds(1)).await;
    drop(connector);
    sleep(seconds(1)).await;
    assert_eq!(tasks(), 0, "waiting");
    // Connecting for the first time.
    drop(timeout(seconds(1), connect(&server, policy())).await);
    server.away(false);
    server.silent(true);
    drop(timeout(seconds(1), connect(&server, policy())).await);
    server.silent(false);
    sleep(seconds(1)).await;
    assert_eq!(tasks(), 0, "connecting");
}

#[tokio::test(start_paused = true)]
async fn a_reply_nobody_asked_for_ends_the_connection_and_goes_to_nobody() {
    let server = MemoryStore::new();
    let connector = connect(&server, policy()).await.unwrap();
    server.answer("ECHO", "$1\r\na\r\n$1\r\nb\r\n");
    let reply = connector.command(echo("a")).await.unwrap();
    assert_eq!(reply.to::<String>().unwrap(), "a");
    server.answer_as_usual("ECHO");
    connector.ready().await.unwrap();
    let mut words = Vec::new();
    for word in ["c", "d"] {
        if let Ok(reply) = connector.command(echo(word)).await {
            words.push((word, reply.to::<String>().unwrap()));
        }
        connector.ready().await.unwrap();
    }
    assert!(words.iter().all(|(asked, got)| asked == got), "{words:?}");
    assert_eq!(connector.stats().protocol_errors, 1);
}

#[tokio::test(start_paused = true)]
async fn a_malformed_reply_ends_the_connection_after_the_replies_before_it() {
    let server = MemoryStore::new();
    let connector = connect(&server, policy()).await.unwrap();
    let mut events = connector.events();
    server.answer("BAD", "?\r\n");
    let pipeline =
        Pipeline::new().command(echo("a")).command(Command::new("BAD")).command(echo("b"));
    let alone = tokio::spawn({
        let connector = connector.clone();
        async move { connector.command(echo("before")).await }
    });
    tokio::task::yield_now().await;
    let result = connector.pipeline(&pipeline).await;
    assert!(matches!(result, Err(Error::Disconnected { maybe_executed: true })), "{result:?}");
    assert_eq!(alone.await.unwrap().unwrap().to::<String>().unwrap(), "before");
    let why = event(&mut events, |event| match event {
        Event::Disconnected(why) => Some(why.to_string()),
        _ => None,
    });
    assert!(why.await.contains("protocol"), "the event says what was wrong");
}
