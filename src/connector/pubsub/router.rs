//! Who wants which messages.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    task::Waker,
};

use bytes::Bytes;

use super::{Kind, Mailbox, Notice, message::Message};
use crate::{
    connector::{Error, refused::is_transient},
    resp::{Reply, ServerError},
};

/// The names in force, each with its readers, and what was asked for again on this connection.
///
/// Invariant: a name is here exactly while it has a reader; what is sent to the server follows
/// each change under the same lock, so the server's list is this one as soon as it has caught up.
#[derive(Debug, Default)]
pub(in crate::connector) struct Router {
    channels: Names,
    patterns: Names,
    shards: Names,
    /// Asked for again after a reconnect, in wire order, and not answered yet.
    asked_again: VecDeque<(Kind, Bytes)>,
    /// Of those, what the server could not do just then (BUSY, TRYAGAIN): for the next time.
    put_off: Vec<(Kind, Bytes)>,
}

type Names = HashMap<Bytes, Vec<Arc<Mailbox>>>;

impl Router {
    /// `mailbox` wants `name`.
    pub(in crate::connector) fn add(&mut self, kind: Kind, name: &Bytes, mailbox: &Arc<Mailbox>) {
        let readers = self.names(kind).entry(name.clone()).or_default();
        if !readers.iter().any(|reader| Arc::ptr_eq(reader, mailbox)) {
            readers.push(Arc::clone(mailbox));
        }
    }

    /// `mailbox` does not want `name` any more. True: nobody does.
    pub(in crate::connector) fn remove(
        &mut self,
        kind: Kind,
        name: &Bytes,
        mailbox: &Arc<Mailbox>,
    ) -> bool {
        let Some(readers) = self.names(kind).get_mut(name) else { return false };
        readers.retain(|reader| !Arc::ptr_eq(reader, mailbox));
        let nobody = readers.is_empty();
        if nobody {
            self.names(kind).remove(name);
        }
        nobody
    }

    /// Hands a push to whom it concerns. Answers how many messages were dropped for it.
    pub(in crate::connector) fn route(&mut self, push: Reply, wakers: &mut Vec<Waker>) -> u64 {
        let (kind, name, ends) = match Notice::of(&push) {
            Some(Notice::Message { kind, name }) => (kind, name, false),
            Some(Notice::Unsubscribed { kind, name }) => (kind, name, true),
            Some(Notice::Subscribed) | None => return 0,
        };
        let Some(readers) = self.names(kind).get(name) else { return 0 };
        if ends {
            // Wanted here, and the server dropped it by itself (a shard that moved away).
            wakers.extend(readers.iter().filter_map(|reader| reader.end(None)));
            return 0;
        }
        // Copied out, once for all: what waits for a reader must not hold the read buffer.
        let Some(message) = Message::from_push(push.detach()) else { return 0 };
        let mut lost = 0_u64;
        for reader in readers {
            let (dropped, waker) = reader.put(message.clone());
            lost = lost.saturating_add(dropped);
            wakers.extend(waker);
        }
        lost
    }

    /// The connection is gone: readers learn of the gap when they are subscribed again.
    pub(in crate::connector) fn sever(&mut self) {
        self.asked_again.clear();
        self.put_off.clear();
        for readers in self.all() {
            readers.iter().for_each(|reader| reader.sever());
        }
    }

    /// What a new connection is to be asked for, name by name: one that is refused then takes no
    /// other with it.
    pub(in crate::connector) fn ask_again(&mut self) -> Vec<(&'static str, Bytes)> {
        let mut asked = VecDeque::new();
        for kind in Kind::ALL {
            asked.extend(self.names(kind).keys().map(|name| (kind, name.clone())));
        }
        self.put_off.clear();
        self.asked_again = asked;
        self.asked_again.iter().map(|(kind, name)| (kind.subscribe(), name.clone())).collect()
    }

    /// What the server could not do before and is to be asked for now, as far as it is wanted still.
    pub(in crate::connector) fn ask_put_off(&mut self) -> Vec<(&'static str, Bytes)> {
        let mut asked = std::mem::take(&mut self.put_off);
        asked.retain(|(kind, name)| self.names(*kind).contains_key(name));
        let sent = asked.iter().map(|(kind, name)| (kind.subscribe(), name.clone())).collect();
        self.asked_again.extend(asked);
        sent
    }

    /// The oldest of what was asked for again was answered.
    pub(in crate::connector) fn answered(
        &mut self,
        refused: Option<ServerError>,
        wakers: &mut Vec<Waker>,
    ) {
        let Some((kind, name)) = self.asked_again.pop_front() else { return };
        let Some(readers) = self.names(kind).get(&name) else { return };
        if refused.as_ref().is_some_and(is_transient) {
            self.put_off.push((kind, name));
            return;
        }
        wakers.extend(readers.iter().filter_map(|reader| match &refused {
            None => reader.in_force(),
            Some(error) => reader.end(Some(error.clone().into())),
        }));
    }

    /// The connector stopped for good.
    pub(in crate::connector) fn end(&mut self, why: &Error, wakers: &mut Vec<Waker>) {
        for readers in self.all() {
            wakers.extend(readers.iter().filter_map(|reader| reader.end(Some(why.clone()))));
        }
    }

    fn all(&self) -> impl Iterator<Item = &Vec<Arc<Mailbox>>> {
        [&self.channels, &self.patterns, &self.shards].into_iter().flat_map(|names| names.values())
    }

    fn names(&mut self, kind: Kind) -> &mut Names {
        match kind {
            Kind::Channel => &mut self.channels,
            Kind::Pattern => &mut self.patterns,
            Kind::Shard => &mut self.shards,
        }
    }
}
