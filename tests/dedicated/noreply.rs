//! Pipelines whose replies the server keeps to itself: whatever CLIENT REPLY is answered, it is
//! known how many replies come, and nobody else's connection is touched.

use std::time::Duration;

use echo_wire::{
    connector::{Config, Connector, Error, Pipeline, Policy, Reason},
    resp::Command,
};
use tokio::time::Instant;

use crate::{
    bed::scripted,
    support::{Cut, Proxy, Script, WIRE, Way, everywhere, until},
};

fn increments(count: usize) -> Pipeline {
    let mut pipeline = Pipeline::new();
    for _ in 0..count {
        pipeline.push(Command::new("INCR").arg("n"));
    }
    pipeline
}

#[test]
fn a_silent_server_runs_everything_and_confirms_it() {
    everywhere(async |server, config| {
        let connector = Connector::connect(config).await.unwrap();
        let batch = increments(10_000)
            // An error is kept back like any other reply.
            .command(Command::new("LPUSH").arg("n").arg("x"))
            .command(Command::new("INCR").arg("n"));
        let before = connector.stats();
        assert!(connector.noreply_pipeline(&batch).await.unwrap());
        assert_eq!(server.cli(&["GET", "n"]), "10001");
        assert_eq!(connector.stats().commands, before.commands, "none on the shared connection");
        until("its connection is gone", || server.clients().len() == 1).await;
        assert!(connector.noreply_pipeline(&Pipeline::new()).await.unwrap());
        assert_eq!(connector.stats().dedicated, 1, "for nothing, nothing is dialled");
    });
}

#[test]
fn a_user_without_the_right_to_silence_is_answered_and_everything_runs() {
    everywhere(async |server, config| {
        let may = ["ACL", "SETUSER", "app", "on", ">pw", "~*", "&*", "+@all", "-client|reply"];
        server.cli(&may);
        let connector = Connector::connect(config.user_and_password("app", "pw")).await.unwrap();
        assert!(connector.noreply_pipeline(&increments(1000)).await.unwrap());
        assert_eq!(server.cli(&["GET", "n"]), "1000");
    });
}

#[test]
fn others_get_their_own_replies_meanwhile() {
    everywhere(async |_server, config| {
        let connector = Connector::connect(config).await.unwrap();
        let echoes = async {
            for i in 0..500 {
                let reply = connector.command(Command::new("ECHO").arg(i)).await.unwrap();
                assert_eq!(reply.to::<u64>().unwrap(), i);
            }
        };
        let silent = async {
            for _ in 0..20 {
                assert!(connector.noreply_pipeline(&increments(200)).await.unwrap());
            }
        };
        tokio::join!(echoes, silent);
        let count = connector.command(Command::new("GET").arg("n")).await.unwrap();
        assert_eq!(count.to::<u64>().unwrap(), 4000);
    });
}

#[test]
fn what_waits_or_changes_the_session_is_refused_before_anything_is_dialled() {
    everywhere(async |_server, config| {
        let connector = Connector::connect(config).await.unwrap();
        for (command, reason) in [
            (Command::new("BLPOP").arg("q").arg(0), Reason::Blocks),
            (Command::new("CLIENT").arg("reply").arg("skip"), Reason::Replies),
            (Command::new("MULTI"), Reason::Transaction),
        ] {
            let batch = increments(1).command(command);
            let Err(Error::Refused(refusal)) = connector.noreply_pipeline(&batch).await else {
                panic!("{reason:?} was taken")
            };
            assert_eq!(refusal.reason(), reason);
        }
        assert_eq!(connector.stats().dedicated, 0);
    });
}

#[test]
fn a_connection_that_is_cut_before_the_confirmation_may_have_run_anything() {
    everywhere(async |server, _config| {
        let proxy = Proxy::start(server.address());
        let resp = Config::from_url(&proxy.url()).unwrap();
        let connector = Connector::connect(resp).await.unwrap();
        // Cut in the midst of the commands, well behind the connect sequence.
        let batch = increments(1000);
        proxy.cut_after(Way::Up, (batch.encoded_len() / 2) as u64, Cut::Reset);
        let result = connector.noreply_pipeline(&batch).await;
        let lost = matches!(result, Err(Error::Disconnected { maybe_executed: true }));
        assert!(lost, "{result:?}");
        let count: u64 = server.cli(&["GET", "n"]).parse().unwrap_or(0);
        assert!(count < 1000);
    });
}

async fn two_scripts() -> (Connector, Script, Script) {
    let policy = Policy { response_timeout: Duration::from_secs(10), ..Policy::default() };
    let (connector, first, [second]) = scripted(policy).await;
    (connector, first, second)
}

async fn expect_batch(peer: &mut Script, commands: usize) {
    peer.pass(WIRE).await;
    peer.expect_command(&["CLIENT", "REPLY", "OFF"]).await;
    for _ in 0..commands {
        peer.expect_command(&["INCR", "n"]).await;
    }
    peer.expect_command(&["CLIENT", "REPLY", "ON"]).await;
}

/// What comes of two commands whose peer answers this, and whether it then closes by itself.
async fn outcome(answer: &str, closes: bool) -> (Result<bool, Error>, Duration) {
    let (connector, _first, mut peer) = two_scripts().await;
    let start = Instant::now();
    let batch = increments(2);
    let play = async move {
        expect_batch(&mut peer, 2).await;
        peer.send(answer).await;
        if closes {
            peer.close();
            return;
        }
        peer.expect_close().await;
        peer.close();
    };
    let (result, ()) = tokio::join!(connector.noreply_pipeline(&batch), play);
    (result, start.elapsed())
}

#[tokio::test(start_paused = true)]
async fn every_way_in_which_a_peer_answers_is_accounted_for() {
    let refused = "-ERR unsupported command\r\n";
    let all = format!("{refused}:1\r\n:2\r\n{refused}");
    for answer in ["+OK\r\n", &all, "+OK\r\n:1\r\n:2\r\n+OK\r\n"] {
        let (result, took) = outcome(answer, false).await;
        assert!(result.unwrap() && took.is_zero(), "{answer:?}");
    }
    for answer in ["+OK\r\n:1\r\n", ":1\r\n", "+QUEUED\r\n"] {
        let (result, _) = outcome(answer, false).await;
        assert!(!result.unwrap(), "{answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_confirmation_that_does_not_come_ends_at_the_deadline_with_the_connection() {
    // The play ends when the connection is closed.
    let (result, took) = outcome("", false).await;
    assert_eq!((result.unwrap(), took.as_secs()), (false, 10));
    let (result, took) = outcome("-NOPERM no\r\n:1\r\n:2\r\n", false).await;
    assert_eq!((result.unwrap(), took.as_secs()), (false, 10));
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_closes_without_a_confirmation_is_a_lost_connection() {
    for answer in ["", "-NOPERM no\r\n:1\r\n"] {
        let (result, _) = outcome(answer, true).await;
        let lost = matches!(result, Err(Error::Disconnected { maybe_executed: true }));
        assert!(lost, "{answer:?}: {result:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_closes_its_connection() {
    let (connector, _first, mut peer) = two_scripts().await;
    let call = tokio::spawn({
        let connector = connector.clone();
        async move { connector.noreply_pipeline(&increments(2)).await }
    });
    expect_batch(&mut peer, 2).await;
    call.abort();
    peer.expect_close().await;
}
