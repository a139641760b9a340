//! What happens to a connector, as it happens.

use std::time::Duration;

use tokio::sync::broadcast;

use super::{
    Config, Error, Passage,
    observe::{self, Place},
};

/// Something that happened to a connector, for people and supervisors to watch.
///
/// ```
/// use echo_wire::connector::Event;
/// let event = Event::FenceVanished;
/// assert_eq!(event.to_string(), "fence_vanished: the version key was gone and was claimed again");
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// A socket is there and the server took the boot.
    Connected,
    /// The fence passed; commands flow from here on.
    Fenced(Passage),
    /// The connection is gone, and why.
    Disconnected(Error),
    /// The next attempt comes after this wait; `cause` is what the last one met.
    Reconnecting {
        /// The wait before it.
        after: Duration,
        /// Failures in a row.
        failures: u32,
        /// What stood in the way.
        cause: Error,
    },
    /// The version key, seen before, was gone (evicted, flushed, or another server behind the
    /// name) and was claimed again.
    FenceVanished,
    /// A call on a dedicated connection was given up in the moment in which the server had handed
    /// something out for it: see [`Connector::take_orphans`](super::Connector::take_orphans).
    Orphaned {
        /// The command's name.
        command: String,
    },
    /// The connector stopped for good, and why.
    Fatal(Error),
}

impl std::fmt::Display for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Connected => f.write_str("connected"),
            Self::Fenced(passage) => write!(f, "fenced: {passage}"),
            Self::Disconnected(why) => write!(f, "disconnected: {why}"),
            Self::Reconnecting { after, failures, cause } => {
                write!(f, "reconnecting: in {after:?} after {failures} failures, last: {cause}")
            }
            Self::FenceVanished => {
                f.write_str("fence_vanished: the version key was gone and was claimed again")
            }
            Self::Orphaned { command } => {
                write!(f, "orphaned: {command} was given up and had been answered with data")
            }
            Self::Fatal(why) => write!(f, "fatal: {why}"),
        }
    }
}

/// How many events a slow reader may fall behind before the oldest are dropped for it.
const KEPT: usize = 128;

/// The events of a connector from the moment this was asked for.
///
/// Bounded: a reader that falls more than 128 events behind loses the oldest, and is told how many
/// by [`Events::missed`]. Writers never wait.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/server.rs"));
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let connector = connector().await?;
/// use echo_wire::connector::Event;
///
/// let mut events = connector.events();
/// connector.close().await;
/// assert!(matches!(events.next().await, Some(Event::Disconnected(_))));
/// # Ok(()) }
/// ```
#[derive(Debug)]
#[must_use = "what happens is told to whoever reads it"]
pub struct Events {
    receiver: broadcast::Receiver<Event>,
    missed: u64,
}

impl Events {
    /// The next event; `None` when the connector is gone and everything was read. Cancel safe.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            match self.receiver.recv().await {
                Ok(event) => return Some(event),
                Err(broadcast::error::RecvError::Lagged(n)) => {
                    self.missed = self.missed.saturating_add(n);
                }
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }

    /// The next event, if one is there already.
    pub fn try_next(&mut self) -> Option<Event> {
        loop {
            match self.receiver.try_recv() {
                Ok(event) => return Some(event),
                Err(broadcast::error::TryRecvError::Lagged(n)) => {
                    self.missed = self.missed.saturating_add(n);
                }
                Err(_nothing) => return None,
            }
        }
    }

    /// How many events this reader has lost by being slow.
    pub fn missed(&self) -> u64 {
        self.missed
    }
}

/// Where events come from.
#[derive(Debug, Clone)]
pub(super) struct Announcer {
    sender: broadcast::Sender<Event>,
    place: Place,
}

impl Announcer {
    pub(super) fn new(config: &Config) -> Self {
        Self { sender: broadcast::Sender::new(KEPT), place: Place::of(config) }
    }

    /// Tells whoever listens; nobody has to.
    pub(super) fn tell(&self, event: Event) {
        observe::event(&self.place, &event);
        drop(self.sender.send(event));
    }

    pub(super) fn listen(&self) -> Events {
        Events { receiver: self.sender.subscribe(), missed: 0 }
    }
}
