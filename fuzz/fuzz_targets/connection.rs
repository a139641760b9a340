//! Throws bytes at the oracle of the same name, which says what must hold.
#![no_main]

#[path = "../oracles/connection.rs"]
mod connection;
#[path = "../../tests/codec/reference.rs"]
mod reference;
#[path = "../oracles/scripted.rs"]
mod scripted;
#[path = "../../tests/codec/tree.rs"]
mod tree;

libfuzzer_sys::fuzz_target!(|input: &[u8]| connection::check(input));
