//! The reply side of the codec, through its public API only.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a test stops at what it did not expect"
)]

mod convert;
mod depth;
#[path = "../../examples/resp2json/filter.rs"]
mod filter;
mod grammar;
#[path = "../../examples/resp2json/json.rs"]
mod json;
mod oracle;
mod pieces;
mod properties;
mod reference;
mod resp2json;
mod server;
mod tree;
mod values;
mod vectors;
