//! Calls that end without their replies: out of time, or the socket is gone.

use std::{task::Waker, time::Duration};

use tokio::time::Instant;

use super::{Core, Entry, Owner, Phase, count};
use crate::connector::Error;

/// What callers are told when the socket is gone.
#[derive(Debug)]
pub(in crate::connector::link) struct Loss {
    /// To those whose command did not leave.
    pub(in crate::connector::link) unsent: Error,
    /// To those whose command may have run.
    pub(in crate::connector::link) sent: Error,
}

impl Core {
    /// Tells every command that has waited for `timeout` that its time is up. Their replies are
    /// still swallowed when they come.
    pub(in crate::connector::link) fn expire(
        &mut self,
        timeout: Duration,
        now: Instant,
        wakers: &mut Vec<Waker>,
    ) {
        for place in self.clock.expire(timeout, now) {
            let entry = match place.checked_sub(self.in_flight.len()) {
                None => self.in_flight.get_mut(place),
                Some(place) => self.gathered.get_mut(place),
            };
            let Some(Entry { owner: owner @ Owner::Caller(_), .. }) = entry else { continue };
            if let Owner::Caller(slot) = std::mem::replace(owner, Owner::Nobody) {
                count(&mut self.stats.timeouts, 1);
                // The bytes are on the wire, or will be: it may run, or have run.
                let error = Error::Timeout { maybe_executed: true };
                wakers.extend(self.slots.fail(slot, error));
            }
        }
    }

    /// The socket is gone, `written` bytes went into it. Every command in flight or gathered is
    /// told so: `unsent` where not one byte of it left, `sent` where it may have run.
    pub(in crate::connector::link) fn lose(
        &mut self,
        written: u64,
        loss: &Loss,
        wakers: &mut Vec<Waker>,
    ) {
        for entry in self.in_flight.drain(..) {
            let error = if entry.start < written { &loss.sent } else { &loss.unsent };
            if let Owner::Caller(slot) = entry.owner {
                wakers.extend(self.slots.fail(slot, error.clone()));
            }
        }
        for entry in self.gathered.drain(..) {
            if let Owner::Caller(slot) = entry.owner {
                wakers.extend(self.slots.fail(slot, loss.unsent.clone()));
            }
        }
        self.out.clear();
        self.clock.reset();
        self.scripts.lost();
        (self.pending, self.loading) = (0, 0);
        (self.taken, self.written) = (0, 0);
        // Whoever drained the link was promised that nothing new is taken, on any socket.
        self.phase = match self.stops() {
            Some(error) => Phase::Stopped(error),
            None => Phase::Away,
        };
    }

    /// No command is taken any more, for good.
    pub(in crate::connector::link) fn stop(&mut self, error: Error) -> Option<Waker> {
        if !matches!(self.phase, Phase::Stopped(_)) {
            self.phase = Phase::Stopped(error);
        }
        self.driver.unpark()
    }

    /// The task that would drive this is gone.
    pub(in crate::connector::link) fn leave(&mut self, wakers: &mut Vec<Waker>) {
        let unsent = self.stops().unwrap_or(Error::Closed);
        let loss = Loss { unsent, sent: Error::Disconnected { maybe_executed: true } };
        self.lose(u64::MAX, &loss, wakers);
        self.left = true;
    }
}
