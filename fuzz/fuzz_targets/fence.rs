//! Throws bytes at the oracle of the same name, which says what must hold.
#![no_main]

#[path = "../oracles/fence.rs"]
mod fence;

libfuzzer_sys::fuzz_target!(|input: &[u8]| fence::check(input));
