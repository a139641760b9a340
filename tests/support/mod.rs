//! What the integration tests stand on: real servers, scripted ones, and connections that break.
//!
//! | file | what it gives |
//! | --- | --- |
//! | `server.rs` | a real Valkey or Redis process: start, kill, restart, pause |
//! | `raw.rs` | a small client of its own, to look into a server past the crate |
//! | `script.rs` | a connection whose server side the test plays, over TCP or in memory |
//! | `listener.rs` | a fake server, whose connections are scripts |
//! | `dialogue.rs` | commands and answers as bytes, for scripts |
//! | `proxy.rs`, `carry.rs` | a proxy that cuts, stalls and counts |
//! | `store.rs` | a store in memory, for what is about time |
//! | `gauge.rs` | open files and live tasks |
//! | `wait.rs` | waiting with a bound in real time |
//! | `flavor.rs` | which servers there are, and where their binaries lie |
//! | `everywhere.rs` | one test on each server, in both generations |
//! | `polls.rs` | a future that is given up after some polls |
//! | `random.rs` | numbers that look random and are the same in every run |
//! | `port.rs` | a port number nobody else takes while it is held |
//! | `watched.rs` | a stream that counts flights and lets a test step in between |
//! | `spawn.rs` | child processes that cannot outlive the test process |
//! | `memory.rs`, `close.rs` | streams and their ends, for `script.rs` and `proxy.rs` |
#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "each test file uses a part of this; the rest must not warn there"
)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a broken test bed must stop the test at once"
)]

mod carry;
mod close;
mod dialogue;
mod everywhere;
mod flavor;
mod gauge;
mod listener;
mod memory;
mod polls;
mod port;
mod proxy;
mod random;
mod raw;
mod script;
mod server;
mod spawn;
mod store;
mod wait;
mod watched;

pub use dialogue::{bulk, encoded};
pub use everywhere::everywhere;
pub use flavor::{Flavor, flavors};
pub use gauge::{Gauge, open_files};
pub use listener::Listener;
pub use memory::MemoryStream;
pub use polls::at_most;
pub use port::Port;
pub use proxy::{Cut, Proxy, Way};
pub use random::Random;
pub use raw::{Answer, Raw};
pub use script::Script;
pub use server::{Server, ServerBuilder};
pub use store::{MemoryStore, VERSION_KEY, WIRE};
pub use wait::{bounded, until};
pub use watched::Watched;

use std::time::Duration;

/// How long anything here may take before it counts as broken. Far above what is ever needed:
/// it turns a hang into a failed test and never decides a result.
pub const BOUND: Duration = Duration::from_secs(60);
