//! Replies as types of yours.

use bytes::Bytes;

use super::{ConvertError, Reply, ReplyRef, ServerError, Value, double};

/// A type that a reply can be read as.
///
/// | type | reads |
/// |---|---|
/// | integers | an integer; a string-like value that holds one |
/// | `f64` | a double, an integer; a string-like value that holds one, by RESP's grammar |
/// | `bool` | a boolean; the integers 0 and 1 |
/// | `String`, `Vec<u8>`, [`Bytes`] | any string-like value but errors (`String`: if it is UTF-8) |
/// | `Option<T>` | null as `None`, anything else as `T` |
/// | `Vec<T>`, `HashSet<T>`, `BTreeSet<T>` | an array, a set, a push |
/// | tuples up to eight | an array, set or push of exactly so many elements |
/// | `HashMap<K, V>`, `BTreeMap<K, V>`, `Vec<(K, V)>` | a map; an array of keys and values in turn (RESP2's map), or of pairs |
/// | `Result<T, ServerError>` | an error as `Err`, anything else as `T` |
/// | [`Reply`] | anything but an error, as an owned copy |
/// | `()` | anything but an error |
///
/// A null is read by `Option`, `()` and `Reply` only. An error reply is read by `Result` only:
/// otherwise it comes back as [`ConvertError::server_error`].
///
/// ```
/// use echo_wire::resp::{ConvertError, Decoder, FromReply, Limits, ReplyRef};
///
/// struct Celsius(f64);
///
/// impl FromReply for Celsius {
///     fn from_reply(reply: ReplyRef<'_>) -> Result<Self, ConvertError> {
///         f64::from_reply(reply).map(Celsius)
///     }
/// }
///
/// let mut decoder = Decoder::new(Limits::default());
/// decoder.feed(b"*2\r\n,21.5\r\n$4\r\n-3.0\r\n");
/// let reply = decoder.next()?.unwrap();
/// let degrees: Vec<Celsius> = reply.to()?;
/// assert_eq!(degrees[1].0, -3.0);
///
/// let error = reply.to::<Vec<i64>>().unwrap_err();
/// assert_eq!(error.to_string(), "wanted i64, came double 21.5 at [0]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait FromReply: Sized {
    /// Reads one element.
    ///
    /// # Errors
    ///
    /// The element is of no type that reads as this, or out of its range.
    fn from_reply(reply: ReplyRef<'_>) -> Result<Self, ConvertError>;

    /// Reads a list of these: an array, a set or a push, element by element. Bytes and pairs have
    /// a second form and override it; there is no need to elsewhere.
    ///
    /// # Errors
    ///
    /// As [`from_reply`](FromReply::from_reply), saying at which index.
    fn list_from_reply(reply: ReplyRef<'_>) -> Result<Vec<Self>, ConvertError> {
        let Some(items) = reply.value().elements() else {
            return Err(ConvertError::mismatch("a list", reply));
        };
        let read = |(index, item)| Self::from_reply(item).map_err(|e| e.inside(index));
        items.iter().enumerate().map(read).collect()
    }
}

macro_rules! integers {
    ($($int:ty)*) => {$(
        impl FromReply for $int {
            fn from_reply(reply: ReplyRef<'_>) -> Result<Self, ConvertError> {
                let read = match reply.value() {
                    Value::Integer(value) => Self::try_from(value).ok(),
                    value => string(value).and_then(decimal),
                };
                read.ok_or_else(|| ConvertError::mismatch(stringify!($int), reply))
            }
        }
    )*};
}

integers!(i8 i16 i32 i64 i128 isize u16 u32 u64 u128 usize);

impl FromReply for u8 {
    fn from_reply(reply: ReplyRef<'_>) -> Result<Self, ConvertError> {
        u16::from_reply(reply)
            .ok()
            .and_then(|value| Self::try_from(value).ok())
            .ok_or_else(|| ConvertError::mismatch("u8", reply))
    }

    fn list_from_reply(reply: ReplyRef<'_>) -> Result<Vec<Self>, ConvertError> {
        let text = string(reply.value()).map(<[Self]>::to_vec);
        text.ok_or_else(|| ConvertError::mismatch("bytes", reply))
    }
}

/// An integer's decimal text.
fn decimal<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The text of a string-like value that is no error.
fn string(value: Value<'_>) -> Option<&[u8]> {
    match value {
        Value::SimpleError(_) | Value::BulkError(_) => None,
        value => value.text(),
    }
}

impl FromReply for f64 {
    #[allow(clippy::cast_precision_loss, reason = "a score that came as an integer is a double")]
    fn from_reply(reply: ReplyRef<'_>) -> Result<Self, ConvertError> {
        let read = match reply.value() {
            Value::Double(value) => Some(value),
            Value::Integer(value) => Some(value as Self),
            value => string(value).and_then(double::parse),
        };
        read.ok_or_else(|| ConvertError::mismatch("f64", reply))
    }
}

impl FromReply for bool {
    fn from_reply(reply: ReplyRef<'_>) -> Result<Self, ConvertError> {
        match reply.value() {
            Value::Boolean(value) => Ok(value),
            Value::Integer(0) => Ok(false),
            Value::Integer(1) => Ok(true),
            _ => Err(ConvertError::mismatch("bool", reply)),
        }
    }
}

impl FromReply for String {
    fn from_reply(reply: ReplyRef<'_>) -> Result<Self, ConvertError> {
        let text = string(reply.value()).and_then(|text| std::str::from_utf8(text).ok());
        text.map(Self::from).ok_or_else(|| ConvertError::mismatch("a UTF-8 string", reply))
    }
}

impl FromReply for Bytes {
    fn from_reply(reply: ReplyRef<'_>) -> Result<Self, ConvertError> {
        let text = if reply.is_error() { None } else { reply.to_bytes() };
        text.ok_or_else(|| ConvertError::mismatch("bytes", reply))
    }
}

impl<T: FromReply> FromReply for Option<T> {
    fn from_reply(reply: ReplyRef<'_>) -> Result<Self, ConvertError> {
        if reply.is_null() { Ok(None) } else { T::from_reply(reply).map(Some) }
    }
}

impl<T: FromReply> FromReply for Result<T, ServerError> {
    fn from_reply(reply: ReplyRef<'_>) -> Result<Self, ConvertError> {
        match reply.as_error() {
            Some(error) => Ok(Err(error)),
            None => T::from_reply(reply).map(Ok),
        }
    }
}

impl FromReply for Reply {
    fn from_reply(reply: ReplyRef<'_>) -> Result<Self, ConvertError> {
        if reply.is_error() {
            return Err(ConvertError::mismatch("a reply", reply));
        }
        Ok(reply.to_reply())
    }
}

impl FromReply for () {
    fn from_reply(reply: ReplyRef<'_>) -> Result<Self, ConvertError> {
        if reply.is_error() { Err(ConvertError::mismatch("no error", reply)) } else { Ok(()) }
    }
}
