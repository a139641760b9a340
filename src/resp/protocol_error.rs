//! A malformed reply: what rule it broke, where, and what was there.

use std::fmt;

/// The bytes on the wire are not RESP, or exceed a limit. The connection cannot go on: where one
/// reply ends can no longer be known.
///
/// It tells the rule that was broken, where the broken element starts in the connection's stream,
/// and the bytes seen there, so that a TLS alert or an HTTP answer can be recognised.
///
/// ```
/// use echo_wire::resp::{Decoder, Limits, ProtocolErrorKind};
///
/// let mut decoder = Decoder::new(Limits::default());
/// decoder.feed(b"+OK\r\nHTTP/1.1 400 Bad Request\r\n");
/// assert!(decoder.next()?.is_some());
/// let error = decoder.next().unwrap_err();
/// assert_eq!(error.kind(), ProtocolErrorKind::UnknownType);
/// assert_eq!(error.offset(), 5);
/// assert!(error.seen().starts_with(b"HTTP/1.1 400"));
/// # Ok::<(), echo_wire::resp::ProtocolError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ProtocolError {
    // Boxed: a fault is rare, and a small `Result` is returned in registers.
    fault: Box<Fault>,
}

#[derive(Clone, PartialEq, Eq)]
struct Fault {
    kind: ProtocolErrorKind,
    offset: u64,
    len: u8,
    seen: [u8; SEEN],
}

/// Bytes of the broken element that an error shows at most.
const SEEN: usize = 32;

impl ProtocolError {
    pub(super) fn new(kind: ProtocolErrorKind, offset: u64, at: &[u8]) -> Self {
        let mut seen = [0; SEEN];
        let mut len = 0u8;
        for (slot, byte) in seen.iter_mut().zip(at) {
            *slot = *byte;
            len = len.saturating_add(1);
        }
        Self { fault: Box::new(Fault { kind, offset, len, seen }) }
    }

    /// The rule that was broken.
    pub fn kind(&self) -> ProtocolErrorKind {
        self.fault.kind
    }

    /// Where the broken element starts: bytes since the decoder's first.
    pub fn offset(&self) -> u64 {
        self.fault.offset
    }

    /// The bytes that were there, from the element's type byte on: what had arrived, 32 at most.
    pub fn seen(&self) -> &[u8] {
        self.fault.seen.get(..usize::from(self.fault.len)).unwrap_or_default()
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, offset) = (self.kind(), self.offset());
        write!(f, "{kind} at byte {offset}: \"{}\"", self.seen().escape_ascii())
    }
}

impl fmt::Debug for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProtocolError({self})")
    }
}

impl std::error::Error for ProtocolError {}

/// The rule of RESP, or the limit of ours, that a reply broke.
///
/// ```
/// use echo_wire::resp::ProtocolErrorKind;
///
/// assert_eq!(ProtocolErrorKind::NestedPush.to_string(), "push inside a reply");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProtocolErrorKind {
    /// The first byte of an element names no type (of this generation).
    UnknownType,
    /// A CR or LF that is not part of a CRLF, or none where one must be.
    BadLine,
    /// An integer that is none, or does not fit in 64 bits.
    BadInteger,
    /// A length or count that is none: a sign, a space, junk.
    BadLength,
    /// The two bytes after a bulk's body are not CRLF.
    BadTerminator,
    /// `_` followed by anything.
    BadNull,
    /// `#` followed by anything but `t` or `f`.
    BadBoolean,
    /// A double outside the grammar.
    BadDouble,
    /// A big number that is no number.
    BadBigNumber,
    /// A verbatim string without its three bytes of format and colon.
    BadVerbatim,
    /// Something else than a chunk inside a streamed string.
    BadChunk,
    /// An end mark with no streamed aggregate to end, or after an attribute without its value.
    UnexpectedEnd,
    /// A streamed map that ends after a key.
    OddMap,
    /// A push inside another reply.
    NestedPush,
    /// More nested than [`Limits::depth`](super::Limits::depth).
    DepthLimit,
    /// A line longer than [`Limits::line`](super::Limits::line).
    LineLimit,
    /// A bulk longer than [`Limits::bulk`](super::Limits::bulk).
    BulkLimit,
    /// More elements than [`Limits::elements`](super::Limits::elements).
    ElementLimit,
    /// A reply longer than [`Limits::reply`](super::Limits::reply).
    ReplyLimit,
}

impl fmt::Display for ProtocolErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownType => "unknown type byte",
            Self::BadLine => "stray CR or LF",
            Self::BadInteger => "malformed integer",
            Self::BadLength => "malformed length",
            Self::BadTerminator => "bulk without CRLF at its end",
            Self::BadNull => "malformed null",
            Self::BadBoolean => "malformed boolean",
            Self::BadDouble => "malformed double",
            Self::BadBigNumber => "malformed big number",
            Self::BadVerbatim => "malformed verbatim string",
            Self::BadChunk => "malformed streamed string",
            Self::UnexpectedEnd => "end mark with nothing to end",
            Self::OddMap => "streamed map ends after a key",
            Self::NestedPush => "push inside a reply",
            Self::DepthLimit => "nesting limit exceeded",
            Self::LineLimit => "line length limit exceeded",
            Self::BulkLimit => "bulk length limit exceeded",
            Self::ElementLimit => "element count limit exceeded",
            Self::ReplyLimit => "reply size limit exceeded",
        })
    }
}
