//! A socket's life: dial → boot → **fence** → serve → lose → dial again.
//!
//! - What to connect to: [`config`](Config), from a `url` or built; `endpoint`, `credentials` and
//!   `identity`, where they come from, `client_name`, `wire`, `resolver`.
//! - The connect sequence: `establish` dials a `transport`, puts `tls` on it if that is wanted
//!   (`tongue` finds out who speaks what), and hands it to `boot`, whose last word is the `fence`'s; both talk through `sync`, which owns the socket and its `inbox`.
//! - A [`connection`](Connection) is what came through, for one owner.
//! - What it is sent: commands, or a [`pipeline`](Pipeline) of them; `command_table` knows what a
//!   command does to the connection, `arguments` makes keys and ids arguments. `scripting` is about
//!   [scripts](Script) and their calls.
//! - A [`Connector`] (`handle`) is one for many: `link` shares the live socket, `lifecycle` does
//!   what `supervisor` decides when it is lost, after a `backoff`; `family` stops all at once.
//! - `observe` tells those who watch from outside what happens.
//! - What callers get besides replies: [`transaction`](Transaction), [`event`](Event),
//!   [`stats`](Stats); what they can set: [`policy`](Policy).
mod arguments;
mod backoff;
mod boot;
mod carrier;
mod cause;
mod client_name;
mod command_table;
mod config;
mod config_error;
mod connection;
mod credentials;
mod deadline;
mod dialect;
mod dialer;
mod endpoint;
mod error;
mod establish;
mod event;
mod exclusive;
mod family;
mod fence;
mod found;
mod handle;
mod identity;
mod inbox;
mod lifecycle;
mod link;
mod observe;
mod passage;
mod patience;
mod percent;
mod pipeline;
mod policy;
mod pool;
mod pubsub;
mod pushes;
mod reauthenticate;
mod refused;
mod replies;
mod resolver;
mod scripting;
mod stats;
mod step;
mod supervisor;
mod sync;
#[cfg(feature = "tls")]
mod tls;
#[cfg(not(feature = "tls"))]
#[path = "tls_off.rs"]
mod tls;
mod tls_error;
mod tongue;
mod transaction;
mod transport;
mod url;
mod version_get;
mod violation;
mod wire;

pub use carrier::Carrier;
pub use cause::Cause;
pub use command_table::{Reason, Refusal, Traits};
pub use config::Config;
pub use config_error::{ConfigError, Part as ConfigPart};
pub use connection::Connection;
pub use credentials::Credentials;
pub use endpoint::Endpoint;
pub use error::Error;
pub use event::{Event, Events};
pub use exclusive::{Dedicated, Orphan, Watch};
pub use found::Found;
pub use handle::Connector;
pub use passage::Passage;
pub use pipeline::Pipeline;
pub use policy::{Policy, WhenAway, WhenFull};
pub use pool::Pool;
pub use pubsub::{Delivery, Message, Subscription};
pub use replies::{FromReplies, Replies};
pub use resolver::{Addresses, Resolve};
pub use scripting::{Script, ScriptCall};
pub use stats::Stats;
pub use step::Step;
#[cfg(feature = "tls")]
pub use tls::Tls;
pub use tls_error::TlsError;
pub use transaction::Transaction;
pub use violation::Violation;
pub use wire::WIRE_VERSION;
