//! Calls in: whether they are let in, and where they wait.

use std::task::Waker;

use super::{
    Answer, Confirms, Core, Entry, Outbox, Outcome, Owner, Phase, Refusal, SlotId, Submitted, count,
};
use crate::{connector::Error, resp::Protocol};

impl Core {
    /// Queues a command or a batch. `encode` appends its bytes.
    pub(in crate::connector::link) fn submit(
        &mut self,
        answer: Answer,
        encode: impl FnOnce(&mut Outbox),
    ) -> Result<Submitted, Refusal> {
        self.admits(answer)?;
        self.enter(answer, encode)
    }

    /// Whether a call may come in now.
    pub(super) fn admits(&mut self, answer: Answer) -> Result<(), Refusal> {
        match &self.phase {
            Phase::Serving => {}
            Phase::Away | Phase::Draining(None) => return Err(Refusal::Away),
            Phase::Draining(Some(error)) | Phase::Stopped(error) => {
                return Err(Refusal::Stopped(error.clone()));
            }
        }
        let replies = match answer {
            Answer::Confirms(_) if self.protocol == Protocol::Resp2 => {
                return Err(Refusal::Stopped(Error::RequiresResp3));
            }
            Answer::Replies(replies) | Answer::Confirms(replies) => replies,
        };
        let pending = self.pending.saturating_sub(self.loading);
        // A batch larger than the bound is let in alone, not refused for ever.
        let full = pending.saturating_add(replies as usize) > self.bounds.commands && pending > 0;
        if full || self.unwritten() >= self.bounds.bytes {
            self.wants_room = true;
            return Err(Refusal::Full);
        }
        Ok(())
    }

    pub(super) fn enter(
        &mut self,
        answer: Answer,
        encode: impl FnOnce(&mut Outbox),
    ) -> Result<Submitted, Refusal> {
        let (replies, confirms) = match answer {
            Answer::Replies(replies) => (replies, None),
            Answer::Confirms(names) => (names, Some(Confirms::Begin)),
        };
        let slot = if confirms.is_some() || replies == 1 {
            self.slots.take_one()
        } else {
            self.slots.take_many(Vec::with_capacity(replies as usize))
        };
        let slot = slot.ok_or(Refusal::Full)?;
        self.gather(Owner::Caller(slot), replies, confirms, encode);
        Ok((slot, self.driver.unpark()))
    }

    /// Queues the end of a subscription, which is never refused for lack of room. None: there is no
    /// connection, and so nothing to end.
    pub(in crate::connector::link) fn submit_end(
        &mut self,
        names: u32,
        encode: impl FnOnce(&mut Outbox),
    ) -> Option<Submitted> {
        if !matches!(self.phase, Phase::Serving | Phase::Draining(_)) {
            return None;
        }
        let slot = self.slots.take_one()?;
        self.gather(Owner::Caller(slot), names, Some(Confirms::End), encode);
        Some((slot, self.driver.unpark()))
    }

    /// Queues the last word of one who holds the link: it is never refused for lack of room, and
    /// taken by a link that closes. None: there is no socket.
    pub(in crate::connector::link) fn submit_last(
        &mut self,
        replies: u32,
        encode: impl FnOnce(&mut Outbox),
    ) -> Option<Submitted> {
        if !matches!(self.phase, Phase::Serving | Phase::Draining(_)) {
            return None;
        }
        self.enter(Answer::Replies(replies), encode).ok()
    }

    pub(in crate::connector::link) fn hold(&mut self) {
        self.holds = self.holds.saturating_add(1);
    }

    pub(in crate::connector::link) fn let_go(&mut self) {
        self.holds = self.holds.saturating_sub(1);
    }

    pub(in crate::connector::link) fn is_held(&self) -> bool {
        self.holds > 0
    }

    /// Queues a subscription that the last connection had, for a new one.
    pub(in crate::connector::link) fn ask_again(&mut self, encode: impl FnOnce(&mut Outbox)) {
        self.gather(Owner::AskedAgain, 1, Some(Confirms::Begin), encode);
    }

    pub(super) fn gather(
        &mut self,
        owner: Owner,
        replies: u32,
        confirms: Option<Confirms>,
        encode: impl FnOnce(&mut Outbox),
    ) {
        let start = self.out.len() as u64;
        encode(&mut self.out);
        self.gathered.push_back(Entry { owner, replies, confirms, start });
        self.pending = self.pending.saturating_add(replies as usize);
        let commands = if confirms.is_some() { 1 } else { u64::from(replies) };
        count(&mut self.stats.commands, commands);
    }

    pub(in crate::connector::link) fn poll(
        &mut self,
        slot: SlotId,
        waker: &Waker,
    ) -> Result<Outcome, Option<Waker>> {
        self.slots.poll(slot, waker)
    }

    pub(in crate::connector::link) fn abandon(&mut self, slot: SlotId) -> Option<Waker> {
        self.slots.abandon(slot)
    }
}
