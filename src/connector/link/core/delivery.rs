//! Replies in: each to the command that it answers.

use std::task::Waker;

use super::{Confirms, Core, Entry, Owner, count};
use crate::resp::{Reply, ServerError};

/// What became of a reply.
#[derive(Debug)]
pub(in crate::connector::link) enum Delivered {
    /// A caller has it; whom to wake, if its last reply is in.
    Caller(Option<Waker>),
    /// It answers the link's own fence check.
    Fence(Reply),
    /// It answers a subscription that was asked for again, with an error if that was refused.
    AskedAgain(Option<ServerError>),
}

impl Core {
    /// Gives one reply to the command that it answers. `Err` gives back a reply that answers
    /// nothing, not even a command of which a byte has left: the stream is not what we think it is.
    pub(in crate::connector::link) fn deliver(&mut self, reply: Reply) -> Result<Delivered, Reply> {
        let Some(front) = self.oldest() else { return Err(reply) };
        let replies = match (front.confirms.is_some(), reply.is_error()) {
            (false, _) => 1,
            (true, true) => front.replies,
            (true, false) => return Err(reply),
        };
        let (owner, last) = self.advance(replies).ok_or_else(Reply::default)?;
        count(&mut self.stats.replies, 1);
        Ok(match owner {
            Owner::Caller(slot) => Delivered::Caller(self.slots.deliver(slot, reply, last)),
            Owner::Fence => Delivered::Fence(reply),
            Owner::AskedAgain => Delivered::AskedAgain(reply.as_error()),
            Owner::Load(turn) => {
                self.loading = self.loading.saturating_sub(1);
                if reply.is_error() {
                    self.scripts.refused(turn);
                }
                Delivered::Caller(None)
            }
            Owner::Nobody => Delivered::Caller(None),
        })
    }

    /// How many of the next replies go to one and the same batch; 0 if they go elsewhere.
    pub(in crate::connector::link) fn batch_waits_for(&self) -> usize {
        match self.oldest() {
            Some(Entry { owner: Owner::Caller(_), replies, confirms: None, .. })
                if *replies > 1 =>
            {
                *replies as usize
            }
            _ => 0,
        }
    }

    /// As [`deliver`](Self::deliver), for several replies of one batch at once: no more than it
    /// [waits for](Self::batch_waits_for). All are taken, also where nobody wants them any more.
    /// Answers whom to wake.
    pub(in crate::connector::link) fn deliver_batch(
        &mut self,
        mut replies: impl ExactSizeIterator<Item = Reply>,
    ) -> Option<Waker> {
        let came = u32::try_from(replies.len()).unwrap_or(u32::MAX);
        let (owner, last) = self.advance(came)?;
        count(&mut self.stats.replies, u64::from(came));
        let waker = match owner {
            Owner::Caller(slot) => self.slots.deliver_batch(slot, &mut replies, last),
            _ => None,
        };
        replies.for_each(drop);
        waker
    }

    /// A push came with this word. None: it answers nobody here, so that the server said it by itself.
    pub(in crate::connector::link) fn confirm(&mut self, word: Confirms) -> Option<Delivered> {
        self.oldest().filter(|front| front.confirms == Some(word))?;
        let (owner, last) = self.advance(1)?;
        Some(match owner {
            Owner::AskedAgain if last => Delivered::AskedAgain(None),
            Owner::Caller(slot) if last => {
                Delivered::Caller(self.slots.deliver(slot, Reply::default(), true))
            }
            _ => Delivered::Caller(None),
        })
    }

    /// The command that the next reply answers: the oldest, once a byte of it has left.
    fn oldest(&self) -> Option<&Entry> {
        self.in_flight.front().filter(|entry| entry.start < self.written)
    }

    /// Takes `replies` off what the oldest command waits for. Answers its owner, and whether these
    /// were its last.
    fn advance(&mut self, replies: u32) -> Option<(Owner, bool)> {
        let front = self.in_flight.front_mut()?;
        front.replies = front.replies.saturating_sub(replies);
        let (owner, last) = (front.owner, front.replies == 0);
        if last {
            self.in_flight.pop_front();
            self.clock.completed(self.waiting());
        }
        self.pending = self.pending.saturating_sub(replies as usize);
        Some((owner, last))
    }
}
