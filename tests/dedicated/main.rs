//! Connections that are one caller's alone: what waits on them, what is watched on them, what is
//! not answered on them. A file a promise.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    unreachable_pub,
    reason = "a test stops where it fails, and is nobody's library"
)]

#[path = "../support/mod.rs"]
mod support;

mod bed;
mod deadlines;
mod giving_up;
mod loss;
mod noreply;
mod unblock;
mod waiting;
mod watch;
