//! How a peer broke the protocol.

use std::fmt;

use super::step::Step;
use crate::resp::{ProtocolError, Reply};

/// What a peer did that no server does, so that its replies can no longer be trusted.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// use echo_wire::connector::{Config, Connection, Error, Violation};
/// use tokio::io::AsyncWriteExt;
///
/// let (ours, mut theirs) = tokio::io::duplex(4096);
/// theirs.write_all(b"HTTP/1.1 400 Bad Request\r\n").await.unwrap();
/// let error = Connection::over(ours, &Config::tcp("localhost", 80)).await.unwrap_err();
/// let Error::Protocol { violation: Violation::Malformed(malformed), .. } = error else { panic!() };
/// assert!(malformed.seen().starts_with(b"HTTP/1.1"));
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Violation {
    /// Bytes that are not RESP, or beyond a limit.
    Malformed(ProtocolError),
    /// A reply of a kind that the command cannot have, in the connect sequence.
    Unexpected {
        /// The step that it should have answered.
        step: Step,
        /// Its type and what it said, as far as that is short.
        got: String,
    },
    /// A reply that answers nothing: whose it is can no longer be told.
    Unasked {
        /// Its type and what it said, as far as that is short.
        got: String,
    },
}

/// Bytes of a reply's text that are shown.
const SHOWN: usize = 64;

impl Violation {
    pub(super) fn unexpected(step: Step, reply: &Reply) -> Self {
        Self::Unexpected { step, got: show(reply) }
    }

    pub(super) fn unasked(reply: &Reply) -> Self {
        Self::Unasked { got: show(reply) }
    }

    /// Without the text of the reply, if `hides` says so of it.
    pub(super) fn hiding(self, hides: impl Fn(&[u8]) -> bool) -> Self {
        let not_shown = || "a reply whose text is not shown".to_owned();
        match self {
            Self::Unexpected { step, got } if hides(got.as_bytes()) => {
                Self::Unexpected { step, got: not_shown() }
            }
            Self::Unasked { got } if hides(got.as_bytes()) => Self::Unasked { got: not_shown() },
            other => other,
        }
    }

    /// The first part of a reply came while none was owed.
    pub(super) fn unasked_part(bytes: &[u8]) -> Self {
        Self::Unasked { got: format!("a part of a reply, {}", head(bytes)) }
    }
}

fn show(reply: &Reply) -> String {
    let value = reply.value();
    match value.text() {
        Some(text) => format!("a {} {}", value.type_name(), head(text)),
        None => format!("a {}", value.type_name()),
    }
}

fn head(bytes: &[u8]) -> String {
    let shown = bytes.get(..SHOWN).unwrap_or(bytes);
    let more = if shown.len() < bytes.len() { "…" } else { "" };
    format!("\"{}{more}\"", shown.escape_ascii())
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(error) => error.fmt(f),
            Self::Unexpected { step, got } => write!(f, "{step} was answered by {got}"),
            Self::Unasked { got } => write!(f, "a reply that nobody asked for: {got}"),
        }
    }
}

impl From<ProtocolError> for Violation {
    fn from(error: ProtocolError) -> Self {
        Self::Malformed(error)
    }
}
