//! The tool as its users have it: its binary, on real servers. A verb a file.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops where it fails"
)]

#[path = "../../../tests/support/mod.rs"]
mod support;

mod fence;
mod keys;
mod ping;
mod resp;
mod runs;
mod usage;
mod watch;
