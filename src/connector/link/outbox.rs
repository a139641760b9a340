//! Bytes on their way out: what callers have encoded and the socket has not taken yet.
//!
//! Small arguments are copied into one buffer; large ones stand beside it at the place where they
//! belong: by reference where they are shared. The whole leaves in as few vectored writes as the
//! socket allows.

use std::{collections::VecDeque, io::IoSlice};

use bytes::{Buf, Bytes, BytesMut};

use crate::resp::Sink;

/// A buffer that grew past this for one burst is given back when it is empty again.
const KEEP: usize = 1024 * 1024;
/// What is kept of it while the connection is at rest.
const KEEP_AT_REST: usize = 64 * 1024;

/// 0 ≤ `pos` ≤ `bytes.len()`; every `Spliced::at` lies in `pos..=bytes.len()`, in rising order.
#[derive(Debug, Default)]
pub(in crate::connector) struct Outbox {
    bytes: BytesMut,
    pos: usize,
    shared: VecDeque<Spliced>,
    shared_len: usize,
}

/// `payload` goes out just before `bytes[at]`.
#[derive(Debug)]
struct Spliced {
    at: usize,
    payload: Bytes,
}

impl Outbox {
    /// Bytes not written yet.
    pub(super) fn len(&self) -> usize {
        self.bytes.len().saturating_sub(self.pos).saturating_add(self.shared_len)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `slices` with what comes next, in order; returns how many were filled.
    pub(super) fn slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut filled = 0_usize;
        let mut from = self.pos;
        let mut place = slices.iter_mut();
        let mut push = |bytes: &'a [u8]| -> bool {
            if bytes.is_empty() {
                return true;
            }
            let Some(slot) = place.next() else { return false };
            *slot = IoSlice::new(bytes);
            filled = filled.saturating_add(1);
            true
        };
        for spliced in &self.shared {
            let before = self.bytes.get(from..spliced.at).unwrap_or_default();
            if !(push(before) && push(&spliced.payload)) {
                return filled;
            }
            from = spliced.at;
        }
        push(self.bytes.get(from..).unwrap_or_default());
        filled
    }

    /// The bytes that come next, when nothing shared stands among them.
    pub(super) fn plain(&self) -> Option<&[u8]> {
        if self.shared.is_empty() { self.bytes.get(self.pos..) } else { None }
    }

    /// The socket took `n` bytes.
    pub(super) fn advance(&mut self, mut n: usize) {
        while n > 0 {
            let stop = self.shared.front().map_or(self.bytes.len(), |spliced| spliced.at);
            let plain = stop.saturating_sub(self.pos).min(n);
            self.pos = self.pos.saturating_add(plain);
            n = n.saturating_sub(plain);
            if n == 0 {
                break;
            }
            let Some(spliced) = self.shared.front_mut() else { break };
            let taken = spliced.payload.len().min(n);
            spliced.payload.advance(taken);
            self.shared_len = self.shared_len.saturating_sub(taken);
            n = n.saturating_sub(taken);
            if spliced.payload.is_empty() {
                self.shared.pop_front();
            }
        }
        if self.is_empty() {
            self.clear();
        }
    }

    /// Gives back what a burst had made of an empty buffer.
    pub(super) fn shrink(&mut self) {
        if self.is_empty() && self.bytes.capacity() > KEEP_AT_REST {
            self.bytes = BytesMut::new();
        }
        if self.shared.is_empty() {
            self.shared = VecDeque::new();
        }
    }

    /// Forgets everything; the buffer's capacity is kept unless a burst had blown it up.
    pub(super) fn clear(&mut self) {
        self.pos = 0;
        self.shared.clear();
        self.shared_len = 0;
        if self.bytes.capacity() > KEEP {
            self.bytes = BytesMut::new();
        } else {
            self.bytes.clear();
        }
    }
}

impl Sink for Outbox {
    #[inline]
    fn bytes(&mut self) -> &mut BytesMut {
        &mut self.bytes
    }

    fn put_shared(&mut self, payload: &Bytes) {
        if payload.is_empty() {
            return;
        }
        self.shared_len = self.shared_len.saturating_add(payload.len());
        self.shared.push_back(Spliced { at: self.bytes.len(), payload: payload.clone() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(outbox: &mut Outbox, step: usize) -> Vec<u8> {
        let mut out = Vec::new();
        while !outbox.is_empty() {
            let mut slices = [IoSlice::new(&[]); 3];
            let filled = outbox.slices(&mut slices);
            let mut taken = Vec::new();
            for slice in &slices[..filled] {
                taken.extend_from_slice(slice);
            }
            taken.truncate(step);
            out.extend_from_slice(&taken);
            let n = taken.len();
            outbox.advance(n);
        }
        out
    }

    #[test]
    fn shared_payloads_leave_in_their_place_whatever_the_socket_takes() {
        for step in 1..20 {
            let mut outbox = Outbox::default();
            outbox.put_shared(&Bytes::from_static(b"<first>"));
            outbox.bytes().extend_from_slice(b"one");
            outbox.put_shared(&Bytes::from_static(b"<second>"));
            outbox.put_shared(&Bytes::from_static(b"<third>"));
            outbox.bytes().extend_from_slice(b"two");
            outbox.put_shared(&Bytes::from_static(b"<last>"));
            assert_eq!(outbox.len(), 34);
            assert_eq!(drain(&mut outbox, step), b"<first>one<second><third>two<last>");
        }
    }

    #[test]
    fn a_burst_does_not_keep_its_memory() {
        let mut outbox = Outbox::default();
        outbox.bytes().extend_from_slice(&vec![0; KEEP * 2]);
        let n = outbox.len();
        outbox.advance(n);
        assert!(outbox.bytes().capacity() <= KEEP);
        outbox.bytes().extend_from_slice(b"small");
        let kept = outbox.bytes().capacity();
        outbox.advance(5);
        assert_eq!(outbox.bytes().capacity(), kept);
    }
}
