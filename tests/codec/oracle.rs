//! Random replies, whole, cut and damaged: the decoder says what the plain one says.

use echo_wire::resp::{Decoder, Limits, Reply};

use crate::{
    pieces::{self, Random},
    reference::{self, Stop},
    server,
    tree::{self, Tree},
};

/// Every reply of the stream, and how it ended: an error, bytes left over, or neither.
fn all(pieces: &[&[u8]]) -> (Vec<Tree>, Result<bool, ()>) {
    let mut decoder = Decoder::new(Limits::default());
    let mut trees = Vec::new();
    let mut reply = Reply::default();
    for piece in pieces {
        decoder.feed(piece);
        loop {
            match decoder.next_into(&mut reply) {
                Ok(true) => trees.push(tree::of(reply.as_ref())),
                Ok(false) => break,
                Err(_) => return (trees, Err(())),
            }
        }
    }
    (trees, Ok(decoder.is_idle()))
}

/// As [`all`], by the reference.
fn all_by_reference(mut stream: &[u8]) -> (Vec<Tree>, Result<bool, ()>) {
    let mut trees = Vec::new();
    loop {
        match reference::decode(stream) {
            Ok((tree, len)) => {
                trees.push(tree);
                stream = &stream[len..];
            }
            Err(Stop::More) => return (trees, Ok(stream.is_empty())),
            Err(Stop::Bad) => return (trees, Err(())),
        }
    }
}

fn random_stream(random: &mut Random) -> (Vec<Tree>, Vec<u8>) {
    let trees: Vec<_> = (0..1 + random.below(5))
        .map(|_| {
            let depth = random.below(5);
            server::grow(&mut |n| random.below(n), depth)
        })
        .collect();
    let mut bytes = Vec::new();
    let streams = random.below(2) == 1;
    for tree in &trees {
        server::encode(tree, &mut bytes, &mut || streams && random.below(4) == 0);
    }
    (trees, bytes)
}

#[test]
fn what_a_server_writes_is_what_is_read_however_it_is_cut() {
    let mut random = Random::new(1);
    for round in 0..1500 {
        let (trees, bytes) = random_stream(&mut random);
        assert_eq!(all_by_reference(&bytes), (trees.clone(), Ok(true)), "the oracle, {bytes:?}");
        assert_eq!(all(&[&bytes]), (trees.clone(), Ok(true)), "whole");
        for longest in [1, 3, 40] {
            let pieces = pieces::random(&bytes, round, longest);
            assert_eq!(all(&pieces), (trees.clone(), Ok(true)), "pieces of up to {longest}");
        }
    }
}

#[test]
fn damaged_replies_end_as_the_oracle_says_however_they_are_cut() {
    let mut random = Random::new(2);
    let mut refused = 0;
    for round in 0..6000 {
        let (_, mut bytes) = random_stream(&mut random);
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => bytes[at] = random.below(256) as u8,
                1 => bytes[at] = b"+-:$*_#,(!=%~>|;.?\r\n0123456789"[random.below(30)],
                2 => drop(bytes.remove(at)),
                _ => bytes.insert(at, b"+-:$*\r\n;.?19"[random.below(12)]),
            }
        }
        let expected = all_by_reference(&bytes);
        refused += usize::from(expected.1.is_err());
        assert_eq!(all(&[&bytes]), expected, "{}", bytes.escape_ascii());
        let pieces = pieces::random(&bytes, round, 7);
        assert_eq!(all(&pieces), expected, "in pieces: {}", bytes.escape_ascii());
    }
    assert!((1000..5900).contains(&refused), "{refused} of 6000 were refused");
}
