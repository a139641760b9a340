//! What callers, the driver and the supervisor of one link share: the core behind its lock.

use std::{
    pin::pin,
    sync::{Mutex, MutexGuard, PoisonError},
    task::Waker,
    time::Duration,
};

use tokio::{sync::Notify, time::timeout};

use super::{
    call::Call,
    core::{Bounds, Core, Phase, Refusal},
    outbox::Outbox,
    slots::{Outcome, SlotId},
};
use crate::connector::{
    Error, Policy, WhenAway, WhenFull,
    stats::{Stats, count},
};

#[derive(Debug)]
pub(in crate::connector) struct Shared {
    core: Mutex<Core>,
    /// Rung when the phase changes, and when callers that wait for room should look again.
    changed: Notify,
}

impl Shared {
    pub(in crate::connector) fn new(policy: &Policy) -> Self {
        let bounds = Bounds { commands: policy.max_pending, bytes: policy.max_buffered };
        Self { core: Mutex::new(Core::new(bounds)), changed: Notify::new() }
    }

    /// The core. The lock is held for a few instructions and never across an await; what runs under
    /// it leaves it whole at every step, so a poisoned lock is as good as any.
    pub(super) fn core(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends what `encode` appends, one command or a batch, and waits for its `replies` replies.
    ///
    /// Dropped before it was let in, nothing was sent; dropped later, the replies are swallowed.
    pub(in crate::connector) async fn call(
        &self,
        policy: &Policy,
        replies: u32,
        encode: impl Fn(&mut Outbox),
    ) -> Result<Outcome, Error> {
        let submitted = self.core().submit(replies, &encode);
        let slot = match submitted {
            Ok((slot, driver)) => {
                wake(driver);
                slot
            }
            Err(refusal) => self.admit(policy, refusal, replies, encode).await?,
        };
        match Call::new(self, slot).await {
            Outcome::Failed(error) => Err(error),
            outcome => Ok(outcome),
        }
    }

    /// Waits for room or for a connection, as far as the policy goes.
    async fn admit(
        &self,
        policy: &Policy,
        refusal: Refusal,
        replies: u32,
        encode: impl Fn(&mut Outbox),
    ) -> Result<SlotId, Error> {
        let (patience, error) = match refusal {
            Refusal::Stopped(error) => return Err(error),
            Refusal::Full => {
                count(&mut self.core().stats.overloads, 1);
                let waits = policy.when_full == WhenFull::Wait;
                (if waits { policy.response_timeout } else { Duration::ZERO }, Error::Overloaded)
            }
            Refusal::Away => {
                let error = Error::Disconnected { maybe_executed: false };
                match policy.when_away {
                    WhenAway::Fail => (Duration::ZERO, error),
                    WhenAway::WaitAtMost(patience) => (patience, error),
                }
            }
        };
        if patience.is_zero() {
            return Err(error);
        }
        let admitted = self.until(|core| match core.submit(replies, &encode) {
            Ok(admitted) => Some(Ok(admitted)),
            Err(Refusal::Stopped(error)) => Some(Err(error)),
            Err(Refusal::Full | Refusal::Away) => None,
        });
        let (slot, driver) = timeout(patience, admitted).await.map_err(|_elapsed| error)??;
        wake(driver);
        Ok(slot)
    }

    /// Waits until `look` has an answer, looking again whenever something changed.
    async fn until<T>(&self, mut look: impl FnMut(&mut Core) -> Option<T>) -> T {
        loop {
            // Listening before looking: a change in between is not missed.
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            let answer = look(&mut self.core());
            if let Some(answer) = answer {
                return answer;
            }
            changed.await;
        }
    }

    /// Resolves when commands flow, or with the reason why they never will again.
    pub(in crate::connector) async fn ready(&self) -> Result<(), Error> {
        self.until(|core| match core.phase() {
            Phase::Serving => Some(Ok(())),
            Phase::Draining(Some(error)) | Phase::Stopped(error) => Some(Err(error.clone())),
            Phase::Away | Phase::Draining(None) => None,
        })
        .await
    }

    /// Resolves when the link was stopped for good, with the reason.
    pub(in crate::connector) async fn stopped(&self) -> Error {
        self.until(|core| match core.phase() {
            Phase::Stopped(error) => Some(error.clone()),
            _ => None,
        })
        .await
    }

    /// A fenced socket is there.
    pub(in crate::connector) fn open(&self) {
        self.core().open();
        self.changed.notify_waiters();
    }

    /// No new commands; the driver ends when those in flight are answered.
    pub(in crate::connector) fn drain(&self, error: Error) {
        let driver = self.core().drain(Some(error));
        wake(driver);
        self.changed.notify_waiters();
    }

    /// No command is taken any more, for good. The first reason stays.
    pub(in crate::connector) fn stop(&self, error: Error) {
        let driver = self.core().stop(error);
        wake(driver);
        self.changed.notify_waiters();
    }

    pub(super) fn ring(&self) {
        self.changed.notify_waiters();
    }

    /// A snapshot of the counters.
    pub(in crate::connector) fn stats(&self) -> Stats {
        let core = self.core();
        Stats { pending: core.pending() as u64, ..core.stats }
    }

    /// Counts something, under the same lock as everything else.
    pub(in crate::connector) fn count(
        &self,
        counter: impl for<'s> FnOnce(&'s mut Stats) -> Option<&'s mut u64>,
    ) {
        if let Some(counter) = counter(&mut self.core().stats) {
            count(counter, 1);
        }
    }

    /// Why callers are turned away for good, if they are.
    pub(in crate::connector) fn stops(&self) -> Option<Error> {
        self.core().stops()
    }

    /// The task is gone: whoever still waits is told that the socket is.
    pub(in crate::connector) fn leave(&self) {
        let mut wakers = Vec::new();
        self.core().leave(&mut wakers);
        wakers.into_iter().for_each(Waker::wake);
        self.changed.notify_waiters();
    }

    /// Resolves when the task is gone.
    pub(in crate::connector) async fn gone(&self) {
        self.until(|core| core.is_left().then_some(())).await;
    }
}

fn wake(driver: Option<Waker>) {
    if let Some(driver) = driver {
        driver.wake();
    }
}
