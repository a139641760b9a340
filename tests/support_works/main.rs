//! The test bed itself: what it starts, plays and breaks is what the other tests rely on.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail"
)]

mod proxy;
mod script;
mod server;
#[path = "../support/mod.rs"]
mod support;
