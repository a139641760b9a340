//! How much a peer may ask of the decoder before it is refused.

/// Bounds on one reply. Reaching one is a [`ProtocolError`](super::ProtocolError).
///
/// Nothing is reserved on the word of a header, so these bound what a peer can make the decoder
/// hold by *sending* it; a header alone costs nothing.
///
/// ```
/// use echo_wire::resp::{Decoder, Limits, ProtocolErrorKind};
///
/// let mut decoder = Decoder::new(Limits::default().bulk(5));
/// decoder.feed(b"$5\r\nhello\r\n$6\r\n");
/// assert!(decoder.next()?.is_some());
/// assert_eq!(decoder.next().unwrap_err().kind(), ProtocolErrorKind::BulkLimit);
/// # Ok::<(), echo_wire::resp::ProtocolError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub(super) depth: u32,
    pub(super) line: usize,
    pub(super) bulk: u64,
    pub(super) elements: u64,
    pub(super) reply: u64,
}

impl Limits {
    /// Nested aggregates at most, an attribute counting as one. Default 1 024.
    #[must_use]
    pub const fn depth(mut self, levels: u32) -> Self {
        self.depth = levels;
        self
    }

    /// Bytes of one simple string, simple error, double or big number at most. Default 64 KiB.
    #[must_use]
    pub const fn line(mut self, bytes: usize) -> Self {
        self.line = bytes;
        self
    }

    /// Bytes of one bulk string, bulk error or verbatim string at most, all chunks of a streamed
    /// one together. Default 512 MiB, the server's own `proto-max-bulk-len`.
    #[must_use]
    pub const fn bulk(mut self, bytes: u64) -> Self {
        self.bulk = bytes;
        self
    }

    /// Elements of one aggregate at most, a map's pair counting as two. Default `i64::MAX`: memory
    /// follows the bytes that came, not the count that was declared.
    #[must_use]
    pub const fn elements(mut self, count: u64) -> Self {
        // A count above i64::MAX is malformed whatever the limit, so that sums cannot overflow.
        self.elements = if count < MAX_ELEMENTS { count } else { MAX_ELEMENTS };
        self
    }

    /// Bytes of one whole reply on the wire at most. Default 1 GiB; 4 GiB - 1 is the most,
    /// because a reply's inner offsets are 32 bits wide.
    #[must_use]
    pub const fn reply(mut self, bytes: u64) -> Self {
        self.reply = if bytes < MAX_REPLY { bytes } else { MAX_REPLY };
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: 1024,
            line: 64 * 1024,
            bulk: 512 * 1024 * 1024,
            elements: MAX_ELEMENTS,
            reply: 1024 * 1024 * 1024,
        }
    }
}

const MAX_ELEMENTS: u64 = i64::MAX.unsigned_abs();
/// Offsets in a tape are `u32`.
const MAX_REPLY: u64 = 0xFFFF_FFFF;
