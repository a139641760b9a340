//! What those who watch are told: spans, events, counters. A file a promise.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    unreachable_pub,
    reason = "a test stops where it fails, and is nobody's library"
)]

#[path = "../support/mod.rs"]
mod support;

mod bed;
mod calls;
mod connects;
mod counters;
mod watcher;
