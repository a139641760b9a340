//! Why a call or a connection failed: what happened, whether the command may have run, what to do.

use std::{borrow::Cow, io, sync::Arc};

use super::{
    cause::Cause, command_table::Refusal, config_error::ConfigError, found::Found, step::Step,
    tls_error::TlsError, violation::Violation,
};
use crate::{
    keyspace::{BrandedIdError, NameError},
    resp::{ConvertError, ServerError},
};

/// The transport tier: the call failed. A server's error reply to a single command comes as
/// [`Error::Server`]; inside a pipeline it is a value in its slot instead.
///
/// Two questions decide what to do: [`maybe_executed`](Self::maybe_executed), whether sending the
/// command again could run it twice, and [`is_fatal`](Self::is_fatal), whether connecting again
/// could help.
///
/// ```
/// use echo_wire::connector::{Error, Found};
///
/// let error = Error::VersionFence { got: Found::Value("acme:1".into()) };
/// assert!(error.is_fatal() && !error.maybe_executed());
/// assert_eq!(
///     error.to_string(),
///     "version_fence: the store does not speak this wire, found acme:1",
/// );
///
/// let error = Error::Disconnected { maybe_executed: true };
/// assert_eq!(error.to_string(), "disconnected, the command may have run");
/// ```
///
/// `?` makes one of whatever a call, its reply or its key can fail with:
///
/// ```
/// use echo_wire::{connector::{Connector, Error}, keyspace::Queue, resp::Command};
///
/// async fn waiting(connector: &Connector, queue: &str) -> Result<u64, Error> {
///     let key = Queue::new(queue)?.key("wait")?;
///     Ok(connector.command(Command::new("LLEN").arg(&key)).await?.to()?)
/// }
///
/// let error = Error::from(Queue::new("").unwrap_err());
/// assert_eq!(error.to_string(), "key: the name is empty");
/// assert!(!error.maybe_executed());
/// ```
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store speaks another wire. Of ours, a `SET … NX` was tried at most; never retried.
    #[error("version_fence: the store does not speak this wire, found {got}")]
    VersionFence {
        /// What the version key held.
        got: Found,
    },
    /// No TLS with this server, or nothing without: one side would have to change. Never retried.
    #[error("TLS refused: {0}")]
    TlsRefused(TlsError),
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
    /// No queue and no type can be named so: no key was built. Nothing was sent.
    #[error("key: {0}")]
    Name(#[from] NameError),
    /// No branded id reads so: no key was built. Nothing was sent.
    #[error("key: {0}")]
    Id(#[from] BrandedIdError),
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
    ///
    /// A server's error is judged by its code (`READONLY`, `BUSY`, … mean that nothing ran). A
    /// script of yours that writes and then answers an error of such a code by itself breaks the
    /// promise: give its errors codes of their own.
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
    /// store, refused credentials, a refused step, a server that is not trusted over TLS or does not speak it,
    /// a config that cannot be used.
    pub fn is_fatal(&self) -> bool {
        matches!(
            self,
            Self::VersionFence { .. }
                | Self::AuthRefused { .. }
                | Self::BootRefused { .. }
                | Self::TlsRefused(_)
                | Self::Config(_)
        )
    }
}

/// Whether the server says that the command did not run. Other errors may come from the midst of a
/// script that had written already.
fn turned_away(error: &ServerError) -> bool {
    const CODES: [&str; 16] = [
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
        "UNBLOCKED",
    ];
    CODES.contains(&error.code())
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(Arc::new(error))
    }
}

impl Error {
    /// The variant, as a word for people's filters and labels.
    #[cfg_attr(
        not(any(feature = "metrics", feature = "tracing")),
        allow(dead_code, reason = "for who watches; here it is only checked to be complete")
    )]
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::VersionFence { .. } => "version_fence",
            Self::TlsRefused(_) => "tls_refused",
            Self::AuthRefused { .. } => "auth_refused",
            Self::BootRefused { .. } => "boot_refused",
            Self::NotReady { .. } => "not_ready",
            Self::Disconnected { .. } => "disconnected",
            Self::Timeout { .. } => "timeout",
            Self::Overloaded => "overloaded",
            Self::Closed => "closed",
            Self::RequiresResp3 => "requires_resp3",
            Self::Misuse(_) | Self::Refused(_) => "misuse",
            Self::Config(_) => "config",
            Self::Protocol { .. } => "protocol",
            Self::Server(_) => "server",
            Self::Name(_) | Self::Id(_) => "keyspace",
            Self::Convert(_) => "convert",
            Self::Io(_) => "io",
        }
    }
}

fn ran(maybe_executed: bool) -> &'static str {
    if maybe_executed { "may have run" } else { "was not sent" }
}
