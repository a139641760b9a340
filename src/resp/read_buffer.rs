//! The bytes that were read and not yet decoded, and how that buffer grows and shrinks.
//!
//! - A block of 64 KiB is allocated at the first read and used again as long as no reply shares
//!   it. What a read left undecoded moves to its front.
//! - A bulk that does not fit gets a buffer of exactly its reply's size, so it is read in place
//!   and leaves whole. A long aggregate gets room by the size of its elements so far.
//! - A header alone reserves nothing beyond the block: room grows to 512 times the bytes that came
//!   until that is 8 MiB, then by doubling.
//! - An empty buffer above 256 KiB is given back.

use bytes::{Buf as _, Bytes, BytesMut};

/// The bytes from the first one that belongs to no decoded reply.
#[derive(Debug, Default)]
pub(super) struct ReadBuffer {
    bytes: BytesMut,
    /// `pos <= bytes.len()`; the bytes before it are decoded. Advancing `bytes` itself costs more
    /// than a whole tiny reply, so it happens once a read.
    pos: usize,
    /// The place of `bytes`' first byte in the connection's stream.
    offset: u64,
}

impl ReadBuffer {
    #[inline]
    pub(super) fn unread(&self) -> &[u8] {
        self.bytes.get(self.pos..).unwrap_or_default()
    }

    pub(super) fn unread_mut(&mut self) -> &mut [u8] {
        self.bytes.get_mut(self.pos..).unwrap_or_default()
    }

    /// The place of the first unread byte in the connection's stream.
    pub(super) fn offset(&self) -> u64 {
        self.offset.saturating_add(self.pos as u64)
    }

    /// These many bytes are decoded.
    #[inline]
    pub(super) fn consume(&mut self, count: usize) {
        self.pos = self.pos.saturating_add(count);
        debug_assert!(self.pos <= self.bytes.len(), "no more than was read can be decoded");
    }

    /// The next `count` bytes, which are decoded, without copying them.
    pub(super) fn take(&mut self, count: usize) -> Bytes {
        self.drop_decoded();
        let count = count.min(self.bytes.len());
        self.offset = self.offset.saturating_add(count as u64);
        self.bytes.split_to(count).freeze()
    }

    /// The buffer to append to, with room to read into. `bulk`: bytes of the current bulk that are
    /// still to come, 0 if there is none; `rest` estimates the current reply's other bytes.
    pub(super) fn with_room(&mut self, bulk: usize, rest: impl Fn() -> usize) -> &mut BytesMut {
        self.drop_decoded();
        let held = self.bytes.len();
        let spare = self.bytes.capacity().saturating_sub(held);
        if held == 0 && bulk == 0 {
            if self.bytes.capacity() > KEPT {
                self.bytes = BytesMut::new();
            }
            self.bytes.reserve(BLOCK);
        } else if spare < bulk.max(MIN_ROOM) {
            self.grow(bulk.max(rest()).max(MIN_ROOM));
        }
        &mut self.bytes
    }

    /// Appends a copy.
    pub(super) fn append(&mut self, more: &[u8], bulk: usize, rest: impl Fn() -> usize) {
        let spare = self.bytes.capacity().saturating_sub(self.bytes.len());
        if spare < more.len() {
            self.with_room(bulk.max(more.len()), rest);
        }
        self.bytes.extend_from_slice(more);
    }

    fn grow(&mut self, wanted: usize) {
        let held = self.bytes.len();
        let earned = held.saturating_mul(EARNED).min(MAX_EARNED);
        let room = wanted.min(earned.max(held).max(BLOCK));
        let whole = held.saturating_add(room);
        if whole > BLOCK && held <= BLOCK {
            // A buffer of the reply's own. The block stays with the replies that share it.
            let mut own = BytesMut::with_capacity(whole);
            own.extend_from_slice(&self.bytes);
            self.bytes = own;
        } else {
            self.bytes.reserve(room);
        }
    }

    fn drop_decoded(&mut self) {
        let decoded = self.pos.min(self.bytes.len());
        self.bytes.advance(decoded);
        self.offset = self.offset.saturating_add(decoded as u64);
        self.pos = 0;
    }
}

/// What a connection reads into while replies are small.
const BLOCK: usize = 64 * 1024;
/// A read is worth its system call with this much room.
const MIN_ROOM: usize = 16 * 1024;
/// An empty buffer above this size is given back.
const KEPT: usize = 256 * 1024;
/// Each byte that came earns room for so many more that were announced …
const EARNED: usize = 512;
/// … until this is reached; from there the room doubles.
const MAX_EARNED: usize = 8 * 1024 * 1024;
