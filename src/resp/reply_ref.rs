//! A borrowed view of one element of a reply.

use std::{fmt, ops::Range};

use bytes::Bytes;

use super::{
    Attributes, ConvertError, Elements, FromReply, Pairs, Reply, ServerError, Value,
    kind::Kind,
    scan::Leaf,
    show,
    tape::{Node, Tape},
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
    tape: Tape<'a>,
    /// The value's own node.
    node: Node,
    /// Its index, and that of its first attribute: the same if there is none. An element that is
    /// on no tape has 0 in both.
    at: u32,
    first: u32,
}

impl<'a> ReplyRef<'a> {
    /// An element without children or attributes, that is on no tape.
    #[inline(always)]
    pub(super) fn leaf(leaf: Leaf<&'a [u8]>) -> Self {
        let bytes = if let Leaf::Text(_, text) = leaf { text } else { &[] };
        let node = Node::leaf(leaf.map_text(|text| (0, text.len())), 0);
        Self { tape: Tape { nodes: &[], bytes, owner: None }, node, at: 0, first: 0 }
    }

    /// A text that all of these bytes are, and that can be shared.
    pub(super) fn text(kind: Kind, text: &'a Bytes) -> Self {
        let mut element = Self::leaf(Leaf::Text(kind, text));
        element.tape.owner = Some(text);
        element
    }

    /// The element whose attributes, if any, start at this node.
    #[inline(always)]
    pub(super) fn at(tape: Tape<'a>, first: u32) -> Self {
        let (mut at, mut node) = (first, tape.node(first));
        while node.kind == Kind::Attribute {
            at = node.end;
            node = tape.node(at);
        }
        Self { tape, node, at, first }
    }

    /// Its nodes, from the first attribute's to its last child's, and the tape they are on.
    pub(super) fn nodes(self) -> (Tape<'a>, Range<u32>) {
        (self.tape, self.first..self.node.end)
    }

    /// The element, if it has neither children nor attributes.
    #[inline]
    pub(super) fn as_leaf(self) -> Option<Leaf<&'a [u8]>> {
        if self.first == self.at { self.tape.leaf(self.node) } else { None }
    }

    /// The node behind it.
    #[inline]
    pub(super) fn end(self) -> u32 {
        self.node.end
    }

    /// What it says.
    #[inline(always)]
    pub fn value(self) -> Value<'a> {
        match self.tape.leaf(self.node) {
            Some(leaf) => Value::of_leaf(leaf),
            None => match self.node.kind {
                Kind::Map => Value::Map(Pairs::of(self.tape, self.at)),
                Kind::Set => Value::Set(Elements::of(self.tape, self.at)),
                Kind::Push => Value::Push(Elements::of(self.tape, self.at)),
                _ => Value::Array(Elements::of(self.tape, self.at)),
            },
        }
    }

    /// The attributes that came before it, none as a rule.
    #[inline]
    pub fn attributes(self) -> Attributes<'a> {
        Attributes::of(self.tape, self.first..self.at)
    }

    /// Whether it is null, in any of the three forms.
    pub fn is_null(self) -> bool {
        self.node.kind == Kind::Null
    }

    /// Whether it is a push: a message that answers no command.
    pub fn is_push(self) -> bool {
        self.node.kind == Kind::Push
    }

    /// Whether it is a simple error or a bulk error.
    pub fn is_error(self) -> bool {
        self.node.kind.is_error()
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
    /// at most 64 times its own size.
    pub fn to_bytes(self) -> Option<Bytes> {
        self.value().text().map(|text| self.share(text))
    }

    fn share(self, text: &'a [u8]) -> Bytes {
        match self.tape.owner {
            Some(owner) if text.len() == owner.len() || is_worth_sharing(text, owner) => {
                owner.slice_ref(text)
            }
            _ => Bytes::copy_from_slice(text),
        }
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
        if let (Some(a), Some(b)) = (self.as_leaf(), other.as_leaf()) {
            return same_leaf(a, b);
        }
        let ((tape, nodes), (other, others)) = (self.nodes(), other.nodes());
        tape.range_eq(nodes, other, others)
    }
}

// Doubles compare by their bits, and there is one NaN.
impl Eq for ReplyRef<'_> {}

/// Equality that holds of everything with itself: doubles by their bits.
pub(super) fn same_leaf(a: Leaf<&[u8]>, b: Leaf<&[u8]>) -> bool {
    match (a, b) {
        (Leaf::Double(a), Leaf::Double(b)) => a.to_bits() == b.to_bits(),
        (a, b) => a == b,
    }
}

fn is_worth_sharing(text: &[u8], owner: &Bytes) -> bool {
    text.len() >= SHARE_FROM && text.len().saturating_mul(PIN_FACTOR) >= owner.len()
}

/// A text shorter than this is cheaper copied than shared.
const SHARE_FROM: usize = 1024;
/// A shared text may hold on to so many times its own bytes.
const PIN_FACTOR: usize = 64;
