//! What the fence found where the identity of our wire should be.

use std::fmt;

use bytes::Bytes;

/// What the fence found under the version key. It is shown escaped; a value over 1 KiB by its
/// length and first 64 bytes.
///
/// ```
/// use echo_wire::connector::Found;
///
/// assert_eq!(Found::Value("echomq:1\n".into()).to_string(), "echomq:1\\n");
/// assert_eq!(Found::Absent.to_string(), "(none)");
/// let huge = Found::Value(vec![b'x'; 1 << 20].into());
/// assert!(huge.to_string().ends_with("xxx… (1048576 bytes)"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub enum Found {
    /// Another value.
    Value(Bytes),
    /// Nothing, though it had been claimed.
    Absent,
    /// A key that is no string.
    WrongType,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // A megabyte in a log line helps nobody: its length and its head do.
            Self::Value(value) if value.len() > SHOWN_WHOLE => {
                let head = value.get(..HEAD).unwrap_or_default();
                write!(f, "{}… ({} bytes)", head.escape_ascii(), value.len())
            }
            Self::Value(value) => write!(f, "{}", value.escape_ascii()),
            Self::Absent => f.write_str("(none)"),
            Self::WrongType => f.write_str("(wrong type)"),
        }
    }
}

impl fmt::Debug for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Found({self})")
    }
}

/// The longest value that is shown whole, in bytes.
const SHOWN_WHOLE: usize = 1024;
/// Bytes shown of a longer one.
const HEAD: usize = 64;
