//! The names of keys: the reserve, a queue's keys, branded ids, cluster slots.
//!
//! Two spaces, told apart by their first byte:
//!
//! - the **reserve**, `{emq}:…`, for what belongs to no single queue, such as [`VERSION_KEY`];
//! - a **queue's**, `emq:{<queue>}:<type>`, and in it the job rows `emq:{<queue>}:job:<id>`.
//!
//! The braces make all keys of one queue share one cluster slot. [`Queue`] builds keys, so that a
//! malformed one cannot be named; [`classify`] reads any key and says where it lands, and why.
//!
//! ```
//! use echo_wire::keyspace::{BrandedId, Queue, VERSION_KEY, classify};
//!
//! let mail = Queue::new("mail")?;
//! let pending = mail.key("pending")?;
//! let job = mail.job(&"USR0KHTOWnGLuC".parse::<BrandedId>()?);
//! assert_eq!(pending.as_str(), "emq:{mail}:pending");
//! assert_eq!(job.as_str(), "emq:{mail}:job:USR0KHTOWnGLuC");
//! assert_eq!(pending.slot(), job.slot());
//!
//! assert_eq!(classify(VERSION_KEY.as_bytes()).space(), "reserve");
//! assert_eq!(classify(pending.as_bytes()).space(), "queue");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod branded;
mod classify;
mod key;
mod kind;
mod queue;
mod reserve;
mod slot;

pub use branded::{BrandedId, BrandedIdError};
pub use classify::{Class, Foreign, classify};
pub use key::Key;
pub use kind::Kind;
pub use queue::{NameError, Queue};
pub use reserve::{RESERVE, VERSION_KEY};
pub use slot::slot;
