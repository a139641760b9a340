//! A queue's space: `emq:{<queue>}:<type>`, and its job rows `emq:{<queue>}:job:<branded id>`.

use std::fmt;

use super::{branded::BrandedId, key::Key, slot::slot};

/// A queue's name, checked, and the keys made of it.
///
/// ```
/// use echo_wire::keyspace::{NameError, Queue};
///
/// let queue = Queue::new("mail")?;
/// assert_eq!(queue.key("pending")?.as_str(), "emq:{mail}:pending");
///
/// // What would break the hash tag is refused before a key is built.
/// assert_eq!(Queue::new("a}b"), Err(NameError::Byte { at: 1, byte: b'}' }));
/// # Ok::<(), NameError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Queue {
    /// `emq:{<name>}:`
    prefix: String,
}

impl Queue {
    /// A queue of this name.
    ///
    /// # Errors
    ///
    /// [`NameError`] if the name is empty or holds `{`, `}` or a control byte: such a name would
    /// end the hash tag early, empty it, or hide in a terminal.
    pub fn new(name: &str) -> Result<Self, NameError> {
        check(name)?;
        Ok(Self { prefix: Key::of(OPEN, name, CLOSE).into() })
    }

    /// The queue's name.
    pub fn name(&self) -> &str {
        self.prefix.strip_prefix(OPEN).and_then(|rest| rest.strip_suffix(CLOSE)).unwrap_or_default()
    }

    /// The queue's key of a type: `emq:{<queue>}:<type>`. Allocates once.
    ///
    /// # Errors
    ///
    /// [`NameError`] if the type is empty, holds `{`, `}` or a control byte, or is a job row's
    /// (`job`, `job:…`), which [`Queue::job`] builds from an id that was checked.
    pub fn key(&self, key_type: &str) -> Result<Key, NameError> {
        check_type(key_type)?;
        Ok(Key::of(&self.prefix, key_type, ""))
    }

    /// The row of a job: `emq:{<queue>}:job:<id>`. Allocates once.
    pub fn job(&self, id: &BrandedId) -> Key {
        Key::of(&self.prefix, JOB, id.as_str())
    }

    /// The cluster slot of every key of this queue.
    pub fn slot(&self) -> u16 {
        slot(self.prefix.as_bytes())
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Queue({})", self.name())
    }
}

/// Why a queue or a type cannot be named so.
///
/// ```
/// use echo_wire::keyspace::{NameError, Queue};
///
/// let queue = Queue::new("mail")?;
/// assert_eq!(queue.key("job:17"), Err(NameError::Job));
/// assert_eq!(Queue::new(""), Err(NameError::Empty));
/// # Ok::<(), NameError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// It has no bytes.
    #[error("the name is empty")]
    Empty,
    /// It holds `{`, `}` or a control byte.
    #[error("`{}` at byte {at} of the name: braces and control bytes cannot stand in a name", .byte.escape_ascii())]
    Byte {
        /// Where, counted from 0.
        at: usize,
        /// Which.
        byte: u8,
    },
    /// A type that is `job` or begins with `job:`, which only job rows have.
    #[error("the type `job` belongs to job rows, which are named by a branded id")]
    Job,
}

/// A queue's name: not empty, and nothing in it that breaks the hash tag.
pub(super) fn check(name: &str) -> Result<(), NameError> {
    if name.is_empty() {
        return Err(NameError::Empty);
    }
    let breaks = |byte: &u8| matches!(byte, b'{' | b'}') || byte.is_ascii_control();
    match name.bytes().enumerate().find(|(_, byte)| breaks(byte)) {
        Some((at, byte)) => Err(NameError::Byte { at, byte }),
        None => Ok(()),
    }
}

/// A type's name: as a queue's, and not a job row's.
pub(super) fn check_type(name: &str) -> Result<(), NameError> {
    check(name)?;
    if job_row(name).is_some() { Err(NameError::Job) } else { Ok(()) }
}

/// What a job row has in the place of its id: `job:<this>`.
pub(super) fn job_row(key_type: &str) -> Option<&str> {
    key_type.strip_prefix(JOB).or_else(|| (key_type == "job").then_some(""))
}

/// What every key of a queue begins with.
pub(super) const OPEN: &str = "emq:{";
/// What follows the queue's name.
pub(super) const CLOSE: &str = "}:";
const JOB: &str = "job:";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_break_the_hash_tag_are_refused() {
        assert_eq!(Queue::new(""), Err(NameError::Empty));
        for name in ["{", "}", "a{", "}a", "a\0", "a\n", "\x1b[0m", "a\x7f"] {
            assert!(matches!(Queue::new(name), Err(NameError::Byte { .. })), "{name:?}");
        }
        for name in ["a", "emq", "a:b", "a b", "größe", "%00", "e"] {
            assert_eq!(Queue::new(name).unwrap().name(), name);
        }
    }

    #[test]
    fn a_job_row_is_named_by_an_id_only() {
        let queue = Queue::new("q").unwrap();
        assert_eq!(queue.key("job"), Err(NameError::Job));
        assert_eq!(queue.key("job:USR0KHTOWnGLuC"), Err(NameError::Job));
        assert_eq!(queue.key("jobs").unwrap().as_str(), "emq:{q}:jobs");
        assert_eq!(queue.key(""), Err(NameError::Empty));
        assert_eq!(queue.key("a}"), Err(NameError::Byte { at: 1, byte: b'}' }));
    }

    #[test]
    fn a_queue_named_as_the_reserve_shares_its_slot_and_not_its_space() {
        let queue = Queue::new("emq").unwrap();
        assert_eq!(queue.slot(), slot(super::super::VERSION_KEY.as_bytes()));
        assert!(!queue.key("version").unwrap().starts_with(super::super::RESERVE));
    }

    #[test]
    fn errors_name_the_byte_and_its_place() {
        assert_eq!(
            Queue::new("a\n").unwrap_err().to_string(),
            "`\\n` at byte 1 of the name: braces and control bytes cannot stand in a name"
        );
    }
}
