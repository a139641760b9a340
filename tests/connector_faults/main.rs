//! What a shared connection does when the world breaks: on real servers where they can be brought
//! into the state, with scripted peers where they cannot. A file a promise.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    unreachable_pub,
    reason = "a test stops where it fails, and is nobody's library"
)]

#[path = "../support/mod.rs"]
mod support;

mod alignment;
mod bed;
mod counters;
mod ends;
mod large;
mod load;
mod loss;
mod not_ready;
mod other_wire;
mod redial;
mod session;
mod silence;
mod witness;
