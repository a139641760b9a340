//! The fence on real servers: every row of its table, over TCP and a Unix socket, in both
//! generations of the protocol.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail"
)]

mod claim;
mod doors;
mod flights;
mod key;
mod replica;
mod state;
#[path = "../support/mod.rs"]
mod support;
mod user;
