//! The slab of reply slots: where a caller's replies wait for it.
//!
//! A slot is taken by a caller when its command is queued and given back by that caller when it
//! has read the outcome. A caller that goes away early leaves [`Slot::Abandoned`] behind, which the
//! I/O side frees once the last reply has come: until then the slot cannot be taken by another,
//! so a reply can never reach a stranger and no generation counter is needed.

use std::{iter, mem, task::Waker};

use crate::{connector::Error, resp::Reply};

/// The place of one slot in the slab.
pub(super) type SlotId = u32;

/// What a caller finds in its slot.
#[derive(Debug)]
pub(in crate::connector) enum Outcome {
    /// The reply to a command.
    One(Reply),
    /// The replies to a batch, in order.
    Many(Vec<Reply>),
    /// No reply will come.
    Failed(Error),
}

impl Outcome {
    /// The one reply.
    pub(super) fn into_reply(self) -> Result<Reply, Error> {
        match self {
            Self::One(reply) => Ok(reply),
            Self::Many(replies) => Ok(replies.into_iter().next().unwrap_or_default()),
            Self::Failed(error) => Err(error),
        }
    }

    /// For a command whose reply says no more than that it was done.
    pub(in crate::connector) fn into_result(self) -> Result<(), Error> {
        match self {
            Self::One(reply) => Ok(reply.into_result().map(drop)?),
            Self::Many(_) => Ok(()),
            Self::Failed(error) => Err(error),
        }
    }
}

#[derive(Debug)]
enum Slot {
    Free {
        next: Option<SlotId>,
    },
    AwaitsOne {
        waker: Option<Waker>,
    },
    /// `replies` has room for the whole batch from the start.
    AwaitsMany {
        waker: Option<Waker>,
        replies: Vec<Reply>,
    },
    Done(Outcome),
    Abandoned,
}

#[derive(Debug, Default)]
pub(super) struct Slots {
    slots: Vec<Slot>,
    free: Option<SlotId>,
}

impl Slots {
    /// Takes a slot for a single reply.
    pub(super) fn take_one(&mut self) -> Option<SlotId> {
        self.take(Slot::AwaitsOne { waker: None })
    }

    /// Takes a slot for a batch; `replies` is empty and roomy enough.
    pub(super) fn take_many(&mut self, replies: Vec<Reply>) -> Option<SlotId> {
        self.take(Slot::AwaitsMany { waker: None, replies })
    }

    fn take(&mut self, slot: Slot) -> Option<SlotId> {
        if let Some(id) = self.free {
            let place = self.slots.get_mut(id as usize)?;
            if let Slot::Free { next } = *place {
                self.free = next;
                *place = slot;
                return Some(id);
            }
        }
        let id = SlotId::try_from(self.slots.len()).ok()?;
        self.slots.push(slot);
        Some(id)
    }

    /// Hands a reply to the slot; `last` completes it. Returns whom to wake.
    pub(super) fn deliver(&mut self, id: SlotId, reply: Reply, last: bool) -> Option<Waker> {
        let slot = self.slots.get_mut(id as usize)?;
        if let Slot::AwaitsOne { waker } = slot {
            let waker = waker.take();
            *slot = Slot::Done(Outcome::One(reply));
            return waker;
        }
        self.deliver_batch(id, iter::once(reply), last)
    }

    /// Hands replies of a batch to its slot; `last` completes it. Returns whom to wake.
    pub(super) fn deliver_batch(
        &mut self,
        id: SlotId,
        came: impl Iterator<Item = Reply>,
        last: bool,
    ) -> Option<Waker> {
        let slot = self.slots.get_mut(id as usize)?;
        match slot {
            Slot::AwaitsMany { waker, replies } => {
                replies.extend(came);
                if !last {
                    return None;
                }
                let waker = waker.take();
                let replies = mem::take(replies);
                *slot = Slot::Done(Outcome::Many(replies));
                waker
            }
            Slot::Abandoned => {
                if last {
                    self.release(id);
                }
                None
            }
            Slot::Free { .. } | Slot::AwaitsOne { .. } | Slot::Done(_) => None,
        }
    }

    /// Ends a waiting slot without its reply. Returns whom to wake.
    pub(super) fn fail(&mut self, id: SlotId, error: Error) -> Option<Waker> {
        let slot = self.slots.get_mut(id as usize)?;
        match slot {
            Slot::AwaitsOne { waker } | Slot::AwaitsMany { waker, .. } => {
                let waker = waker.take();
                *slot = Slot::Done(Outcome::Failed(error));
                waker
            }
            Slot::Abandoned => {
                self.release(id);
                None
            }
            Slot::Free { .. } | Slot::Done(_) => None,
        }
    }

    /// The outcome, if it is there: the slot is free again then. Otherwise `waker` is kept, and
    /// the one it replaces comes back: dropping a waker may run anything, so that is for the caller
    /// to do outside the lock.
    pub(super) fn poll(&mut self, id: SlotId, waker: &Waker) -> Result<Outcome, Option<Waker>> {
        let slot = self.slots.get_mut(id as usize).ok_or(None)?;
        match slot {
            Slot::AwaitsOne { waker: kept } | Slot::AwaitsMany { waker: kept, .. } => match kept {
                Some(kept) if kept.will_wake(waker) => Err(None),
                _ => Err(kept.replace(waker.clone())),
            },
            Slot::Done(_) => match self.release(id) {
                Some(Slot::Done(outcome)) => Ok(outcome),
                _ => Err(None),
            },
            Slot::Free { .. } | Slot::Abandoned => Err(None),
        }
    }

    /// The caller is gone: a waiting slot swallows its replies, a finished one is freed. The
    /// caller's waker comes back, to be dropped outside the lock.
    pub(super) fn abandon(&mut self, id: SlotId) -> Option<Waker> {
        let slot = self.slots.get_mut(id as usize)?;
        match slot {
            Slot::AwaitsOne { waker } | Slot::AwaitsMany { waker, .. } => {
                let waker = waker.take();
                *slot = Slot::Abandoned;
                waker
            }
            Slot::Done(_) => {
                self.release(id);
                None
            }
            Slot::Free { .. } | Slot::Abandoned => None,
        }
    }

    fn release(&mut self, id: SlotId) -> Option<Slot> {
        let slot = self.slots.get_mut(id as usize)?;
        let was = mem::replace(slot, Slot::Free { next: self.free });
        self.free = Some(id);
        Some(was)
    }

    /// Gives back what more than `kept` slots take up, if none is taken.
    pub(super) fn shrink(&mut self, kept: usize) {
        let is_free = |slot: &Slot| matches!(slot, Slot::Free { .. });
        if self.slots.len() > kept && self.slots.iter().all(is_free) {
            self.slots = Vec::new();
            self.free = None;
        }
    }

    /// How many slots are taken.
    #[cfg(test)]
    pub(super) fn taken(&self) -> usize {
        self.slots.iter().filter(|slot| !matches!(slot, Slot::Free { .. })).count()
    }
}
