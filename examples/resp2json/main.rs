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

mod json;

use std::{
    io::{self, BufWriter, Read as _, StdoutLock, Write as _},
    process::ExitCode,
};

use echo_wire::resp::{Decoder, Limits, Protocol};

const USAGE: &str = "usage: resp2json [--chunk N] [--proto 2|3] < RESP";

fn main() -> io::Result<ExitCode> {
    let Some((chunk, protocol)) = arguments(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return Ok(ExitCode::from(2));
    };
    let mut decoder = Decoder::new(Limits::default()).only(protocol);
    let mut out = BufWriter::new(io::stdout().lock());
    let mut input = io::stdin().lock();
    let mut read = vec![0; 64 * 1024];
    loop {
        let count = input.read(&mut read)?;
        if count == 0 {
            break;
        }
        for piece in read[..count].chunks(chunk) {
            decoder.feed(piece);
            if let Some(code) = print_replies(&mut decoder, &mut out)? {
                out.flush()?;
                return Ok(code);
            }
        }
    }
    if !decoder.is_idle() {
        writeln!(out, r#"{{"incomplete":true}}"#)?;
        out.flush()?;
        return Ok(ExitCode::from(3));
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the replies that are whole; the exit status after a malformed one.
fn print_replies(
    decoder: &mut Decoder,
    out: &mut BufWriter<StdoutLock<'_>>,
) -> io::Result<Option<ExitCode>> {
    loop {
        match decoder.next_ref() {
            Ok(Some(reply)) => writeln!(out, "{}", json::render(reply))?,
            Ok(None) => return Ok(None),
            Err(error) => {
                let (kind, offset) = (json::quoted(&error.kind().to_string()), error.offset());
                writeln!(out, r#"{{"protocol_error":{kind},"offset":{offset}}}"#)?;
                return Ok(Some(ExitCode::from(4)));
            }
        }
    }
}

/// Bytes a feed, and the generation.
fn arguments(mut args: impl Iterator<Item = String>) -> Option<(usize, Protocol)> {
    let (mut chunk, mut protocol) = (usize::MAX, Protocol::Resp3);
    while let Some(arg) = args.next() {
        let value = args.next()?;
        match (arg.as_str(), value.as_str()) {
            ("--chunk", n) => chunk = n.parse().ok().filter(|n| *n > 0)?,
            ("--proto", "2") => protocol = Protocol::Resp2,
            ("--proto", "3") => protocol = Protocol::Resp3,
            _ => return None,
        }
    }
    Some((chunk, protocol))
}
