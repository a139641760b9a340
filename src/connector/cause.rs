//! Why a connection is not ready, though it may be later.

use std::{fmt, io, sync::Arc};

use super::tls_error::TlsError;
use crate::resp::ServerError;

/// What stood in the way of a connection that time may heal.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// use echo_wire::connector::{Cause, Config, Connection, Error, Step};
///
/// // Nobody listens there yet.
/// let config = Config::unix("/nowhere/valkey.sock");
/// let error = Connection::connect(&config).await.unwrap_err();
/// assert!(matches!(error, Error::NotReady { step: Step::Dial, cause: Cause::Io(_) }));
/// # }
/// ```
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
    /// The provider of credentials had none, and why, in its words.
    Provider(Arc<dyn std::error::Error + Send + Sync>),
    /// TLS, for now.
    Tls(TlsError),
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
            Self::Provider(error) => write!(f, "the provider has none: {error}"),
            Self::Tls(error) => error.fmt(f),
            Self::Closed => f.write_str("the peer closed the connection"),
            Self::Deadline => f.write_str("the deadline passed"),
        }
    }
}
