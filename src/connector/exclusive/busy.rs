//! How many calls and rescues are under way.

use tokio::sync::watch;

#[derive(Debug)]
pub(in crate::connector) struct Busy(watch::Sender<usize>);

/// One of them; no longer, once dropped.
#[derive(Debug)]
pub(super) struct Entered(watch::Sender<usize>);

impl Default for Busy {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Busy {
    pub(super) fn enter(&self) -> Entered {
        self.0.send_modify(|count| *count = count.saturating_add(1));
        Entered(self.0.clone())
    }

    /// Resolves when there is none. Cancel safe.
    pub(in crate::connector) async fn none(&self) {
        // The sender is ours, so this ends with a count.
        drop(self.0.subscribe().wait_for(|count| *count == 0).await);
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}
