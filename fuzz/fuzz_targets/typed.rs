//! Throws bytes at the oracle of the same name, which says what must hold.
#![no_main]

#[path = "../oracles/typed.rs"]
mod typed;

libfuzzer_sys::fuzz_target!(|input: &[u8]| typed::check(input));
