//! The flat form of a reply: one node an element, in wire order, no pointers.
//!
//! ```text
//!   bytes  *2\r\n $5\r\nhello\r\n :42\r\n
//!   tape   [Array, 2 elements, end 3] [BulkString 8..13] [Integer 42]
//! ```
//!
//! A node is sixteen bytes, kept as bytes so that a small reply's tape and text share one
//! allocation without any unsafe code. An aggregate's children follow it; its `end` is the node
//! behind its last descendant, so stepping over it is one load and nothing here recurses.

use std::ops::Range;

use bytes::Bytes;

use super::{kind::Kind, reply_ref::same_leaf, scan::Leaf, value::Null};

/// A node as it is kept. Little endian: the value (8), the end (4), the kind (1), unused (3).
pub(super) type RawNode = [u8; 16];

/// One element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// An aggregate's elements (two a pair), a text's start and length (32 bits each, from the
    /// low end), an integer, a double's bits, a boolean, a null's form.
    pub(super) value: u64,
    /// The node behind this element: for an aggregate behind its last descendant.
    pub(super) end: u32,
}

impl Node {
    #[inline]
    pub(super) fn pack(self) -> RawNode {
        let tail = u64::from(self.end) | (self.kind as u64) << 32;
        (u128::from(self.value) | u128::from(tail) << 64).to_le_bytes()
    }

    #[inline]
    pub(super) fn unpack(raw: &RawNode) -> Self {
        let [v0, v1, v2, v3, v4, v5, v6, v7, e0, e1, e2, e3, kind, ..] = *raw;
        Self {
            kind: Kind::from_byte(kind),
            value: u64::from_le_bytes([v0, v1, v2, v3, v4, v5, v6, v7]),
            end: u32::from_le_bytes([e0, e1, e2, e3]),
        }
    }

    /// The node of an element without children at this index, its text given by start and length.
    #[inline(always)]
    pub(super) fn leaf(leaf: Leaf<(usize, usize)>, index: usize) -> Self {
        let (kind, value) = match leaf {
            Leaf::Text(kind, (start, len)) => (kind, pack_text(start, len)),
            Leaf::Integer(value) => (Kind::Integer, value.cast_unsigned()),
            Leaf::Double(value) => (Kind::Double, value.to_bits()),
            Leaf::Boolean(value) => (Kind::Boolean, u64::from(value)),
            Leaf::Null(form) => (Kind::Null, form as u64),
        };
        Self { kind, value, end: end(index.wrapping_add(1)) }
    }

    #[inline]
    pub(super) fn text_range(self) -> Range<usize> {
        let [s0, s1, s2, s3, l0, l1, l2, l3] = self.value.to_le_bytes();
        let start = u32::from_le_bytes([s0, s1, s2, s3]) as usize;
        let len = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
        start..start.saturating_add(len)
    }
}

/// A text's place as a node keeps it: both are below 4 GiB, the largest reply there may be.
pub(super) fn pack_text(start: usize, len: usize) -> u64 {
    start as u64 | (len as u64) << 32
}

/// A node index; a reply below 4 GiB has fewer nodes than that.
pub(super) fn end(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// A reply's tape and the bytes that its texts lie in.
#[derive(Clone, Copy)]
pub(super) struct Tape<'a> {
    pub(super) nodes: &'a [RawNode],
    pub(super) bytes: &'a [u8],
    /// What `bytes` are a part of, where a text can be shared instead of copied.
    pub(super) owner: Option<&'a Bytes>,
}

impl<'a> Tape<'a> {
    #[inline]
    pub(super) fn node(self, index: u32) -> Node {
        match self.nodes.get(index as usize) {
            Some(raw) => Node::unpack(raw),
            None => Node { kind: Kind::Null, value: 0, end: index.saturating_add(1) },
        }
    }

    #[inline(always)]
    pub(super) fn text(self, node: Node) -> &'a [u8] {
        self.bytes.get(node.text_range()).unwrap_or_default()
    }

    /// The node as an element without children, if it is one.
    #[inline(always)]
    pub(super) fn leaf(self, node: Node) -> Option<Leaf<&'a [u8]>> {
        Some(match node.kind {
            Kind::Integer => Leaf::Integer(node.value.cast_signed()),
            Kind::Double => Leaf::Double(f64::from_bits(node.value)),
            Kind::Boolean => Leaf::Boolean(node.value != 0),
            Kind::Null => Leaf::Null(Null::from_number(node.value)),
            Kind::Array | Kind::Map | Kind::Attribute | Kind::Set | Kind::Push => return None,
            kind => Leaf::Text(kind, self.text(node)),
        })
    }
}

impl Tape<'_> {
    /// Whether the same elements stand in both ranges. A tape is a pre-order walk with counts, so
    /// equal sequences of nodes are equal trees.
    pub(super) fn range_eq(self, range: Range<u32>, other: Tape<'_>, others: Range<u32>) -> bool {
        range.len() == others.len()
            && range.zip(others).all(|(a, b)| {
                let (a, b) = (self.node(a), other.node(b));
                match (self.leaf(a), other.leaf(b)) {
                    (Some(a), Some(b)) => same_leaf(a, b),
                    (None, None) => a.kind == b.kind && a.value == b.value,
                    _ => false,
                }
            })
    }
}
