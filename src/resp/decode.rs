//! Bytes in, replies out.

use std::{fmt, sync::Arc};

use bytes::BytesMut;

use super::{
    Limits, Protocol, ProtocolError, Reply, ReplyRef,
    frame::Frame,
    read_buffer::{ReadBuffer, Wanted},
    reply::{Large, Repr},
    scan::{Leaf, Rules},
    shelf::Shelf,
    tape::Tape,
    tiny::{self, tiny},
};

/// A resumable, strict, bounded decoder of RESP2 and RESP3 replies,
/// <https://valkey.io/topics/protocol/>.
///
/// It owns the bytes it was given and its place in them, so a reply may come in pieces of any
/// size, and no byte is parsed twice. It takes both generations at any time; see
/// [`Decoder::only`].
///
/// Bytes go in by [`feed`](Decoder::feed) or by reading a socket into
/// [`read_buf`](Decoder::read_buf). Replies come out by [`next_into`](Decoder::next_into), built
/// once in the place where they stay, by [`next`](Decoder::next), or borrowed, without any copy,
/// by [`next_ref`](Decoder::next_ref).
///
/// An error is final: after it every call answers the same error.
///
/// ```
/// use echo_wire::resp::{Decoder, Limits, Value};
///
/// let mut decoder = Decoder::new(Limits::default());
/// decoder.feed(b"+OK\r\n$5\r\nhel");
/// assert_eq!(decoder.next()?.unwrap().value(), Value::SimpleString(b"OK"));
/// assert!(decoder.next()?.is_none()); // more bytes needed:
/// assert_eq!(decoder.bytes_wanted(), 4);
/// decoder.feed(b"lo\r\n");
/// assert_eq!(decoder.next()?.unwrap().value(), Value::BulkString(b"hello"));
/// assert!(decoder.is_idle());
/// # Ok::<(), echo_wire::resp::ProtocolError>(())
/// ```
pub struct Decoder {
    rules: Rules,
    buffer: ReadBuffer,
    frame: Frame,
    state: State,
    shelf: Shelf,
    /// Whether the limits let every tiny reply through.
    allows_tiny: bool,
}

enum State {
    /// The next byte is a reply's first.
    Between,
    /// `frame` holds a part of a reply.
    Within,
    /// `frame` holds a reply that was lent out: so many bytes to step over.
    Lent(usize),
    Failed(ProtocolError),
}

impl Decoder {
    /// A decoder that takes both generations.
    pub fn new(limits: Limits) -> Self {
        Self {
            rules: Rules { limits, resp2_only: false },
            buffer: ReadBuffer::default(),
            frame: Frame::default(),
            state: State::Between,
            shelf: Shelf::default(),
            allows_tiny: tiny::within(&limits),
        }
    }

    /// From here on only what this generation has: [`Protocol::Resp2`] refuses RESP3's types.
    /// RESP3 contains RESP2, so [`Protocol::Resp3`] refuses nothing.
    #[must_use]
    pub fn only(mut self, protocol: Protocol) -> Self {
        self.rules.resp2_only = protocol == Protocol::Resp2;
        self
    }

    /// Appends a copy of these bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.return_lent();
        if matches!(self.state, State::Failed(_)) {
            return;
        }
        let bulk = self.bytes_wanted();
        self.buffer.append(bytes, Wanted { bulk, rest: || self.frame.estimate_rest() });
    }

    /// The buffer to read a socket into: only append to it. It has room for at least 16 KiB, or
    /// for the whole of the bulk that is being read, as far as enough of it came to believe its
    /// length.
    pub fn read_buf(&mut self) -> &mut BytesMut {
        self.return_lent();
        let bulk = self.bytes_wanted();
        self.buffer.with_room(Wanted { bulk, rest: || self.frame.estimate_rest() })
    }

    /// The next reply, or `None` if more bytes are needed.
    ///
    /// # Errors
    ///
    /// The bytes are not RESP, or exceed a limit. Every later call answers the same.
    #[allow(clippy::should_implement_trait, reason = "None may be followed by Some")]
    pub fn next(&mut self) -> Result<Option<Reply>, ProtocolError> {
        let mut reply = Reply::default();
        Ok(self.next_into(&mut reply)?.then_some(reply))
    }

    /// Puts the next reply into `slot`; `false`, and `slot` as it was, if more bytes are needed.
    ///
    /// # Errors
    ///
    /// As [`next`](Decoder::next).
    #[inline]
    pub fn next_into(&mut self, slot: &mut Reply) -> Result<bool, ProtocolError> {
        if self.between()
            && let Some((leaf, used)) = tiny(self.buffer.unread(), self.rules.resp2_only)
        {
            *slot = Reply::of_leaf(leaf, |text| self.shelf.keep([text, b""]));
            self.buffer.consume(used);
            return Ok(true);
        }
        self.next_framed(slot)
    }

    /// The next reply as it lies in the buffer, or `None` if more bytes are needed.
    ///
    /// # Errors
    ///
    /// As [`next`](Decoder::next).
    pub fn next_ref(&mut self) -> Result<Option<ReplyRef<'_>>, ProtocolError> {
        if !self.complete_frame()? {
            return Ok(None);
        }
        let len = self.frame.len();
        self.state = State::Lent(len);
        let bytes = self.buffer.unread();
        let tape = Tape { nodes: self.frame.nodes(), bytes, owner: None };
        Ok(Some(ReplyRef::at(tape, 0)))
    }

    /// How many bytes the current bulk still lacks, its CRLF included; 0 if none is being read.
    pub fn bytes_wanted(&self) -> usize {
        match (&self.state, self.frame.bulk_end()) {
            (State::Within, Some(end)) => end.saturating_sub(self.buffer.unread().len()),
            _ => 0,
        }
    }

    /// The bytes that were read and belong to no decoded reply. (Chunks of a streamed string that
    /// is not yet whole may have been moved together.)
    pub fn buffered(&self) -> &[u8] {
        let lent = if let State::Lent(len) = self.state { len } else { 0 };
        self.buffer.unread().get(lent..).unwrap_or_default()
    }

    /// Whether no part of a reply and no unread byte is held.
    pub fn is_idle(&self) -> bool {
        self.buffered().is_empty()
    }

    #[inline]
    fn between(&self) -> bool {
        // A limit below a tiny reply's size leaves it to the thorough way.
        matches!(self.state, State::Between) && self.allows_tiny
    }

    fn next_framed(&mut self, slot: &mut Reply) -> Result<bool, ProtocolError> {
        if !self.complete_frame()? {
            return Ok(false);
        }
        *slot = self.take_frame();
        Ok(true)
    }

    /// Goes on with the current reply until it is whole (`true`) or the bytes run out.
    fn complete_frame(&mut self) -> Result<bool, ProtocolError> {
        self.return_lent();
        if let State::Failed(error) = &self.state {
            return Err(error.clone());
        }
        match self.frame.advance(self.buffer.unread_mut(), &self.rules) {
            Ok(true) => Ok(true),
            Ok(false) => {
                self.state = State::Within;
                Ok(false)
            }
            Err(kind) => {
                let at = self.frame.len();
                let seen = self.buffer.unread().get(at..).unwrap_or_default();
                let offset = self.buffer.offset().saturating_add(at as u64);
                let error = ProtocolError::new(kind, offset, seen);
                self.state = State::Failed(error.clone());
                Err(error)
            }
        }
    }

    /// The whole reply in `frame` as an owned one.
    fn take_frame(&mut self) -> Reply {
        self.state = State::Between;
        let len = self.frame.len();
        let bytes = self.buffer.unread().get(..len).unwrap_or_default();
        let nodes = self.frame.nodes();
        let tape = Tape { nodes, bytes, owner: None };
        let leaf = if nodes.len() == 1 { tape.leaf(tape.node(0)) } else { None };
        let reply = match leaf {
            Some(Leaf::Text(kind, text)) if text.len() >= TAKEN => {
                let range = tape.node(0).text_range();
                let text = self.buffer.take(len).slice(range);
                self.frame.reset();
                return Reply::new(Repr::Text { kind, text });
            }
            Some(leaf) => Reply::of_leaf(leaf, |text| self.shelf.keep([text, b""])),
            None if len >= TAKEN => {
                let nodes = self.frame.take_nodes();
                let bytes = self.buffer.take(len);
                self.frame.reset();
                return Reply::new(Repr::Large(Arc::new(Large { bytes, nodes })));
            }
            None => {
                let kept = self.shelf.keep([nodes.as_flattened(), bytes]);
                let nodes = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
                Reply::new(Repr::Small { nodes, bytes: kept })
            }
        };
        self.buffer.consume(len);
        self.frame.reset();
        reply
    }

    /// Steps over the reply that was lent out.
    fn return_lent(&mut self) {
        if let State::Lent(len) = self.state {
            self.buffer.consume(len);
            self.frame.reset();
            self.state = State::Between;
        }
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder")
            .field("limits", &self.rules.limits)
            .field("buffered", &self.buffered().len())
            .field("bytes_wanted", &self.bytes_wanted())
            .finish_non_exhaustive()
    }
}

/// A reply of this size and above leaves with the buffer it was read into; a smaller one is copied
/// out. So a kept reply holds at most four times its bytes.
const TAKEN: usize = 16 * 1024;
