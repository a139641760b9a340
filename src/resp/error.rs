//! A server's error reply. (A malformed one is a [`ProtocolError`](super::ProtocolError).)

use std::fmt;

use bytes::Bytes;

/// An error reply of the server (a simple error or a bulk error): its code and its message.
///
/// It is a *value* in a reply slot: the connection is fine and the command was answered.
///
/// ```
/// use echo_wire::resp::ServerError;
///
/// let error = ServerError::new("WRONGTYPE Operation against a key holding the wrong kind of value");
/// assert_eq!(error.code(), "WRONGTYPE");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ServerError {
    line: Bytes,
}

impl ServerError {
    /// An error reply from its text without type byte and CRLF, as `WRONGTYPE Operation against …`.
    pub fn new(line: impl Into<Bytes>) -> Self {
        Self { line: line.into() }
    }

    /// The code: the first word (`WRONGTYPE`), or the second where a proxy wrote `ERR` before
    /// an upper-case code (`ERR READONLY …` answers `READONLY`).
    pub fn code(&self) -> &str {
        let mut words = self.line.split(|b| *b == b' ').map(token);
        let first = words.next().unwrap_or("");
        match (first, words.next()) {
            ("ERR", Some(second)) if is_code(second) => second,
            _ => first,
        }
    }

    /// The whole text as the server sent it, without type byte and CRLF.
    pub fn as_bytes(&self) -> &[u8] {
        &self.line
    }
}

fn token(word: &[u8]) -> &str {
    std::str::from_utf8(word).unwrap_or("")
}

fn is_code(word: &str) -> bool {
    word.len() > 2 && word.bytes().all(|b| b.is_ascii_uppercase())
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.line.escape_ascii())
    }
}

impl fmt::Debug for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerError({self})")
    }
}

impl std::error::Error for ServerError {}
