//! Where small owned texts and trees are put: many in one allocation.

use bytes::{Bytes, BytesMut};

/// Copies short byte strings into blocks of 8 KiB, so that a reply costs no allocation of its own
/// and, if it is kept, holds on to 8 KiB at most, never to the buffer that was read into.
///
/// Two blocks take turns, so that one whose replies are all gone by then is used again.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    block: BytesMut,
    other: BytesMut,
}

impl Shelf {
    /// These bytes, in memory of their own or in the current block.
    #[inline]
    pub(super) fn keep(&mut self, text: &[u8]) -> Bytes {
        if text.len() > SHARED {
            return Bytes::copy_from_slice(text);
        }
        let block = self.with_room(text.len());
        block.extend_from_slice(text);
        block.split().freeze()
    }

    /// As [`keep`](Self::keep), one part behind the other.
    pub(super) fn keep_both(&mut self, first: &[u8], second: &[u8]) -> Bytes {
        let len = first.len().saturating_add(second.len());
        if len > SHARED {
            // Frozen whole: what is split off shares its allocation, which costs another.
            let mut own = BytesMut::with_capacity(len);
            own.extend_from_slice(first);
            own.extend_from_slice(second);
            return own.freeze();
        }
        let block = self.with_room(len);
        block.extend_from_slice(first);
        block.extend_from_slice(second);
        block.split().freeze()
    }

    #[inline]
    fn with_room(&mut self, len: usize) -> &mut BytesMut {
        if self.block.capacity() < len {
            self.turn_over();
        }
        &mut self.block
    }

    #[cold]
    fn turn_over(&mut self) {
        std::mem::swap(&mut self.block, &mut self.other);
        self.block.reserve(BLOCK);
    }
}

const BLOCK: usize = 8 * 1024;
/// Longer ones get an allocation of their own.
const SHARED: usize = 1024;
