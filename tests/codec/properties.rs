//! What holds for every value and every way of cutting the bytes; a counterexample is shrunk. The trees of
//! `oracle.rs` are grown by chance and larger, but nothing makes a failure small there.

use echo_wire::resp::{Decoder, Limits, Reply};
use proptest::{collection::vec, prelude::*, sample::Index};

use crate::{
    reference,
    server::encode,
    tree::{self, Tree},
};

/// A line's text, which holds no line end.
fn line() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>().prop_filter("a line end", |byte| !b"\r\n".contains(byte)), 0..40)
}

/// Text that may look like anything, line ends and heads of other values among it.
fn text() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![vec(any::<u8>(), 0..80), "[\r\n$*:;.0-9?]{0,12}".prop_map(String::into_bytes)]
}

/// Every NaN reads as one.
fn double() -> impl Strategy<Value = Tree> {
    let any = prop_oneof![any::<f64>(), any::<u64>().prop_map(f64::from_bits)];
    any.prop_map(|value| Tree::Double(if value.is_nan() { f64::NAN } else { value }.to_bits()))
}

fn leaf() -> impl Strategy<Value = Tree> {
    prop_oneof![
        line().prop_map(Tree::Simple),
        line().prop_map(Tree::Error),
        any::<i64>().prop_map(Tree::Integer),
        text().prop_map(Tree::Bulk),
        prop::sample::select(&["bulk", "array", "resp3"]).prop_map(Tree::Null),
        any::<bool>().prop_map(Tree::Boolean),
        double(),
        "[+-]?[0-9]{1,60}".prop_map(|digits| Tree::BigNumber(digits.into_bytes())),
        text().prop_map(Tree::BulkError),
        (vec(any::<u8>(), 3), text()).prop_map(|(format, text)| Tree::Verbatim(format, text)),
    ]
}

fn value() -> impl Strategy<Value = Tree> {
    leaf().prop_recursive(6, 60, 6, |inner| {
        let items = vec(inner.clone(), 0..6);
        let pairs = vec((inner.clone(), inner.clone()), 0..4);
        prop_oneof![
            items.clone().prop_map(Tree::Array),
            items.prop_map(Tree::Set),
            pairs.clone().prop_map(Tree::Map),
            (pairs, inner).prop_map(|(pairs, inner)| Tree::Attribute(pairs, Box::new(inner))),
        ]
    })
}

/// What may stand by itself: a push as well, behind attributes or not.
fn reply() -> impl Strategy<Value = Tree> {
    let push = || vec(value(), 0..5).prop_map(Tree::Push);
    let marked = (vec((value(), value()), 0..3), push())
        .prop_map(|(pairs, push)| Tree::Attribute(pairs, Box::new(push)));
    prop_oneof![8 => value(), 1 => push(), 1 => marked]
}

/// Bytes of any kind, signs that mean something, and small whole things in any order.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    let signs = "[-+:$*_#,(!=%~>|;.?0-3tf\r\n]{0,60}";
    let things =
        "([*%~>|][0-3?]\r\n|:1\r\n|_\r\n|\\$1\r\nx\r\n|\\$\\?\r\n|;[01]\r\n|\\.\r\n){0,20}";
    prop_oneof![
        vec(any::<u8>(), 0..60),
        signs.prop_map(String::into_bytes),
        things.prop_map(String::into_bytes),
    ]
}

/// The stream, cut at these places.
fn cut<'a>(stream: &'a [u8], at: &[Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = at.iter().map(|index| index.index(stream.len() + 1)).collect();
    places.extend([0, stream.len()]);
    places.sort_unstable();
    places.windows(2).map(|ends| &stream[ends[0]..ends[1]]).collect()
}

/// The three ways to take a reply.
fn take(decoder: &mut Decoder, way: u8) -> Option<Tree> {
    match way {
        0 => decoder.next().unwrap().map(|reply| tree::of(reply.as_ref())),
        1 => {
            let mut slot = Reply::default();
            decoder.next_into(&mut slot).unwrap().then(|| tree::of(slot.as_ref()))
        }
        _ => decoder.next_ref().unwrap().map(tree::of),
    }
}

proptest! {
    #[test]
    fn any_values_as_a_server_writes_them_are_read_as_themselves_however_they_are_cut(
        replies in vec(reply(), 1..4),
        streamed in vec(any::<bool>(), 0..40),
        at in vec(any::<Index>(), 0..30),
        way in 0..3_u8,
    ) {
        let mut bytes = Vec::new();
        let mut streamed = streamed.into_iter();
        for reply in &replies {
            encode(reply, &mut bytes, &mut || streamed.next() == Some(true));
        }
        let mut decoder = Decoder::new(Limits::default());
        let mut found = Vec::new();
        for piece in cut(&bytes, &at) {
            decoder.feed(piece);
            found.extend(std::iter::from_fn(|| take(&mut decoder, way)));
        }
        prop_assert!(decoder.is_idle());
        prop_assert_eq!(found, replies);
    }

    #[test]
    fn a_reply_that_is_cut_short_is_waited_for_and_nothing_is_made_up(
        reply in reply(),
        end in any::<Index>(),
        at in vec(any::<Index>(), 0..8),
    ) {
        let mut bytes = Vec::new();
        encode(&reply, &mut bytes, &mut || false);
        let short = &bytes[..end.index(bytes.len())];
        let mut decoder = Decoder::new(Limits::default());
        for piece in cut(short, &at) {
            decoder.feed(piece);
            prop_assert_eq!(decoder.next(), Ok(None));
        }
        prop_assert_eq!(decoder.buffered(), short);
        decoder.feed(&bytes[short.len()..]);
        prop_assert_eq!(take(&mut decoder, 0), Some(reply));
    }

    #[test]
    fn any_bytes_end_as_the_plain_decoder_says_however_they_are_cut(
        bytes in noise(),
        at in vec(any::<Index>(), 0..12),
    ) {
        let (mut rest, mut expected) = (&bytes[..], Vec::new());
        let end = loop {
            match reference::decode(rest) {
                Ok((tree, len)) => {
                    expected.push(tree);
                    rest = &rest[len..];
                }
                Err(stop) => break stop,
            }
        };
        let mut decoder = Decoder::new(Limits::default());
        let mut found = Vec::new();
        let mut is_refused = false;
        for piece in cut(&bytes, &at) {
            decoder.feed(piece);
            while !is_refused {
                match decoder.next() {
                    Ok(Some(reply)) => found.push(tree::of(reply.as_ref())),
                    Ok(None) => break,
                    Err(_) => is_refused = true,
                }
            }
        }
        prop_assert_eq!(found, expected);
        prop_assert_eq!(is_refused, end == reference::Stop::Bad);
    }
}
