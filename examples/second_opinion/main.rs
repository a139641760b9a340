//! Streams of RESP, valid and broken, in random pieces, and what the crate reads in each: `./run hiredis`
//! gives them to hiredis as well, and compares.
//!
//! ```text
//! $ cargo run --release --example second_opinion -- 3 1
//! 3  2b4f4b0d0a  2,3  whole  {"simple":"OK"}
//! ```
//!
//! The arguments are how many streams, and a seed. A line is the generation of the connection, the bytes, the
//! lengths of the pieces, how it ended (`whole`, `more` bytes are needed, `bad`) and each reply, parted by tabs.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a tool of the tests may stop on its own mistakes"
)]
#![allow(dead_code, reason = "what it takes of the tests is used in part")]

#[path = "../resp2json/json.rs"]
mod json;
#[path = "../../tests/codec/pieces.rs"]
mod pieces;
#[path = "../../tests/codec/reference.rs"]
mod reference;
#[path = "../../tests/codec/server.rs"]
mod server;
mod streams;
#[path = "../../tests/codec/tree.rs"]
mod tree;

use std::io::{self, BufWriter, Write};

use echo_wire::resp::{Decoder, Limits, Protocol};

use crate::{pieces::Random, reference::Stop, streams::Stream};

fn main() -> io::Result<()> {
    let mut args = std::env::args().skip(1).map(|arg| arg.parse().expect("a number"));
    let count = args.next().unwrap_or(10);
    let mut random = Random::new(args.next().unwrap_or(1));
    let mut out = BufWriter::with_capacity(1 << 20, io::stdout().lock());
    for _ in 0..count {
        let stream = streams::any(&mut random);
        let pieces = pieces::random(&stream.bytes, random.next(), stream.longest);
        let (replies, end) = read(&pieces, stream.protocol);
        if stream.protocol == Protocol::Resp3 && !stream.is_deep {
            hold_against_the_plain_decoder(&stream, &pieces, end);
        }
        let generation = if stream.protocol == Protocol::Resp2 { 2 } else { 3 };
        let lengths: Vec<String> = pieces.iter().map(|piece| piece.len().to_string()).collect();
        write!(out, "{generation}\t{}\t{}\t{end}", hex(&stream.bytes), lengths.join(","))?;
        for reply in replies {
            write!(out, "\t{reply}")?;
        }
        writeln!(out)?;
    }
    out.flush()
}

/// Every reply, and how it ended.
fn read(pieces: &[&[u8]], protocol: Protocol) -> (Vec<String>, &'static str) {
    let mut decoder = Decoder::new(Limits::default()).only(protocol);
    let mut replies = Vec::new();
    for piece in pieces {
        decoder.feed(piece);
        loop {
            match decoder.next_ref() {
                Ok(Some(reply)) => replies.push(json::render(reply)),
                Ok(None) => break,
                Err(_) => return (replies, "bad"),
            }
        }
    }
    (replies, if decoder.is_idle() { "whole" } else { "more" })
}

/// So that no difference to hiredis can hide a mistake of the crate: the specification's word is a third.
fn hold_against_the_plain_decoder(stream: &Stream, pieces: &[&[u8]], end: &str) {
    let mut decoder = Decoder::new(Limits::default());
    pieces.iter().for_each(|piece| decoder.feed(piece));
    let mut rest = &stream.bytes[..];
    let by_the_book = loop {
        match reference::decode(rest) {
            Ok((expected, len)) => {
                let reply = decoder.next_ref().unwrap().expect("a reply");
                assert_eq!(tree::of(reply), expected, "{}", stream.bytes.escape_ascii());
                rest = &rest[len..];
            }
            Err(Stop::More) => break if rest.is_empty() { "whole" } else { "more" },
            Err(Stop::Bad) => break "bad",
        }
    };
    assert_eq!(end, by_the_book, "{}", stream.bytes.escape_ascii());
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |n: u8| char::from(DIGITS[usize::from(n)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
