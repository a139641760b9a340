//! Branded ids: three letters that name a kind, and a snowflake in eleven base-62 digits.
//!
//! Invariant: the bytes of a [`BrandedId`] are ASCII and well formed, so that the order of ids of
//! one kind, as bytes, is the order in which they were minted.

use std::{
    fmt,
    str::FromStr,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use super::kind::Kind;

/// A branded id: 14 bytes, checked when it was made.
///
/// ```
/// use echo_wire::keyspace::{BrandedId, Kind};
///
/// let id: BrandedId = "USR0KHTOWnGLuC".parse()?;
/// assert_eq!(id.kind().as_str(), "USR");
/// assert_eq!(id.snowflake(), 274557032793636864);
/// assert_eq!(BrandedId::new(Kind::new("USR")?, 274557032793636864)?, id);
///
/// // Minted later, ordered later.
/// assert!(id < "USR0NgWEfAEJfs".parse()?);
/// # Ok::<(), echo_wire::keyspace::BrandedIdError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BrandedId([u8; Self::LEN]);

impl BrandedId {
    /// How many bytes an id has.
    pub const LEN: usize = Kind::LEN + DIGITS;

    /// The id of a kind and a snowflake.
    ///
    /// # Errors
    ///
    /// [`BrandedIdError::TooLarge`] if the snowflake is 2^63 or more.
    pub fn new(kind: Kind, snowflake: u64) -> Result<Self, BrandedIdError> {
        if snowflake > MAX_SNOWFLAKE {
            return Err(BrandedIdError::TooLarge);
        }
        let mut text = [0; Self::LEN];
        let mut rest = snowflake;
        for slot in text.iter_mut().skip(Kind::LEN).rev() {
            *slot = digit(rest % BASE);
            rest /= BASE;
        }
        text.iter_mut().zip(kind.0).for_each(|(slot, letter)| *slot = letter);
        Ok(Self(text))
    }

    /// Reads an id from its 14 bytes.
    ///
    /// # Errors
    ///
    /// [`BrandedIdError`]: not 14 bytes, a kind that is not three letters A–Z, a byte that is no
    /// base-62 digit, or a snowflake of 2^63 or more. Blanks and other cases are not forgiven.
    pub fn parse(text: &[u8]) -> Result<Self, BrandedIdError> {
        let Ok(whole) = <[u8; Self::LEN]>::try_from(text) else {
            return Err(BrandedIdError::Length { len: text.len() });
        };
        let Some((letters, digits)) = whole.split_first_chunk() else {
            return Err(BrandedIdError::Length { len: text.len() });
        };
        Kind::of(*letters)?;
        // Eleven digits stay below 62^11 < 2^66, so one of them can leave 64 bits.
        let mut snowflake = 0_u64;
        for (at, byte) in (Kind::LEN..).zip(digits) {
            let value = value(*byte).ok_or(BrandedIdError::Digit { at, byte: *byte })?;
            snowflake = snowflake
                .checked_mul(BASE)
                .and_then(|shifted| shifted.checked_add(value))
                .unwrap_or(u64::MAX);
        }
        if snowflake > MAX_SNOWFLAKE {
            return Err(BrandedIdError::TooLarge);
        }
        Ok(Self(whole))
    }

    /// The kind, from the first three bytes.
    pub fn kind(&self) -> Kind {
        let [a, b, c, ..] = self.0;
        Kind([a, b, c])
    }

    /// The snowflake, below 2^63.
    pub fn snowflake(&self) -> u64 {
        self.0.iter().skip(Kind::LEN).fold(0, |sum, byte| {
            // In range by the invariant.
            sum.wrapping_mul(BASE).wrapping_add(value(*byte).unwrap_or(0))
        })
    }

    /// When it was minted: milliseconds since 2024-01-01T00:00:00Z, which a snowflake has above
    /// its low 22 bits.
    pub fn millis_since_2024(&self) -> u64 {
        self.snowflake() >> TIMESTAMP_SHIFT
    }

    /// When it was minted, to the millisecond.
    ///
    /// ```
    /// use std::time::{Duration, UNIX_EPOCH};
    /// use echo_wire::keyspace::{BrandedId, Kind};
    ///
    /// let first = BrandedId::new(Kind::new("USR")?, 0)?;
    /// assert_eq!(first.minted_at(), UNIX_EPOCH + Duration::from_secs(1_704_067_200));
    /// # Ok::<(), echo_wire::keyspace::BrandedIdError>(())
    /// ```
    pub fn minted_at(&self) -> SystemTime {
        // At most 2^41 ms after the epoch, some 70 years: no clock is too narrow for it.
        let since = Duration::from_millis(EPOCH_MILLIS.saturating_add(self.millis_since_2024()));
        UNIX_EPOCH.checked_add(since).unwrap_or(UNIX_EPOCH)
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The id as bytes.
    pub fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }
}

impl FromStr for BrandedId {
    type Err = BrandedIdError;

    fn from_str(text: &str) -> Result<Self, BrandedIdError> {
        Self::parse(text.as_bytes())
    }
}

impl TryFrom<&[u8]> for BrandedId {
    type Error = BrandedIdError;

    fn try_from(text: &[u8]) -> Result<Self, BrandedIdError> {
        Self::parse(text)
    }
}

impl AsRef<str> for BrandedId {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<[u8]> for BrandedId {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for BrandedId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for BrandedId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BrandedId({self})")
    }
}

/// Why a text is no branded id.
///
/// ```
/// use echo_wire::keyspace::{BrandedId, BrandedIdError};
///
/// let error = "USR0KHTOWnGLu!".parse::<BrandedId>().unwrap_err();
/// assert_eq!(error, BrandedIdError::Digit { at: 13, byte: b'!' });
/// assert_eq!(error.to_string(), "`!` at byte 13: a snowflake is eleven digits 0-9A-Za-z");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BrandedIdError {
    /// It does not have 14 bytes.
    #[error("a branded id has 14 bytes, this has {len}")]
    Length {
        /// How many it has.
        len: usize,
    },
    /// A kind does not have three bytes.
    #[error("a kind has three letters, this has {len} bytes")]
    KindLength {
        /// How many it has.
        len: usize,
    },
    /// One of the first three bytes is no letter A–Z.
    #[error("`{}` at byte {at}: a kind is three letters A-Z", .byte.escape_ascii())]
    Kind {
        /// Where, counted from 0.
        at: usize,
        /// Which.
        byte: u8,
    },
    /// One of the last eleven bytes is no base-62 digit.
    #[error("`{}` at byte {at}: a snowflake is eleven digits 0-9A-Za-z", .byte.escape_ascii())]
    Digit {
        /// Where in the id, counted from 0.
        at: usize,
        /// Which.
        byte: u8,
    },
    /// The snowflake is 2^63 or more: the largest payload is `AzL8n0Y58m7`.
    #[error("the snowflake is 2^63 or more, the largest payload is AzL8n0Y58m7")]
    TooLarge,
}

/// The digit of a value below 62.
fn digit(value: u64) -> u8 {
    const ALPHABET: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    usize::try_from(value).ok().and_then(|at| ALPHABET.get(at).copied()).unwrap_or(b'0')
}

/// The value of a digit.
fn value(digit: u8) -> Option<u64> {
    let (first, offset) = match digit {
        b'0'..=b'9' => (b'0', 0),
        b'A'..=b'Z' => (b'A', 10),
        b'a'..=b'z' => (b'a', 36),
        _ => return None,
    };
    Some(u64::from(digit.wrapping_sub(first)).wrapping_add(offset))
}

const DIGITS: usize = 11;
const BASE: u64 = 62;
const MAX_SNOWFLAKE: u64 = u64::MAX >> 1;
const TIMESTAMP_SHIFT: u32 = 22;
/// 2024-01-01T00:00:00Z in Unix milliseconds.
const EPOCH_MILLIS: u64 = 1_704_067_200_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<BrandedId, BrandedIdError> {
        text.parse()
    }

    #[test]
    fn the_known_vectors() {
        for (text, snowflake) in [
            ("USR0KHTOWnGLuC", 274_557_032_793_636_864),
            ("USR0NgWEfAEJfs", 320_636_799_581_945_856),
            ("AAA00000000000", 0),
            ("ZZZAzL8n0Y58m7", u64::MAX >> 1),
        ] {
            let id = parse(text).unwrap();
            assert_eq!(id.snowflake(), snowflake, "{text}");
            assert_eq!(BrandedId::new(id.kind(), snowflake).unwrap().as_str(), text);
        }
    }

    #[test]
    fn malformed_ids_are_refused_at_the_byte_that_is_wrong() {
        use BrandedIdError::{Digit, Kind, Length, TooLarge};
        for (text, error) in [
            ("", Length { len: 0 }),
            ("USR0KHTOWnGLu", Length { len: 13 }),
            ("USR0KHTOWnGLuC0", Length { len: 15 }),
            ("usr0KHTOWnGLuC", Kind { at: 0, byte: b'u' }),
            ("U1R0KHTOWnGLuC", Kind { at: 1, byte: b'1' }),
            ("US[0KHTOWnGLuC", Kind { at: 2, byte: b'[' }),
            ("USR-KHTOWnGLuC", Digit { at: 3, byte: b'-' }),
            ("USR0KHTOWnGLu ", Digit { at: 13, byte: b' ' }),
            ("USR0KHTO:nGLuC", Digit { at: 8, byte: b':' }),
            ("USRAzL8n0Y58m8", TooLarge),
            ("USRB0000000000", TooLarge),
            ("USRzzzzzzzzzzz", TooLarge),
        ] {
            assert_eq!(parse(text), Err(error), "{text}");
        }
        assert_eq!(BrandedId::new(Kind(*b"USR"), 1 << 63), Err(TooLarge));
    }

    #[test]
    fn the_time_of_minting_is_read_from_the_snowflake() {
        let id = parse("USR0KHTOWnGLuC").unwrap();
        assert_eq!(id.millis_since_2024(), 274_557_032_793_636_864 >> 22);
        let unix = id.minted_at().duration_since(UNIX_EPOCH).unwrap().as_millis();
        assert_eq!(unix, 1_704_067_200_000 + (274_557_032_793_636_864 >> 22));
    }
}
