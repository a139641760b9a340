//! A call that is dropped half-way takes its socket along: no later call can read its reply.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "a test may fail"
)]

mod support;

use std::{
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};

use echo_wire::{
    connector::{Config, Connection, Error, Pipeline, WIRE_VERSION},
    resp::Command,
};
use support::{Script, flavors};

fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

async fn served() -> (Connection, Script) {
    let (stream, mut peer) = Script::memory();
    let script = tokio::spawn(async move {
        peer.pass(WIRE_VERSION).await;
        peer
    });
    let connection = Connection::over(stream, &Config::tcp("unused", 1)).await.unwrap();
    (connection, script.await.unwrap())
}

async fn is_closed_for_good(mut connection: Connection) {
    assert!(connection.is_closed());
    let get = Command::new("GET").arg("k2");
    let error = connection.command(&get).await.unwrap_err();
    assert!(matches!(error, Error::Disconnected { maybe_executed: false }), "{error:?}");
    let pipeline = Pipeline::new().command(&get);
    let error = connection.pipeline(&pipeline).await.unwrap_err();
    assert!(matches!(error, Error::Disconnected { maybe_executed: false }), "{error:?}");
    assert!(connection.next_push().await.is_err());
}

#[tokio::test]
async fn a_command_dropped_at_any_byte_of_its_reply_closes_the_socket() {
    let reply = b"$11\r\nvalue-of-k1\r\n";
    for came in 0..reply.len() {
        let (mut connection, mut peer) = served().await;
        {
            let get = Command::new("GET").arg("k1");
            let mut call = pin!(connection.command(&get));
            assert!(poll_once(call.as_mut()).is_pending());
            peer.expect_command(&["GET", "k1"]).await;
            for byte in reply.iter().take(came) {
                peer.send([*byte]).await;
                assert!(poll_once(call.as_mut()).is_pending());
            }
        }
        peer.expect_close().await;
        is_closed_for_good(connection).await;
    }
}

#[tokio::test]
async fn a_pipeline_dropped_between_its_replies_closes_the_socket() {
    let (mut connection, mut peer) = served().await;
    {
        let gets = ["k1", "k2", "k3"];
        let mut pipeline = Pipeline::new();
        for key in gets {
            pipeline.push(Command::new("GET").arg(key));
        }
        let mut call = pin!(connection.pipeline(&pipeline));
        assert!(poll_once(call.as_mut()).is_pending());
        for key in gets {
            peer.expect_command(&["GET", key]).await;
        }
        peer.send("+1\r\n+2\r\n").await;
        assert!(poll_once(call.as_mut()).is_pending());
    }
    peer.expect_close().await;
    is_closed_for_good(connection).await;
}

#[tokio::test]
async fn a_call_that_was_never_polled_changes_nothing() {
    let (mut connection, mut peer) = served().await;
    drop(connection.command(&Command::new("GET").arg("k1")));
    let script = tokio::spawn(async move {
        peer.expect_command(&["GET", "k2"]).await;
        peer.send("+2\r\n").await;
        peer
    });
    let reply = connection.command(&Command::new("GET").arg("k2")).await.unwrap();
    assert_eq!(reply.to::<String>().unwrap(), "2");
    script.await.unwrap();
}

#[tokio::test]
async fn a_connect_dropped_at_any_reply_closes_the_socket() {
    let replies =
        ["", "%0\r\n", "+OK\r\n", "+OK\r\n", "*0\r\n", "_\r\n", "+OK\r\n", "$12\r\nechomq"];
    for count in 1..=replies.len() {
        let (stream, mut peer) = Script::memory();
        {
            let config = Config::tcp("unused", 1);
            let mut connect = pin!(Connection::over(stream, &config));
            for reply in replies.iter().take(count) {
                peer.send(reply).await;
                assert!(poll_once(connect.as_mut()).is_pending());
            }
        }
        // It ends: a hang here would fail.
        peer.read_to_close().await;
    }
}

#[tokio::test]
async fn on_a_real_server_every_later_answer_is_ones_own() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let config = Config::from_url(&server.url()).unwrap();
        for key in 0..100 {
            server.cli(&["SET", &format!("k{key}"), &key.to_string()]);
        }
        let mut connection = Connection::connect(&config).await.unwrap();
        let mut drops = 0;
        for key in 0..100 {
            if key % 3 == 0 {
                let get = Command::new("GET").arg("k1");
                let mut call = pin!(connection.command(&get));
                for _ in 0..key % 7 {
                    if poll_once(call.as_mut()).is_ready() {
                        break;
                    }
                    tokio::task::yield_now().await;
                }
            }
            if connection.is_closed() {
                drops += 1;
                connection = Connection::connect(&config).await.unwrap();
            }
            let get = format!("k{key}");
            let reply = connection.command(&Command::new("GET").arg(&get)).await.unwrap();
            assert_eq!(reply.to::<i32>().unwrap(), key);
        }
        assert!(drops > 0, "some were dropped half-way");
    }
}
