//! The steps of the connect sequence, as errors name them.

use std::fmt;

/// A step of the connect sequence.
///
/// ```
/// use echo_wire::connector::Step;
///
/// assert_eq!(Step::FenceClaim.to_string(), "fence SET NX");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// Resolving and connecting.
    Dial,
    /// The TLS handshake.
    Tls,
    /// Asking the provider for credentials.
    Credentials,
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

impl Step {
    /// Whether the fence asks it.
    pub(super) fn is_fence(self) -> bool {
        matches!(self, Self::FenceRead | Self::FenceClaim | Self::FenceConfirm)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dial => "dial",
            Self::Tls => "TLS handshake",
            Self::Credentials => "credentials",
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
