//! Any name and any arguments: what is encoded decodes as the array of bulk strings that they are,
//! behind what stood in the buffer before.
//!
//! Each argument is a byte that says its kind, a byte of length, and its bytes.

use bytes::{Bytes, BytesMut};
use echo_wire::{
    connector::Traits,
    resp::{Arg, Command, Decoder, Limits},
};

use crate::{
    reference,
    tree::{self, Tree},
};

pub(crate) fn check(input: &[u8]) {
    let (before, rest) = cut(input);
    let (name, mut rest) = cut(rest);
    let name = String::from_utf8_lossy(name);
    let mut given = Vec::new();
    while let Some((kind, after)) = rest.split_first() {
        let (bytes, after) = cut(after);
        given.push(Given::new(*kind, bytes));
        rest = after;
    }
    let command = Command::new(&name).args(given.iter().map(Given::arg));
    assert_eq!((command.name(), command.arg_count()), (&*name, given.len()));
    assert_eq!(command.iter().count(), given.len());

    let mut out = BytesMut::from(before);
    command.encode(&mut out);
    let encoded = out.strip_prefix(before).expect("what stood there stands there");
    let (found, len) = reference::decode(encoded).expect("RESP");
    assert_eq!(len, encoded.len(), "and nothing behind it");
    let Tree::Array(words) = &found else { panic!("{found:?}") };
    assert_eq!(words.len(), given.len() + 1);
    assert_eq!(words[0], Tree::Bulk(name.as_bytes().to_vec()));
    for (index, (given, word)) in given.iter().zip(&words[1..]).enumerate() {
        let Tree::Bulk(word) = word else { panic!("{word:?}") };
        given.assert_is(word);
        assert_eq!(command.get(index), Some(&word[..]));
    }
    assert_eq!(command.get(given.len()), None);

    let mut decoder = Decoder::new(Limits::default());
    decoder.feed(encoded);
    assert_eq!(tree::of(decoder.next_ref().expect("RESP").expect("whole")), found);
    assert!(decoder.is_idle());
    looked_up(&command);
}

/// What the table of commands says of it hangs together.
fn looked_up(command: &Command<'_>) {
    let traits = Traits::of(command);
    let refusals = [traits.refusal(), traits.refusal_dedicated(), traits.refusal_alone()];
    for refusal in refusals.into_iter().flatten() {
        assert!(!refusal.to_string().is_empty() && !refusal.command().is_empty());
    }
    assert_eq!(refusals[2].is_some(), refusals[1].is_some_and(|refusal| refusal.holds_alone()));
    if let Some(key) = traits.first_key(command) {
        assert!(command.iter().any(|arg| arg == key));
        assert_eq!(traits.slot(command), Some(echo_wire::keyspace::slot(key)));
    }
    let marked = command.clone().blocking();
    assert!(Traits::of(&marked).is_blocking());
    let shown = format!("{command:?}");
    let expected =
        format!("Command {{ name: {:?}, arg_count: {} }}", command.name(), command.arg_count());
    assert_eq!(shown, expected, "an argument may be a secret");
}

/// So many bytes as the first one says, as far as there are any; and the rest.
fn cut(input: &[u8]) -> (&[u8], &[u8]) {
    match input.split_first() {
        Some((len, rest)) => rest.split_at(usize::from(*len).min(rest.len())),
        None => (input, input),
    }
}

enum Given {
    Bytes(Vec<u8>),
    Shared(Bytes),
    Text(String),
    Signed(i64),
    Unsigned(u64),
    Small(u8),
    Double(f64),
}

impl Given {
    fn new(kind: u8, bytes: &[u8]) -> Self {
        let mut eight = [0; 8];
        eight.iter_mut().zip(bytes).for_each(|(slot, byte)| *slot = *byte);
        match kind % 8 {
            0 => Self::Bytes(bytes.to_vec()),
            1 => Self::Shared(Bytes::copy_from_slice(bytes)),
            // Large enough that a socket would be handed it without a copy.
            2 => Self::Shared(bytes.repeat(1 + usize::from(kind) * 8).into()),
            3 => Self::Text(String::from_utf8_lossy(bytes).into_owned()),
            4 => Self::Signed(i64::from_le_bytes(eight)),
            5 => Self::Unsigned(u64::from_le_bytes(eight)),
            6 => Self::Small(eight[0]),
            _ => Self::Double(f64::from_le_bytes(eight)),
        }
    }

    fn arg(&self) -> Arg<'_> {
        match self {
            Self::Bytes(bytes) => bytes.into(),
            Self::Shared(bytes) => bytes.into(),
            Self::Text(text) => text.into(),
            Self::Signed(value) => (*value).into(),
            Self::Unsigned(value) => (*value).into(),
            Self::Small(value) => (*value).into(),
            Self::Double(value) => (*value).into(),
        }
    }

    fn assert_is(&self, sent: &[u8]) {
        match self {
            Self::Bytes(bytes) => assert_eq!(sent, bytes),
            Self::Shared(bytes) => assert_eq!(sent, bytes),
            Self::Text(text) => assert_eq!(sent, text.as_bytes()),
            Self::Signed(value) => assert_eq!(sent, value.to_string().as_bytes()),
            Self::Unsigned(value) => assert_eq!(sent, value.to_string().as_bytes()),
            Self::Small(value) => assert_eq!(sent, value.to_string().as_bytes()),
            Self::Double(value) => {
                let read: f64 = std::str::from_utf8(sent).unwrap().parse().unwrap();
                let same = read.to_bits() == value.to_bits() || read.is_nan() && value.is_nan();
                assert!(same, "{value:e} was sent as {}", sent.escape_ascii());
            }
        }
    }
}
