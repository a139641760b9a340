//! Publish and subscribe on the shared connection.
//!
//! Messages come as RESP3 pushes between the replies of everybody else. The driver hands each to
//! the [`router`], which knows who wants it and puts it into that reader's [`mailbox`]; a reader
//! that is slow loses messages and is told, nobody else waits for it. What is wanted is recorded
//! in the router and asked for again on every new connection.
//!
//! Source: Valkey's page "Pub/Sub", <https://valkey.io/topics/pubsub/>, and the pages of SUBSCRIBE,
//! PSUBSCRIBE, SSUBSCRIBE and their opposites.

mod kind;
mod mailbox;
mod message;
mod notice;
mod router;
mod subscription;

pub(super) use self::{kind::Kind, mailbox::Mailbox, notice::Notice, router::Router};
pub use self::{
    message::{Delivery, Message},
    subscription::Subscription,
};
