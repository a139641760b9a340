//! Arguments as real servers read them: numbers exactly, bytes untouched.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail"
)]

mod support;

use bytes::{Bytes, BytesMut};
use echo_wire::resp::{Arg, Command, Decoder, Limits, Protocol};
use proptest::prelude::*;
use support::{Answer, Raw, Server, flavors};

fn run(client: &mut Raw, command: &Command<'_>) -> Answer {
    let mut out = BytesMut::new();
    command.encode(&mut out);
    client.write(&out).unwrap();
    client.read().unwrap()
}

/// Numbers at the edges of each form, and many of random bits.
fn doubles() -> Vec<f64> {
    let mut values = vec![
        0.0,
        0.1,
        -2.5,
        1e-4,
        9.999e-5,
        1e16,
        1e17,
        123_456_789_012_345_680.0,
        f64::MAX,
        f64::MIN,
        f64::EPSILON,
        f64::MIN_POSITIVE,
        -f64::MIN_POSITIVE,
        -f64::MIN_POSITIVE * 1.000_000_000_000_000_4,
        f64::MIN_POSITIVE / 3.0,
        f64::from_bits(1),
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    let mut bits = 1_u64;
    while values.len() < 3000 {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let value = f64::from_bits(bits);
        if !value.is_nan() {
            values.push(value);
        }
    }
    values
}

#[test]
fn a_double_is_read_as_exactly_itself() {
    for flavor in flavors() {
        let server = Server::builder(flavor).start();
        let mut client = server.raw();
        for value in doubles() {
            run(&mut client, &Command::new("ZADD").arg("z").arg(value).arg("member"));
            let score = run(&mut client, &Command::new("ZSCORE").arg("z").arg("member"));
            let back: f64 = score.to_string().parse().unwrap();
            // `==`, because servers keep no sign of a zero.
            assert!(back == value, "{flavor:?}: {value:e} came back as {back:e}");
        }
        let refused = run(&mut client, &Command::new("ZADD").arg("z").arg(f64::NAN).arg("member"));
        assert_eq!(
            refused,
            Answer::Error("ERR value is not a valid float".to_owned()),
            "{flavor:?}"
        );
    }
}

#[test]
fn integers_are_read_as_exactly_themselves() {
    for flavor in flavors() {
        let server = Server::builder(flavor).start();
        let mut client = server.raw();
        for value in [0, 1, -1, 9, 10, 1_000_000, i64::MAX, i64::MIN] {
            run(&mut client, &Command::new("DEL").arg("n"));
            let read = run(&mut client, &Command::new("INCRBY").arg("n").arg(value));
            assert_eq!(read, Answer::Integer(value), "{flavor:?}");
        }
    }
}

#[test]
fn bytes_of_any_kind_and_size_come_back_untouched() {
    let all: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    for flavor in flavors() {
        let server = Server::builder(flavor).start();
        let mut client = server.raw();
        for len in [0, 1, 9, 10, 99, 100, 999, 1000, 16_383, 16_384, 100_000] {
            let shared = Bytes::copy_from_slice(&all[..len]);
            for value in [Arg::from(&shared), Arg::from(&all[..len])] {
                run(&mut client, &Command::new("SET").arg("\r\n*1\r\n").arg(value));
                let back = run(&mut client, &Command::new("GET").arg("\r\n*1\r\n"));
                assert_eq!(back, Answer::Text(shared.to_vec()), "{flavor:?}: {len} bytes");
            }
        }
    }
}

/// Reads one array of bulk strings as the specification words it, without the crate.
fn read_by_the_book(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    fn number(bytes: &mut &[u8], kind: u8) -> usize {
        let end = bytes.windows(2).position(|pair| pair == b"\r\n").unwrap();
        let line = &bytes[..end];
        assert_eq!(line[0], kind);
        *bytes = &bytes[end + 2..];
        std::str::from_utf8(&line[1..]).unwrap().parse().unwrap()
    }
    let count = number(&mut bytes, b'*');
    let words = (0..count)
        .map(|_| {
            let len = number(&mut bytes, b'$');
            let (word, rest) = bytes.split_at(len);
            bytes = rest.strip_prefix(b"\r\n").unwrap();
            word.to_vec()
        })
        .collect();
    assert!(bytes.is_empty(), "bytes after the last argument");
    words
}

proptest! {
    #[test]
    fn an_encoded_command_reads_back_as_its_words(
        name in "\\PC{0,12}",
        args in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..30),
        large in prop::collection::vec(any::<u8>(), 0..9000),
        number in any::<i64>(),
        before in prop::collection::vec(any::<u8>(), 0..9),
        piece in 1..700_usize,
    ) {
        let shared = Bytes::from(large.clone());
        let command = Command::new(&name).args(&args).arg(&shared).arg(number);
        let mut out = BytesMut::from(&before[..]);
        command.encode(&mut out);
        let out = out.strip_prefix(&before[..]).unwrap();

        let mut words = vec![name.clone().into_bytes()];
        words.extend(args.iter().cloned());
        words.extend([large, number.to_string().into_bytes()]);
        prop_assert_eq!(read_by_the_book(out), &words[..]);
        prop_assert_eq!(command.arg_count(), args.len() + 2);
        prop_assert!(command.iter().eq(words[1..].iter().map(Vec::as_slice)));

        // And the crate's own decoder says so, as a server's would: it knows no RESP3 there.
        let mut decoder = Decoder::new(Limits::default()).only(Protocol::Resp2);
        let mut read = Vec::new();
        for piece in out.chunks(piece) {
            decoder.feed(piece);
            read.extend(decoder.next().unwrap());
        }
        prop_assert!(decoder.is_idle());
        let [array] = &read[..] else { panic!("{} for one", read.len()) };
        prop_assert_eq!(array.to::<Vec<Vec<u8>>>(), Ok(words));
    }
}
