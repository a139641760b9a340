//! Pushes that came and were not fetched yet.

use std::collections::VecDeque;

use crate::resp::Reply;

/// Messages that answer no command, in the order in which they came; bounded.
///
/// When it is full the oldest goes, and is counted: a reader that never comes can neither stall the
/// replies nor fill the memory.
#[derive(Debug, Default)]
pub(super) struct Pushes {
    /// At most [`KEPT`].
    kept: VecDeque<Reply>,
    lost: u64,
}

/// Pushes kept for a reader.
const KEPT: usize = 1024;

impl Pushes {
    pub(super) fn keep(&mut self, push: Reply) {
        if self.kept.len() >= KEPT {
            self.kept.pop_front();
            self.lost = self.lost.saturating_add(1);
        }
        self.kept.push_back(push);
    }

    pub(super) fn pop(&mut self) -> Option<Reply> {
        self.kept.pop_front()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// How many went unread because too many waited.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resp::{Decoder, Limits};

    #[test]
    fn the_oldest_give_way_and_are_counted() {
        let mut decoder = Decoder::new(Limits::default());
        let mut pushes = Pushes::default();
        for i in 0..KEPT + 3 {
            decoder.feed(format!(">1\r\n:{i}\r\n").as_bytes());
            pushes.keep(decoder.next().unwrap().unwrap());
        }
        assert_eq!(pushes.lost(), 3);
        assert_eq!(pushes.pop().unwrap().to::<Vec<u64>>().unwrap(), [3]);
    }
}
