//! The first refusal of a required step is the verdict, by its code; what the replies behind it
//! say is never believed. A courtesy that is refused changes nothing.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail"
)]

mod support;

use echo_wire::{
    connector::{Cause, Config, Connection, Error, Found, Passage, Step, Violation},
    resp::Protocol,
};
use support::Script;

const HELLO: &str = "%2\r\n+proto\r\n:3\r\n+role\r\n+master\r\n";
const ROLE: &str = "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n";
const OURS: &str = "$12\r\nechomq:2.0.0\r\n";
const OK: &str = "+OK\r\n";

fn config() -> Config {
    Config::tcp("unused", 1).password("pw").database(3).client_name("w1").unwrap()
}

/// The rows of the first flight of `config()`, with what a good server answers.
fn rows(protocol: Protocol) -> Vec<(Step, &'static str)> {
    let mut rows = match protocol {
        Protocol::Resp3 => vec![(Step::Hello, HELLO)],
        Protocol::Resp2 => vec![(Step::Auth, OK)],
    };
    rows.extend([
        (Step::Select, OK),
        (Step::SetName, OK),
        (Step::SetInfo, OK),
        (Step::SetInfo, OK),
    ]);
    if protocol == Protocol::Resp2 {
        rows.push((Step::Role, ROLE));
    }
    rows.extend([(Step::Policy, "*0\r\n"), (Step::FenceRead, OURS)]);
    rows
}

/// Answers the first flight with these, whatever it says, and a claim with nothing.
async fn answered(config: Config, answers: &[&str]) -> Result<Connection, Error> {
    let (stream, mut peer) = Script::memory();
    let (count, answers) = (answers.len(), answers.concat());
    let script = tokio::spawn(async move {
        for _ in 0..count {
            peer.command().await;
        }
        peer.send(answers).await;
        peer
    });
    let result = Connection::over(stream, &config).await;
    let mut peer = script.await.unwrap();
    if result.is_err() {
        peer.expect_close().await;
    }
    result
}

fn with(rows: &[(Step, &'static str)], at: usize, answer: &'static str) -> Vec<&'static str> {
    let mut answers: Vec<_> = rows.iter().map(|(_, answer)| *answer).collect();
    answers[at] = answer;
    answers
}

fn is_courtesy(step: Step) -> bool {
    matches!(step, Step::SetName | Step::SetInfo | Step::Policy | Step::Role)
}

#[tokio::test]
async fn a_refusal_of_any_required_step_is_the_verdict_though_the_store_holds_our_identity() {
    // What the first word makes of a refusal, at any step but AUTH.
    let codes = [
        ("-LOADING not now\r\n", "not ready"),
        ("-BUSY a script\r\n", "not ready"),
        ("-MASTERDOWN no link\r\n", "not ready"),
        ("-CLUSTERDOWN no slot\r\n", "not ready"),
        ("-TRYAGAIN moving\r\n", "not ready"),
        ("-ERR LOADING a proxy's wording\r\n", "not ready"),
        ("-NOPERM not you\r\n", "boot refused"),
        ("-WRONGPASS not this\r\n", "auth refused"),
        ("-MOVED 9051 127.0.0.1:7001\r\n", "boot refused"),
        ("-ERR DB index is out of range\r\n", "boot refused"),
    ];
    for protocol in [Protocol::Resp2, Protocol::Resp3] {
        let rows = rows(protocol);
        for (at, (step, _)) in rows.iter().enumerate().filter(|(_, (step, _))| !is_courtesy(*step))
        {
            for (answer, kind) in codes {
                let step = *step;
                let config = config().user_and_password("worker", "pw").protocol(protocol);
                let error = answered(config, &with(&rows, at, answer)).await.unwrap_err();
                let (got, named) = match &error {
                    Error::NotReady { step, cause: Cause::Reply(_) } => ("not ready", *step),
                    Error::AuthRefused { step, .. } => ("auth refused", *step),
                    Error::BootRefused { step, .. } => ("boot refused", *step),
                    error => panic!("{error:?}"),
                };
                let kind = match (step, kind) {
                    (Step::Auth, "boot refused") => "auth refused",
                    (_, kind) => kind,
                };
                assert_eq!((got, named), (kind, step), "{answer}");
                assert_eq!(error.is_fatal(), kind != "not ready");
                assert!(!error.maybe_executed());
            }
        }
    }
}

#[tokio::test]
async fn the_first_of_two_refusals_is_the_verdict() {
    let rows = rows(Protocol::Resp3);
    let mut answers = with(&rows, 1, "-ERR DB index is out of range\r\n");
    answers[6] = "-NOAUTH\r\n";
    let error = answered(config(), &answers).await.unwrap_err();
    assert!(matches!(error, Error::BootRefused { step: Step::Select, .. }), "{error:?}");
    // And no store is claimed behind a refusal.
    for fence in ["_\r\n", "$-1\r\n", "$6\r\nacme:1\r\n", "-WRONGTYPE no string\r\n", "+QUEUED\r\n"]
    {
        answers[6] = fence;
        let error = answered(config(), &answers).await.unwrap_err();
        assert!(matches!(error, Error::BootRefused { step: Step::Select, .. }), "{error:?}");
    }
}

#[tokio::test]
async fn a_courtesy_that_is_refused_in_whatever_words_changes_nothing() {
    let words = [
        "-NOPERM this user has no permissions\r\n",
        "-ERR unknown subcommand 'SETINFO'. Try CLIENT HELP.\r\n",
        "-unsupported command\r\n",
        "-BUSY a script\r\n",
        "!5\r\nERR a\r\n",
    ];
    for protocol in [Protocol::Resp2, Protocol::Resp3] {
        let rows = rows(protocol);
        for (at, (step, _)) in rows.iter().enumerate().filter(|(_, (step, _))| is_courtesy(*step)) {
            for words in words {
                let answers = with(&rows, at, words);
                let connection = answered(config().protocol(protocol), &answers).await.unwrap();
                assert_eq!(connection.passage(), Passage::Verified);
                assert_eq!(connection.declined().len(), 1);
                assert_eq!(connection.declined()[0].0, *step);
            }
        }
    }
}

#[tokio::test]
async fn a_link_that_is_cut_behind_a_refused_courtesy_or_hello_is_no_refusal() {
    let plain = || Config::tcp("unused", 1);
    for config in [plain().protocol(Protocol::Resp2), plain()] {
        let (stream, mut peer) = Script::memory();
        let script = tokio::spawn(async move {
            peer.command().await;
            peer.send("-NOPERM this user has no permissions\r\n").await;
            peer.close();
        });
        let error = Connection::over(stream, &config).await.unwrap_err();
        assert!(matches!(error, Error::NotReady { .. }) && !error.is_fatal(), "{error:?}");
        script.await.unwrap();
    }
}

#[tokio::test]
async fn a_reply_of_a_kind_that_a_step_cannot_have_is_a_protocol_error_that_names_it() {
    for protocol in [Protocol::Resp2, Protocol::Resp3] {
        let rows = rows(protocol);
        for (at, (step, good)) in rows.iter().enumerate() {
            if matches!(step, Step::SetName | Step::SetInfo | Step::Policy) {
                continue;
            }
            for odd in ["+QUEUED\r\n", ":1\r\n", "#t\r\n", "*1\r\n:1\r\n", "_\r\n"] {
                // An array may be a map of RESP2's, or a role that is not told; null at the fence
                // is an empty store.
                let is_good = matches!(
                    (step, odd.as_bytes()[0]),
                    (Step::Hello | Step::Role, b'*') | (Step::FenceRead, b'_')
                );
                if is_good || odd == *good {
                    continue;
                }
                let config = config().protocol(protocol);
                let error = answered(config, &with(&rows, at, odd)).await.unwrap_err();
                let Error::Protocol {
                    violation: Violation::Unexpected { step: named, .. }, ..
                } = &error
                else {
                    panic!("{step} {odd}: {error:?}")
                };
                assert_eq!(named, step, "{odd}");
            }
        }
    }
}

#[tokio::test]
async fn a_server_that_is_no_primary_is_not_ready_unless_it_may_be_read_from() {
    let replica = "%2\r\n+proto\r\n:3\r\n+role\r\n+replica\r\n";
    let slave = "*5\r\n$5\r\nslave\r\n$9\r\n127.0.0.1\r\n:1\r\n$7\r\nconnect\r\n:-1\r\n";
    let sentinel = "*2\r\n$8\r\nsentinel\r\n*0\r\n";
    let table = [
        (Protocol::Resp3, 0, replica, Step::Hello),
        (Protocol::Resp2, 5, slave, Step::Role),
        (Protocol::Resp2, 5, sentinel, Step::Role),
    ];
    for (protocol, at, answer, named) in table {
        let answers = with(&rows(protocol), at, answer);
        let config = config().protocol(protocol);
        let error = answered(config.clone(), &answers).await.unwrap_err();
        let Error::NotReady { step, cause: Cause::Replica } = error else { panic!("{error:?}") };
        assert_eq!(step, named);
        let connection = answered(config.read_from_replica(true), &answers).await.unwrap();
        assert_eq!(connection.passage(), Passage::Verified);
    }
}

#[tokio::test]
async fn a_key_of_another_type_is_refused_in_either_form_of_an_error() {
    for words in ["-WRONGTYPE Operation against a key\r\n", "!15\r\nWRONGTYPE a key\r\n"] {
        let answers = with(&rows(Protocol::Resp3), 6, words);
        let error = answered(config(), &answers).await.unwrap_err();
        assert!(matches!(error, Error::VersionFence { got: Found::WrongType }), "{error:?}");
    }
}
