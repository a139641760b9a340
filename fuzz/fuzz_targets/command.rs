//! Throws bytes at the oracle of the same name, which says what must hold.
#![no_main]

#[path = "../oracles/command.rs"]
mod command;
#[path = "../../tests/codec/reference.rs"]
mod reference;
#[path = "../../tests/codec/tree.rs"]
mod tree;

libfuzzer_sys::fuzz_target!(|input: &[u8]| command::check(input));
