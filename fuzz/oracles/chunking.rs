//! Any bytes in any pieces: the same replies, and the same end, as in one piece.
//!
//! The input's first byte says how many of the following ones are lengths of pieces (taken in
//! turn, 0 as 1); the rest is the stream.

use bytes::BufMut as _;
use echo_wire::resp::{Decoder, Limits, ProtocolErrorKind, Reply};

pub(crate) fn check(input: &[u8]) {
    let Some((count, rest)) = input.split_first() else { return };
    let (lengths, stream) = rest.split_at((usize::from(*count) % 8 + 1).min(rest.len()));
    let limits = Limits::default().line(64).bulk(200).depth(6).elements(12).reply(700);
    for limits in [Limits::default(), limits] {
        let whole = decode(&[stream], limits);
        let pieces = cut(stream, lengths);
        assert_eq!(decode(&pieces, limits), whole);
    }
}

fn cut<'a>(mut stream: &'a [u8], lengths: &[u8]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for length in lengths.iter().cycle() {
        let (piece, rest) =
            stream.split_at(usize::from(*length).clamp(1, stream.len().max(1)).min(stream.len()));
        pieces.push(piece);
        stream = rest;
        if stream.is_empty() {
            break;
        }
    }
    pieces
}

/// Every reply, and how it ended: so many bytes are left, or this error at this place.
type Outcome = (Vec<Reply>, Result<usize, (ProtocolErrorKind, u64)>);

/// Reads the pieces in turn by copy and in place.
fn decode(pieces: &[&[u8]], limits: Limits) -> Outcome {
    let mut decoder = Decoder::new(limits);
    let mut replies = Vec::new();
    for (turn, piece) in pieces.iter().enumerate() {
        if turn % 2 == 0 {
            decoder.feed(piece);
        } else {
            decoder.read_buf().put_slice(piece);
        }
        loop {
            match decoder.next() {
                Ok(Some(reply)) => replies.push(reply),
                Ok(None) => break,
                Err(error) => return (replies, Err((error.kind(), error.offset()))),
            }
        }
    }
    (replies, Ok(decoder.buffered().len()))
}
