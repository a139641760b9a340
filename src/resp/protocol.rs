//! The two generations of the protocol.

/// A generation of RESP, as `HELLO` names it.
///
/// ```
/// use echo_wire::resp::Protocol;
///
/// assert_eq!(Protocol::Resp3.version(), 3);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Five types; what a server speaks until it is told otherwise.
    Resp2,
    /// RESP2's types and maps, sets, pushes, attributes, doubles, booleans, …
    Resp3,
}

impl Protocol {
    /// The number that `HELLO` takes: 2 or 3.
    pub const fn version(self) -> u8 {
        match self {
            Self::Resp2 => 2,
            Self::Resp3 => 3,
        }
    }
}
