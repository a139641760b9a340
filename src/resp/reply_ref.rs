//! A borrowed view of one element of a reply.

use std::fmt;

use bytes::Bytes;

use super::{
    Attributes, ConvertError, Elements, FromReply, Pairs, Reply, ServerError, Value, kind::Kind,
    scan::Leaf, show, tape::Tape,
};

/// One element of a reply, with its attributes: a whole reply or a child at any depth.
///
/// It copies like a reference, because it is one.
///
/// ```
/// use echo_wire::resp::{Decoder, Limits, Value};
///
/// let mut decoder = Decoder::new(Limits::default());
/// decoder.feed(b"*2\r\n$1\r\nk\r\n:7\r\n");
/// let reply = decoder.next_ref()?.unwrap(); // nothing is copied
/// let Value::Array(items) = reply.value() else { panic!("an array was sent") };
/// assert_eq!(items.get(1).unwrap().to::<u8>()?, 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct ReplyRef<'a> {
    place: Place<'a>,
}

#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// An element without children or attributes that is on no tape.
    Leaf(Leaf<'a>),
    Node {
        tape: Tape<'a>,
        /// The value's first attribute, or the value.
        first: u32,
        value: u32,
    },
}

impl<'a> ReplyRef<'a> {
    pub(super) fn leaf(leaf: Leaf<'a>) -> Self {
        Self { place: Place::Leaf(leaf) }
    }

    /// The element whose attributes, if any, start at this node.
    pub(super) fn at(tape: Tape<'a>, first: u32) -> Self {
        Self { place: Place::Node { tape, first, value: tape.skip_attributes(first) } }
    }

    pub(super) fn place(self) -> Place<'a> {
        self.place
    }

    /// The node behind it.
    pub(super) fn end(self) -> u32 {
        match self.place {
            Place::Leaf(_) => 0,
            Place::Node { tape, value, .. } => tape.node(value).end,
        }
    }

    /// What it says.
    pub fn value(self) -> Value<'a> {
        let (tape, at) = match self.place {
            Place::Leaf(leaf) => return Value::of_leaf(leaf),
            Place::Node { tape, value, .. } => (tape, value),
        };
        let node = tape.node(at);
        match tape.leaf(node) {
            Some(leaf) => Value::of_leaf(leaf),
            None => match node.kind {
                Kind::Map => Value::Map(Pairs::of(tape, at)),
                Kind::Set => Value::Set(Elements::of(tape, at)),
                Kind::Push => Value::Push(Elements::of(tape, at)),
                _ => Value::Array(Elements::of(tape, at)),
            },
        }
    }

    /// The attributes that came before it, none as a rule.
    pub fn attributes(self) -> Attributes<'a> {
        match self.place {
            Place::Leaf(_) => Attributes::none(),
            Place::Node { tape, first, value } => Attributes::of(tape, first, value),
        }
    }

    fn kind(self) -> Kind {
        match self.place {
            Place::Leaf(Leaf::Text(kind, _)) => kind,
            Place::Leaf(Leaf::Integer(_)) => Kind::Integer,
            Place::Leaf(Leaf::Double(_)) => Kind::Double,
            Place::Leaf(Leaf::Boolean(_)) => Kind::Boolean,
            Place::Leaf(Leaf::Null(_)) => Kind::Null,
            Place::Node { tape, value, .. } => tape.node(value).kind,
        }
    }

    /// Whether it is null, in any of the three forms.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// Whether it is a push: a message that answers no command.
    pub fn is_push(self) -> bool {
        self.kind() == Kind::Push
    }

    /// Whether it is a simple error or a bulk error.
    pub fn is_error(self) -> bool {
        self.kind().is_error()
    }

    /// The server's error, if it is one.
    pub fn as_error(self) -> Option<ServerError> {
        match self.value() {
            Value::SimpleError(text) | Value::BulkError(text) => {
                Some(ServerError::new(self.share(text)))
            }
            _ => None,
        }
    }

    /// The bytes of a string-like value (see [`Value::text`]) as their own [`Bytes`].
    ///
    /// A short text is copied; one of 1 KiB and more shares its reply's memory, so long as that is
    /// at most 64 times its own size. So a kept text never holds more than 64 times its bytes.
    pub fn to_bytes(self) -> Option<Bytes> {
        self.value().text().map(|text| self.share(text))
    }

    fn share(self, text: &'a [u8]) -> Bytes {
        let Place::Node { tape: Tape { owner: Some(owner), .. }, .. } = self.place else {
            return Bytes::copy_from_slice(text);
        };
        if text.len() < SHARE_FROM || text.len().saturating_mul(PIN_FACTOR) < owner.len() {
            return Bytes::copy_from_slice(text);
        }
        owner.slice_ref(text)
    }

    /// An owned copy of this element and all below it; nothing of the reply it came from is kept.
    pub fn to_reply(self) -> Reply {
        Reply::copy_of(self)
    }

    /// Reads it as a type of yours, as [`Reply::to`] does.
    pub fn to<T: FromReply>(self) -> Result<T, ConvertError> {
        T::from_reply(self)
    }
}

impl fmt::Debug for ReplyRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show::reply(*self, f)
    }
}

impl PartialEq for ReplyRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self.place, other.place) {
            (Place::Leaf(a), Place::Leaf(b)) => same_leaf(a, b),
            (Place::Node { tape, first, .. }, Place::Node { tape: other_tape, first: o, .. }) => {
                tape.range_eq(first..self.end(), other_tape, o..other.end())
            }
            (Place::Leaf(leaf), Place::Node { tape, first, .. })
            | (Place::Node { tape, first, .. }, Place::Leaf(leaf)) => {
                tape.leaf(tape.node(first)).is_some_and(|other| same_leaf(leaf, other))
            }
        }
    }
}

// Doubles compare by their bits, and there is one NaN.
impl Eq for ReplyRef<'_> {}

/// Equality that holds of everything with itself: doubles by their bits.
pub(super) fn same_leaf(a: Leaf<'_>, b: Leaf<'_>) -> bool {
    match (a, b) {
        (Leaf::Double(a), Leaf::Double(b)) => a.to_bits() == b.to_bits(),
        (a, b) => a == b,
    }
}

/// A text shorter than this is cheaper copied than shared.
const SHARE_FROM: usize = 1024;
/// A shared text may hold on to so many times its own bytes.
const PIN_FACTOR: usize = 64;
