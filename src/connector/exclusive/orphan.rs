//! What the server handed out to a call that had been given up.

use std::{
    borrow::Cow,
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use super::super::patience::Waiting;
use crate::resp::Reply;

/// A reply with data in it that came after its caller had gone: an element that was popped in the
/// very moment in which the pop was given up. The store no longer has it, so somebody has to take
/// care of it.
///
/// From [`Connector::take_orphans`](crate::connector::Connector::take_orphans).
///
/// ```
/// use echo_wire::{connector::Connector, resp::Command};
///
/// /// Puts popped elements back to where they came from.
/// async fn put_back(connector: &Connector) -> Result<(), Box<dyn std::error::Error>> {
///     for orphan in connector.take_orphans() {
///         if orphan.command() == "BLPOP" {
///             let (key, element): (String, Vec<u8>) = orphan.reply().to()?;
///             connector.command(Command::new("LPUSH").arg(&key).arg(&element)).await?;
///         }
///     }
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone)]
#[must_use = "the store no longer has what is in it"]
pub struct Orphan {
    command: Cow<'static, str>,
    reply: Reply,
}

impl Orphan {
    pub(super) fn new(command: Cow<'static, str>, reply: &Reply) -> Self {
        Self { command, reply: reply.detach() }
    }

    /// The command's name, in upper case if it is a known one.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// What it was answered.
    pub fn reply(&self) -> &Reply {
        &self.reply
    }

    /// What it was answered.
    pub fn into_reply(self) -> Reply {
        self.reply
    }
}

/// The orphans among the replies that came to commands of which `waiting` may hand something out.
pub(super) fn orphans(waiting: &[Waiting], replies: &[Reply]) -> Vec<Orphan> {
    let orphan = |waiting: &Waiting| {
        let reply = replies.get(waiting.place).filter(|_| waiting.hands_out)?;
        let empty = reply.is_null() || reply.is_error();
        (!empty).then(|| Orphan::new(waiting.name.clone(), reply))
    };
    waiting.iter().filter_map(orphan).collect()
}

/// Orphans until somebody takes them; bounded.
#[derive(Debug, Default)]
pub(in crate::connector) struct Orphans(Mutex<VecDeque<Orphan>>);

/// Orphans that wait to be taken; of more the oldest are lost, and counted.
const KEPT: usize = 4096;

impl Orphans {
    /// Whether there was room; if not, the oldest was lost.
    pub(super) fn keep(&self, orphan: Orphan) -> bool {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back(orphan);
        kept.len() <= KEPT || kept.pop_front().is_none()
    }

    pub(in crate::connector) fn take(&self) -> Vec<Orphan> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *kept).into()
    }
}
