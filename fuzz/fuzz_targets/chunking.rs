//! Throws bytes at the oracle of the same name, which says what must hold.
#![no_main]

#[path = "../oracles/chunking.rs"]
mod chunking;

libfuzzer_sys::fuzz_target!(|input: &[u8]| chunking::check(input));
