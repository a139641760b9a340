//! TLS, on a real server that speaks it (Debian's Redis does) and with certificates made here. A
//! file a promise.
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

mod authority;
mod bed;
mod client;
mod handles;
mod loss;
mod mismatch;
mod names;
mod silence;
mod traffic;
mod trust;
