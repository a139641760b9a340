//! The encoders: from a caller's slices to the bytes of a command, behind others in one buffer where
//! the API allows that.

use bytes::{BufMut, BytesMut};
use echo_wire::resp::Command;

use super::Table;
use crate::{
    meter::measure,
    rounds::{Turn, compare},
};

/// A command's name and arguments.
pub struct Words {
    name: &'static str,
    words: Vec<&'static [u8]>,
}

pub fn commands() -> [Words; 2] {
    let set: [&[u8]; 3] = [b"SET", b"emq:{mail}:job:12345", &[b'v'; 64]];
    let evalsha: [&[u8]; 14] = [
        b"EVALSHA",
        b"6b1bf486c81ceb7edf3c093f4a48d12d9b0a1c3e",
        b"3",
        b"emq:{mail}:pending",
        b"emq:{mail}:active",
        b"emq:{mail}:events",
        b"USR0KHTOWnGLuC",
        b"1735689600000",
        b"30000",
        b"worker-17",
        br#"{"to":"a@example.org","n":[1,2,3]}"#,
        b"5",
        b"0",
        b"some-longer-argument-here",
    ];
    [
        Words { name: "SET, key of 20 B, value of 64 B", words: set.into() },
        Words { name: "EVALSHA, 3 keys, 8 arguments", words: evalsha.into() },
    ]
}

const TIMES: u64 = 20_000;

pub fn table(command: &Words, rounds: usize) -> Table {
    let words = &command.words[..];
    let mut expected = Vec::new();
    by_hand(words, &mut expected);
    let ours = built(words);
    let mut contenders = [
        turn("by hand (floor)", &expected, move |out| {
            by_hand(words, std::hint::black_box(out));
        }),
        turn("echo_wire, built before", &expected, move |out| ours.encode(out)),
        turn("echo_wire, built and encoded", &expected, move |out| built(words).encode(out)),
        // Their API encodes into a vector; rustis builds one for each command.
        turn("redis-rs, built and encoded", &expected, move |out| {
            let mut packed = Vec::new();
            let mut command = redis::cmd(std::str::from_utf8(words[0]).expect("text"));
            for word in &words[1..] {
                command.arg(word);
            }
            command.write_packed_command(&mut packed);
            out.extend_from_slice(&packed);
        }),
        turn("rustis, built", &expected, move |out| {
            let mut command = rustis::resp::cmd(std::str::from_utf8(words[0]).expect("text"));
            for word in &words[1..] {
                command = command.arg(rustis::resp::BulkString::from(word.to_vec()));
            }
            let command = rustis::resp::Command::from(command);
            out.extend_from_slice(command.bytes());
        }),
        turn("redis-protocol (fred)", &expected, move |out| {
            use redis_protocol::resp2::{encode::extend_encode_borrowed, types::BorrowedFrame};
            let frames: Vec<_> = words.iter().map(|word| BorrowedFrame::BulkString(word)).collect();
            extend_encode_borrowed(out, &BorrowedFrame::Array(&frames), false).expect("room");
        }),
        turn("resp-rs", &expected, move |out| {
            use resp_rs::resp2::Frame;
            let bulk = |word: &&'static [u8]| Frame::BulkString(Some((*word).into()));
            let frame = Frame::Array(Some(words.iter().map(bulk).collect()));
            out.extend_from_slice(&resp_rs::resp2::frame_to_bytes(&frame));
        }),
    ];
    Table {
        name: command.name.into(),
        unit: "command",
        bytes: expected.len() as f64,
        rows: compare(rounds, &mut contenders),
    }
}

fn built<'a>(words: &[&'a [u8]]) -> Command<'a> {
    let mut command = Command::new(std::str::from_utf8(words[0]).expect("text"));
    words[1..].iter().for_each(|word| command.push(*word));
    command
}

fn by_hand<B: BufMut>(words: &[&[u8]], out: &mut B) {
    let mut digits = itoa::Buffer::new();
    out.put_u8(b'*');
    out.put_slice(digits.format(words.len()).as_bytes());
    out.put_slice(b"\r\n");
    for word in words {
        out.put_u8(b'$');
        out.put_slice(digits.format(word.len()).as_bytes());
        out.put_slice(b"\r\n");
        out.put_slice(word);
        out.put_slice(b"\r\n");
    }
}

fn turn<'a>(
    name: &'static str,
    expected: &[u8],
    mut encode: impl FnMut(&mut BytesMut) + 'a,
) -> (&'static str, Turn<'a>) {
    let mut out = BytesMut::with_capacity(64 * 1024);
    encode(&mut out);
    assert_eq!(out, expected, "{name} says something else");
    let turn = move || {
        let work = || {
            for _ in 0..TIMES {
                if out.len() > 60 * 1024 {
                    out.clear();
                }
                encode(std::hint::black_box(&mut out));
            }
        };
        measure(TIMES, work).0
    };
    (name, Box::new(turn))
}
