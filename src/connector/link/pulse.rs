//! The fence, again and again: the heartbeat of a live connection is the fence's own `GET`.
//!
//! It proves the peer alive, keeps the key recently used, and finds a store that was given to
//! another wire. Where the key is gone, the whole fence runs again on the live socket; until it
//! has passed, nothing of a caller's leaves.

use std::time::Duration;

use bytes::BytesMut;
use tokio::time::Instant;

use crate::{
    connector::{
        Error,
        fence::{Claims, Fence, Flight, Next},
        version_get::VERSION_GET,
        wire::Wire,
    },
    resp::Reply,
};

#[derive(Debug)]
pub(super) struct Pulse {
    wire: Wire,
    claims: Claims,
    every: Duration,
    /// When the next check is due; none while one is under way.
    due: Option<Instant>,
    /// The check under way.
    check: Option<Fence>,
    /// The key was gone: the store may be anybody's until the fence has passed.
    doubt: bool,
}

/// A shorter interval would only fill the wire.
const SHORTEST: Duration = Duration::from_millis(10);

/// What an answer to the check means.
#[derive(Debug)]
pub(super) enum Beat {
    /// The store still speaks our wire.
    Alive,
    /// The peer answers, and cannot say at the moment (LOADING, BUSY).
    Unsure,
    /// The key had been gone; the store is ours again.
    Reclaimed,
    /// More replies of this check are to come.
    Waits,
    /// This is to be sent next.
    Ask(BytesMut, u32),
}

impl Pulse {
    pub(super) fn new(wire: Wire, claims: Claims, every: Duration, now: Instant) -> Self {
        let every = every.max(SHORTEST);
        let due = now.checked_add(every);
        Self { wire, claims, every, due, check: None, doubt: false }
    }

    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Begins a check if one is due: what to send, answered by one reply.
    pub(super) fn begin(&mut self, now: Instant) -> Option<&'static [u8]> {
        self.due.take_if(|due| *due <= now)?;
        self.check = Some(Fence::new(self.wire.clone(), self.claims));
        Some(VERSION_GET)
    }

    /// Whether callers' commands must stay here.
    pub(super) fn holds_back(&self) -> bool {
        self.doubt
    }

    /// Takes a reply to the check. An error ends the connection.
    pub(super) fn handle(&mut self, reply: &Reply, now: Instant) -> Result<Beat, Error> {
        let Some(fence) = self.check.take() else { return Ok(Beat::Waits) };
        match fence.handle(reply) {
            Ok(Next::Await(fence)) => {
                self.check = Some(fence);
                Ok(Beat::Waits)
            }
            Ok(Next::Ask(fence, Flight { encoded, replies })) => {
                self.doubt = true;
                self.check = Some(fence);
                Ok(Beat::Ask(encoded, u32::try_from(replies).unwrap_or(u32::MAX)))
            }
            Ok(Next::Pass(_)) => {
                self.due = now.checked_add(self.every);
                let vanished = std::mem::take(&mut self.doubt);
                Ok(if vanished { Beat::Reclaimed } else { Beat::Alive })
            }
            Err(Error::NotReady { .. }) if !self.doubt => {
                self.due = now.checked_add(self.every);
                Ok(Beat::Unsure)
            }
            Err(error) => Err(error),
        }
    }
}
