//! The children of an aggregate, and the attributes beside a value.

use std::{fmt, iter::FusedIterator, ops::Range};

use super::{ReplyRef, show, tape::Tape};

/// The elements of an array, a set or a push, in wire order.
///
/// ```
/// use echo_wire::resp::{Decoder, Limits, Value};
///
/// let mut decoder = Decoder::new(Limits::default());
/// decoder.feed(b"~3\r\n:1\r\n:2\r\n:3\r\n");
/// let reply = decoder.next()?.unwrap();
/// let Value::Set(set) = reply.value() else { panic!("a set was sent") };
/// assert_eq!(set.len(), 3);
/// assert_eq!(set.get(2).map(|item| item.value()), Some(Value::Integer(3)));
/// # Ok::<(), echo_wire::resp::ProtocolError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Elements<'a> {
    tape: Tape<'a>,
    /// The first child's first node.
    first: u32,
    /// The node behind the last child.
    end: u32,
    len: usize,
}

impl<'a> Elements<'a> {
    /// The children of the aggregate at this node; pairs count as two.
    #[inline]
    pub(super) fn of(tape: Tape<'a>, at: u32) -> Self {
        let node = tape.node(at);
        let len = usize::try_from(node.value).unwrap_or(usize::MAX);
        Self { tape, first: at.saturating_add(1), end: node.end, len }
    }

    /// How many there are.
    #[inline]
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Each in turn.
    #[inline]
    pub fn iter(self) -> ElementsIter<'a> {
        ElementsIter { tape: self.tape, next: self.first, left: self.len }
    }

    /// The element at this index, from 0: at once where no element has children or attributes,
    /// else by stepping over those before it.
    #[inline]
    pub fn get(self, index: usize) -> Option<ReplyRef<'a>> {
        let nodes = self.end.saturating_sub(self.first);
        if nodes as usize == self.len {
            let offset = u32::try_from(index).ok().filter(|_| index < self.len)?;
            return Some(ReplyRef::at(self.tape, self.first.saturating_add(offset)));
        }
        self.iter().nth(index)
    }
}

impl<'a> IntoIterator for Elements<'a> {
    type Item = ReplyRef<'a>;
    type IntoIter = ElementsIter<'a>;

    fn into_iter(self) -> ElementsIter<'a> {
        self.iter()
    }
}

impl fmt::Debug for Elements<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show::elements(self.tape, self.first, self.end, f)
    }
}

impl PartialEq for Elements<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len
            && self.tape.range_eq(self.first..self.end, other.tape, other.first..other.end)
    }
}

/// Walks [`Elements`]: one load a step, whatever an element holds.
///
/// ```
/// use echo_wire::resp::{Decoder, Limits, Value};
///
/// let mut decoder = Decoder::new(Limits::default());
/// decoder.feed(b"*2\r\n*1\r\n:1\r\n:2\r\n");
/// let reply = decoder.next()?.unwrap();
/// let Value::Array(items) = reply.value() else { panic!("an array was sent") };
/// let mut items = items.iter();
/// assert_eq!(items.len(), 2);
/// assert!(matches!(items.next().map(|item| item.value()), Some(Value::Array(_))));
/// assert_eq!(items.next().map(|item| item.value()), Some(Value::Integer(2)));
/// # Ok::<(), echo_wire::resp::ProtocolError>(())
/// ```
#[derive(Clone)]
pub struct ElementsIter<'a> {
    tape: Tape<'a>,
    next: u32,
    left: usize,
}

impl<'a> Iterator for ElementsIter<'a> {
    type Item = ReplyRef<'a>;

    #[inline]
    fn next(&mut self) -> Option<ReplyRef<'a>> {
        self.left = self.left.checked_sub(1)?;
        let element = ReplyRef::at(self.tape, self.next);
        self.next = element.end();
        Some(element)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for ElementsIter<'_> {}
impl FusedIterator for ElementsIter<'_> {}

impl fmt::Debug for ElementsIter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ElementsIter").field("left", &self.left).finish_non_exhaustive()
    }
}

/// The pairs of a map, or of the attributes beside a value, in wire order; a key that comes twice
/// is there twice.
///
/// ```
/// use echo_wire::resp::{Decoder, Limits, Value};
///
/// let mut decoder = Decoder::new(Limits::default());
/// decoder.feed(b"%1\r\n+role\r\n$6\r\nmaster\r\n");
/// let reply = decoder.next()?.unwrap();
/// let Value::Map(map) = reply.value() else { panic!("a map was sent") };
/// let role = map.get(b"role").map(|role| role.value());
/// assert_eq!(role, Some(Value::BulkString(b"master")));
/// # Ok::<(), echo_wire::resp::ProtocolError>(())
/// ```
#[derive(Clone, Copy, PartialEq)]
pub struct Pairs<'a> {
    elements: Elements<'a>,
}

impl<'a> Pairs<'a> {
    #[inline]
    pub(super) fn of(tape: Tape<'a>, at: u32) -> Self {
        Self { elements: Elements::of(tape, at) }
    }

    /// How many pairs there are.
    #[inline]
    pub fn len(self) -> usize {
        self.elements.len / 2
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.elements.is_empty()
    }

    /// Each pair in turn.
    #[inline]
    pub fn iter(self) -> PairsIter<'a> {
        PairsIter { elements: self.elements.iter() }
    }

    /// Keys and values in turn, as RESP2 would have sent them.
    #[inline]
    pub fn flat(self) -> Elements<'a> {
        self.elements
    }

    /// The value of the first key that is a string of these bytes, found by walking.
    pub fn get(self, key: &[u8]) -> Option<ReplyRef<'a>> {
        let found = self.iter().find(|(k, _)| k.value().text() == Some(key));
        found.map(|(_, value)| value)
    }
}

impl<'a> IntoIterator for Pairs<'a> {
    type Item = (ReplyRef<'a>, ReplyRef<'a>);
    type IntoIter = PairsIter<'a>;

    fn into_iter(self) -> PairsIter<'a> {
        self.iter()
    }
}

impl fmt::Debug for Pairs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.elements.fmt(f)
    }
}

/// Walks [`Pairs`].
///
/// ```
/// use echo_wire::resp::{Decoder, Limits, Value};
///
/// let mut decoder = Decoder::new(Limits::default());
/// decoder.feed(b"%2\r\n+a\r\n:1\r\n+b\r\n:2\r\n");
/// let reply = decoder.next()?.unwrap();
/// let Value::Map(map) = reply.value() else { panic!("a map was sent") };
/// let sum = map.iter().fold(0, |sum, (_, value)| match value.value() {
///     Value::Integer(n) => sum + n,
///     _ => sum,
/// });
/// assert_eq!(sum, 3);
/// # Ok::<(), echo_wire::resp::ProtocolError>(())
/// ```
#[derive(Debug, Clone)]
pub struct PairsIter<'a> {
    elements: ElementsIter<'a>,
}

impl<'a> Iterator for PairsIter<'a> {
    type Item = (ReplyRef<'a>, ReplyRef<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        Some((self.elements.next()?, self.elements.next()?))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.elements.left / 2;
        (left, Some(left))
    }
}

impl ExactSizeIterator for PairsIter<'_> {}
impl FusedIterator for PairsIter<'_> {}

/// The attributes before one value: out-of-band remarks that change nothing about it.
///
/// A server may send several in a row; each is a list of pairs of its own.
///
/// ```
/// use echo_wire::resp::{Decoder, Limits, Value};
///
/// let mut decoder = Decoder::new(Limits::default());
/// decoder.feed(b"|1\r\n+ttl\r\n:3600\r\n$5\r\nhello\r\n");
/// let reply = decoder.next()?.unwrap();
/// assert_eq!(reply.value(), Value::BulkString(b"hello"));
/// let attribute = reply.attributes().next().unwrap();
/// assert_eq!(attribute.get(b"ttl").map(|ttl| ttl.value()), Some(Value::Integer(3600)));
/// # Ok::<(), echo_wire::resp::ProtocolError>(())
/// ```
#[derive(Clone)]
pub struct Attributes<'a> {
    tape: Tape<'a>,
    /// The nodes of those that are left.
    nodes: Range<u32>,
}

impl<'a> Attributes<'a> {
    #[inline]
    pub(super) fn of(tape: Tape<'a>, nodes: Range<u32>) -> Self {
        Self { tape, nodes }
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = Pairs<'a>;

    fn next(&mut self) -> Option<Pairs<'a>> {
        if self.nodes.is_empty() {
            return None;
        }
        let at = self.nodes.start;
        self.nodes.start = self.tape.node(at).end;
        Some(Pairs::of(self.tape, at))
    }
}

impl FusedIterator for Attributes<'_> {}

impl fmt::Debug for Attributes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}
