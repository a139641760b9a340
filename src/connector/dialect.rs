//! Which form of the connect sequence a server is spoken to in.

use std::{
    sync::{Arc, Mutex, PoisonError},
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

/// Remembers of an endpoint that it hung up on HELLO, so that for a while the next connection does
/// not pay for another hang-up. Shared by the clones of a config.
#[derive(Debug, Clone, Default)]
pub(super) struct HelloMemory(Arc<Mutex<Option<Instant>>>);

/// How long it is remembered. Short, for a server that was just dying says the same.
const REMEMBERED: Duration = Duration::from_secs(60);

impl HelloMemory {
    /// A connection came up in RESP2 after the peer had hung up on HELLO.
    pub(super) fn hung_up(&self, now: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = now.checked_add(REMEMBERED);
    }

    pub(super) fn hangs_up(&self, now: Instant) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|until| now < until)
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
