//! Those who may need the link for one last word: a closing link waits for them.

use std::sync::Arc;

use super::{Call, Outbox, Outcome, Shared, wake};
use crate::connector::Error;

/// While it is held, a link that closes stays: within the bound for what is in flight.
#[derive(Debug)]
pub(in crate::connector) struct Hold(Arc<Shared>);

impl Shared {
    pub(in crate::connector) fn hold(self: &Arc<Self>) -> Hold {
        self.core().hold();
        Hold(Arc::clone(self))
    }

    /// Resolves when nobody holds the link. Cancel safe.
    pub(in crate::connector) async fn unheld(&self) {
        self.until(|core| (!core.is_held()).then_some(())).await;
    }

    /// As [`call`](Self::call), for who holds the link: it is taken while the link closes, too, and
    /// never refused for lack of room. Without a socket it fails at once.
    pub(in crate::connector) async fn call_last(
        &self,
        replies: u32,
        encode: impl FnOnce(&mut Outbox),
    ) -> Result<Outcome, Error> {
        let submitted = self.core().submit_last(replies, encode);
        let Some((slot, driver)) = submitted else {
            return Err(Error::Disconnected { maybe_executed: false });
        };
        wake(driver);
        Ok(Call::new(self, slot).await)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let driver = {
            let mut core = self.0.core();
            core.let_go();
            // An open link does not wait for this.
            core.stops().map(|_why| core.unpark())
        };
        if let Some(driver) = driver {
            wake(driver);
            self.0.ring();
        }
    }
}
