//! What the connect sequence learned about the server.

use super::super::step::Step;
use crate::resp::{Protocol, Reply, ReplyRef, ServerError, Value};

/// What boot found out on the way.
#[derive(Debug)]
pub(in crate::connector) struct Findings {
    pub(in crate::connector) protocol: Protocol,
    /// What the server calls this connection, if HELLO told.
    pub(in crate::connector) client_id: Option<u64>,
    /// Whether CLIENT UNBLOCK can do no harm there, by HELLO's word.
    pub(in crate::connector) unblocks_safely: bool,
    /// `maxmemory-policy`, if it could be seen and lets the server drop keys.
    pub(in crate::connector) eviction: Option<String>,
    /// Courtesies that the server declined, in order.
    pub(in crate::connector) declined: Vec<(Step, ServerError)>,
}

/// What a server says of its part in replication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Primary,
    /// A replica, or whatever else is no primary.
    Other,
}

impl Role {
    pub(super) fn new(word: &[u8]) -> Self {
        if word.eq_ignore_ascii_case(b"master") || word.eq_ignore_ascii_case(b"primary") {
            Self::Primary
        } else {
            Self::Other
        }
    }
}

/// The value of `field` in a reply that is a map, or RESP2's flat form of one.
pub(super) fn field<'a>(reply: &'a Reply, field: &[u8]) -> Option<ReplyRef<'a>> {
    match reply.value() {
        Value::Map(pairs) => pairs.get(field),
        Value::Array(items) => {
            let mut items = items.iter();
            while let (Some(key), Some(value)) = (items.next(), items.next()) {
                if key.value().text() == Some(field) {
                    return Some(value);
                }
            }
            None
        }
        _ => None,
    }
}

/// The eviction policy in a reply to CONFIG GET, if it is one that drops keys.
pub(super) fn eviction(reply: &Reply) -> Option<String> {
    let policy = field(reply, b"maxmemory-policy")?.value().text()?;
    (policy != b"noeviction").then(|| String::from_utf8_lossy(policy).into_owned())
}
