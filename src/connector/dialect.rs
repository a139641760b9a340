//! Which form of the connect sequence a server is spoken to in.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// A form of the connect sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `HELLO 3`, with the credentials inside.
    Hello,
    /// RESP2: `AUTH` by itself.
    Resp2(Auth),
}

/// The two forms of `AUTH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Auth {
    UserAndPassword,
    /// What servers before version 6 take.
    PasswordAlone,
}

/// Remembers an endpoint: whether it was ever met, and how it took HELLO. Shared by the clones of a config.
///
/// Where it hung up, the next connection does not pay for another hang-up for a while. Where it has
/// answered HELLO before, one hang-up is rather a server that dies or a path that breaks, and no
/// reason to go on in RESP2: only several in a row are.
#[derive(Debug, Clone, Default)]
pub(super) struct HelloMemory(Arc<Mutex<Memory>>);

#[derive(Debug, Default)]
struct Memory {
    hangs_up_until: Option<Instant>,
    /// Whether a connection ever came through the fence.
    has_met: bool,
    /// Hang-ups in a row that are put down to something else, still.
    forgiven: u32,
}

/// How long it is remembered. Short, for a server that was just dying says the same.
const REMEMBERED: Duration = Duration::from_secs(60);
/// Hang-ups in a row that are forgiven to a peer that has answered HELLO.
const FORGIVEN: u32 = 3;

impl HelloMemory {
    /// A connection came through the fence: the peer is what the config takes it for.
    pub(super) fn met(&self) {
        self.memory().has_met = true;
    }

    pub(super) fn has_met(&self) -> bool {
        self.memory().has_met
    }

    /// The peer answered HELLO in RESP3.
    pub(super) fn answered(&self) {
        self.memory().forgiven = FORGIVEN;
    }

    /// The peer hung up on HELLO. Whether it may be that it does not know the command.
    pub(super) fn may_not_know(&self) -> bool {
        let mut memory = self.memory();
        match memory.forgiven.checked_sub(1) {
            None => true,
            Some(left) => {
                memory.forgiven = left;
                false
            }
        }
    }

    /// A connection came up in RESP2 after the peer had hung up on HELLO.
    pub(super) fn hung_up(&self, now: Instant) {
        self.memory().hangs_up_until = now.checked_add(REMEMBERED);
    }

    pub(super) fn hangs_up(&self, now: Instant) -> bool {
        self.memory().hangs_up_until.is_some_and(|until| now < until)
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_hang_up_is_remembered_by_every_clone_for_a_while() {
        let memory = HelloMemory::default();
        assert!(!memory.hangs_up(Instant::now()));
        memory.clone().hung_up(Instant::now());
        tokio::time::advance(REMEMBERED - Duration::from_millis(1)).await;
        assert!(memory.hangs_up(Instant::now()));
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(!memory.hangs_up(Instant::now()));
    }
}
