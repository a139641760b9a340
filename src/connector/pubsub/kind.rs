//! The three ways to subscribe.

/// What a subscription names: channels, patterns of channels, or shard channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::connector) enum Kind {
    Channel,
    Pattern,
    Shard,
}

impl Kind {
    pub(super) const ALL: [Self; 3] = [Self::Channel, Self::Pattern, Self::Shard];

    pub(super) fn subscribe(self) -> &'static str {
        match self {
            Self::Channel => "SUBSCRIBE",
            Self::Pattern => "PSUBSCRIBE",
            Self::Shard => "SSUBSCRIBE",
        }
    }

    pub(in crate::connector) fn unsubscribe(self) -> &'static str {
        match self {
            Self::Channel => "UNSUBSCRIBE",
            Self::Pattern => "PUNSUBSCRIBE",
            Self::Shard => "SUNSUBSCRIBE",
        }
    }
}
