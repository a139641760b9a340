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
    /// These bytes, one part behind the other, in memory of their own or in the current block.
    pub(super) fn keep(&mut self, parts: [&[u8]; 2]) -> Bytes {
        let [first, second] = parts;
        let len = first.len().saturating_add(second.len());
        if len > SHARED {
            let mut own = BytesMut::with_capacity(len);
            own.extend_from_slice(first);
            own.extend_from_slice(second);
            return own.freeze();
        }
        if self.block.capacity() < len {
            std::mem::swap(&mut self.block, &mut self.other);
            self.block.reserve(BLOCK);
        }
        self.block.extend_from_slice(first);
        self.block.extend_from_slice(second);
        self.block.split().freeze()
    }
}

const BLOCK: usize = 8 * 1024;
/// Longer ones get an allocation of their own.
const SHARED: usize = 1024;
