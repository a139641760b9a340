//! How a connection came through the fence.

use std::fmt;

/// How a connection came through the fence.
///
/// ```
/// use echo_wire::connector::Passage;
///
/// assert_eq!(Passage::Claimed.to_string(), "claimed");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Passage {
    /// The store held the identity of our wire.
    Verified,
    /// The store held none, and now holds ours.
    Claimed,
}

impl fmt::Display for Passage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Verified => "verified",
            Self::Claimed => "claimed",
        })
    }
}
