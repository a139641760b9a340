//! What went wrong between us and a server over TLS.

use std::io;

use super::{Error, cause::Cause, step::Step};

/// Why there is no TLS with a server, or no connection without.
///
/// The texts inside are rustls' words: names, dates and reasons. No certificate and no key is in
/// them.
///
/// ```
/// use echo_wire::connector::{Error, TlsError};
///
/// let error = Error::TlsRefused(TlsError::PeerIsTls);
/// assert!(error.is_fatal() && !error.maybe_executed());
/// assert_eq!(
///     error.to_string(),
///     "TLS refused: the server speaks TLS here, a URL of it begins with rediss:// or valkeys://",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// TLS was wanted, and the server speaks plainly.
    #[error(
        "the server does not speak TLS here, a URL of a plain one begins with redis:// or valkey://"
    )]
    PeerIsPlain,
    /// TLS was not wanted, and the server speaks nothing else.
    #[error("the server speaks TLS here, a URL of it begins with rediss:// or valkeys://")]
    PeerIsTls,
    /// The server's certificate was not signed by anybody we trust, is another server's, was
    /// revoked, or is broken.
    #[error("the server's certificate is not trusted: {0}")]
    Untrusted(String),
    /// The server's certificate has expired or is not valid yet. Time heals it: tried again.
    #[error("the server's certificate is not valid now: {0}")]
    OutOfDate(String),
    /// The server wants a client certificate and got none, or one that it does not take.
    #[error("the server wants a client certificate that it trusts: {0}")]
    ClientCertificate(String),
    /// The server will have no TLS of the kind that we speak.
    #[error("the server refused the handshake: {0}")]
    Refused(String),
    /// Something else, which may not come again: tried again.
    #[error("the handshake failed: {0}")]
    Failed(String),
}

impl TlsError {
    /// What TLS has to do with this failure of a socket, if it has.
    pub(super) fn inside(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().cloned()
    }

    /// The verdict on a connection that met this.
    pub(super) fn verdict(self, step: Step) -> Error {
        match self {
            Self::OutOfDate(_) | Self::Failed(_) => {
                Error::NotReady { step, cause: Cause::Tls(self) }
            }
            _ => Error::TlsRefused(self),
        }
    }
}
