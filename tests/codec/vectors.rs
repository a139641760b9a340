//! The conformance vectors: each gives the same outcome however it is cut and however it is read.
//!
//! A line of `vectors.jsonl` holds the input in hex, what it must give, other outcomes that are as
//! right (`alt`), and how many bytes the value takes. An error may be found later than the first
//! byte that shows it; which error it is, is not compared.

use std::fmt;

use echo_wire::resp::{Decoder, Limits, Protocol, Reply};
use serde_json::{Value as Json, value::RawValue};

use crate::{
    json, pieces,
    reference::{self, Stop},
};

#[derive(serde::Deserialize)]
struct Vector<'a> {
    id: String,
    proto: String,
    hex: String,
    /// Raw, because a JSON reader stops at 128 levels.
    #[serde(borrow)]
    expect: &'a RawValue,
    #[serde(default)]
    alt: Vec<Json>,
    consumed: Option<usize>,
}

#[derive(PartialEq)]
enum Outcome {
    Value { json: String, consumed: usize },
    Incomplete,
    Error,
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value { json, consumed } => write!(f, "{consumed} bytes: {json}"),
            Self::Incomplete => f.write_str("incomplete"),
            Self::Error => f.write_str("error"),
        }
    }
}

/// The three ways to take a reply out of a decoder.
#[derive(Debug, Clone, Copy)]
enum Way {
    Next,
    NextInto,
    NextRef,
}

fn take(decoder: &mut Decoder, way: Way) -> Option<Result<String, ()>> {
    match way {
        Way::Next => {
            decoder.next().map(|reply| reply.map(|reply| json::render(reply.as_ref()))).transpose()
        }
        Way::NextInto => {
            let mut reply = Reply::default();
            let found = decoder.next_into(&mut reply);
            found.map(|found| found.then(|| json::render(reply.as_ref()))).transpose()
        }
        Way::NextRef => decoder.next_ref().map(|reply| reply.map(json::render)).transpose(),
    }
    .map(|outcome| outcome.map_err(|_| ()))
}

fn decode(pieces: &[&[u8]], protocol: Protocol, way: Way) -> Outcome {
    let mut decoder = Decoder::new(Limits::default()).only(protocol);
    let mut fed = 0;
    for piece in pieces {
        decoder.feed(piece);
        fed += piece.len();
        match take(&mut decoder, way) {
            Some(Ok(json)) => {
                return Outcome::Value { json, consumed: fed - decoder.buffered().len() };
            }
            Some(Err(())) => {
                assert!(decoder.next().is_err(), "an error is final");
                return Outcome::Error;
            }
            None => {}
        }
    }
    Outcome::Incomplete
}

impl Vector<'_> {
    fn input(&self) -> Vec<u8> {
        let digit = |at: usize| u8::from_str_radix(&self.hex[at..at + 2], 16).unwrap();
        (0..self.hex.len()).step_by(2).map(digit).collect()
    }

    fn protocols(&self) -> &'static [Protocol] {
        match self.proto.as_str() {
            "2" => &[Protocol::Resp2],
            "3" => &[Protocol::Resp3],
            _ => &[Protocol::Resp2, Protocol::Resp3],
        }
    }

    fn allows(&self, outcome: &Outcome) -> bool {
        let expect = self.expect.get();
        let alt = |key: &str| self.alt.iter().any(|alt| alt.get(key).is_some());
        match outcome {
            Outcome::Value { json, consumed } => {
                let value = expect.strip_prefix(r#"{"value":"#).and_then(|v| v.strip_suffix('}'));
                value == Some(json.as_str()) && self.consumed == Some(*consumed)
            }
            Outcome::Incomplete => expect.starts_with(r#"{"incomplete""#) || alt("incomplete"),
            Outcome::Error => expect.starts_with(r#"{"error""#) || alt("error"),
        }
    }
}

#[test]
fn every_vector_gives_its_outcome_whole_byte_by_byte_and_in_pieces() {
    let mut runs = 0;
    for line in include_str!("vectors.jsonl").lines() {
        let vector: Vector<'_> = serde_json::from_str(line).unwrap();
        let input = vector.input();
        for &protocol in vector.protocols() {
            for pieces in pieces::ways(&input) {
                for way in [Way::Next, Way::NextInto, Way::NextRef] {
                    let outcome = decode(&pieces, protocol, way);
                    assert!(
                        vector.allows(&outcome),
                        "{}: {outcome:?} by {way:?} under {protocol:?} from {pieces:?}\n{line}",
                        vector.id,
                    );
                    runs += 1;
                }
            }
        }
    }
    assert!(runs > 20_000, "only {runs} runs: vectors are missing");
}

#[test]
fn the_oracle_of_the_other_tests_passes_the_vectors_too() {
    for line in include_str!("vectors.jsonl").lines() {
        let vector: Vector<'_> = serde_json::from_str(line).unwrap();
        // It knows neither RESP2 alone nor a limit of depth.
        if vector.proto == "2" {
            continue;
        }
        let expect = vector.expect.get();
        let right = match reference::decode(&vector.input()) {
            Ok((_, len)) => expect.starts_with(r#"{"value""#) && vector.consumed == Some(len),
            Err(Stop::More) => vector.allows(&Outcome::Incomplete),
            Err(Stop::Bad) => vector.allows(&Outcome::Error),
        };
        assert!(right, "{line}");
    }
}
