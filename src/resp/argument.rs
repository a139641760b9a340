//! One argument of a command: bytes that are borrowed, bytes that are shared, or a number's text.

use std::{borrow::Cow, fmt};

use bytes::Bytes;

use super::number;

/// One argument of a [`Command`](super::Command), made by `From`.
///
/// | from | sent as |
/// |---|---|
/// | `&str`, `&String`, `&[u8]`, `&[u8; N]`, `&Vec<u8>`, `&Cow<str>` | the bytes, borrowed |
/// | `&Bytes` | the bytes; a large one is handed to the socket without a copy |
/// | integers | decimal digits |
/// | `f64` | the shortest text that reads back as the same number, `inf`, `-inf`, `nan` |
///
/// What is borrowed outlives the command: `.arg(&format!("user:{id}"))` where the command is sent in the
/// same statement, else a variable that holds the text.
///
/// A type of one's own joins by `impl<'a> From<&'a Mine> for Arg<'a>`:
///
/// ```
/// use echo_wire::resp::{Arg, Command};
///
/// struct Topic(String);
/// impl<'a> From<&'a Topic> for Arg<'a> {
///     fn from(topic: &'a Topic) -> Self {
///         topic.0.as_bytes().into()
///     }
/// }
/// let topic = Topic("news".into());
/// assert_eq!(Command::new("GET").arg(&topic).get(0), Some(&b"news"[..]));
/// ```
#[derive(Clone)]
pub struct Arg<'a>(Repr<'a>);

#[derive(Clone)]
enum Repr<'a> {
    Borrowed(&'a [u8]),
    Shared(&'a Bytes),
    /// `len <= SHORT`.
    Short {
        len: u8,
        text: [u8; SHORT],
    },
    /// Exactly [`number::LONGEST`] bytes, one more than `Short` holds.
    Long([u8; number::LONGEST]),
}

/// What fits beside a tag and a length in the 24 bytes of an [`Arg`].
const SHORT: usize = number::LONGEST - 1;

impl Arg<'_> {
    /// The bytes that are sent.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Repr::Borrowed(bytes) => bytes,
            Repr::Shared(bytes) => bytes,
            Repr::Short { len, text } => text.get(..usize::from(*len)).unwrap_or(text),
            Repr::Long(text) => text,
        }
    }

    /// The bytes as a shared buffer, where they came as one.
    pub(super) fn as_shared(&self) -> Option<&Bytes> {
        match &self.0 {
            Repr::Shared(bytes) => Some(bytes),
            _ => None,
        }
    }

    fn number(text: &[u8]) -> Self {
        let mut short = [0; SHORT];
        if let Ok(long) = text.try_into() {
            return Self(Repr::Long(long));
        }
        let mut len = 0_u8;
        for (slot, byte) in short.iter_mut().zip(text) {
            *slot = *byte;
            len = len.saturating_add(1);
        }
        Self(Repr::Short { len, text: short })
    }
}

impl fmt::Debug for Arg<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Arg({} bytes)", self.as_bytes().len())
    }
}

macro_rules! from_borrowed {
    ($($type:ty => $bytes:ident),+ $(,)?) => {$(
        impl<'a> From<$type> for Arg<'a> {
            #[inline]
            fn from(value: $type) -> Self {
                Self(Repr::Borrowed(value.$bytes()))
            }
        }
    )+};
}

from_borrowed! {
    &'a str => as_bytes,
    &'a &'a str => as_bytes,
    &'a String => as_bytes,
    &'a Cow<'a, str> => as_bytes,
    &'a Vec<u8> => as_slice,
}

impl<'a> From<&'a [u8]> for Arg<'a> {
    #[inline]
    fn from(value: &'a [u8]) -> Self {
        Self(Repr::Borrowed(value))
    }
}

impl<'a> From<&'a &'a [u8]> for Arg<'a> {
    #[inline]
    fn from(value: &'a &'a [u8]) -> Self {
        Self(Repr::Borrowed(value))
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Arg<'a> {
    #[inline]
    fn from(value: &'a [u8; N]) -> Self {
        Self(Repr::Borrowed(value))
    }
}

impl<'a> From<&'a Bytes> for Arg<'a> {
    #[inline]
    fn from(value: &'a Bytes) -> Self {
        Self(Repr::Shared(value))
    }
}

impl From<i64> for Arg<'_> {
    fn from(value: i64) -> Self {
        Self::number(number::integer(value < 0, value.unsigned_abs(), &mut [0; number::LONGEST]))
    }
}

impl From<u64> for Arg<'_> {
    fn from(value: u64) -> Self {
        Self::number(number::integer(false, value, &mut [0; number::LONGEST]))
    }
}

macro_rules! from_narrower {
    ($($type:ty => $wide:ty),+) => {$(
        impl From<$type> for Arg<'_> {
            #[inline]
            fn from(value: $type) -> Self {
                Self::from(<$wide>::from(value))
            }
        }
    )+};
}

from_narrower!(u8 => u64, u16 => u64, u32 => u64, i8 => i64, i16 => i64, i32 => i64);

impl From<usize> for Arg<'_> {
    #[inline]
    fn from(value: usize) -> Self {
        // No platform of ours has a wider usize.
        Self::from(u64::try_from(value).unwrap_or(u64::MAX))
    }
}

impl From<f64> for Arg<'_> {
    fn from(value: f64) -> Self {
        Self::number(number::double(value, &mut [0; number::LONGEST]))
    }
}
