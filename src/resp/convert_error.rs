//! Why a reply cannot be read as a type.

use std::fmt;

use super::{ReplyRef, ServerError, Value};

/// A reply is not of the type that was asked for: what was wanted, what came, and where in the
/// reply. A server's error that stood in a value's place is reported as that error.
///
/// ```
/// use echo_wire::resp::{Decoder, Limits};
///
/// let mut decoder = Decoder::new(Limits::default());
/// decoder.feed(b"*2\r\n:1\r\n*2\r\n$1\r\nx\r\n-OOM no room\r\n");
/// let reply = decoder.next()?.unwrap();
///
/// let error = reply.to::<(i64, Vec<i64>)>().unwrap_err();
/// assert_eq!(error.to_string(), "wanted i64, came bulk string \"x\" at [1][0]");
/// assert_eq!(error.path(), [1, 0]);
///
/// let error = reply.to::<(i64, (String, i64))>().unwrap_err();
/// assert_eq!(error.server_error().unwrap().code(), "OOM");
/// # Ok::<(), echo_wire::resp::ProtocolError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ConvertError {
    // Boxed: a mismatch is rare, and a small `Result` is cheap to pass on.
    inner: Box<Mismatch>,
}

#[derive(Clone, PartialEq, Eq)]
struct Mismatch {
    wanted: &'static str,
    came: String,
    server: Option<ServerError>,
    /// Indexes, the innermost first.
    path: Vec<usize>,
}

/// Bytes of a value that an error shows at most.
const SHOWN: usize = 64;

impl ConvertError {
    /// `reply` does not read as `wanted` (a type, or words that say what would have done). For
    /// your own [`FromReply`](super::FromReply).
    pub fn mismatch(wanted: &'static str, reply: ReplyRef<'_>) -> Self {
        let (came, server) = (describe(reply.value()), reply.as_error());
        Self { inner: Box::new(Mismatch { wanted, came, server, path: Vec::new() }) }
    }

    /// So many replies came where another number was wanted.
    pub(crate) fn count(wanted: &'static str, came: usize) -> Self {
        let came = if came == 1 { "one reply".to_owned() } else { format!("{came} replies") };
        Self { inner: Box::new(Mismatch { wanted, came, server: None, path: Vec::new() }) }
    }

    /// The same error, found inside the element at `index` of an aggregate.
    #[must_use]
    pub fn inside(mut self, index: usize) -> Self {
        self.inner.path.push(index);
        self
    }

    /// What would have done.
    pub fn wanted(&self) -> &'static str {
        self.inner.wanted
    }

    /// What stood there: its type, and its value where that is short.
    pub fn came(&self) -> &str {
        &self.inner.came
    }

    /// Where: the index at each level, from the outermost. A map's keys and values count in turn.
    pub fn path(&self) -> Vec<usize> {
        self.inner.path.iter().rev().copied().collect()
    }

    /// The server's error, if that is what stood there.
    pub fn server_error(&self) -> Option<&ServerError> {
        self.inner.server.as_ref()
    }
}

fn describe(value: Value<'_>) -> String {
    let name = value.type_name();
    match value {
        Value::Integer(value) => format!("{name} {value}"),
        Value::Boolean(value) => format!("{name} {value}"),
        Value::Double(value) => format!("{name} {value}"),
        Value::Null(_) => name.to_owned(),
        Value::Array(items) | Value::Set(items) | Value::Push(items) => {
            format!("{name} of {}", items.len())
        }
        Value::Map(pairs) => format!("{name} of {}", pairs.len()),
        value => match value.text().unwrap_or_default() {
            text if text.len() <= SHOWN => format!("{name} \"{}\"", text.escape_ascii()),
            text => format!("{name} of {} bytes", text.len()),
        },
    }
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.inner.server {
            Some(error) => write!(f, "the server answered {error}")?,
            None => write!(f, "wanted {}, came {}", self.wanted(), self.came())?,
        }
        if !self.inner.path.is_empty() {
            f.write_str(" at ")?;
        }
        self.inner.path.iter().rev().try_for_each(|index| write!(f, "[{index}]"))
    }
}

impl fmt::Debug for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConvertError({self})")
    }
}

impl std::error::Error for ConvertError {}
