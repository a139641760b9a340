//! Malformed frames: each is refused, with the rule it breaks, where, and what was there, however
//! it is cut; and what comes before it is still delivered.

use echo_wire::resp::{
    Decoder, Limits, ProtocolError,
    ProtocolErrorKind::{self, *},
    Reply,
};

use crate::pieces;

/// Frame, the rule it breaks, and how far into it the broken element starts.
const BAD: &[(&[u8], ProtocolErrorKind, u64)] = &[
    (b"x\r\n", UnknownType, 0),
    (b"\r\n", UnknownType, 0),
    (b"\n", UnknownType, 0),
    (b" +OK\r\n", UnknownType, 0),
    (b"\0", UnknownType, 0),
    (b"*1\r\n*1\r\n?\r\n", UnknownType, 8),
    (b"+a\nb\r\n", BadLine, 0),
    (b"-a\rb\r\n", BadLine, 0),
    (b"+OK\r\r\n", BadLine, 0),
    (b":12x\r\n", BadInteger, 0),
    (b":\r\n", BadInteger, 0),
    (b":1 \r\n", BadInteger, 0),
    (b":--1\r\n", BadInteger, 0),
    (b":9223372036854775808\r\n", BadInteger, 0),
    (b":-9223372036854775809\r\n", BadInteger, 0),
    (b"$-2\r\n", BadLength, 0),
    (b"$+5\r\nhello\r\n", BadLength, 0),
    (b"$ 5\r\nhello\r\n", BadLength, 0),
    (b"$-1x\r\n", BadLength, 0),
    (b"$-01\r\n", BadLength, 0),
    (b"$99999999999999999999\r\n", BadLength, 0),
    (b"*99999999999999999999\r\n", BadLength, 0),
    (b"*-2\r\n", BadLength, 0),
    (b"%-1\r\n", BadLength, 0),
    (b"~-1\r\n", BadLength, 0),
    (b">-1\r\n", BadLength, 0),
    (b"|-1\r\n", BadLength, 0),
    (b"!-1\r\n", BadLength, 0),
    (b"=-1\r\n", BadLength, 0),
    (b">?\r\n", BadLength, 0),
    (b"|?\r\n", BadLength, 0),
    (b"$3\r\nabcXY", BadTerminator, 0),
    (b"$3\r\nabc\nX", BadTerminator, 0),
    (b"*2\r\n:1\r\n$0\r\nab", BadTerminator, 8),
    (b"_x\r\n", BadNull, 0),
    (b"_\n", BadNull, 0),
    (b"#x\r\n", BadBoolean, 0),
    (b"#tt\r\n", BadBoolean, 0),
    (b",\r\n", BadDouble, 0),
    (b",1.0junk\r\n", BadDouble, 0),
    (b",infinity\r\n", BadDouble, 0),
    (b",+inf\r\n", BadDouble, 0),
    (b",nan(a b)\r\n", BadDouble, 0),
    (b",.5\r\n", BadDouble, 0),
    (b",1.\r\n", BadDouble, 0),
    (b"(12a\r\n", BadBigNumber, 0),
    (b"(\r\n", BadBigNumber, 0),
    (b"=3\r\ntxt\r\n", BadVerbatim, 0),
    (b"=4\r\ntext\r\n", BadVerbatim, 0),
    (b"$?\r\n;1\r\na\r\n.\r\n", BadChunk, 11),
    (b"$?\r\n+a\r\n", BadChunk, 4),
    (b".\r\n", UnexpectedEnd, 0),
    (b"*1\r\n.\r\n", UnexpectedEnd, 4),
    (b"*?\r\n|1\r\n+a\r\n:1\r\n.\r\n", UnexpectedEnd, 16),
    (b"%?\r\n+a\r\n.\r\n", OddMap, 8),
    (b"*1\r\n>1\r\n+a\r\n", NestedPush, 4),
    (b"|1\r\n+a\r\n>1\r\n+a\r\n:1\r\n", NestedPush, 8),
    (b"%4611686018427387904\r\n", ElementLimit, 0),
    (b"*9223372036854775808\r\n", ElementLimit, 0),
    (b"$536870913\r\n", BulkLimit, 0),
    (b"$9223372036854775807\r\n", BulkLimit, 0),
    (b"$?\r\n;9223372036854775807\r\n", BulkLimit, 4),
];

/// Feeds the pieces until an error comes; counts the replies before it.
fn first_error(pieces: &[&[u8]]) -> (usize, Option<ProtocolError>) {
    let mut decoder = Decoder::new(Limits::default());
    let mut replies = 0;
    for piece in pieces {
        decoder.feed(piece);
        loop {
            match decoder.next() {
                Ok(Some(_)) => replies += 1,
                Ok(None) => break,
                Err(error) => return (replies, Some(error)),
            }
        }
    }
    (replies, None)
}

#[test]
fn a_malformed_frame_is_refused_by_the_rule_it_breaks_wherever_it_is_cut() {
    for (frame, kind, at) in BAD {
        let stream = [&b"+first\r\n"[..], frame].concat();
        for pieces in pieces::ways(&stream) {
            let (replies, error) = first_error(&pieces);
            let shown = frame.escape_ascii();
            let error = error.unwrap_or_else(|| panic!("{shown} passed, in {pieces:?}"));
            assert_eq!((replies, error.kind()), (1, *kind), "{shown} in {pieces:?}");
            assert_eq!(error.offset(), 8 + at, "{shown} in {pieces:?}");
            let broken = &frame[*at as usize..];
            let seen = error.seen();
            assert!(broken.starts_with(seen) && !seen.is_empty(), "{shown}: saw {seen:?}");
        }
    }
}

#[test]
fn an_error_is_final_and_keeps_its_words() {
    let mut decoder = Decoder::new(Limits::default());
    decoder.feed(b"$1\r\naXY+OK\r\n");
    let error = decoder.next().unwrap_err();
    decoder.feed(b"+OK\r\n");
    assert_eq!(decoder.next().unwrap_err(), error);
    assert_eq!(decoder.next_ref().unwrap_err(), error);
    assert_eq!(decoder.next_into(&mut Reply::default()).unwrap_err(), error);
    assert!(!decoder.is_idle() && decoder.buffered().is_empty());
    // What still comes is not kept.
    for _ in 0..10 {
        decoder.read_buf().extend_from_slice(&[b'x'; 1000]);
    }
    assert!(decoder.buffered().len() <= 1000);
    assert_eq!(error.to_string(), r#"bulk without CRLF at its end at byte 0: "$1\r\naXY+OK\r\n""#);
}

#[test]
fn what_a_tls_or_http_peer_says_can_be_recognised() {
    for (answer, first) in [
        (&b"\x15\x03\x01\x00\x02\x02\x16"[..], &b"\x15\x03"[..]),
        (
            b"HTTP/1.1 400 Bad Request\r\nContent-Length: 11\r\n\r\n",
            b"HTTP/1.1 400 Bad Request\r\n",
        ),
    ] {
        let (_, error) = first_error(&[answer]);
        let error = error.unwrap();
        assert_eq!((error.kind(), error.offset()), (UnknownType, 0));
        assert!(error.seen().starts_with(first), "{error}");
        assert!(error.seen().len() <= 32, "{error}");
    }
}

#[test]
fn each_limit_lets_its_own_size_pass_and_refuses_one_more() {
    let list = |n: usize| [format!("*{n}\r\n").into_bytes(), b":1\r\n".repeat(n)].concat();
    let nest = |n: usize| [b"*1\r\n".repeat(n), b":1\r\n".to_vec()].concat();
    let stream = |n: usize| [&b"*?\r\n"[..], &b":1\r\n".repeat(n), b".\r\n"].concat();
    let chunks = |n: usize| [&b"$?\r\n"[..], &b";1\r\na\r\n".repeat(n), b";0\r\n"].concat();
    let bulk = |n: usize| format!("${n}\r\n{}\r\n", "x".repeat(n)).into_bytes();
    let line = |n: usize| format!("+{}\r\n", "x".repeat(n)).into_bytes();
    let attributes = |n: usize| [b"|0\r\n".repeat(n), b":1\r\n".to_vec()].concat();
    let new = Limits::default;
    type Case<'a> = (Limits, &'a dyn Fn(usize) -> Vec<u8>, usize, ProtocolErrorKind);
    let cases: &[Case<'_>] = &[
        (new().depth(5), &nest, 5, DepthLimit),
        (new().depth(5), &attributes, 5, DepthLimit),
        (new().elements(7), &list, 7, ElementLimit),
        (new().elements(7), &stream, 7, ElementLimit),
        (new().bulk(9), &bulk, 9, BulkLimit),
        (new().bulk(2000), &bulk, 2000, BulkLimit),
        (new().bulk(9), &chunks, 9, BulkLimit),
        (new().line(11), &line, 11, LineLimit),
        (new().reply(20), &bulk, 13, ReplyLimit),
        (new().reply(20), &list, 4, ReplyLimit),
        (new().reply(20), &line, 17, ReplyLimit),
    ];
    for (limits, build, size, kind) in cases {
        for (size, expected) in [(*size, None), (size + 1, Some(*kind))] {
            let stream = build(size);
            for pieces in pieces::ways(&stream) {
                let mut decoder = Decoder::new(*limits);
                let mut error = None;
                for piece in &pieces {
                    decoder.feed(piece);
                    error = error.or_else(|| decoder.next().err());
                }
                let kind = error.map(|error| error.kind());
                assert_eq!(kind, expected, "{limits:?}: {}", stream.escape_ascii());
            }
        }
    }
}

#[test]
fn a_line_without_end_is_refused_at_its_limit() {
    let mut decoder = Decoder::new(Limits::default());
    decoder.feed(b"+");
    let mut fed = 0;
    let error = loop {
        decoder.feed(&[b'x'; 1024]);
        fed += 1024;
        if let Err(error) = decoder.next() {
            break error;
        }
        assert!(fed < 1 << 20, "a megabyte was taken as a line");
    };
    assert_eq!((error.kind(), fed), (LineLimit, 65 * 1024));
}
