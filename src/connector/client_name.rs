//! The name that a server shows for a connection.

use super::config_error::{ConfigError, Part};

/// A client name that the server will take: visible ASCII without spaces.
///
/// Source: CLIENT SETNAME. The server refuses any other; here it is refused before any byte is
/// sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClientName(String);

impl ClientName {
    pub(super) fn new(name: String) -> Result<Self, ConfigError> {
        if name.is_empty() {
            return Err(ConfigError::new(Part::ClientName, "it is empty"));
        }
        if !name.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ConfigError::new(
                Part::ClientName,
                "only visible ASCII without spaces is allowed",
            ));
        }
        Ok(Self(name))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_would_refuse_is_refused_here() {
        assert_eq!(ClientName::new("worker-1!~".into()).unwrap().as_str(), "worker-1!~");
        for bad in ["", "a b", "a\n", "a\r\nQUIT", "\u{7f}", "é", "\0"] {
            assert_eq!(
                ClientName::new(bad.into()).unwrap_err().part(),
                Part::ClientName,
                "{bad:?}"
            );
        }
    }
}
