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
    /// There if `state` is `Failed`.
    error: Option<ProtocolError>,
    shelf: Shelf,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// The next byte is a reply's first.
    Between,
    /// `frame` holds a part of a reply.
    Within,
    /// `frame` holds a reply that was lent out, and its bytes are decoded.
    Lent,
    Failed,
}

impl Decoder {
    /// A decoder that takes both generations.
    pub fn new(limits: Limits) -> Self {
        Self {
            rules: Rules { limits, resp2_only: false, tiny_fits: tiny::within(&limits) },
            buffer: ReadBuffer::default(),
            frame: Frame::default(),
            state: State::Between,
            error: None,
            shelf: Shelf::default(),
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
        if self.state == State::Failed {
            return;
        }
        let bulk = self.bytes_wanted();
        self.buffer.append(bytes, Wanted { bulk, rest: || self.frame.rest() });
    }

    /// The buffer to read a socket into: only append to it. It has room for at least 16 KiB, or
    /// for the whole of the bulk that is being read, as far as enough of it came to believe its
    /// length.
    pub fn read_buf(&mut self) -> &mut BytesMut {
        self.return_lent();
        if self.state == State::Failed {
            self.buffer.leave(0);
        }
        let bulk = self.bytes_wanted();
        self.buffer.with_room(Wanted { bulk, rest: || self.frame.rest() })
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
    /// As [`next`](Decoder::next); `slot` stays as it was.
    #[inline]
    pub fn next_into(&mut self, slot: &mut Reply) -> Result<bool, ProtocolError> {
        self.return_lent();
        if self.between()
            && let Some((leaf, behind)) = tiny(self.buffer.unread(), self.rules.resp2_only)
        {
            let left = behind.len();
            slot.set_leaf(leaf, |text| self.shelf.keep(text));
            self.buffer.leave(left);
            return Ok(true);
        }
        if self.frame.waits(self.buffer.unread().len()) {
            return Ok(false);
        }
        self.next_framed(slot)
    }

    /// The next reply as it lies in the buffer, or `None` if more bytes are needed.
    ///
    /// # Errors
    ///
    /// As [`next`](Decoder::next).
    // A view returned or passed on through memory costs more than decoding a tiny reply, so what
    // makes one is inlined without asking: here, in `ReplyRef::value`, and below them.
    #[inline(always)]
    pub fn next_ref(&mut self) -> Result<Option<ReplyRef<'_>>, ProtocolError> {
        self.return_lent();
        let found = if self.between() {
            tiny(self.buffer.unread(), self.rules.resp2_only)
                .map(|(leaf, behind)| (leaf.map_text(<[u8]>::len), behind.len()))
        } else {
            None
        };
        // Each way builds its view here: a view handed on through memory costs more than decoding.
        let Some((leaf, left)) = found else {
            let framed = self.lend_frame()?;
            return Ok(framed.then(|| {
                let bytes = self.buffer.decoded(self.frame.len());
                ReplyRef::at(Tape { nodes: self.frame.nodes(), bytes, owner: None }, 0)
            }));
        };
        self.buffer.leave(left);
        // A text and its CRLF are the element's last bytes.
        let text = |len: usize| self.buffer.decoded(len.wrapping_add(2)).get(..len);
        Ok(Some(ReplyRef::leaf(leaf.map_text(|len| text(len).unwrap_or_default()))))
    }

    /// How many bytes the current bulk still lacks, its CRLF included; 0 if none is being read.
    pub fn bytes_wanted(&self) -> usize {
        match (&self.state, self.frame.bulk_end()) {
            (State::Within, Some(end)) => end.saturating_sub(self.buffer.unread().len()),
            _ => 0,
        }
    }

    /// The bytes that were read and belong to no decoded reply; none after an error. (Chunks of a
    /// streamed string that is not yet whole may have been moved together.)
    pub fn buffered(&self) -> &[u8] {
        self.buffer.unread()
    }

    /// Whether no part of a reply and no unread byte is held, and no error.
    pub fn is_idle(&self) -> bool {
        self.state != State::Failed && self.buffered().is_empty()
    }

    /// Goes on with the current reply; `true`: it is whole, and lent out until the next call.
    fn lend_frame(&mut self) -> Result<bool, ProtocolError> {
        let whole = self.complete_frame()?;
        if whole {
            self.buffer.consume(self.frame.len());
            self.state = State::Lent;
        }
        Ok(whole)
    }

    #[inline]
    fn between(&self) -> bool {
        self.state == State::Between && self.rules.tiny_fits
    }

    fn next_framed(&mut self, slot: &mut Reply) -> Result<bool, ProtocolError> {
        if !self.complete_frame()? {
            return Ok(false);
        }
        self.take_frame(slot);
        Ok(true)
    }

    /// Goes on with the current reply until it is whole (`true`) or the bytes run out.
    #[inline]
    fn complete_frame(&mut self) -> Result<bool, ProtocolError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        if self.frame.waits(self.buffer.unread().len()) {
            return Ok(false);
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
                self.state = State::Failed;
                self.error = Some(error.clone());
                self.buffer.leave(0);
                self.frame.reset();
                Err(error)
            }
        }
    }

    /// The whole reply in `frame` becomes an owned one in `slot`.
    fn take_frame(&mut self, slot: &mut Reply) {
        self.state = State::Between;
        let len = self.frame.len();
        let nodes = self.frame.nodes();
        let bytes = self.buffer.unread().get(..len).unwrap_or_default();
        let tape = Tape { nodes, bytes, owner: None };
        match ReplyRef::at(tape, 0).as_leaf() {
            Some(Leaf::Text(kind, text)) if text.len() >= TAKEN => {
                let place = tape.node(0).text_range();
                let whole = self.buffer.take(len);
                let text = whole.get(place).map(|text| whole.slice_ref(text)).unwrap_or_default();
                *slot = Reply::new(Repr::Text { kind, text });
            }
            Some(leaf) => {
                slot.set_leaf(leaf, |text| self.shelf.keep(text));
                self.buffer.consume(len);
            }
            None if len >= TAKEN => {
                let nodes = self.frame.take_nodes();
                let bytes = self.buffer.take(len);
                *slot = Reply::new(Repr::Large(Arc::new(Large { bytes, nodes })));
            }
            None => {
                let kept = self.shelf.keep_both(nodes.as_flattened(), bytes);
                let nodes = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
                *slot = Reply::new(Repr::Small { nodes, bytes: kept });
                self.buffer.consume(len);
            }
        }
        self.frame.reset();
    }

    /// Clears away the reply that was lent out.
    #[inline]
    fn return_lent(&mut self) {
        if self.state == State::Lent {
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

/// A reply of this size and above is taken from the buffer as it is; a smaller one is copied out.
const TAKEN: usize = 16 * 1024;
