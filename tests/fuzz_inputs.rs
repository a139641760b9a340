//! What the fuzz targets hold is held here, of every input that is kept: the seeds in `fuzz/corpus/` and
//! `fuzz/captures/`, and in `fuzz/regressions/` what once was found.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a test stops at what it did not expect"
)]

#[path = "../fuzz/oracles/chunking.rs"]
mod chunking;
#[path = "../fuzz/oracles/command.rs"]
mod command;
#[path = "../fuzz/oracles/connection.rs"]
mod connection;
#[path = "../fuzz/oracles/decode.rs"]
mod decode;
#[path = "../fuzz/oracles/fence.rs"]
mod fence;
#[path = "codec/reference.rs"]
mod reference;
#[path = "../fuzz/oracles/roundtrip.rs"]
mod roundtrip;
#[path = "../fuzz/oracles/scripted.rs"]
mod scripted;
#[path = "codec/server.rs"]
mod server;
#[path = "codec/tree.rs"]
mod tree;
#[path = "../fuzz/oracles/typed.rs"]
mod typed;
#[path = "../fuzz/oracles/url.rs"]
mod url;

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::Path,
};

/// Every input that is kept for this target.
fn replay(target: &str, check: fn(&[u8])) {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let mut kept = vec![fuzz.join("corpus").join(target), fuzz.join("regressions").join(target)];
    // Their input is what a server says, and nothing else.
    if ["decode", "typed"].contains(&target) {
        kept.push(fuzz.join("captures"));
    }
    let mut count = 0;
    for files in kept.into_iter().filter_map(|folder| fs::read_dir(folder).ok()) {
        for file in files {
            let path = file.unwrap().path();
            // What the fuzzer found besides lies among the seeds, and is nobody's but this machine's.
            let is_kept =
                |name: &str| name.starts_with("seed-") || !path.starts_with(fuzz.join("corpus"));
            if !path.file_name().and_then(|name| name.to_str()).is_some_and(is_kept) {
                continue;
            }
            let input = fs::read(&path).unwrap();
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(&input))) {
                eprintln!("the input is {}", path.display());
                resume_unwind(panic);
            }
            count += 1;
        }
    }
    assert!(count > 0, "there are seeds of {target}");
}

macro_rules! targets {
    ($($target:ident)*) => {
        $(
            #[test]
            fn $target() {
                replay(stringify!($target), $target::check);
            }
        )*

        #[test]
        fn no_target_is_left_out() {
            let targets = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/fuzz_targets");
            let mut found: Vec<_> = fs::read_dir(targets)
                .unwrap()
                .map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
                .collect();
            found.sort();
            assert_eq!(found, [$(stringify!($target)),*]);
        }
    };
}

targets!(chunking command connection decode fence roundtrip typed url);
