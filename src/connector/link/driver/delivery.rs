//! What was decoded, handed to those who wait for it: replies to the core, pushes to the router.

use tokio::time::Instant;

use super::{Driver, End};
use crate::{
    connector::{
        Event,
        link::{
            core::{Confirms, Core, Delivered},
            pulse::Beat,
        },
        pubsub::Notice,
        stats::count,
        violation::Violation,
    },
    resp::{Reply, ServerError},
};

/// Whether a reply is for its caller only: no push, and no error that may speak of the server's role.
fn is_plain(reply: &Reply) -> bool {
    !reply.is_push() && !reply.is_error()
}

/// What the router is told.
#[derive(Debug)]
pub(super) enum Told {
    Push(Reply),
    /// The oldest subscription that was asked for again was answered.
    AskedAgain(Option<ServerError>),
}

impl Driver {
    pub(super) fn deliver(&mut self, core: &mut Core, now: Instant) -> Result<(), End> {
        let mut replies = self.replies.drain(..);
        loop {
            let waiting = replies.as_slice().iter().take(core.batch_waits_for());
            let plain = waiting.take_while(|reply| is_plain(reply)).count();
            if plain > 0 {
                self.wakers.extend(core.deliver_batch(replies.by_ref().take(plain)));
                continue;
            }
            let Some(reply) = replies.next() else { break };
            if reply.is_push() {
                count(&mut core.stats.pushes, 1);
                let word = match Notice::of(&reply) {
                    Some(Notice::Subscribed) => Some(Confirms::Begin),
                    Some(Notice::Unsubscribed { .. }) => Some(Confirms::End),
                    _ => None,
                };
                let confirmed = word.and_then(|word| core.confirm(word));
                // Who asked for the end is gone; the name may have new readers already.
                let concerns_readers = confirmed.is_none();
                match confirmed {
                    Some(Delivered::Caller(waker)) => self.wakers.extend(waker),
                    Some(Delivered::AskedAgain(refused)) => {
                        self.told.push(Told::AskedAgain(refused));
                    }
                    Some(Delivered::Fence(_)) | None => {}
                }
                if concerns_readers {
                    self.told.push(Told::Push(reply));
                }
                continue;
            }
            let demoted = self.needs_primary
                && reply.as_error().is_some_and(|error| error.code() == "READONLY");
            match core.deliver(reply) {
                Ok(Delivered::AskedAgain(refused)) => self.told.push(Told::AskedAgain(refused)),
                Ok(Delivered::Caller(waker)) => self.wakers.extend(waker),
                Ok(Delivered::Fence(reply)) => {
                    match self.pulse.handle(&reply, now).map_err(End::Fence)? {
                        Beat::Alive => count(&mut core.stats.heartbeats, 1),
                        Beat::Reclaimed => {
                            count(&mut core.stats.fences_vanished, 1);
                            self.events.tell(Event::FenceVanished);
                        }
                        Beat::Ask(encoded, replies) => {
                            core.probe(replies, &encoded, &mut self.wave);
                        }
                        Beat::Unsure | Beat::Waits => {}
                    }
                }
                // An error line that nobody asked for is the reason of the close behind it.
                Err(reply) => {
                    return Err(match reply.as_error() {
                        Some(words) => End::Closed(Some(words)),
                        None => End::Violation(Violation::unasked(&reply)),
                    });
                }
            }
            if demoted {
                core.drain(None);
            }
        }
        Ok(())
    }

    /// Hands the pushes to those who want them.
    pub(super) fn route(&mut self) {
        if self.told.is_empty() {
            return;
        }
        let mut router = self.shared.router();
        for told in self.told.drain(..) {
            match told {
                Told::Push(push) => {
                    let lost = router.route(push, &mut self.wakers);
                    self.messages_lost = self.messages_lost.saturating_add(lost);
                }
                Told::AskedAgain(refused) => router.answered(refused, &mut self.wakers),
            }
        }
    }
}
