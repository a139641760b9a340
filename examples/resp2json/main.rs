//! RESP on standard input, one JSON value a line on standard output.
//!
//! ```text
//! $ printf '*2\r\n$2\r\nhi\r\n:5\r\n' | cargo run --example resp2json
//! {"array":[{"bulk_hex":"6869"},{"int":5}]}
//! ```
//!
//! `--chunk N` feeds N bytes at a time and prints the same; `--proto 2` takes RESP2 only.
//! Exit status: 0, or 2 for wrong usage, 3 if the input ends within a reply, 4 if it is malformed.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "an example may stop on its own mistakes"
)]

mod filter;
mod json;

use std::{
    io::{self, BufWriter, Write as _},
    process::ExitCode,
};

fn main() -> io::Result<ExitCode> {
    let Some(options) = filter::Options::parse(std::env::args().skip(1)) else {
        eprintln!("usage: resp2json [--chunk N] [--proto 2|3] < RESP");
        return Ok(ExitCode::from(2));
    };
    let mut out = BufWriter::new(io::stdout().lock());
    let status = filter::run(options, io::stdin().lock(), &mut out)?;
    out.flush()?;
    Ok(ExitCode::from(status))
}
