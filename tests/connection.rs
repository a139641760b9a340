//! What a connection of one's own promises: each command its reply, errors as values where they
//! belong, no way past the fence, and the truth about what may have run.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail"
)]

mod support;

use echo_wire::{
    connector::{Config, Connection, Error, Pipeline, WIRE_VERSION},
    resp::Command,
};
use support::{Cut, Proxy, Script, Server, Way, flavors, until};

async fn connect(server: &Server) -> Connection {
    Connection::connect(&Config::from_url(&server.url()).unwrap()).await.unwrap()
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

#[tokio::test]
async fn errors_in_a_pipeline_stay_in_their_slots_wherever_they_are() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let mut connection = connect(&server).await;
        for key in ["a", "b", "c"] {
            server.cli(&["SET", key, key]);
        }
        for failing in 0..8_u32 {
            let mut pipeline = Pipeline::new();
            for (at, key) in ["a", "b", "c"].into_iter().enumerate() {
                match failing >> at & 1 {
                    0 => pipeline.push(Command::new("GET").arg(key)),
                    _ => pipeline.push(Command::new("LPUSH").arg(key).arg(1)),
                }
            }
            let replies = connection.pipeline(&pipeline).await.unwrap();
            assert_eq!(replies.len(), 3);
            for (at, key) in ["a", "b", "c"].into_iter().enumerate() {
                match failing >> at & 1 {
                    0 => assert_eq!(replies[at].to::<String>().unwrap(), key),
                    _ => assert_eq!(replies[at].as_error().unwrap().code(), "WRONGTYPE"),
                }
            }
            let reply = connection.command(&Command::new("GET").arg("b")).await.unwrap();
            assert_eq!(reply.to::<String>().unwrap(), "b");
        }
        let error = connection.command(&Command::new("LPUSH").arg("a").arg(1)).await.unwrap_err();
        assert!(matches!(&error, Error::Server(error) if error.code() == "WRONGTYPE"), "{error:?}");
        assert!(!connection.is_closed(), "an error reply ends nothing");
        assert!(connection.pipeline(&Pipeline::new()).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn large_values_in_both_directions_at_once_do_not_lock() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let mut connection = connect(&server).await;
        let value = vec![b'v'; 8 * 1024 * 1024];
        connection.command(&Command::new("SET").arg("v").arg(&value)).await.unwrap();
        let mut pipeline = Pipeline::new();
        for _ in 0..4 {
            pipeline.push(Command::new("GET").arg("v"));
            pipeline.push(Command::new("SET").arg("w").arg(&value));
        }
        let replies = connection.pipeline(&pipeline).await.unwrap();
        for replies in replies.chunks(2) {
            assert_eq!(replies[0].to_bytes().unwrap().len(), value.len());
            assert_eq!(replies[1].to::<String>().unwrap(), "OK");
        }
        drop(replies);
        assert_eq!(server.cli(&["STRLEN", "w"]), value.len().to_string());
    }
}

#[tokio::test]
async fn a_peer_that_writes_before_it_reads_does_not_lock() {
    let (stream, mut peer) = Script::memory_of(64);
    let script = tokio::spawn(async move {
        peer.pass(WIRE_VERSION).await;
        peer
    });
    let mut connection = Connection::over(stream, &Config::tcp("unused", 1)).await.unwrap();
    let mut peer = script.await.unwrap();
    let script = tokio::spawn(async move {
        peer.expect("*3\r\n$3\r\nSET\r\n").await;
        let reply = vec![b'x'; 100_000];
        // It does not read on before all of this is taken.
        peer.send(support::bulk(&reply)).await;
        peer.read_to_close().await;
    });
    let value = vec![b'y'; 100_000];
    let reply = connection.command(&Command::new("SET").arg("k").arg(&value)).await.unwrap();
    assert_eq!(reply.to_bytes().unwrap().len(), 100_000);
    drop(connection);
    script.await.unwrap();
}

#[tokio::test]
async fn commands_that_lead_past_the_fence_or_unpair_replies_are_refused_before_a_byte() {
    let (mut connection, mut peer) = served().await;
    let refused = [
        "SELECT 1",
        "AUTH x",
        "HELLO 2",
        "hello",
        "RESET",
        "QUIT",
        "CLIENT REPLY OFF",
        "client reply skip",
        "CLIENT SETNAME x",
        "MONITOR",
        "monitor",
        "SYNC",
        "PSYNC ? -1",
        "SUBSCRIBE c",
        "pSubscribe c",
        "SSUBSCRIBE c",
        "UNSUBSCRIBE",
        "REPLCONF x y",
    ];
    for line in refused {
        let mut words = line.split(' ');
        let command = Command::new(words.next().unwrap()).args(words);
        let error = connection.command(&command).await.unwrap_err();
        assert!(matches!(error, Error::Refused(_)), "{line}: {error:?}");
        assert!(!error.maybe_executed());

        let mixed = Pipeline::new()
            .command(Command::new("BLPOP").arg("q").arg(0))
            .command(Command::new("MULTI"))
            .command(&command);
        let error = connection.pipeline(&mixed).await.unwrap_err();
        assert!(matches!(error, Error::Refused(_)), "{line}: {error:?}");
    }
    drop(connection);
    peer.expect_close().await;
}

#[tokio::test]
async fn an_owner_may_block_and_may_open_a_transaction() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let mut connection = connect(&server).await;
        connection.command(&Command::new("WATCH").arg("k")).await.unwrap();
        let transaction = Pipeline::new()
            .command(Command::new("MULTI"))
            .command(Command::new("INCR").arg("k"))
            .command(Command::new("EXEC"));
        let replies = connection.pipeline(&transaction).await.unwrap();
        assert_eq!(replies[2].to::<Vec<i64>>().unwrap(), [1]);

        let mut raw = server.raw();
        let pop = tokio::spawn(async move {
            connection.command(&Command::new("BLPOP").arg("q").arg(0)).await
        });
        let waits = || server.cli(&["INFO", "clients"]).contains("blocked_clients:1");
        until("the pop waits", waits).await;
        raw.text(&["RPUSH", "q", "v"]);
        let reply = pop.await.unwrap().unwrap();
        assert_eq!(reply.to::<Vec<String>>().unwrap(), ["q", "v"]);
    }
}

#[tokio::test]
async fn a_close_before_the_command_is_not_executed_and_one_after_it_is_unknown() {
    // Closed before: nothing is sent.
    let (mut connection, peer) = served().await;
    peer.close();
    let error = connection.command(&Command::new("INCR").arg("n")).await.unwrap_err();
    assert!(matches!(error, Error::Disconnected { maybe_executed: false }), "{error:?}");

    // The server says why it closes, then does.
    let (mut connection, mut peer) = served().await;
    peer.send("-ERR idle for too long\r\n").await;
    peer.close();
    let error = connection.command(&Command::new("INCR").arg("n")).await.unwrap_err();
    assert!(matches!(error, Error::Disconnected { maybe_executed: false }), "{error:?}");

    // Closed or reset after it was read, within the reply even: unknown.
    for part in ["", ":", ":1\r"] {
        for is_reset in [false, true] {
            let (mut connection, mut peer) = served().await;
            let script = tokio::spawn(async move {
                peer.expect_command(&["INCR", "n"]).await;
                peer.send(part).await;
                peer.taken().await;
                match is_reset {
                    true => peer.reset(),
                    false => peer.close(),
                }
            });
            let error = connection.command(&Command::new("INCR").arg("n")).await.unwrap_err();
            assert!(matches!(error, Error::Disconnected { maybe_executed: true }), "{error:?}");
            assert!(error.maybe_executed() && connection.is_closed());
            script.await.unwrap();
        }
    }
}

#[tokio::test]
async fn junk_instead_of_a_reply_closes_and_the_command_may_have_run() {
    for junk in ["HTTP/1.1 200\r\n", "$-2\r\n", ":12x\r\n", "\r\n", "$3\r\nabcXY"] {
        let (mut connection, mut peer) = served().await;
        let script = tokio::spawn(async move {
            peer.expect_command(&["INCR", "n"]).await;
            peer.send(junk).await;
            peer.expect_close().await;
        });
        let error = connection.command(&Command::new("INCR").arg("n")).await.unwrap_err();
        assert!(matches!(error, Error::Protocol { maybe_executed: true, .. }), "{error:?}");
        script.await.unwrap();
    }
}

#[tokio::test]
async fn cut_at_any_byte_what_is_told_about_a_command_is_true() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let proxy = Proxy::start(server.address());
        let config = Config::from_url(&proxy.url()).unwrap();
        let incr = Command::new("INCR").arg("total");
        let (mut acknowledged, mut unknown) = (0, 0);
        for (way, len) in [(Way::Up, 26), (Way::Down, 4)] {
            for bytes in 0..len {
                let mut connection = Connection::connect(&config).await.unwrap();
                proxy.cut_after(way, bytes, if bytes % 2 == 0 { Cut::Close } else { Cut::Reset });
                match connection.command(&incr).await {
                    Ok(_) => acknowledged += 1,
                    Err(error) if error.maybe_executed() => unknown += 1,
                    Err(error) => assert!(matches!(error, Error::Disconnected { .. }), "{error:?}"),
                }
                proxy.keep(way);
            }
        }
        let total = || -> i32 { server.cli(&["GET", "total"]).parse().unwrap_or(0) };
        assert!(unknown > 0, "some were cut");
        assert!(total() >= acknowledged && total() <= acknowledged + unknown);
    }
}

#[tokio::test]
async fn pushes_of_a_real_server_come_apart_from_replies() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let mut connection = connect(&server).await;
        let tracking = Command::new("CLIENT").arg("TRACKING").arg("ON").arg("BCAST");
        connection.command(&tracking).await.unwrap();
        for n in 0..50 {
            server.cli(&["SET", "k", &n.to_string()]);
            let reply = connection.command(&Command::new("GET").arg("k")).await.unwrap();
            assert_eq!(reply.to::<i32>().unwrap(), n);
        }
        let push = connection.command(&Command::new("DEBUG").arg("PROTOCOL").arg("push")).await;
        push.unwrap();
        let attributed = Command::new("DEBUG").arg("PROTOCOL").arg("attrib");
        let reply = connection.command(&attributed).await.unwrap();
        assert!(reply.attributes().next().is_some());
        for _ in 0..50 {
            assert!(connection.next_push().await.unwrap().is_push());
        }
        connection.close().await;
    }
}
