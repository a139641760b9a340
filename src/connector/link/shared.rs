//! What callers, the driver and the supervisor of one link share: the core behind its lock.

use std::{
    pin::pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::Waker,
    time::Duration,
};

use bytes::Bytes;
use tokio::{sync::Notify, time::timeout};

pub(in crate::connector) use self::hold::Hold;
use super::{
    call::Call,
    core::{Answer, Bounds, Core, Phase, Refusal, Submitted},
    outbox::Outbox,
    slots::{Outcome, SlotId},
};
use crate::{
    connector::{
        Error, Policy, WhenAway, WhenFull,
        pubsub::{Kind, Mailbox, Router},
        stats::{Stats, count},
    },
    resp::{Command, Protocol},
};

#[derive(Debug)]
pub(in crate::connector) struct Shared {
    core: Mutex<Core>,
    /// Locked by itself, or under the core's lock; never the other way round.
    router: Mutex<Router>,
    /// Rung when the phase changes, and when callers that wait for room should look again.
    changed: Notify,
    /// Whether a socket is served: for those who choose among several links, without the lock.
    serving: AtomicBool,
    /// Whether the first pass of the fence was told as an event.
    announced: AtomicBool,
}

impl Shared {
    pub(in crate::connector) fn new(policy: &Policy) -> Self {
        let bounds = Bounds { commands: policy.max_pending, bytes: policy.max_buffered };
        Self {
            core: Mutex::new(Core::new(bounds)),
            router: Mutex::default(),
            changed: Notify::new(),
            serving: AtomicBool::new(false),
            announced: AtomicBool::new(false),
        }
    }

    /// The core. The lock is held for a few instructions and never across an await; what runs under
    /// it leaves it whole at every step, so a poisoned lock is as good as any.
    pub(super) fn core(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn router(&self) -> MutexGuard<'_, Router> {
        self.router.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.send(policy, |core| core.submit(Answer::Replies(replies), &encode)).await
    }

    /// Records that `mailbox` wants `names` and sends `command`, which subscribes to them, in one
    /// step; waits for the server's word on each. On failure the record stays: the caller releases.
    pub(in crate::connector) async fn subscribe(
        &self,
        policy: &Policy,
        kind: Kind,
        names: &[Bytes],
        mailbox: &Arc<Mailbox>,
        command: &Command<'_>,
    ) -> Result<(), Error> {
        let count = u32::try_from(names.len()).unwrap_or(u32::MAX);
        let subscribe = |out: &mut Outbox| {
            let mut router = self.router();
            names.iter().for_each(|name| router.add(kind, name, mailbox));
            command.encode_to(out);
        };
        let subscribe = |core: &mut Core| core.submit(Answer::Confirms(count), subscribe);
        self.send(policy, subscribe).await?.into_result()
    }

    /// Forgets that `mailbox` wants `names`, and sends what unsubscribes from those that nobody
    /// wants any more, in one step. None: nothing had to be sent.
    pub(in crate::connector) fn release(
        &self,
        kind: Kind,
        names: &[Bytes],
        mailbox: &Arc<Mailbox>,
    ) -> Option<Call<'_>> {
        let mut core = self.core();
        let mut router = self.router();
        let unwanted = names.iter().filter(|name| router.remove(kind, name, mailbox));
        let unwanted: Vec<_> = unwanted.collect();
        drop(router);
        let count = u32::try_from(unwanted.len()).ok().filter(|count| *count > 0)?;
        let command = Command::new(kind.unsubscribe()).args(unwanted);
        let (slot, driver) = core.submit_end(count, |out| command.encode_to(out))?;
        drop(core);
        wake(driver);
        Some(Call::new(self, slot))
    }

    async fn send(
        &self,
        policy: &Policy,
        mut submit: impl FnMut(&mut Core) -> Result<Submitted, Refusal>,
    ) -> Result<Outcome, Error> {
        let submitted = submit(&mut self.core());
        let slot = match submitted {
            Ok((slot, driver)) => {
                wake(driver);
                slot
            }
            Err(refusal) => self.admit(policy, refusal, submit).await?,
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
        mut submit: impl FnMut(&mut Core) -> Result<Submitted, Refusal>,
    ) -> Result<SlotId, Error> {
        let away = match policy.when_away {
            WhenAway::Fail => Duration::ZERO,
            WhenAway::WaitAtMost(patience) => patience,
        };
        let patience = match refusal {
            Refusal::Stopped(_) => Duration::ZERO,
            Refusal::Away => away,
            Refusal::Full => {
                count(&mut self.core().stats.overloads, 1);
                let waits = policy.when_full == WhenFull::Wait;
                if waits { policy.response_timeout } else { Duration::ZERO }
            }
        };
        let mut refusal = refusal;
        if patience.is_zero() {
            return Err(refusal.into());
        }
        let admitted = self.until(|core| match submit(core) {
            Ok(admitted) => Some(Ok(admitted)),
            Err(Refusal::Stopped(error)) => Some(Err(error)),
            // Who waits for room waits for another connection only if the policy says so.
            Err(Refusal::Away) if away.is_zero() => Some(Err(Refusal::Away.into())),
            Err(still) => {
                refusal = still;
                None
            }
        });
        let admitted = timeout(patience, admitted).await;
        let (slot, driver) = admitted.map_err(|_elapsed| Error::from(refusal))??;
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

    /// As [`ready`](Self::ready), and everybody was told: who listens from here on hears of what
    /// comes next.
    pub(in crate::connector) async fn connected(&self) -> Result<(), Error> {
        self.ready().await?;
        self.until(|core| (self.announced.load(Relaxed) || core.is_left()).then_some(())).await;
        Ok(())
    }

    /// The fence passed, and that was told as an event.
    pub(in crate::connector) fn announced(&self) {
        self.announced.store(true, Relaxed);
        self.ring();
    }

    /// Resolves when the link was stopped for good, with the reason.
    pub(in crate::connector) async fn stopped(&self) -> Error {
        self.until(|core| match core.phase() {
            Phase::Stopped(error) => Some(error.clone()),
            _ => None,
        })
        .await
    }

    /// Resolves when callers are turned away for good, with the reason: a closing link still drains.
    pub(in crate::connector) async fn stopping(&self) -> Error {
        self.until(|core| core.stops()).await
    }

    /// A fenced socket is there. What was subscribed to on the last one is asked for, and scripts
    /// are loaded, before any caller's command.
    pub(in crate::connector) fn open(&self, protocol: Protocol) {
        let mut wakers = Vec::new();
        let mut core = self.core();
        let mut router = self.router();
        match protocol {
            Protocol::Resp3 => {
                for (verb, name) in router.ask_again() {
                    core.ask_again(|out| Command::new(verb).arg(&name).encode_to(out));
                }
            }
            Protocol::Resp2 => router.end(&Error::RequiresResp3, &mut wakers),
        }
        core.load_again();
        core.open(protocol);
        drop((router, core));
        wakers.into_iter().for_each(Waker::wake);
        self.changed.notify_waiters();
    }

    pub(in crate::connector) fn serving(&self, serving: bool) {
        self.serving.store(serving, Relaxed);
    }

    /// Whether a socket is served, as far as one can know without the lock.
    pub(in crate::connector) fn is_serving(&self) -> bool {
        self.serving.load(Relaxed)
    }

    /// No new commands; the driver ends when those in flight are answered.
    pub(in crate::connector) fn drain(&self, error: Error) {
        let driver = self.core().drain(Some(error));
        wake(driver);
        self.changed.notify_waiters();
    }

    /// No command is taken any more, for good. The first reason stays.
    pub(in crate::connector) fn stop(&self, error: Error) {
        let driver = self.core().stop(error.clone());
        wake(driver);
        let mut wakers = Vec::new();
        self.router().end(&error, &mut wakers);
        wakers.into_iter().for_each(Waker::wake);
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

mod hold;
mod scripted;

fn wake(driver: Option<Waker>) {
    if let Some(driver) = driver {
        driver.wake();
    }
}
