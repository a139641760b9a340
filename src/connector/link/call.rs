//! A caller's wait for its replies.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use super::{
    shared::Shared,
    slots::{Outcome, SlotId},
};

/// A command or batch that was handed in. Resolves once, when its last reply is in or the
/// connection is gone. Dropped earlier, its replies are swallowed when they come; the command was,
/// or will be, sent all the same.
#[derive(Debug)]
#[must_use = "replies come to whoever awaits them"]
pub(in crate::connector) struct Call<'a> {
    shared: &'a Shared,
    /// None once the outcome was taken.
    slot: Option<SlotId>,
}

impl<'a> Call<'a> {
    pub(super) fn new(shared: &'a Shared, slot: SlotId) -> Self {
        Self { shared, slot: Some(slot) }
    }
}

impl Future for Call<'_> {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        let Some(slot) = self.slot else { return Poll::Pending };
        // In both statements the lock is let go first; a stale waker is dropped after that.
        let polled = self.shared.core().poll(slot, cx.waker());
        match polled {
            Ok(outcome) => {
                self.slot = None;
                Poll::Ready(outcome)
            }
            Err(_stale) => Poll::Pending,
        }
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            let waker = self.shared.core().abandon(slot);
            drop(waker);
        }
    }
}
