//! The life of a command, without a socket and without a clock.
//!
//! ```text
//!  caller                 core (behind one short lock)                  driver (owns the socket)
//!  ──────                 ────────────────────────────                  ────────────────────────
//!  submit ──encode──▶ out │ gathered: [entry …]
//!                         │      └────── take ──▶ in_flight: [entry …] ──▶ written, in order
//!  await slot             │                            │
//!     ◀──────wake──────── slot ◀── deliver ────────────┘ ◀── replies decoded, in order
//! ```
//!
//! Invariants:
//! - `in_flight` then `gathered` is exactly the order of commands on the wire.
//! - An entry leaves only when its last reply has come or the socket is gone. A caller that gives
//!   up changes who gets the replies, never how many are swallowed.
//! - A command whose first byte was not handed to the socket has not run.

use std::{collections::VecDeque, task::Waker};

use tokio::time::Instant;

use super::{
    clock::Clock,
    outbox::Outbox,
    scripts::{Scripts, Turn},
    slots::{Outcome, SlotId, Slots},
};
use crate::{
    connector::{
        Error,
        stats::{Stats, count},
    },
    resp::{Protocol, Sink},
};

#[derive(Debug)]
pub(super) struct Core {
    phase: Phase,
    out: Outbox,
    slots: Slots,
    in_flight: VecDeque<Entry>,
    gathered: VecDeque<Entry>,
    /// How many entries left together last.
    last_wave: usize,
    /// Replies that `in_flight` and `gathered` still wait for.
    pending: usize,
    /// Bytes that the driver has taken from `out` since the socket was opened …
    taken: u64,
    /// … and those of them that the socket took: `written ≤ taken`. The driver says so once a turn.
    written: u64,
    clock: Clock,
    driver: Parking,
    bounds: Bounds,
    protocol: Protocol,
    scripts: Scripts,
    /// Replies to SCRIPT LOAD among `pending`: they take nobody's room.
    loading: usize,
    pub(super) stats: Stats,
    /// Those who may still need this link for one last word.
    holds: usize,
    /// A caller was refused for lack of room and may wait for some.
    wants_room: bool,
    left: bool,
}

/// Whether callers may hand commands in.
#[derive(Debug)]
pub(super) enum Phase {
    /// No fenced socket is there.
    Away,
    /// Commands flow.
    Serving,
    /// No new command: what is in flight is awaited, then the socket goes. Callers are told the
    /// error, or that there is no connection.
    Draining(Option<Error>),
    /// For good, and why.
    Stopped(Error),
}

/// How much may wait.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Commands without their reply.
    pub(super) commands: usize,
    /// Bytes that the socket has not taken. One command may go over it.
    pub(super) bytes: usize,
}

/// Why a command was not taken. Nothing of it was kept.
#[derive(Debug)]
pub(super) enum Refusal {
    Away,
    Full,
    Stopped(Error),
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Away => Self::Disconnected { maybe_executed: false },
            Refusal::Full => Self::Overloaded,
            Refusal::Stopped(error) => error,
        }
    }
}

/// A call that was let in: the slot to wait at, and the driver's waker if it sleeps.
pub(super) type Submitted = (SlotId, Option<Waker>);

/// A command, or a batch of them, on its way.
#[derive(Debug, Clone, Copy)]
struct Entry {
    owner: Owner,
    /// Replies, or confirming pushes, still to come; at least one.
    replies: u32,
    /// Answered by pushes, or by one error for them all.
    confirms: Option<Confirms>,
    /// Where its first byte stands: in `out` while gathered, in all bytes taken once in flight.
    start: u64,
}

/// Which word of a server's confirms a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Confirms {
    /// That a subscription begins.
    Begin,
    /// That it ends.
    End,
}

/// What will answer a command.
#[derive(Debug, Clone, Copy)]
pub(super) enum Answer {
    /// So many replies.
    Replies(u32),
    /// So many pushes, one a name, or one error.
    Confirms(u32),
}

/// Places for commands that are kept for the next ones.
const KEPT: usize = 1024;

/// Who gets the replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Caller(SlotId),
    /// The link's own fence check.
    Fence,
    /// A subscription that is asked for again on this connection.
    AskedAgain,
    /// A script that the link loads.
    Load(Turn),
    /// Nobody any more: the caller was told something else already.
    Nobody,
}

impl Core {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            phase: Phase::Away,
            out: Outbox::default(),
            slots: Slots::default(),
            in_flight: VecDeque::new(),
            gathered: VecDeque::new(),
            last_wave: 0,
            pending: 0,
            taken: 0,
            written: 0,
            clock: Clock::default(),
            driver: Parking::default(),
            bounds,
            protocol: Protocol::Resp3,
            scripts: Scripts::default(),
            loading: 0,
            stats: Stats::default(),
            holds: 0,
            wants_room: false,
            left: false,
        }
    }

    // ── the driver's side ───────────────────────────────────────────────────────────────────

    /// A fenced socket is there: commands flow.
    pub(super) fn open(&mut self, protocol: Protocol) {
        self.protocol = protocol;
        if matches!(self.phase, Phase::Away) {
            self.phase = Phase::Serving;
        }
    }

    /// No new command from here on; those queued are still answered. A caller that comes now is
    /// told `error`, or that there is no connection.
    pub(super) fn drain(&mut self, error: Option<Error>) -> Option<Waker> {
        match (&self.phase, error) {
            (Phase::Serving | Phase::Draining(None), error) => self.phase = Phase::Draining(error),
            // Without a socket nothing is in flight: there is nothing to wait for.
            (Phase::Away, Some(error)) => self.phase = Phase::Stopped(error),
            _ => {}
        }
        self.driver.unpark()
    }

    /// The socket has taken these many bytes of what the driver took.
    pub(super) fn wrote(&mut self, written: u64) {
        self.written = written;
    }

    /// Whether something waits to be taken.
    pub(super) fn has_gathered(&self) -> bool {
        !self.gathered.is_empty()
    }

    /// Whether more may be about to come in. Not so where one caller asks, waits, and asks again:
    /// whoever stays for company then only loses a turn, and wakes another thread for it.
    pub(super) fn expects_more(&self) -> bool {
        self.last_wave > 1 || self.waiting() > 1
    }

    /// Whether every command has its replies.
    pub(super) fn is_quiet(&self) -> bool {
        self.in_flight.is_empty() && self.gathered.is_empty()
    }

    /// Whether a draining link has nothing more to wait for. One that only leaves a demoted server
    /// does not wait for holders: they will find the next one.
    pub(super) fn is_drained(&self) -> bool {
        self.is_quiet() && (!self.is_held() || matches!(self.phase, Phase::Draining(None)))
    }

    /// Wakes the driver: something is to be looked at.
    pub(super) fn unpark(&mut self) -> Option<Waker> {
        self.driver.unpark()
    }

    /// Gives back the memory that a burst took, unless something is under way.
    pub(super) fn shrink(&mut self) {
        if self.is_quiet() {
            self.in_flight.shrink_to(KEPT);
            self.gathered.shrink_to(KEPT);
            self.slots.shrink(KEPT);
            self.out.shrink();
        }
    }

    /// Moves what gathered into `wave`, which is empty. Its commands are in flight from here on.
    pub(super) fn take(&mut self, wave: &mut Outbox) {
        debug_assert!(wave.is_empty(), "a wave is taken when the last one has left");
        let base = self.taken;
        self.taken = self.taken.saturating_add(self.out.len() as u64);
        self.last_wave = self.gathered.len();
        std::mem::swap(&mut self.out, wave);
        self.in_flight.extend(
            self.gathered
                .drain(..)
                .map(|entry| Entry { start: base.saturating_add(entry.start), ..entry }),
        );
    }

    /// Puts the link's own fence commands on the wire, ahead of everything that gathered.
    pub(super) fn probe(&mut self, replies: u32, encoded: &[u8], wave: &mut Outbox) {
        self.clock.inserted(self.in_flight.len());
        self.in_flight.push_back(Entry {
            owner: Owner::Fence,
            replies,
            confirms: None,
            start: self.taken,
        });
        self.pending = self.pending.saturating_add(replies as usize);
        self.taken = self.taken.saturating_add(encoded.len() as u64);
        wave.bytes().extend_from_slice(encoded);
    }

    pub(super) fn is_left(&self) -> bool {
        self.left
    }

    /// Why callers are turned away for good, if they are.
    pub(super) fn stops(&self) -> Option<Error> {
        match &self.phase {
            Phase::Draining(error) => error.clone(),
            Phase::Stopped(error) => Some(error.clone()),
            Phase::Away | Phase::Serving => None,
        }
    }

    pub(super) fn phase(&self) -> &Phase {
        &self.phase
    }

    pub(super) fn pending(&self) -> usize {
        self.pending
    }

    /// Whether callers that were refused for lack of room should look again. A quarter must be
    /// free, so that they come in by the batch and not one by one.
    pub(super) fn takes_waiters(&mut self) -> bool {
        let free = |used: usize, bound: usize| used <= bound.saturating_sub(bound.div_ceil(4));
        let pending = self.pending.saturating_sub(self.loading);
        let roomy =
            free(pending, self.bounds.commands) && free(self.unwritten(), self.bounds.bytes);
        roomy && std::mem::take(&mut self.wants_room)
    }

    pub(super) fn clock(&mut self) -> &mut Clock {
        &mut self.clock
    }

    /// Stamps the commands that came since the last turn.
    pub(super) fn stamp(&mut self, now: Instant) {
        let waiting = self.waiting();
        self.clock.stamp(waiting, now);
    }

    /// The driver sleeps; `waker` wakes it when a caller comes.
    pub(super) fn park(&mut self, waker: &Waker) {
        self.driver.0 = Some(waker.clone());
    }

    /// Bytes encoded that the socket has not taken.
    fn unwritten(&self) -> usize {
        let leaving = usize::try_from(self.taken.saturating_sub(self.written));
        self.out.len().saturating_add(leaving.unwrap_or(usize::MAX))
    }

    fn waiting(&self) -> usize {
        self.in_flight.len().saturating_add(self.gathered.len())
    }
}

/// The sleeping driver's waker; none while it is awake.
#[derive(Debug, Default)]
struct Parking(Option<Waker>);

impl Parking {
    fn unpark(&mut self) -> Option<Waker> {
        self.0.take()
    }
}

mod delivery;
mod intake;
mod loss;
mod scripted;

pub(super) use self::{delivery::Delivered, loss::Loss, scripted::Try};

#[cfg(test)]
mod tests;
