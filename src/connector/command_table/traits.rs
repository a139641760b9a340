//! One command, looked up.

use super::{
    index::{self, Entry},
    refusal::{Reason, Refusal},
    row::{BLOCKS, CONTAINER, Keys, PUBSUB, READS},
};
use crate::{keyspace, resp::Command};

/// What the servers say of a command: whether it reads only, blocks, changes the session, and
/// where its first key stands.
///
/// Source: the `COMMAND` output of Valkey 9.1 and Redis 7.0, and for the session our own list from
/// their command pages. Names are taken in any case. A command that neither server knows (a
/// module's, a renamed one) is assumed to write, not to block, and to have no key.
///
/// ```
/// use echo_wire::{connector::Traits, resp::Command};
///
/// let get = Command::new("get").arg("{jobs}:1");
/// let traits = Traits::of(&get);
/// assert!(traits.is_read_only() && !traits.is_blocking() && !traits.changes_session());
/// assert_eq!(traits.first_key(&get), Some(&b"{jobs}:1"[..]));
///
/// let read = Command::new("XREAD").arg("BLOCK").arg(0).arg("STREAMS").arg("events").arg("$");
/// let traits = Traits::of(&read);
/// assert!(traits.is_blocking());
/// assert_eq!(traits.first_key(&read), Some(&b"events"[..]));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Traits {
    entry: &'static Entry,
    blocks: bool,
}

impl Traits {
    /// Looks a command up: a few nanoseconds, no allocation.
    #[inline]
    pub fn of(command: &Command<'_>) -> Self {
        let entry = index::command(command.name().as_bytes()).unwrap_or(&index::UNKNOWN);
        if entry.row.flags & (BLOCKS | CONTAINER) == 0 {
            return Self { entry, blocks: command.is_marked_blocking() };
        }
        Self::look_closer(entry, command)
    }

    fn look_closer(entry: &'static Entry, command: &Command<'_>) -> Self {
        let is_container = entry.row.flags & CONTAINER != 0;
        let entry = command
            .get(0)
            .filter(|_| is_container)
            .and_then(|name| index::subcommand(entry.row.name, name))
            .unwrap_or(entry);
        let waits = match entry.row.keys {
            // XREAD and XREADGROUP wait only when told to.
            Keys::Streams(from) => {
                options(command, from).any(|word| word.eq_ignore_ascii_case(b"BLOCK"))
            }
            _ => entry.row.flags & BLOCKS != 0,
        };
        Self { entry, blocks: waits || command.is_marked_blocking() }
    }

    /// The name in the table, in upper case, with the subcommand where there is one (`GET`,
    /// `CLIENT REPLY`); `None` for a command that is not in it.
    pub fn name(&self) -> Option<&'static str> {
        Some(self.entry.row.name).filter(|name| !name.is_empty())
    }

    /// Whether the server marks it as one that only reads data. Commands that touch no data (PING,
    /// TIME) are not marked.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        self.entry.row.flags & READS != 0
    }

    /// Whether it may wait on the server: BLPOP and its kin, WAIT and WAITAOF always, XREAD and
    /// XREADGROUP with BLOCK, and what was [marked](Command::blocking) so.
    #[inline]
    pub fn is_blocking(&self) -> bool {
        self.blocks
    }

    /// Whether it changes the session of the connection it runs on.
    #[inline]
    pub fn changes_session(&self) -> bool {
        self.entry.session.is_some()
    }

    /// Whether it belongs to publish and subscribe (PUBLISH and PUBSUB, too).
    #[inline]
    pub fn is_pubsub(&self) -> bool {
        self.entry.row.flags & PUBSUB != 0
    }

    /// Why a connection that callers share cannot take it; `None` if it can.
    #[inline]
    pub fn refusal(&self) -> Option<Refusal> {
        if self.blocks {
            return Some(Refusal::new(self.name().unwrap_or("this command"), Reason::Blocks));
        }
        self.entry.refusal()
    }

    /// Why a [dedicated](crate::connector::Dedicated) connection cannot take it, which may wait but
    /// keeps no state between two calls; `None` if it can.
    #[inline]
    pub fn refusal_dedicated(&self) -> Option<Refusal> {
        self.entry.refusal()
    }

    /// Why even a connection of one's own cannot take it; `None` if it can.
    #[inline]
    pub fn refusal_alone(&self) -> Option<Refusal> {
        self.entry.refusal().filter(Refusal::holds_alone)
    }

    /// The first key among `command`'s arguments, which must be the command looked up; `None`
    /// where it has none (a script of zero keys) or it is not known.
    pub fn first_key<'c>(&self, command: &'c Command<'_>) -> Option<&'c [u8]> {
        // Positions count the name, `get` does not.
        let argument = |position: usize| command.get(position.checked_sub(1)?);
        match self.entry.row.keys {
            Keys::No => None,
            Keys::At(position) => argument(usize::from(position)),
            Keys::Counted(position) => {
                let position = usize::from(position);
                let count: u64 = std::str::from_utf8(argument(position)?).ok()?.parse().ok()?;
                argument(position.checked_add(1)?).filter(|_| count > 0)
            }
            Keys::Streams(from) => {
                let before = options(command, from).count();
                argument(usize::from(from).checked_add(before)?.checked_add(1)?)
            }
        }
    }

    /// The cluster slot of the first key.
    pub fn slot(&self, command: &Command<'_>) -> Option<u16> {
        self.first_key(command).map(keyspace::slot)
    }
}

/// The words of XREAD and XREADGROUP before STREAMS, from position `from` on.
fn options<'c>(command: &'c Command<'_>, from: u8) -> impl Iterator<Item = &'c [u8]> {
    let before = usize::from(from).saturating_sub(1);
    command.iter().skip(before).take_while(|word| !word.eq_ignore_ascii_case(b"STREAMS"))
}
