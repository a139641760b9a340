//! Deep replies in a stack that recursion would overflow.

use std::thread;

use echo_wire::resp::{Decoder, Limits, ProtocolErrorKind, Reply, Value};

use crate::json;

/// Runs `test` in 256 KiB of stack; an overflow kills the process.
fn in_small_stack(test: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(256 * 1024).spawn(test).unwrap().join().unwrap();
}

const OPENERS: &[&[u8]] = &[
    b"*1\r\n",
    b"%1\r\n+k\r\n",
    b"%1\r\n",
    b"~1\r\n",
    b"|1\r\n+k\r\n",
    b"|1\r\n",
    b"|0\r\n",
    b"*?\r\n",
    b"~?\r\n",
    b"%?\r\n+k\r\n",
];

#[test]
fn a_hundred_thousand_nested_headers_are_refused_not_followed() {
    in_small_stack(|| {
        for opener in OPENERS {
            for leader in [&b""[..], b">1\r\n"] {
                let stream = [leader, &opener.repeat(100_000)].concat();
                for piece in [stream.len(), 7] {
                    let mut decoder = Decoder::new(Limits::default());
                    let error = stream
                        .chunks(piece)
                        .find_map(|piece| {
                            decoder.feed(piece);
                            decoder.next().err()
                        })
                        .expect("a hundred thousand levels");
                    let shown = opener.escape_ascii();
                    assert_eq!(error.kind(), ProtocolErrorKind::DepthLimit, "{shown}");
                }
            }
        }
        // A push may not even be the second level.
        let mut decoder = Decoder::new(Limits::default());
        decoder.feed(&b">1\r\n".repeat(100_000));
        assert_eq!(decoder.next().unwrap_err().kind(), ProtocolErrorKind::NestedPush);
    });
}

#[test]
fn the_deepest_legal_reply_is_read_shown_compared_copied_and_dropped_without_recursion() {
    in_small_stack(|| {
        for (opener, closer) in [
            (&b"*1\r\n"[..], &b""[..]),
            (b"%1\r\n+k\r\n", b""),
            (b"~1\r\n", b""),
            (b"|1\r\n+k\r\n", b":2\r\n"),
            (b"|0\r\n", b""),
            (b"*?\r\n", b".\r\n"),
        ] {
            let stream = [&opener.repeat(1024)[..], b":1\r\n", &closer.repeat(1024)].concat();
            let mut decoder = Decoder::new(Limits::default());
            decoder.feed(&stream);
            let borrowed = decoder.next_ref().unwrap().unwrap();
            let rendered = json::render(borrowed);
            let copy = borrowed.to_reply();
            decoder.feed(&stream);
            let owned = decoder.next().unwrap().unwrap();
            assert!(decoder.is_idle());

            assert_eq!(json::render(owned.as_ref()), rendered);
            assert_eq!(owned, copy);
            assert_eq!(owned.clone(), copy.detach());
            assert_ne!(owned, Reply::default());
            assert_eq!(format!("{owned:?}"), format!("{copy:?}"));
            assert!(owned.to::<Vec<i64>>().is_err() || !opener.starts_with(b"*"));
            drop((owned, copy));
        }
    });
}

#[test]
fn the_innermost_of_a_thousand_levels_is_reached_by_a_loop() {
    let mut decoder = Decoder::new(Limits::default());
    decoder.feed(&[b"*1\r\n".repeat(1000), b"$4\r\ncore\r\n".to_vec()].concat());
    let reply = decoder.next().unwrap().unwrap();
    let mut at = reply.as_ref();
    let mut levels = 0;
    while let Value::Array(items) = at.value() {
        at = items.get(0).unwrap();
        levels += 1;
    }
    assert_eq!((levels, at.value()), (1000, Value::BulkString(b"core")));
}
