//! Why a call or a connection failed: what happened, whether the command may have run, what to do.

use std::{borrow::Cow, fmt, io, sync::Arc};

use bytes::Bytes;

use super::{command_table::Refusal, config_error::ConfigError, violation::Violation};
use crate::resp::{ConvertError, ServerError};

/// The transport tier: the call failed. A server's error reply to a single command comes as
/// [`Error::Server`]; inside a pipeline it is a value in its slot instead.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store speaks another wire. Nothing of ours was written; never retried.
    #[error("version_fence: the store does not speak this wire, found {got}")]
    VersionFence {
        /// What the version key held.
        got: Found,
    },
    /// The server refused our credentials, or wants some. Never retried.
    #[error("{step} refused, credentials: {reply}")]
    AuthRefused {
        /// The step of the connect sequence.
        step: Step,
        /// The server's words.
        reply: ServerError,
    },
    /// The server refused a required step of the connect sequence. Never retried.
    #[error("{step} refused: {reply}")]
    BootRefused {
        /// The step of the connect sequence.
        step: Step,
        /// The server's words.
        reply: ServerError,
    },
    /// Not now: something that time can heal (LOADING, BUSY, a replica, too many clients, …).
    #[error("not ready at {step}: {cause}")]
    NotReady {
        /// The step of the connect sequence.
        step: Step,
        /// What stood in the way.
        cause: Cause,
    },
    /// The connection was lost before the answer came, or there is none.
    #[error("disconnected, the command {}", ran(*maybe_executed))]
    Disconnected {
        /// `false`: no byte of the command left, it may be sent again. `true`: it may have run.
        maybe_executed: bool,
    },
    /// The deadline passed before the answer came.
    #[error("timed out, the command {}", ran(*maybe_executed))]
    Timeout {
        /// `false`: no byte of the command left, it may be sent again. `true`: it may have run.
        maybe_executed: bool,
    },
    /// `max_pending` commands are in flight. The command was not sent.
    #[error("overloaded: too many commands in flight, this one was not sent")]
    Overloaded,
    /// The connector was closed. The command was not sent.
    #[error("closed: the connector was shut down, the command was not sent")]
    Closed,
    /// RESP3 is needed and this connection speaks RESP2. Nothing was sent.
    #[error("RESP3 is required, this connection speaks RESP2")]
    RequiresResp3,
    /// The call cannot be right on this handle; the text says what to use. Nothing was sent.
    #[error("misuse: {0}")]
    Misuse(Cow<'static, str>),
    /// This connection cannot take this command; the text says what to use. Nothing was sent.
    #[error("misuse: {0}")]
    Refused(#[from] Refusal),
    /// The URL or the config cannot be used. Nothing was sent.
    #[error("config, {0}")]
    Config(#[from] ConfigError),
    /// The peer broke the protocol; the connection was closed.
    #[error("protocol: {violation}{}", if *maybe_executed { ", the command may have run" } else { "" })]
    Protocol {
        /// What it did.
        violation: Violation,
        /// `false`: no byte of a command left. `true`: it may have run.
        maybe_executed: bool,
    },
    /// The server's error reply to a single command.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The reply came and is not of the type that was asked for. The command has run.
    #[error("reply: {0}")]
    Convert(#[from] ConvertError),
    /// The socket failed.
    #[error("i/o: {0}")]
    Io(Arc<io::Error>),
}

impl Error {
    /// Whether the command may have run on the server. `false` is a promise: sending it again
    /// cannot run it twice.
    pub fn maybe_executed(&self) -> bool {
        match self {
            Self::Disconnected { maybe_executed }
            | Self::Timeout { maybe_executed }
            | Self::Protocol { maybe_executed, .. } => *maybe_executed,
            Self::Convert(_) => true,
            Self::Server(error) => !turned_away(error),
            _ => false,
        }
    }

    /// Whether connecting again with the same config would only meet the same: another wire in the
    /// store, refused credentials, a refused step, a config that cannot be used.
    pub fn is_fatal(&self) -> bool {
        matches!(
            self,
            Self::VersionFence { .. }
                | Self::AuthRefused { .. }
                | Self::BootRefused { .. }
                | Self::Config(_)
        )
    }
}

/// Whether the server says that the command did not run. Other errors may come from the midst of a
/// script that had written already.
fn turned_away(error: &ServerError) -> bool {
    const CODES: [&str; 15] = [
        "ASK",
        "BUSY",
        "CLUSTERDOWN",
        "CROSSSLOT",
        "EXECABORT",
        "LOADING",
        "MASTERDOWN",
        "MISCONF",
        "MOVED",
        "NOAUTH",
        "NOPERM",
        "NOREPLICAS",
        "NOSCRIPT",
        "READONLY",
        "TRYAGAIN",
    ];
    CODES.contains(&error.code())
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(Arc::new(error))
    }
}

fn ran(maybe_executed: bool) -> &'static str {
    if maybe_executed { "may have run" } else { "was not sent" }
}

/// What the fence found under the version key.
#[derive(Clone, PartialEq, Eq)]
pub enum Found {
    /// Another value.
    Value(Bytes),
    /// Nothing, though it had been claimed.
    Absent,
    /// A key that is no string.
    WrongType,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // A megabyte in a log line helps nobody: its length and its head do.
            Self::Value(value) if value.len() > 1024 => {
                let head = value.get(..64).unwrap_or_default();
                write!(f, "{}… ({} bytes)", head.escape_ascii(), value.len())
            }
            Self::Value(value) => write!(f, "{}", value.escape_ascii()),
            Self::Absent => f.write_str("(none)"),
            Self::WrongType => f.write_str("(wrong type)"),
        }
    }
}

impl fmt::Debug for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Found({self})")
    }
}

/// What stood in the way of a connection that time may heal.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Cause {
    /// The server's words (`LOADING`, `BUSY`, `MASTERDOWN`, `OOM` at the claim, …).
    Reply(ServerError),
    /// The server is not a primary.
    Replica,
    /// Reading from a replica was asked for, and the replica holds no version key yet.
    Unclaimed,
    /// The socket failed.
    Io(Arc<io::Error>),
    /// The peer closed the connection.
    Closed,
    /// The deadline passed.
    Deadline,
}

impl From<io::Error> for Cause {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Closed,
            _ => Self::Io(Arc::new(error)),
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reply(reply) => reply.fmt(f),
            Self::Replica => f.write_str("the server is a replica, a primary is needed"),
            Self::Unclaimed => f.write_str("the replica holds no version key, a primary claims it"),
            Self::Io(error) => error.fmt(f),
            Self::Closed => f.write_str("the peer closed the connection"),
            Self::Deadline => f.write_str("the deadline passed"),
        }
    }
}

/// A step of the connect sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// Resolving and connecting.
    Dial,
    /// `HELLO 3`.
    Hello,
    /// `AUTH`, in the RESP2 fall-back.
    Auth,
    /// `SELECT`.
    Select,
    /// `CLIENT SETNAME`, a courtesy.
    SetName,
    /// `CLIENT SETINFO`, a courtesy.
    SetInfo,
    /// `CONFIG GET maxmemory-policy`, a look that may be denied.
    Policy,
    /// `ROLE`, in the RESP2 fall-back.
    Role,
    /// The fence's first `GET`.
    FenceRead,
    /// The fence's `SET … NX`.
    FenceClaim,
    /// The fence's confirming `GET`.
    FenceConfirm,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dial => "dial",
            Self::Hello => "HELLO",
            Self::Auth => "AUTH",
            Self::Select => "SELECT",
            Self::SetName => "CLIENT SETNAME",
            Self::SetInfo => "CLIENT SETINFO",
            Self::Policy => "CONFIG GET maxmemory-policy",
            Self::Role => "ROLE",
            Self::FenceRead => "fence GET",
            Self::FenceClaim => "fence SET NX",
            Self::FenceConfirm => "fence confirming GET",
        })
    }
}
