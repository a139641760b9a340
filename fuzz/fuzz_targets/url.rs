//! Throws bytes at the oracle of the same name, which says what must hold.
#![no_main]

#[path = "../oracles/url.rs"]
mod url;

libfuzzer_sys::fuzz_target!(|input: &[u8]| url::check(input));
