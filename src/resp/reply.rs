//! An owned reply.

use std::{fmt, ops::Range, sync::Arc};

use bytes::Bytes;

use super::{
    Attributes, ConvertError, FromReply, Null, ReplyRef, ServerError, Value,
    kind::Kind,
    scan::Leaf,
    tape::{self, Node, RawNode, Tape},
};

/// A whole reply of the server, owned.
///
/// Forty bytes. An integer, a null, a status, a string of up to 32 bytes sits inside it: no
/// allocation and no reference count. A longer string and an aggregate hold their bytes by one
/// reference; an aggregate has a tape beside them, one flat node an element, so reading, cloning,
/// comparing and dropping it take no recursion, however deep it is.
///
/// # What a kept reply holds on to
///
/// Up to 1 KiB (text and nodes): a block of 8 KiB that it shares with its neighbours. Up to 16 KiB:
/// its own bytes. Above: the buffer it was read into, at most four times its size.
/// [`detach`](Reply::detach) copies it out of any of them.
///
/// ```
/// use echo_wire::resp::{Decoder, Limits, Reply};
///
/// let mut decoder = Decoder::new(Limits::default());
/// decoder.feed(b"%1\r\n+jobs\r\n*2\r\n:1\r\n:2\r\n-ERR no\r\n");
/// let mut reply = Reply::default();
/// assert!(decoder.next_into(&mut reply)?);
/// let jobs: std::collections::HashMap<String, Vec<u64>> = reply.to()?;
/// assert_eq!(jobs["jobs"], [1, 2]);
///
/// assert!(decoder.next_into(&mut reply)?);
/// assert_eq!(reply.into_result().unwrap_err().code(), "ERR");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Reply {
    repr: Repr,
}

#[derive(Clone)]
pub(super) enum Repr {
    Integer(i64),
    Double(f64),
    Boolean(bool),
    Null(Null),
    Inline {
        kind: Kind,
        len: u8,
        text: [u8; INLINE],
    },
    Text {
        kind: Kind,
        text: Bytes,
    },
    /// The nodes, then the bytes that they point into.
    Small {
        nodes: u32,
        bytes: Bytes,
    },
    Large(Arc<Large>),
}

/// An aggregate whose bytes were taken from the read buffer as they were.
pub(super) struct Large {
    pub(super) bytes: Bytes,
    pub(super) nodes: Vec<RawNode>,
}

/// The longest text that needs no allocation.
pub(super) const INLINE: usize = 32;

impl Reply {
    pub(super) fn new(repr: Repr) -> Self {
        Self { repr }
    }

    /// What it says.
    #[inline]
    pub fn value(&self) -> Value<'_> {
        match self.leaf() {
            Some(leaf) => Value::of_leaf(leaf),
            None => self.as_ref().value(),
        }
    }

    /// The attributes that came before it, none as a rule.
    pub fn attributes(&self) -> Attributes<'_> {
        self.as_ref().attributes()
    }

    /// Whether it is a push: a message that answers no command.
    pub fn is_push(&self) -> bool {
        self.leaf().is_none() && self.as_ref().is_push()
    }

    /// Whether it is null, in any of the three forms.
    pub fn is_null(&self) -> bool {
        self.as_ref().is_null()
    }

    /// Whether it is a simple error or a bulk error.
    pub fn is_error(&self) -> bool {
        match self.leaf() {
            Some(Leaf::Text(kind, _)) => kind.is_error(),
            Some(_) => false,
            None => self.as_ref().is_error(),
        }
    }

    /// The server's error, if it is one.
    pub fn as_error(&self) -> Option<ServerError> {
        self.is_error().then(|| ServerError::new(self.to_bytes().unwrap_or_default()))
    }

    /// The reply, or the server's error if it is one.
    pub fn into_result(self) -> Result<Self, ServerError> {
        match self.as_error() {
            None => Ok(self),
            Some(error) => Err(error),
        }
    }

    /// Reads it as a type of yours: see [`FromReply`] for what reads as what.
    ///
    /// # Errors
    ///
    /// [`ConvertError`] says what was wanted, what came, and where in the reply; a server's error
    /// inside it is reported as that error.
    pub fn to<T: FromReply>(&self) -> Result<T, ConvertError> {
        T::from_reply(self.as_ref())
    }

    /// The bytes of a string-like reply (see [`Value::text`]) as their own [`Bytes`]: shared, or
    /// copied if they are few.
    pub fn to_bytes(&self) -> Option<Bytes> {
        self.as_ref().to_bytes()
    }

    /// A copy that shares nothing: it holds its own bytes and no more.
    #[must_use]
    pub fn detach(&self) -> Self {
        Self::copy_of(self.as_ref())
    }

    /// A borrowed view of the whole reply.
    #[allow(clippy::should_implement_trait, reason = "AsRef returns a reference, this a view")]
    #[inline]
    pub fn as_ref(&self) -> ReplyRef<'_> {
        match &self.repr {
            Repr::Text { kind, text } => ReplyRef::text(*kind, text),
            Repr::Small { nodes, bytes } => {
                let (nodes, text) = bytes
                    .split_at_checked((*nodes as usize).saturating_mul(size_of::<RawNode>()))
                    .unwrap_or_default();
                let tape = Tape { nodes: nodes.as_chunks().0, bytes: text, owner: Some(bytes) };
                ReplyRef::at(tape, 0)
            }
            Repr::Large(large) => {
                let tape =
                    Tape { nodes: &large.nodes, bytes: &large.bytes, owner: Some(&large.bytes) };
                ReplyRef::at(tape, 0)
            }
            _ => ReplyRef::leaf(self.leaf().unwrap_or(Leaf::Null(Null::Resp3))),
        }
    }

    /// What it says, if it is on no tape: found in a few instructions, without a view.
    #[inline]
    fn leaf(&self) -> Option<Leaf<&[u8]>> {
        Some(match &self.repr {
            Repr::Integer(value) => Leaf::Integer(*value),
            Repr::Double(value) => Leaf::Double(*value),
            Repr::Boolean(value) => Leaf::Boolean(*value),
            Repr::Null(form) => Leaf::Null(*form),
            Repr::Inline { kind, len, text } => {
                Leaf::Text(*kind, text.get(..usize::from(*len)).unwrap_or_default())
            }
            Repr::Text { kind, text } => Leaf::Text(*kind, text),
            Repr::Small { .. } | Repr::Large(_) => return None,
        })
    }

    /// A copy of this element that holds its own bytes and no more.
    pub(super) fn copy_of(element: ReplyRef<'_>) -> Self {
        let mut copy = Self::default();
        match element.as_leaf() {
            Some(leaf) => copy.set_leaf(leaf, Bytes::copy_from_slice),
            None => {
                let (tape, nodes) = element.nodes();
                copy = copy_tree(tape, nodes);
            }
        }
        copy
    }

    /// Becomes this leaf, built here: its text inside where that fits, else as `keep` keeps it.
    #[inline]
    pub(super) fn set_leaf(&mut self, leaf: Leaf<&[u8]>, keep: impl FnOnce(&[u8]) -> Bytes) {
        self.repr = match leaf {
            Leaf::Integer(value) => Repr::Integer(value),
            Leaf::Double(value) => Repr::Double(value),
            Leaf::Boolean(value) => Repr::Boolean(value),
            Leaf::Null(form) => Repr::Null(form),
            Leaf::Text(kind, text) => match u8::try_from(text.len()) {
                Ok(len) if text.len() <= INLINE => {
                    self.repr = Repr::Inline { kind, len, text: [0; INLINE] };
                    if let Repr::Inline { text: inside, .. } = &mut self.repr {
                        copy_short(text, inside);
                    }
                    return;
                }
                _ => Repr::Text { kind, text: keep(text) },
            },
        };
    }
}

/// Copies up to 32 bytes by two copies of a fixed size that overlap: no call for a few bytes.
#[inline]
fn copy_short(text: &[u8], inside: &mut [u8; INLINE]) {
    let Some(to) = inside.get_mut(..text.len()) else { return };
    let _ = ends::<16>(text, to)
        .or_else(|| ends::<8>(text, to))
        .or_else(|| ends::<4>(text, to))
        .or_else(|| ends::<2>(text, to))
        .or_else(|| ends::<1>(text, to));
}

/// Copies the first and the last `N` bytes, which is all of `N` to twice `N` bytes.
#[inline]
fn ends<const N: usize>(from: &[u8], to: &mut [u8]) -> Option<()> {
    *to.first_chunk_mut::<N>()? = *from.first_chunk()?;
    *to.last_chunk_mut::<N>()? = *from.last_chunk()?;
    Some(())
}

/// The nodes of a range, counted from its start, and only the texts that they point to.
fn copy_tree(tape: Tape<'_>, range: Range<u32>) -> Reply {
    let count = range.end.saturating_sub(range.start);
    let mut nodes = Vec::with_capacity(count as usize);
    let mut texts = Vec::new();
    for index in range.clone() {
        let mut node = tape.node(index);
        node.end = node.end.saturating_sub(range.start);
        if let Some(Leaf::Text(_, text)) = tape.leaf(node) {
            node.value = tape::pack_text(texts.len(), text.len());
            texts.extend_from_slice(text);
        }
        nodes.push(Node::pack(node));
    }
    let bytes = Bytes::from([nodes.as_flattened(), &texts].concat());
    Reply::new(Repr::Small { nodes: count, bytes })
}

impl Default for Reply {
    /// A null.
    fn default() -> Self {
        Self::new(Repr::Null(Null::Resp3))
    }
}

impl PartialEq for Reply {
    /// Whether both say the same and carry the same attributes, however they came and are kept.
    fn eq(&self, other: &Self) -> bool {
        self.as_ref() == other.as_ref()
    }
}

impl Eq for Reply {}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(f)
    }
}
