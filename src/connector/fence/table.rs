//! The fence's table, row by row.

use bytes::BytesMut;

use super::*;
use crate::resp::{Decoder, Limits};

const OURS: &str = "$12\r\nechomq:2.0.0\r\n";
const OTHER: &str = "$12\r\nechomq:1.0.0\r\n";
const NULLS: [&str; 3] = ["$-1\r\n", "*-1\r\n", "_\r\n"];
const OK: &str = "+OK\r\n";

pub(super) fn reply(bytes: &str) -> Reply {
    let mut decoder = Decoder::new(Limits::default());
    decoder.feed(bytes.as_bytes());
    let reply = decoder.next().unwrap().unwrap();
    assert!(decoder.is_idle());
    reply
}

/// What came of these answers, and all that was sent for them.
fn run(claims: Claims, answers: &[&str]) -> (Result<Passage, Error>, BytesMut) {
    let mut sent = BytesMut::from(VERSION_GET);
    let mut fence = Fence::new(Wire::OURS, claims);
    for (at, answer) in answers.iter().enumerate() {
        let verdict = match fence.handle(&reply(answer)) {
            Ok(Next::Await(next)) => {
                fence = next;
                continue;
            }
            Ok(Next::Ask(next, flight)) => {
                sent.extend_from_slice(&flight.encoded);
                fence = next;
                continue;
            }
            Ok(Next::Pass(passage)) => Ok(passage),
            Err(error) => Err(error),
        };
        assert_eq!(at + 1, answers.len(), "the verdict came before the last answer");
        return (verdict, sent);
    }
    panic!("no verdict after {answers:?}");
}

fn verdict(answers: &[&str]) -> Result<Passage, Error> {
    run(Claims::Allowed, answers).0
}

fn found(answers: &[&str]) -> Found {
    match verdict(answers) {
        Err(Error::VersionFence { got }) => got,
        other => panic!("{answers:?}: {other:?}"),
    }
}

const CLAIM: &[u8] =
    b"*4\r\n$3\r\nSET\r\n$13\r\n{emq}:version\r\n$12\r\nechomq:2.0.0\r\n$2\r\nNX\r\n\
                       *2\r\n$3\r\nGET\r\n$13\r\n{emq}:version\r\n";

#[test]
fn our_identity_is_verified_and_nothing_is_written() {
    let (verdict, sent) = run(Claims::Allowed, &[OURS]);
    assert_eq!(verdict.unwrap(), Passage::Verified);
    assert_eq!(sent, VERSION_GET);
}

#[test]
fn an_absent_key_is_claimed_and_read_back_in_one_flight() {
    for null in NULLS {
        let (verdict, sent) = run(Claims::Allowed, &[null, OK, OURS]);
        assert_eq!(verdict.unwrap(), Passage::Claimed);
        assert_eq!(sent, [VERSION_GET, CLAIM].concat());
    }
}

#[test]
fn the_confirming_read_decides_whenever_it_yields_a_string() {
    for null in NULLS {
        assert_eq!(verdict(&[null, null, OURS]).unwrap(), Passage::Verified, "a peer won");
        assert_eq!(found(&[null, null, OTHER]), Found::Value("echomq:1.0.0".into()));
        assert_eq!(found(&[null, OK, OTHER]), Found::Value("echomq:1.0.0".into()));
        for error in ["-OOM no memory\r\n", "-READONLY no\r\n", "-NOPERM no\r\n", "-ERR what\r\n"] {
            assert_eq!(verdict(&[null, error, OURS]).unwrap(), Passage::Verified, "{error}");
            assert_eq!(found(&[null, error, OTHER]), Found::Value("echomq:1.0.0".into()));
        }
    }
}

#[test]
fn another_identity_is_refused_with_what_was_found_and_nothing_is_written() {
    let (verdict, sent) = run(Claims::Allowed, &[OTHER]);
    let error = verdict.unwrap_err();
    assert!(
        matches!(&error, Error::VersionFence { got: Found::Value(got) } if got == "echomq:1.0.0")
    );
    assert_eq!(sent, VERSION_GET);
    for near in ["$0\r\n\r\n", "$13\r\nechomq:2.0.0\n\r\n", "$12\r\nECHOMQ:2.0.0\r\n"] {
        assert!(matches!(found(&[near]), Found::Value(_)), "{near}");
    }
}

#[test]
fn a_huge_value_is_shown_by_its_length_and_head() {
    let huge = "ab\n".repeat(1 << 18);
    let got = found(&[&format!("${}\r\n{huge}\r\n", huge.len())]);
    let shown = got.to_string();
    assert!(shown.starts_with("ab\\nab\\n"), "{shown}");
    assert!(shown.ends_with("… (786432 bytes)"), "{shown}");
    assert!(shown.len() < 200, "{shown}");
}

#[test]
fn any_other_type_is_a_protocol_error_that_names_the_step() {
    let odd =
        ["+QUEUED\r\n", "+OK\r\n", ":1\r\n", "*0\r\n", "%0\r\n", "#t\r\n", "=7\r\ntxt:abc\r\n"];
    for odd in odd {
        let table: [(&[&str], Step); 2] =
            [(&[odd], Step::FenceRead), (&["_\r\n", OK, odd], Step::FenceConfirm)];
        for (answers, at) in table {
            let error = verdict(answers).unwrap_err();
            let Error::Protocol { violation: Violation::Unexpected { step, .. }, .. } = error
            else {
                panic!("{answers:?}: {error:?}")
            };
            assert_eq!(step, at);
        }
    }
    for odd in ["+QUEUED\r\n", "$2\r\nOK\r\n", ":1\r\n", OURS] {
        let error = verdict(&["_\r\n", odd]).unwrap_err();
        assert!(error.to_string().contains("fence SET NX was answered by"), "{odd}: {error}");
    }
}

#[test]
fn an_error_reply_counts_by_its_code() {
    for transient in ["LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN"] {
        let words = format!("-{transient} not now\r\n");
        let answers: [&[&str]; 2] = [&[&words], &["_\r\n", OK, &words]];
        for answers in answers {
            let error = verdict(answers).unwrap_err();
            assert!(matches!(&error, Error::NotReady { .. }), "{answers:?}: {error}");
            assert!(!error.is_fatal());
        }
    }
    let refused = verdict(&["-NOPERM no\r\n"]).unwrap_err();
    assert!(matches!(refused, Error::BootRefused { step: Step::FenceRead, .. }));
    let refused = verdict(&["-NOAUTH no\r\n"]).unwrap_err();
    assert!(matches!(refused, Error::AuthRefused { step: Step::FenceRead, .. }));
    let moved = verdict(&["-MOVED 9051 10.0.0.7:7001\r\n"]).unwrap_err();
    assert!(matches!(moved, Error::BootRefused { step: Step::FenceRead, .. }));
    assert!(moved.to_string().contains("10.0.0.7:7001"), "{moved}");
    assert_eq!(found(&["-WRONGTYPE a list\r\n"]), Found::WrongType);
    assert_eq!(found(&["_\r\n", "_\r\n", "!17\r\nWRONGTYPE a list!\r\n"]), Found::WrongType);
}

#[test]
fn the_claims_error_counts_only_when_the_confirming_read_finds_nothing() {
    for transient in ["OOM", "READONLY", "NOREPLICAS", "MISCONF"] {
        let words = format!("-{transient} no write\r\n");
        let error = verdict(&["_\r\n", &words, "_\r\n"]).unwrap_err();
        let Error::NotReady { step: Step::FenceClaim, cause: Cause::Reply(reply) } = error else {
            panic!("{error:?}")
        };
        assert_eq!(reply.code(), transient);
    }
    let error = verdict(&["_\r\n", "-NOPERM may read only\r\n", "_\r\n"]).unwrap_err();
    assert!(matches!(error, Error::BootRefused { step: Step::FenceClaim, .. }));
    let error = verdict(&["_\r\n", "-READONLY a replica\r\n", "-MASTERDOWN x\r\n"]).unwrap_err();
    assert!(matches!(error, Error::NotReady { step: Step::FenceConfirm, .. }));
}

#[test]
fn a_key_that_vanishes_again_and_again_is_given_up_after_three_rounds() {
    let (verdict, sent) =
        run(Claims::Allowed, &["_\r\n", OK, "_\r\n", "_\r\n", "_\r\n", OK, "_\r\n"]);
    let error = verdict.unwrap_err();
    assert!(matches!(error, Error::VersionFence { got: Found::Absent }), "{error:?}");
    assert!(error.is_fatal());
    assert_eq!(sent, [VERSION_GET, CLAIM, CLAIM, CLAIM].concat());

    let (verdict, _) = run(Claims::Allowed, &["_\r\n", OK, "_\r\n", OK, OURS]);
    assert_eq!(verdict.unwrap(), Passage::Claimed, "two rounds");
}

#[test]
fn who_may_read_from_a_replica_never_writes() {
    let (verdict, sent) = run(Claims::Never, &["_\r\n"]);
    let error = verdict.unwrap_err();
    let Error::NotReady { step: Step::FenceRead, cause: Cause::Unclaimed } = error else {
        panic!("{error:?}")
    };
    assert_eq!(sent, VERSION_GET);
    assert_eq!(run(Claims::Never, &[OURS]).0.unwrap(), Passage::Verified);
}
