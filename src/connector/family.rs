//! Connections that belong together: where one meets another wire, all of them stop.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::{Error, link::Shared};

/// The connections of one [`Connector`](super::Connector) or [`Pool`](super::Pool).
#[derive(Debug, Clone, Default)]
pub(super) struct Family(Arc<Mutex<Members>>);

#[derive(Debug, Default)]
struct Members {
    links: Vec<Weak<Shared>>,
    /// The fence's verdict, once one of us has met another wire.
    verdict: Option<Error>,
}

impl Family {
    /// A new member; an error if the family is condemned already.
    pub(super) fn join(&self, link: &Arc<Shared>) -> Result<(), Error> {
        let mut members = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(verdict) = &members.verdict {
            return Err(verdict.clone());
        }
        members.links.retain(|link| link.strong_count() > 0);
        members.links.push(Arc::downgrade(link));
        Ok(())
    }

    /// Stops every member for good. The first verdict stays.
    pub(super) fn condemn(&self, verdict: &Error) {
        let links = {
            let mut members = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            members.verdict.get_or_insert_with(|| verdict.clone());
            std::mem::take(&mut members.links)
        };
        for link in links.iter().filter_map(Weak::upgrade) {
            link.stop(verdict.clone());
        }
    }
}
