//! The reply side of the codec, through its public API only.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "a test stops at what it did not expect"
)]

#[path = "../../examples/resp2json/json.rs"]
mod json;
mod pieces;
mod vectors;
