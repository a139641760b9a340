//! Why a config or a URL was not taken: which part of it, and what is wrong there.

use std::fmt;

/// A URL or a setting that cannot be used, told before any byte is sent.
///
/// It names the part and the rule. What stood there is not shown: half a password may end up in
/// any part of a URL that was put together wrongly.
///
/// ```
/// use echo_wire::connector::{Config, ConfigPart};
///
/// let error = Config::from_url("redis://:se%zzcret@127.0.0.1").unwrap_err();
/// assert_eq!(error.part(), ConfigPart::Password);
/// assert_eq!(error.to_string(), "password: % is not followed by two hex digits");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{part}: {rule}")]
pub struct ConfigError {
    part: Part,
    rule: &'static str,
}

impl ConfigError {
    pub(super) const fn new(part: Part, rule: &'static str) -> Self {
        Self { part, rule }
    }

    /// The part that was not taken.
    pub fn part(&self) -> Part {
        self.part
    }

    /// The rule it broke.
    pub fn rule(&self) -> &'static str {
        self.rule
    }
}

/// A part of a config or of its URL.
///
/// ```
/// use echo_wire::connector::{Config, ConfigPart};
///
/// let error = Config::tcp("localhost", 6379).client_name("two words").unwrap_err();
/// assert_eq!(error.part(), ConfigPart::ClientName);
/// assert_eq!(error.part().to_string(), "client name");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part {
    /// What stands before `://`.
    Scheme,
    /// The user name.
    User,
    /// The password.
    Password,
    /// The host.
    Host,
    /// The port.
    Port,
    /// The number of the database.
    Database,
    /// The path of a Unix socket.
    SocketPath,
    /// What stands behind `?`.
    Option,
    /// What stands behind `#`.
    Fragment,
    /// The name that the server shows for the connection.
    ClientName,
    /// The protocol generation.
    Protocol,
    /// A time span.
    Timeout,
    /// Whether reading from a replica is allowed.
    ReadFromReplica,
    /// The identity of the wire.
    Wire,
    /// The roots, the client certificate or its key.
    Tls,
    /// The name that the server's certificate has to bear.
    ServerName,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scheme => "scheme",
            Self::User => "user",
            Self::Password => "password",
            Self::Host => "host",
            Self::Port => "port",
            Self::Database => "database",
            Self::SocketPath => "socket path",
            Self::Option => "option",
            Self::Fragment => "fragment",
            Self::ClientName => "client name",
            Self::Protocol => "protocol",
            Self::Timeout => "timeout",
            Self::ReadFromReplica => "read_from_replica",
            Self::Wire => "wire",
            Self::Tls => "TLS",
            Self::ServerName => "server name",
        })
    }
}
