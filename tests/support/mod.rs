//! What the integration tests stand on: real servers, scripted ones, and connections that break.
//!
//! | file | what it gives |
//! | --- | --- |
//! | `server.rs` | a real Valkey or Redis process: start, kill, restart, pause |
//! | `raw.rs` | a small client of its own, to look into a server past the crate |
//! | `flavor.rs` | which servers there are, and where their binaries lie |
//! | `port.rs` | a port number nobody else takes while it is held |
//! | `spawn.rs` | child processes that cannot outlive the test process |
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

mod flavor;
mod port;
mod raw;
mod server;
mod spawn;

pub use flavor::{Flavor, flavors};
pub use port::Port;
pub use raw::{Answer, Raw};
pub use server::{Server, ServerBuilder};

use std::time::Duration;

/// How long anything here may take before it counts as broken. Far above what is ever needed:
/// it turns a hang into a failed test and never decides a result.
pub const BOUND: Duration = Duration::from_secs(60);
