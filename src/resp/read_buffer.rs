//! The bytes that were read and not yet decoded, and how that buffer grows and shrinks.
//!
//! - A block of 64 KiB is allocated at the first read and used again as long as no reply shares
//!   it. What a read left undecoded moves to its front.
//! - A bulk that does not fit gets a buffer of exactly its reply's size, so it is read in place
//!   and leaves whole. A long aggregate gets room by the size of its elements so far.
//! - A header alone reserves nothing beyond the block: room grows to 512 times the bytes that came
//!   until that is 8 MiB, then by doubling.
//! - A large reply leaves with the memory it was read into, if it is a quarter of that or more. So
//!   a buffer larger than the block goes with the reply that needed it; one above 256 KiB that
//!   nothing needs any more is given back.

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
    /// At least the size of the allocation that `bytes` is, or is a part of.
    allocated: usize,
}

/// What is known of the rest of the current reply.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<R> {
    /// Bytes of the current bulk that are still to come, 0 if there is none.
    pub(super) bulk: usize,
    /// Estimates all bytes that are still to come.
    pub(super) rest: R,
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
        self.pos = self.pos.wrapping_add(count);
        debug_assert!(self.pos <= self.bytes.len(), "no more than was read can be decoded");
    }

    /// All but the last `count` bytes are decoded.
    #[inline]
    pub(super) fn leave(&mut self, count: usize) {
        self.pos = self.bytes.len().wrapping_sub(count);
        debug_assert!(self.pos <= self.bytes.len(), "no more than was read can be left");
    }

    /// The last `count` bytes that were decoded, until more come.
    #[inline]
    pub(super) fn decoded(&self, count: usize) -> &[u8] {
        self.bytes.get(self.pos.wrapping_sub(count)..self.pos).unwrap_or_default()
    }

    /// The next `count` bytes, which are decoded: the memory that they were read into, where they
    /// are at least a quarter of it, else a copy.
    pub(super) fn take(&mut self, count: usize) -> Bytes {
        self.drop_decoded();
        let count = count.min(self.bytes.len());
        self.offset = self.offset.saturating_add(count as u64);
        let part = self.bytes.split_to(count);
        let taken = if count.saturating_mul(4) >= self.allocated {
            part.freeze()
        } else {
            Bytes::copy_from_slice(&part)
        };
        if self.allocated > BLOCK && self.bytes.len() <= BLOCK {
            self.renew();
        }
        taken
    }

    /// The buffer to append to, with room to read into.
    pub(super) fn with_room(&mut self, wanted: Wanted<impl Fn() -> usize>) -> &mut BytesMut {
        self.drop_decoded();
        self.give_back(&wanted);
        let enough = match self.exact(wanted.bulk) {
            0 if self.bytes.is_empty() => BLOCK,
            0 => wanted.bulk.max(MIN_ROOM),
            bulk => bulk,
        };
        if self.spare() < enough {
            self.grow(enough.max((wanted.rest)()), 0);
        }
        &mut self.bytes
    }

    /// Appends a copy.
    pub(super) fn append(&mut self, more: &[u8], wanted: Wanted<impl Fn() -> usize>) {
        self.give_back(&wanted);
        if self.spare() < more.len().max(self.exact(wanted.bulk)) {
            self.drop_decoded();
            self.grow(wanted.bulk.max((wanted.rest)()).max(BLOCK), more.len());
        }
        self.bytes.extend_from_slice(more);
    }

    fn spare(&self) -> usize {
        self.bytes.capacity().saturating_sub(self.bytes.len())
    }

    /// The rest of a bulk whose reply is larger than the block, else 0: room for exactly that keeps
    /// what follows out of its buffer.
    fn exact(&self, bulk: usize) -> usize {
        if self.bytes.len().saturating_add(bulk) > BLOCK { bulk } else { 0 }
    }

    /// Makes room for `wanted` bytes, or as much of it as the bytes that came deserve, and in any
    /// case for those that are arriving now.
    fn grow(&mut self, wanted: usize, arriving: usize) {
        let (held, spare) = (self.bytes.len(), self.spare());
        let came = held.saturating_add(arriving);
        let earned = came.saturating_mul(EARNED).min(MAX_EARNED).max(came).max(BLOCK);
        let room = wanted.min(earned).max(arriving);
        // What is not yet believed in full grows in steps, not with every byte that comes.
        if room < wanted && spare >= (room / 2).max(arriving) {
            return;
        }
        let whole = held.saturating_add(room);
        if whole > BLOCK && held <= BLOCK {
            // A buffer of the reply's own. The block stays with the replies that share it.
            self.replace(whole);
        } else {
            self.bytes.reserve(room);
            self.allocated = self.allocated.max(self.bytes.capacity());
        }
    }

    /// Frees what a giant needed and its followers do not.
    fn give_back(&mut self, wanted: &Wanted<impl Fn() -> usize>) {
        if self.allocated > KEPT {
            self.drop_decoded();
            let rest = wanted.bulk.max((wanted.rest)());
            if self.bytes.len().saturating_add(rest) <= BLOCK {
                self.renew();
            }
        }
    }

    /// Leaves an allocation to the replies that share it, or to nobody.
    fn renew(&mut self) {
        if self.bytes.is_empty() {
            self.bytes = BytesMut::new();
            self.allocated = 0;
        } else {
            self.replace(BLOCK.max(self.bytes.len()));
        }
    }

    fn replace(&mut self, capacity: usize) {
        let mut fresh = BytesMut::with_capacity(capacity);
        fresh.extend_from_slice(&self.bytes);
        self.bytes = fresh;
        self.allocated = capacity;
    }

    fn drop_decoded(&mut self) {
        // Who read into the buffer may have grown it.
        self.allocated = self.allocated.max(self.bytes.capacity());
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
/// A buffer above this size that nothing needs any more is given back.
const KEPT: usize = 256 * 1024;
/// Each byte that came earns room for so many more that were announced …
const EARNED: usize = 512;
/// … until this is reached; from there the room doubles.
const MAX_EARNED: usize = 8 * 1024 * 1024;
