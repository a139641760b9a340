//! Why a connection that callers share cannot take a command.

use std::fmt;

/// A command that a shared connection cannot take: which, why, and what to use instead.
///
/// ```
/// use echo_wire::{connector::{Reason, Traits}, resp::Command};
///
/// let refusal = Traits::of(&Command::new("brpop").arg("q").arg(0)).refusal().unwrap();
/// assert_eq!((refusal.command(), refusal.reason()), ("BRPOP", Reason::Blocks));
/// assert_eq!(
///     refusal.to_string(),
///     "BRPOP waits on the server, and all callers behind it would wait too: \
///      use a dedicated connection",
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    command: &'static str,
    reason: Reason,
}

/// Why a shared connection cannot take a command.
///
/// ```
/// use echo_wire::{connector::{Reason, Traits}, resp::Command};
///
/// let reason = |command: Command<'_>| Traits::of(&command).refusal().map(|it| it.reason());
/// assert_eq!(reason(Command::new("MULTI")), Some(Reason::Transaction));
/// assert_eq!(reason(Command::new("client").arg("reply").arg("off")), Some(Reason::Replies));
/// assert_eq!(reason(Command::new("CLIENT").arg("ID")), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// It waits on the server for data, for replicas or for the disk (BLPOP, XREAD BLOCK, WAIT).
    Blocks,
    /// It opens, runs or drops a transaction (MULTI, EXEC, DISCARD, WATCH, UNWATCH): others'
    /// commands would be queued in it, or run without it.
    Transaction,
    /// It changes what the connection receives (the SUBSCRIBE family).
    Subscription,
    /// It belongs to the connect sequence (AUTH, HELLO, SELECT, CLIENT SETNAME, …): on the next
    /// connection it would be forgotten, and until then others would run under it.
    Boot,
    /// It switches a mode of the session that others would run under (CLIENT TRACKING, ASKING, …).
    Mode,
    /// It changes how many replies come (CLIENT REPLY, REPLCONF): replies could no longer be told
    /// apart.
    Replies,
    /// It turns the connection into a stream of something else (MONITOR, SYNC, PSYNC, …).
    Stream,
    /// It ends or resets the session (QUIT, RESET).
    End,
}

impl Refusal {
    pub(super) const fn new(command: &'static str, reason: Reason) -> Self {
        Self { command, reason }
    }

    /// The command, in upper case, with its subcommand where that decides (`CLIENT REPLY`).
    pub fn command(&self) -> &'static str {
        self.command
    }

    /// Why.
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// Whether it holds even for a connection that nobody else uses: the command would lead past
    /// the fence (into another database, say), or break the pairing of commands and replies.
    ///
    /// ```
    /// use echo_wire::{connector::Traits, resp::Command};
    ///
    /// let holds_alone = |name| Traits::of(&Command::new(name)).refusal().unwrap().holds_alone();
    /// assert!(holds_alone("SELECT") && holds_alone("MONITOR"));
    /// assert!(!holds_alone("BLPOP") && !holds_alone("MULTI"));
    /// ```
    pub fn holds_alone(&self) -> bool {
        match self.reason {
            Reason::Blocks | Reason::Transaction | Reason::Mode => false,
            Reason::Subscription
            | Reason::Boot
            | Reason::Replies
            | Reason::Stream
            | Reason::End => true,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.command, self.reason)
    }
}

impl std::error::Error for Refusal {}

/// What the command does, and what to use instead: the rest of a sentence that begins with it.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Blocks => {
                "waits on the server, and all callers behind it would wait too: \
                 use a dedicated connection"
            }
            Self::Transaction => {
                "would draw other commands into a transaction or out of one: \
                 use transaction, or watch on a dedicated connection"
            }
            Self::Subscription => "changes what the connection receives: use subscribe and its kin",
            Self::Boot => "belongs to the connect sequence: set it in the config",
            Self::Mode => {
                "switches a mode of the session, for all later calls and until the next reconnect: \
                 use a Connection"
            }
            Self::Replies => {
                "changes how many replies come, so that replies would reach the wrong callers: \
                 use noreply_pipeline"
            }
            Self::Stream => {
                "turns the connection into a stream of something else: use a client made for it"
            }
            Self::End => "ends the session that all callers share: use close",
        })
    }
}
