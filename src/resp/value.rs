//! What a reply says, by the specification's names.

use super::{Elements, Pairs, kind::Kind, scan::Leaf};

/// One element of a reply, borrowed from it.
///
/// The variants are the types of RESP2 and RESP3, <https://valkey.io/topics/protocol/>, but for
/// attributes, which stand beside a value (see [`ReplyRef::attributes`](super::ReplyRef)).
///
/// ```
/// use echo_wire::resp::{Decoder, Limits, Value};
///
/// let mut decoder = Decoder::new(Limits::default());
/// decoder.feed(b"*2\r\n$5\r\nhello\r\n:42\r\n");
/// let reply = decoder.next()?.unwrap();
/// let Value::Array(items) = reply.value() else { panic!("an array was sent") };
/// let values: Vec<_> = items.iter().map(|item| item.value()).collect();
/// assert_eq!(values, [Value::BulkString(b"hello"), Value::Integer(42)]);
/// # Ok::<(), echo_wire::resp::ProtocolError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// `+OK`: a short status without CR and LF.
    SimpleString(&'a [u8]),
    /// `-ERR …`: an error's code and message.
    SimpleError(&'a [u8]),
    /// `:42`
    Integer(i64),
    /// `$5`: any bytes. A streamed string reads as one.
    BulkString(&'a [u8]),
    /// `*2`
    Array(Elements<'a>),
    /// `_`, `$-1` or `*-1`: nothing.
    Null(Null),
    /// `#t`
    Boolean(bool),
    /// `,1.5`; every NaN reads as [`f64::NAN`].
    Double(f64),
    /// `(123…`: an optional sign and digits, as many as there are.
    BigNumber(&'a [u8]),
    /// `!5`: an error that may hold any bytes.
    BulkError(&'a [u8]),
    /// `=15`: a text and how to show it.
    VerbatimString {
        /// Three bytes: `txt`, `mkd`, or another.
        format: &'a [u8],
        /// The text, without the format.
        text: &'a [u8],
    },
    /// `%2`: pairs in wire order, none dropped.
    Map(Pairs<'a>),
    /// `~2`: elements in wire order, none dropped.
    Set(Elements<'a>),
    /// `>2`: a message that answers no command. Only ever a whole reply.
    Push(Elements<'a>),
}

/// Which of the three nulls stood on the wire. They mean the same.
///
/// ```
/// use echo_wire::resp::{Decoder, Limits, Null, Value};
///
/// let mut decoder = Decoder::new(Limits::default());
/// decoder.feed(b"*-1\r\n");
/// let reply = decoder.next()?.unwrap();
/// assert!(reply.is_null());
/// assert_eq!(reply.value(), Value::Null(Null::Array));
/// # Ok::<(), echo_wire::resp::ProtocolError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Null {
    /// `$-1`: RESP2's null bulk string.
    Bulk,
    /// `*-1`: RESP2's null array.
    Array,
    /// `_`: RESP3's null.
    Resp3,
}

impl Null {
    #[inline]
    pub(super) const fn from_number(number: u64) -> Self {
        match number {
            0 => Self::Bulk,
            1 => Self::Array,
            _ => Self::Resp3,
        }
    }
}

impl<'a> Value<'a> {
    /// The bytes of any string-like value (simple, bulk, verbatim without its format, big number,
    /// error); `None` for the others.
    #[inline]
    pub fn text(self) -> Option<&'a [u8]> {
        match self {
            Self::SimpleString(text)
            | Self::SimpleError(text)
            | Self::BulkString(text)
            | Self::BigNumber(text)
            | Self::BulkError(text)
            | Self::VerbatimString { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The elements of an array, a set or a push; `None` for the others.
    #[inline]
    pub fn elements(self) -> Option<Elements<'a>> {
        match self {
            Self::Array(items) | Self::Set(items) | Self::Push(items) => Some(items),
            _ => None,
        }
    }

    /// The type's name, as the specification writes it.
    pub const fn type_name(self) -> &'static str {
        match self {
            Self::SimpleString(_) => "simple string",
            Self::SimpleError(_) => "simple error",
            Self::Integer(_) => "integer",
            Self::BulkString(_) => "bulk string",
            Self::Array(_) => "array",
            Self::Null(_) => "null",
            Self::Boolean(_) => "boolean",
            Self::Double(_) => "double",
            Self::BigNumber(_) => "big number",
            Self::BulkError(_) => "bulk error",
            Self::VerbatimString { .. } => "verbatim string",
            Self::Map(_) => "map",
            Self::Set(_) => "set",
            Self::Push(_) => "push",
        }
    }

    #[inline(always)]
    pub(super) fn of_leaf(leaf: Leaf<&'a [u8]>) -> Self {
        match leaf {
            Leaf::Text(kind, text) => Self::of_text(kind, text),
            Leaf::Integer(value) => Self::Integer(value),
            Leaf::Double(value) => Self::Double(value),
            Leaf::Boolean(value) => Self::Boolean(value),
            Leaf::Null(form) => Self::Null(form),
        }
    }

    #[inline(always)]
    pub(super) fn of_text(kind: Kind, text: &'a [u8]) -> Self {
        match kind {
            Kind::SimpleString => Self::SimpleString(text),
            Kind::SimpleError => Self::SimpleError(text),
            Kind::BigNumber => Self::BigNumber(text),
            Kind::BulkError => Self::BulkError(text),
            Kind::VerbatimString => {
                // Decoded: three bytes and a colon lead.
                let (format, rest) = text.split_at_checked(3).unwrap_or((b"", text));
                Self::VerbatimString { format, text: rest.get(1..).unwrap_or_default() }
            }
            _ => Self::BulkString(text),
        }
    }
}
