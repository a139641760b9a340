//! What a push says.

use super::Kind;
use crate::resp::{Reply, Value};

/// A push of publish and subscribe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::connector) enum Notice<'a> {
    /// A message for those who subscribed to `name`, a channel or a pattern.
    Message { kind: Kind, name: &'a [u8] },
    /// The server subscribed us to one name.
    Subscribed,
    /// The server unsubscribed us from one name, or had nothing to unsubscribe.
    Unsubscribed { kind: Kind, name: &'a [u8] },
}

impl<'a> Notice<'a> {
    /// None for a push of another kind, or of a shape that no server sends.
    pub(in crate::connector) fn of(push: &'a Reply) -> Option<Self> {
        let Value::Push(elements) = push.value() else { return None };
        let mut elements = elements.iter();
        let word = elements.next()?.value().text()?;
        let name = elements.next()?.value().text().unwrap_or_default();
        let message = |kind| Some(Self::Message { kind, name });
        let unsubscribed = |kind| Some(Self::Unsubscribed { kind, name });
        match word {
            b"message" => message(Kind::Channel),
            b"pmessage" => message(Kind::Pattern),
            b"smessage" => message(Kind::Shard),
            b"subscribe" | b"psubscribe" | b"ssubscribe" => Some(Self::Subscribed),
            b"unsubscribe" => unsubscribed(Kind::Channel),
            b"punsubscribe" => unsubscribed(Kind::Pattern),
            b"sunsubscribe" => unsubscribed(Kind::Shard),
            _ => None,
        }
    }
}
