//! The kind of a branded id.

use std::fmt;

use super::branded::BrandedIdError;

/// What an id is the id of: three letters A–Z.
///
/// ```
/// use echo_wire::keyspace::Kind;
///
/// assert_eq!(Kind::new("JOB")?.as_str(), "JOB");
/// assert!(Kind::new("job").is_err());
/// # Ok::<(), echo_wire::keyspace::BrandedIdError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(pub(super) [u8; Self::LEN]);

impl Kind {
    pub(super) const LEN: usize = 3;

    /// The kind of these letters.
    ///
    /// # Errors
    ///
    /// [`BrandedIdError::KindLength`] or [`BrandedIdError::Kind`] if they are not three letters
    /// A–Z.
    pub fn new(letters: &str) -> Result<Self, BrandedIdError> {
        match letters.as_bytes().try_into() {
            Ok(letters) => Self::of(letters),
            Err(_) => Err(BrandedIdError::KindLength { len: letters.len() }),
        }
    }

    pub(super) fn of(letters: [u8; Self::LEN]) -> Result<Self, BrandedIdError> {
        match letters.iter().enumerate().find(|(_, byte)| !byte.is_ascii_uppercase()) {
            Some((at, byte)) => Err(BrandedIdError::Kind { at, byte: *byte }),
            None => Ok(Self(letters)),
        }
    }

    /// The letters.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kind({self})")
    }
}
