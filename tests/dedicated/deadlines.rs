//! How long a call waits: by its own words and a grace. On tokio's paused clock, so that each
//! figure is exact.

use std::time::Duration;

use echo_wire::{
    connector::{Config, Connector, Dedicated, Error, Pipeline, Policy},
    resp::Command,
};
use tokio::time::{Instant, timeout};

use crate::support::MemoryStore;

const GRACE: Duration = Duration::from_secs(10);

async fn over(server: &MemoryStore) -> (Connector, Dedicated) {
    let year = Duration::from_secs(365 * 86_400);
    let policy = Policy {
        response_timeout: GRACE,
        heartbeat: year,
        watchdog: year,
        drain_within: Duration::from_secs(3),
        ready_within: Duration::from_secs(20),
        ..Policy::default()
    };
    let config = Config::tcp("memory", 1).policy(policy);
    let connector = Connector::over(server.dialer(), config).await.unwrap();
    let dedicated = connector.dedicated().await.unwrap();
    (connector, dedicated)
}

async fn timed<T>(wait: impl Future<Output = T>) -> (T, Duration) {
    let start = Instant::now();
    (wait.await, start.elapsed())
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_does_not_come_is_awaited_as_long_as_the_command_says_and_a_grace() {
    for (command, wait) in [
        (Command::new("GET").arg("k"), Duration::ZERO),
        (Command::new("BLPOP").arg("q").arg(30), Duration::from_secs(30)),
        (Command::new("BLMPOP").arg(0.5).arg(1).arg("q").arg("LEFT"), Duration::from_millis(500)),
        (
            Command::new("XREAD").arg("BLOCK").arg(7000).arg("STREAMS").arg("s").arg("$"),
            Duration::from_secs(7),
        ),
    ] {
        let server = MemoryStore::new();
        let (connector, mut dedicated) = over(&server).await;
        server.silent(true);
        let (result, took) = timed(dedicated.command(&command)).await;
        assert!(matches!(result, Err(Error::Timeout { maybe_executed: true })), "{result:?}");
        assert_eq!(took, wait + GRACE, "{command:?}");
        drop(connector);
    }
}

#[tokio::test(start_paused = true)]
async fn waits_of_a_pipeline_add_up() {
    let server = MemoryStore::new();
    let (_connector, mut dedicated) = over(&server).await;
    server.silent(true);
    let batch = Pipeline::new()
        .command(Command::new("BLPOP").arg("q").arg(4))
        .command(Command::new("GET").arg("k"))
        .command(Command::new("BRPOP").arg("q").arg(5));
    let (result, took) = timed(dedicated.pipeline(&batch)).await;
    assert!(matches!(result, Err(Error::Timeout { maybe_executed: true })), "{result:?}");
    assert_eq!(took, Duration::from_secs(9) + GRACE);
}

#[tokio::test(start_paused = true)]
async fn for_ever_has_no_limit_nor_has_what_is_marked_as_blocking_and_not_known() {
    for command in [
        Command::new("BLPOP").arg("q").arg(0),
        Command::new("MODULE.POP").arg("q").arg(1).blocking(),
    ] {
        let server = MemoryStore::new();
        let (_connector, mut dedicated) = over(&server).await;
        server.silent(true);
        let days = Duration::from_secs(30 * 86_400);
        assert!(timeout(days, dedicated.command(&command)).await.is_err(), "{command:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_out_of_time_shifts_nothing_and_the_next_waits_for_its_end() {
    let server = MemoryStore::new();
    let (_connector, mut dedicated) = over(&server).await;
    server.silent(true);
    let (result, _) = timed(dedicated.command(Command::new("ECHO").arg("late"))).await;
    assert!(matches!(result, Err(Error::Timeout { maybe_executed: true })), "{result:?}");
    let next = dedicated.command(Command::new("ECHO").arg("next"));
    let speak = async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        server.silent(false);
    };
    let ((reply, took), ()) = tokio::join!(timed(next), speak);
    assert_eq!((reply.unwrap().to::<String>().unwrap().as_str(), took.as_secs()), ("next", 2));
    assert_eq!(server.dials(), 2, "the connection went on");
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_stays_silent_loses_the_connection_after_a_bounded_time() {
    let server = MemoryStore::new();
    let (_connector, mut dedicated) = over(&server).await;
    server.silent(true);
    let (result, _) = timed(dedicated.command(Command::new("ECHO").arg("late"))).await;
    assert!(matches!(result, Err(Error::Timeout { .. })), "{result:?}");
    // Three seconds for the late answer, then twenty to dial a server that does not speak.
    let next = dedicated.command(Command::new("ECHO").arg("next"));
    let (result, took) = timed(next).await;
    assert!(matches!(result, Err(Error::NotReady { .. })), "{result:?}");
    assert!(!result.unwrap_err().maybe_executed());
    assert_eq!(took.as_secs(), 3 + 20);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_away_is_waited_for_and_its_cause_is_told() {
    let server = MemoryStore::new();
    let (connector, mut dedicated) = over(&server).await;
    server.away(true);
    server.cut();
    let (result, took) = timed(connector.dedicated()).await;
    assert!(matches!(result, Err(Error::NotReady { .. })), "{result:?}");
    assert_eq!(took.as_secs(), 20);
    let back = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        server.away(false);
    };
    let echo = Command::new("ECHO").arg("x");
    let (reply, ()) = tokio::join!(dedicated.command(&echo), back);
    assert_eq!(reply.unwrap().to::<String>().unwrap(), "x");
}

#[tokio::test(start_paused = true)]
async fn closing_ends_what_waits_within_its_bound() {
    let server = MemoryStore::new();
    let (connector, mut dedicated) = over(&server).await;
    server.silent(true);
    let pop = tokio::spawn(async move {
        let result = dedicated.command(Command::new("BLPOP").arg("q").arg(0)).await;
        let later = dedicated.command(Command::new("PING")).await;
        (result, later)
    });
    tokio::task::yield_now().await;
    let ((), took) = timed(connector.close()).await;
    assert_eq!(took.as_secs(), 3);
    let (result, later) = pop.await.unwrap();
    let lost = matches!(result, Err(Error::Disconnected { maybe_executed: true }));
    assert!(lost, "{result:?}");
    assert!(matches!(later, Err(Error::Closed)), "{later:?}");
    assert!(matches!(connector.dedicated().await, Err(Error::Closed)));
}
