//! Where a server is: a host name with a port, or the path of a Unix socket.

use std::{fmt, path::PathBuf};

/// Where a server listens.
///
/// A host is kept as the name it was given as: it is resolved anew at every dial.
///
/// ```
/// use echo_wire::connector::{Config, Endpoint};
///
/// let config = Config::from_url("valkey://[::1]:7000").unwrap();
/// assert_eq!(*config.endpoint(), Endpoint::Tcp { host: "::1".into(), port: 7000 });
/// assert_eq!(config.endpoint().to_string(), "[::1]:7000");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Endpoint {
    /// A host name or an address (an IPv6 one without brackets), and a port.
    Tcp {
        /// The host.
        host: String,
        /// The port.
        port: u16,
    },
    /// The path of a Unix socket.
    Unix(PathBuf),
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}
