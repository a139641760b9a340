//! Throws bytes at the oracle of the same name, which says what must hold.
#![no_main]

#[path = "../oracles/roundtrip.rs"]
mod roundtrip;
#[path = "../../tests/codec/server.rs"]
mod server;
#[path = "../../tests/codec/tree.rs"]
mod tree;

libfuzzer_sys::fuzz_target!(|input: &[u8]| roundtrip::check(input));
