//! Where any key lands, and why.

use std::{fmt, str};

use super::{
    branded::{BrandedId, BrandedIdError},
    queue::{self, CLOSE, NameError, OPEN},
    reserve::RESERVE,
};

/// Says where a key lands and why: in the reserve, in a queue's space, or nowhere of ours.
///
/// The first byte tells the reserve (`{`) from a queue's space (`e`). Its [`Display`](fmt::Display)
/// is the reason, in words.
///
/// ```
/// use echo_wire::keyspace::{Class, classify};
///
/// let class = classify(b"emq:{mail}:job:USR0KHTOWnGLuC");
/// assert_eq!((class.space(), class.queue(), class.key_type()), ("queue", Some("mail"), Some("job")));
/// assert_eq!(class.job().unwrap().snowflake(), 274557032793636864);
///
/// assert!(matches!(classify(b"{emq}:version"), Class::Reserve { name: b"version" }));
/// assert_eq!(
///     classify(b"emq:mail:pending").to_string(),
///     "foreign: it begins with neither {emq}: nor emq:{",
/// );
/// ```
pub fn classify(key: &[u8]) -> Class<'_> {
    if let Some(name) = key.strip_prefix(RESERVE.as_bytes()) {
        return Class::Reserve { name };
    }
    match in_queue(key) {
        Ok(class) => class,
        Err(foreign) => Class::Foreign(foreign),
    }
}

fn in_queue(key: &[u8]) -> Result<Class<'_>, Foreign> {
    let rest = key.strip_prefix(OPEN.as_bytes()).ok_or(Foreign::Prefix)?;
    let close = memchr::memchr(b'}', rest).ok_or(Foreign::Unclosed)?;
    let (queue, rest) = rest.split_at_checked(close).ok_or(Foreign::Unclosed)?;
    let key_type = rest.strip_prefix(CLOSE.as_bytes()).ok_or(Foreign::NoType)?;
    let queue = str::from_utf8(queue).map_err(|_| Foreign::NotText)?;
    let key_type = str::from_utf8(key_type).map_err(|_| Foreign::NotText)?;
    queue::check(queue).map_err(Foreign::Queue)?;
    if let Some(id) = queue::job_row(key_type) {
        return Ok(Class::Job { queue, id: id.parse() });
    }
    match queue::check_type(key_type) {
        Ok(()) => Ok(Class::Queue { queue, key_type }),
        Err(NameError::Empty) => Err(Foreign::NoType),
        Err(error) => Err(Foreign::Type(error)),
    }
}

/// Where a key lands.
///
/// ```
/// use echo_wire::keyspace::{BrandedIdError, Class, classify};
///
/// let key = b"emq:{mail}:job:USR";
/// let id = Err(BrandedIdError::Length { len: 3 });
/// assert_eq!(classify(key), Class::Job { queue: "mail", id });
/// assert_eq!(classify(key).job(), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Class<'a> {
    /// In the reserve: `{emq}:<name>`.
    Reserve {
        /// What follows the reserve's prefix.
        name: &'a [u8],
    },
    /// In a queue's space: `emq:{<queue>}:<type>`.
    Queue {
        /// The queue's name.
        queue: &'a str,
        /// The type.
        key_type: &'a str,
    },
    /// In a queue's space, in the place of a job row: `emq:{<queue>}:job:<id>`.
    Job {
        /// The queue's name.
        queue: &'a str,
        /// The job's id, or why what stands in its place is none. Such a key is never built.
        id: Result<BrandedId, BrandedIdError>,
    },
    /// In no space of ours.
    Foreign(Foreign),
}

impl<'a> Class<'a> {
    /// `reserve`, `queue` or `foreign`.
    pub fn space(&self) -> &'static str {
        match self {
            Self::Reserve { .. } => "reserve",
            Self::Queue { .. } | Self::Job { .. } => "queue",
            Self::Foreign(_) => "foreign",
        }
    }

    /// The queue whose key it is.
    pub fn queue(&self) -> Option<&'a str> {
        match *self {
            Self::Queue { queue, .. } | Self::Job { queue, .. } => Some(queue),
            Self::Reserve { .. } | Self::Foreign(_) => None,
        }
    }

    /// The type of a queue's key, `job` for a job row.
    pub fn key_type(&self) -> Option<&'a str> {
        match *self {
            Self::Queue { key_type, .. } => Some(key_type),
            Self::Job { .. } => Some("job"),
            Self::Reserve { .. } | Self::Foreign(_) => None,
        }
    }

    /// The id of a job row that is well formed.
    pub fn job(&self) -> Option<BrandedId> {
        match self {
            Self::Job { id, .. } => id.ok(),
            _ => None,
        }
    }
}

/// Why a key is in no space of ours.
///
/// ```
/// use echo_wire::keyspace::{Class, Foreign, classify};
///
/// assert_eq!(classify(b"user:17"), Class::Foreign(Foreign::Prefix));
/// assert_eq!(classify(b"emq:{mail}"), Class::Foreign(Foreign::NoType));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Foreign {
    /// It begins with neither `{emq}:` nor `emq:{`.
    Prefix,
    /// No `}` ends the queue's name.
    Unclosed,
    /// No `:` and type follow the queue's name.
    NoType,
    /// Its queue or type is no UTF-8.
    NotText,
    /// No queue can have this name.
    Queue(NameError),
    /// No type can have this name.
    Type(NameError),
}

impl fmt::Display for Class<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reserve { name } => {
                write!(
                    f,
                    "reserve: it begins with {RESERVE}, `{}` is of no queue",
                    name.escape_ascii()
                )
            }
            Self::Queue { queue, key_type } => {
                write!(f, "queue: it begins with emq:{{{queue}}}:, the type `{key_type}` follows")
            }
            Self::Job { queue, id: Ok(id) } => {
                write!(f, "queue: a job row of `{queue}`, its id names a {}", id.kind())
            }
            Self::Job { queue, id: Err(error) } => {
                write!(f, "queue: in the place of a job row of `{queue}`, but no job's: {error}")
            }
            Self::Foreign(foreign) => write!(f, "foreign: {foreign}"),
        }
    }
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prefix => f.write_str("it begins with neither {emq}: nor emq:{"),
            Self::Unclosed => f.write_str("after emq:{ no } ends the queue's name"),
            Self::NoType => f.write_str("no `:` and type follow the queue's name"),
            Self::NotText => f.write_str("its queue or type is no UTF-8"),
            Self::Queue(error) => write!(f, "no queue has this name: {error}"),
            Self::Type(error) => write!(f, "no type has this name: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_lands_where_its_first_bytes_say() {
        let class = |key: &'static str| classify(key.as_bytes());
        let id = "USR0KHTOWnGLuC".parse();
        for (key, want) in [
            ("{emq}:version", Class::Reserve { name: b"version" }),
            ("{emq}:", Class::Reserve { name: b"" }),
            ("emq:{q}:pending", Class::Queue { queue: "q", key_type: "pending" }),
            ("emq:{emq}:version", Class::Queue { queue: "emq", key_type: "version" }),
            ("emq:{q}:a:b", Class::Queue { queue: "q", key_type: "a:b" }),
            ("emq:{q}:jobs", Class::Queue { queue: "q", key_type: "jobs" }),
            ("emq:{q}:job:USR0KHTOWnGLuC", Class::Job { queue: "q", id }),
            (
                "emq:{q}:job:USR",
                Class::Job { queue: "q", id: Err(BrandedIdError::Length { len: 3 }) },
            ),
            ("emq:{q}:job", Class::Job { queue: "q", id: Err(BrandedIdError::Length { len: 0 }) }),
            ("", Class::Foreign(Foreign::Prefix)),
            ("{emq}", Class::Foreign(Foreign::Prefix)),
            ("emq:q:pending", Class::Foreign(Foreign::Prefix)),
            ("EMQ:{q}:pending", Class::Foreign(Foreign::Prefix)),
            ("emq:{q", Class::Foreign(Foreign::Unclosed)),
            ("emq:{q}", Class::Foreign(Foreign::NoType)),
            ("emq:{q}pending", Class::Foreign(Foreign::NoType)),
            ("emq:{q}:", Class::Foreign(Foreign::NoType)),
            ("emq:{}:pending", Class::Foreign(Foreign::Queue(NameError::Empty))),
            (
                "emq:{{q}:pending",
                Class::Foreign(Foreign::Queue(NameError::Byte { at: 0, byte: b'{' })),
            ),
            ("emq:{q}:a\nb", Class::Foreign(Foreign::Type(NameError::Byte { at: 1, byte: b'\n' }))),
        ] {
            assert_eq!(class(key), want, "{key}");
        }
        assert_eq!(classify(b"emq:{\xff}:x"), Class::Foreign(Foreign::NotText));
    }
}
