//! A key that a queue built, so that it is well formed.

use std::{borrow::Borrow, fmt, ops::Deref};

use super::slot::slot;

/// A key of a queue, made by [`Queue`](super::Queue) and by nothing else.
///
/// It is an argument like any text: `Command::new("LLEN").arg(&key)`.
///
/// ```
/// use echo_wire::{keyspace::Queue, resp::Command};
///
/// let key = Queue::new("mail")?.key("pending")?;
/// assert_eq!(Command::new("LLEN").arg(&key).get(0), Some(key.as_bytes()));
/// assert_eq!(key.to_string(), "emq:{mail}:pending");
/// # Ok::<(), echo_wire::keyspace::NameError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(String);

impl Key {
    /// The one place that allocates: exactly once, exactly as much as the key has bytes.
    pub(super) fn of(prefix: &str, middle: &str, end: &str) -> Self {
        let len = prefix.len().saturating_add(middle.len()).saturating_add(end.len());
        let mut key = String::with_capacity(len);
        key.push_str(prefix);
        key.push_str(middle);
        key.push_str(end);
        Self(key)
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The key as bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Its cluster slot, which all keys of one queue share.
    pub fn slot(&self) -> u16 {
        slot(self.as_bytes())
    }
}

impl Deref for Key {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Key {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl AsRef<[u8]> for Key {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl From<Key> for String {
    fn from(key: Key) -> Self {
        key.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.0)
    }
}
