//! A push is no reply: before, between and behind the replies of boot and of the fence, cut at any
//! byte, it shifts nothing and none is lost. What is neither a push nor owed ends the connection.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    reason = "a test may fail"
)]

mod support;

use echo_wire::{
    connector::{Config, Connection, Error, Passage, Violation},
    resp::{Command, Reply},
};
use support::{MemoryStream, Script};

/// The answers of an empty server to the first flight, and to the claim.
const FIRST: [&str; 5] = ["%1\r\n+proto\r\n:3\r\n", "+OK\r\n", "+OK\r\n", "*0\r\n", "_\r\n"];
const CLAIM: [&str; 2] = ["+OK\r\n", "$12\r\nechomq:2.0.0\r\n"];
const FIRST_COMMANDS: usize = 5;

/// The n-th push: kinds that are known, unknown, decorated, empty.
fn push(n: usize) -> String {
    match n % 4 {
        0 => format!(">2\r\n$10\r\ninvalidate\r\n*1\r\n$2\r\n{:02}\r\n", n % 100),
        1 => format!("|1\r\n+ttl\r\n:3\r\n>2\r\n+odd\r\n:{n}\r\n"),
        2 => format!(">3\r\n+message\r\n$1\r\nc\r\n$3\r\n-{:02}\r\n", n % 100),
        _ => format!("|1\r\n+a\r\n*1\r\n:1\r\n|1\r\n+b\r\n_\r\n>1\r\n:{n}\r\n"),
    }
}

/// The replies with a push before each and one behind the last; from the n-th on.
fn mixed(replies: &[&str], mut n: usize) -> (String, usize) {
    let mut bytes = String::new();
    for reply in replies.iter().chain(&[""]) {
        bytes += &push(n);
        bytes += reply;
        n += 1;
    }
    (bytes, n)
}

async fn commands(peer: &mut Script, count: usize) {
    for _ in 0..count {
        peer.command().await;
    }
}

/// The peer says all this at these cuts; then it answers one command among more pushes.
async fn converse(
    stream: MemoryStream,
    mut peer: Script,
    cuts: impl Fn(usize) -> Vec<usize> + Send + 'static,
) {
    let (first, n) = mixed(&FIRST, 0);
    let (claim, n) = mixed(&CLAIM, n);
    let (incr, n) = mixed(&[":7\r\n"], n);
    let script = tokio::spawn(async move {
        // Nothing keeps a peer from pushing before it was asked anything.
        let early = push(0).len();
        peer.send(&first[..early]).await;
        commands(&mut peer, FIRST_COMMANDS).await;
        peer.send_split(&first[early..], &cuts(first.len() - early)).await;
        commands(&mut peer, 2).await;
        peer.send_split(&claim, &cuts(claim.len())).await;
        peer.expect_command(&["INCR", "n"]).await;
        peer.send_split(&incr, &cuts(incr.len())).await;
        peer
    });
    let mut connection = Connection::over(stream, &Config::tcp("unused", 1)).await.unwrap();
    assert_eq!(connection.passage(), Passage::Claimed);
    let reply = connection.command(&Command::new("INCR").arg("n")).await.unwrap();
    assert_eq!(reply.to::<i64>().unwrap(), 7);
    for n in 0..n {
        let got = connection.next_push().await.unwrap();
        assert!(got.is_push());
        assert_eq!(got, decoded(&push(n)), "the {n}th");
    }
    assert_eq!(connection.lost_pushes(), 0);
    drop(script.await.unwrap());
    let end = connection.next_push().await.unwrap_err();
    assert!(matches!(end, Error::Disconnected { maybe_executed: false }), "{end:?}");
}

fn decoded(bytes: &str) -> Reply {
    let mut decoder = echo_wire::resp::Decoder::new(echo_wire::resp::Limits::default());
    decoder.feed(bytes.as_bytes());
    decoder.next().unwrap().unwrap()
}

#[tokio::test]
async fn whole_or_cut_at_any_byte_nothing_shifts_and_nothing_is_lost() {
    let (stream, peer) = Script::memory();
    converse(stream, peer, |_len| vec![]).await;
    let longest = mixed(&FIRST, 0).0.len();
    for cut in 1..longest {
        let (stream, peer) = Script::memory();
        converse(stream, peer, move |len| if cut < len { vec![cut] } else { vec![] }).await;
    }
}

#[tokio::test]
async fn byte_by_byte_nothing_shifts_and_nothing_is_lost() {
    for capacity in [1, 2, 3, 7] {
        let (stream, peer) = Script::memory_of(capacity);
        converse(stream, peer, |_len| vec![]).await;
    }
    let (stream, peer) = Script::memory();
    converse(stream, peer, |len| (1..len).collect()).await;
}

/// What comes of a connection whose peer says this behind the fence's last reply.
async fn behind_the_fence(extra: &'static str) -> Result<Connection, Error> {
    let (stream, mut peer) = Script::memory();
    tokio::spawn(async move {
        commands(&mut peer, FIRST_COMMANDS).await;
        let verified = FIRST[..4].concat() + CLAIM[1];
        peer.send(verified + extra).await;
        peer.stall().await;
    });
    Connection::over(stream, &Config::tcp("unused", 1)).await
}

#[tokio::test]
async fn a_reply_too_many_behind_the_fence_closes() {
    for extra in
        ["+OK\r\n", "$-1\r\n", "+O", ":1", "$12\r\nechomq", ">1\r\n:1\r\n+OK\r\n", "*2\r\n"]
    {
        let error = behind_the_fence(extra).await.unwrap_err();
        assert!(
            matches!(error, Error::Protocol { violation: Violation::Unasked { .. }, .. }),
            "{extra:?}: {error:?}"
        );
    }
    let error = behind_the_fence("HTTP/1.1 400\r\n").await.unwrap_err();
    assert!(matches!(error, Error::Protocol { violation: Violation::Malformed(_), .. }));
}

#[tokio::test]
async fn a_reply_too_many_between_the_flights_closes_before_anything_is_written() {
    let (stream, mut peer) = Script::memory();
    let script = tokio::spawn(async move {
        commands(&mut peer, FIRST_COMMANDS).await;
        peer.send(FIRST.concat() + "+OK\r\n").await;
        peer.expect_close().await;
    });
    let error = Connection::over(stream, &Config::tcp("unused", 1)).await.unwrap_err();
    assert!(matches!(error, Error::Protocol { violation: Violation::Unasked { .. }, .. }));
    script.await.unwrap();
}

#[tokio::test]
async fn a_reply_that_nobody_asked_for_ends_a_connection_that_serves() {
    // Whole, it is seen before the command is sent; in part, when it turns out to be no push.
    let table =
        [("+OK\r\n", "", false), ("+O", "K\r\n", false), ("|1\r\n+a\r\n:1\r\n", "+OK\r\n", true)];
    for (before, after, sent) in table {
        let (stream, mut peer) = Script::memory();
        let script = tokio::spawn(async move {
            commands(&mut peer, FIRST_COMMANDS).await;
            peer.send(FIRST[..4].concat() + CLAIM[1]).await;
            peer.taken().await;
            (peer, before, after)
        });
        let mut connection = Connection::over(stream, &Config::tcp("unused", 1)).await.unwrap();
        let (mut peer, before, after) = script.await.unwrap();
        peer.send(before).await;
        let script = tokio::spawn(async move {
            if !after.is_empty() && peer.command_or_close().await.is_some() {
                peer.send(after).await;
                peer.send("$6\r\nsecret\r\n").await;
            }
            peer.read_to_close().await;
        });
        let error = connection.command(&Command::new("GET").arg("k")).await.unwrap_err();
        let Error::Protocol { violation: Violation::Unasked { .. }, maybe_executed } = error else {
            panic!("{before}: {error:?}")
        };
        assert_eq!(maybe_executed, sent, "{before}");
        assert!(connection.is_closed());
        let error = connection.command(&Command::new("GET").arg("k")).await.unwrap_err();
        assert!(matches!(error, Error::Disconnected { maybe_executed: false }));
        script.await.unwrap();
    }
}

#[tokio::test]
async fn attributes_belong_to_the_reply_behind_them() {
    let (stream, mut peer) = Script::memory();
    let script = tokio::spawn(async move {
        commands(&mut peer, FIRST_COMMANDS).await;
        let replies = FIRST[..4].iter().chain(&CLAIM[1..]);
        let decorated: String = replies
            .map(|reply| format!("|1\r\n+ttl\r\n:3600\r\n|1\r\n+x\r\n*0\r\n{reply}"))
            .collect();
        peer.send(decorated).await;
        peer.expect_command(&["GET", "k"]).await;
        peer.send("|1\r\n+popularity\r\n,0.5\r\n$1\r\nv\r\n").await;
        peer
    });
    let mut connection = Connection::over(stream, &Config::tcp("unused", 1)).await.unwrap();
    assert_eq!(connection.passage(), Passage::Verified);
    let reply = connection.command(&Command::new("GET").arg("k")).await.unwrap();
    assert_eq!(reply.to::<String>().unwrap(), "v");
    script.await.unwrap();
}

#[tokio::test]
async fn a_reader_who_never_comes_loses_the_oldest_and_is_told_how_many() {
    let (stream, mut peer) = Script::memory();
    let script = tokio::spawn(async move {
        commands(&mut peer, FIRST_COMMANDS).await;
        peer.send(FIRST[..4].concat() + CLAIM[1]).await;
        peer.expect_command(&["PING"]).await;
        let flood: String = (0..5000).map(|n| format!(">1\r\n:{n}\r\n")).collect();
        peer.send(flood + "+PONG\r\n").await;
        peer
    });
    let mut connection = Connection::over(stream, &Config::tcp("unused", 1)).await.unwrap();
    connection.command(&Command::new("PING")).await.unwrap();
    assert_eq!(connection.lost_pushes(), 5000 - 1024);
    let oldest = connection.next_push().await.unwrap();
    assert_eq!(oldest.to::<Vec<u64>>().unwrap(), [5000 - 1024]);
    script.await.unwrap();
}

#[tokio::test]
async fn a_dropped_wait_for_a_push_loses_nothing() {
    let (stream, mut peer) = Script::memory();
    let script = tokio::spawn(async move {
        commands(&mut peer, FIRST_COMMANDS).await;
        peer.send(FIRST[..4].concat() + CLAIM[1]).await;
        peer
    });
    let mut connection = Connection::over(stream, &Config::tcp("unused", 1)).await.unwrap();
    let mut peer = script.await.unwrap();
    let message = push(0) + &push(1);
    for at in 0..message.len() {
        // Each piece is taken in by a wait that is dropped.
        peer.send(&message[at..=at]).await;
        if at + 1 < push(0).len() {
            let wait = std::pin::pin!(connection.next_push());
            assert!(poll_once(wait).is_pending());
        }
    }
    for n in 0..2 {
        assert_eq!(connection.next_push().await.unwrap(), decoded(&push(n)));
    }
    let script = tokio::spawn(async move {
        peer.expect_command(&["PING"]).await;
        peer.send("+PONG\r\n").await;
        peer
    });
    connection.command(&Command::new("PING")).await.unwrap();
    script.await.unwrap();
}

/// One poll, and no wake-up after it.
fn poll_once<F: Future>(future: std::pin::Pin<&mut F>) -> std::task::Poll<F::Output> {
    future.poll(&mut std::task::Context::from_waker(std::task::Waker::noop()))
}
