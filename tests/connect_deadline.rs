//! One deadline covers dial, boot and fence; it says at which step it passed. On a paused clock.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "a test may fail"
)]

mod support;

use std::{net::SocketAddr, time::Duration};

use echo_wire::{
    connector::{Addresses, Cause, Config, Connection, Error, Resolve, Step},
    resp::{Command, Protocol},
};
use support::Script;
use tokio::time::{Instant, sleep};

const WITHIN: Duration = Duration::from_secs(5);

fn config() -> Config {
    Config::tcp("unused", 1).connect_timeout(WITHIN).unwrap()
}

/// Answers each of these after a pause, then says no more.
async fn stalls_after(config: &Config, answers: Vec<&'static str>, pause: Duration) -> Error {
    let (stream, mut peer) = Script::memory();
    let script = tokio::spawn(async move {
        for answer in answers {
            sleep(pause).await;
            peer.send(answer).await;
        }
        peer.stall().await;
    });
    let error = Connection::over(stream, config).await.unwrap_err();
    script.abort();
    error
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_falls_silent_at_any_step_is_given_up_at_the_deadline() {
    let hello = "%1\r\n+proto\r\n:3\r\n";
    let role = "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n";
    let resp3: [(&str, Step); 10] = [
        ("", Step::Hello),
        (hello, Step::Select),
        ("+OK\r\n", Step::SetName),
        ("+OK\r\n", Step::SetInfo),
        ("+OK\r\n", Step::SetInfo),
        ("+OK\r\n", Step::Policy),
        ("*0\r\n", Step::FenceRead),
        ("_\r\n", Step::FenceClaim),
        ("+OK\r\n", Step::FenceConfirm),
        // It vanished: once more.
        ("_\r\n", Step::FenceClaim),
    ];
    let resp2: [(&str, Step); 3] =
        [("", Step::SetInfo), ("+OK\r\n+OK\r\n", Step::Role), (role, Step::Policy)];
    let named = config().database(1).client_name("w1").unwrap();
    for (config, steps) in [(named, &resp3[..]), (config().protocol(Protocol::Resp2), &resp2[..])] {
        for known in 1..=steps.len() {
            let (answers, last) = (&steps[..known], steps[known - 1].1);
            let answers = answers.iter().map(|(answer, _)| *answer).collect();
            let began = Instant::now();
            let error = stalls_after(&config, answers, Duration::from_millis(100)).await;
            let Error::NotReady { step, cause: Cause::Deadline } = error else {
                panic!("{error:?}")
            };
            assert_eq!(step, last);
            assert_eq!(began.elapsed(), WITHIN, "not a deadline a step");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_never_stops_pushing_is_given_up_at_the_deadline() {
    let (stream, mut peer) = Script::memory();
    let script = tokio::spawn(async move {
        loop {
            peer.send(">1\r\n:1\r\n").await;
            sleep(Duration::from_millis(10)).await;
        }
    });
    let began = Instant::now();
    let error = Connection::over(stream, &config()).await.unwrap_err();
    assert!(matches!(error, Error::NotReady { step: Step::Hello, cause: Cause::Deadline }));
    assert_eq!(began.elapsed(), WITHIN);
    script.abort();
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_is_in_counts_though_the_rest_of_the_flight_never_comes() {
    let hello = "-WRONGPASS invalid username-password pair\r\n";
    let error = stalls_after(&config().password("pw"), vec![hello], Duration::ZERO).await;
    assert!(matches!(error, Error::AuthRefused { step: Step::Hello, .. }), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_takes_no_bytes_is_given_up_at_the_deadline() {
    let (stream, peer) = Script::memory_of(1);
    let script = tokio::spawn(peer.stall());
    let began = Instant::now();
    let error = Connection::over(stream, &config()).await.unwrap_err();
    assert!(matches!(error, Error::NotReady { step: Step::Hello, cause: Cause::Deadline }));
    assert_eq!(began.elapsed(), WITHIN);
    script.abort();
}

/// Never has an answer.
#[derive(Debug)]
struct Silent;

impl Resolve for Silent {
    fn resolve<'a>(&'a self, _host: &'a str, _port: u16) -> Addresses<'a> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn a_resolver_that_never_answers_is_given_up_at_the_deadline() {
    let began = Instant::now();
    let error = Connection::connect(&config().resolver(Silent)).await.unwrap_err();
    assert!(matches!(error, Error::NotReady { step: Step::Dial, cause: Cause::Deadline }));
    assert_eq!(began.elapsed(), WITHIN);
}

/// Answers with no address at all.
#[derive(Debug)]
struct Empty;

impl Resolve for Empty {
    fn resolve<'a>(&'a self, _host: &'a str, _port: u16) -> Addresses<'a> {
        Box::pin(async { Ok(Vec::<SocketAddr>::new()) })
    }
}

#[tokio::test]
async fn a_name_without_an_address_is_not_ready() {
    let error = Connection::connect(&config().resolver(Empty)).await.unwrap_err();
    let Error::NotReady { step: Step::Dial, cause: Cause::Io(_) } = error else {
        panic!("{error:?}")
    };
}

/// A connection that serves, and its peer.
async fn served(config: &Config) -> (Connection, Script) {
    let (stream, mut peer) = Script::memory_of(256);
    let script = tokio::spawn(async move {
        peer.pass("echomq:2.0.0").await;
        peer
    });
    let connection = Connection::over(stream, config).await.unwrap();
    (connection, script.await.unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_without_limit_unless_told_otherwise() {
    let (mut connection, mut peer) = served(&config()).await;
    let script = tokio::spawn(async move {
        peer.expect_command(&["BLPOP", "q", "0"]).await;
        sleep(Duration::from_secs(7 * 24 * 3600)).await;
        peer.send("*2\r\n$1\r\nq\r\n$1\r\nv\r\n").await;
        peer
    });
    let reply = connection.command(&Command::new("BLPOP").arg("q").arg(0)).await.unwrap();
    assert_eq!(reply.to::<Vec<String>>().unwrap(), ["q", "v"]);
    script.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_response_timeout_closes_the_connection_and_tells_whether_the_command_left() {
    let limit = Duration::from_secs(3);
    let config = config().response_timeout(limit).unwrap();

    let (mut connection, mut peer) = served(&config).await;
    let began = Instant::now();
    let error = connection.command(&Command::new("GET").arg("k")).await.unwrap_err();
    assert!(matches!(error, Error::Timeout { maybe_executed: true }), "{error:?}");
    assert_eq!(began.elapsed(), limit);
    peer.expect_command(&["GET", "k"]).await;
    peer.expect_close().await;
    let error = connection.command(&Command::new("GET").arg("k")).await.unwrap_err();
    assert!(matches!(error, Error::Disconnected { maybe_executed: false }), "{error:?}");

    // The peer has taken a part of it only: that may be enough to run some of a pipeline.
    let (mut connection, peer) = served(&config).await;
    let value = vec![0; 1 << 16];
    let error = connection.command(&Command::new("SET").arg("k").arg(&value)).await.unwrap_err();
    assert!(matches!(error, Error::Timeout { maybe_executed: true }), "{error:?}");
    drop(peer);
}
