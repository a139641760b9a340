//! The kinds of element that a tape holds.

/// A type of RESP by the specification's name; a null stands for all three forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    SimpleString,
    SimpleError,
    Integer,
    BulkString,
    Array,
    Null,
    Boolean,
    Double,
    BigNumber,
    BulkError,
    VerbatimString,
    Map,
    Attribute,
    Set,
    Push,
}

impl Kind {
    /// The kind of this number, as a tape's node stores it.
    #[inline]
    pub(super) const fn from_byte(byte: u8) -> Self {
        match byte {
            0 => Self::SimpleString,
            1 => Self::SimpleError,
            2 => Self::Integer,
            3 => Self::BulkString,
            4 => Self::Array,
            6 => Self::Boolean,
            7 => Self::Double,
            8 => Self::BigNumber,
            9 => Self::BulkError,
            10 => Self::VerbatimString,
            11 => Self::Map,
            12 => Self::Attribute,
            13 => Self::Set,
            14 => Self::Push,
            _ => Self::Null,
        }
    }

    /// Whether its children come in pairs.
    #[inline]
    pub(super) const fn has_pairs(self) -> bool {
        matches!(self, Self::Map | Self::Attribute)
    }

    #[inline]
    pub(super) const fn is_error(self) -> bool {
        matches!(self, Self::SimpleError | Self::BulkError)
    }
}
