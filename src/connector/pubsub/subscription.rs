//! A reader's end of a subscription, and the verbs that make one.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_core::Stream;

use super::{
    Kind,
    mailbox::{Mailbox, Room},
    message::Delivery,
};
use crate::{
    connector::{Connector, Error},
    resp::Command,
};

/// Messages of some channels, some patterns, or some shard channels, as a stream.
///
/// Made by [`Connector::subscribe`], [`Connector::psubscribe`] and [`Connector::ssubscribe`]. It
/// stays in force over reconnects: the names are asked for again before any caller's command, and
/// the reader is told of the [gap](Delivery::Gap). It keeps the connector alive.
///
/// # A slow reader
///
/// Up to [`Policy::max_messages`](crate::connector::Policy::max_messages) messages and
/// [`Policy::max_message_bytes`](crate::connector::Policy::max_message_bytes) wait for it; then the
/// oldest are dropped, and it is told [how many](Delivery::Lagged). Replies and other readers never
/// wait for it.
///
/// # The end
///
/// The stream ends when the connector stops for good, when the server refuses to renew the
/// subscription, or drops it by itself; [`end`](Self::end) says why. Dropping it unsubscribes from
/// what nobody else here wants, without waiting; [`unsubscribe`](Self::unsubscribe) waits for the
/// server's word.
#[derive(Debug)]
#[must_use = "dropped, it unsubscribes"]
pub struct Subscription {
    connector: Connector,
    kind: Kind,
    names: Vec<Bytes>,
    mailbox: Arc<Mailbox>,
}

impl Subscription {
    /// The next message or notice; `None` after the end. Cancel safe.
    pub async fn next(&mut self) -> Option<Delivery> {
        poll_fn(|cx| self.mailbox.poll(cx)).await
    }

    /// Why it ended, once [`next`](Self::next) has answered `None`, if there was a reason.
    pub fn end(&self) -> Option<Error> {
        self.mailbox.reason()
    }

    /// Ends it and waits until the server has confirmed that it sends no more of what nobody else
    /// here wants. Messages not read yet are dropped.
    ///
    /// Without a connection there is nothing to confirm: the names are not asked for again. Fails
    /// as a command does; the subscription is over in any case. Dropped half-way, likewise.
    pub async fn unsubscribe(self) -> Result<(), Error> {
        let confirmed = self.connector.shared().release(self.kind, &self.names, &self.mailbox);
        match confirmed {
            None => Ok(()),
            Some(confirmed) => confirmed.await.into_result(),
        }
    }
}

impl Stream for Subscription {
    type Item = Delivery;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Delivery>> {
        self.mailbox.poll(cx)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        // The server's word comes to nobody.
        drop(self.connector.shared().release(self.kind, &self.names, &self.mailbox));
    }
}

impl Connector {
    /// Subscribes to channels: SUBSCRIBE, once the server has confirmed each.
    ///
    /// Fails with [`Error::RequiresResp3`] where the connection speaks RESP2, with
    /// [`Error::Server`] where the server refuses (one name that is not allowed refuses all), and
    /// as [`command`](Self::command) does. Dropped half-way, nothing stays subscribed.
    pub async fn subscribe<N: Into<Bytes>>(
        &self,
        channels: impl IntoIterator<Item = N>,
    ) -> Result<Subscription, Error> {
        self.subscribe_to(Kind::Channel, channels).await
    }

    /// Subscribes to patterns of channels: PSUBSCRIBE. A message that fits several patterns comes
    /// once for each. Fails as [`subscribe`](Self::subscribe) does.
    pub async fn psubscribe<N: Into<Bytes>>(
        &self,
        patterns: impl IntoIterator<Item = N>,
    ) -> Result<Subscription, Error> {
        self.subscribe_to(Kind::Pattern, patterns).await
    }

    /// Subscribes to shard channels: SSUBSCRIBE. In a cluster all of them belong to one slot. Fails
    /// as [`subscribe`](Self::subscribe) does.
    pub async fn ssubscribe<N: Into<Bytes>>(
        &self,
        channels: impl IntoIterator<Item = N>,
    ) -> Result<Subscription, Error> {
        self.subscribe_to(Kind::Shard, channels).await
    }

    async fn subscribe_to<N: Into<Bytes>>(
        &self,
        kind: Kind,
        names: impl IntoIterator<Item = N>,
    ) -> Result<Subscription, Error> {
        let names: Vec<Bytes> = names.into_iter().map(Into::into).collect();
        let policy = self.policy();
        let room = Room { messages: policy.max_messages, bytes: policy.max_message_bytes };
        let mailbox = Arc::new(Mailbox::new(room));
        let subscription = Subscription { connector: self.clone(), kind, names, mailbox };
        if subscription.names.is_empty() {
            return Err(Error::Misuse("a subscription names something".into()));
        }
        // Dropped here half-way or on failure, the subscription releases its names by itself.
        let Subscription { names, mailbox, .. } = &subscription;
        let command = Command::new(kind.subscribe()).args(names);
        self.shared().subscribe(policy, kind, names, mailbox, &command).await?;
        drop(command);
        Ok(subscription)
    }
}
