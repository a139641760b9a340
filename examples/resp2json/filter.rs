//! Bytes in, lines out: the filter without its process.

use std::io::{self, Read, Write};

use echo_wire::resp::{Decoder, Limits, Protocol};

use crate::json;

/// How to read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Options {
    /// Bytes that the decoder is fed at a time.
    pub(crate) chunk: usize,
    pub(crate) protocol: Protocol,
}

impl Options {
    /// From the command line; `None`: it makes no sense.
    pub(crate) fn parse(mut args: impl Iterator<Item = String>) -> Option<Self> {
        let mut options = Self { chunk: usize::MAX, protocol: Protocol::Resp3 };
        while let Some(arg) = args.next() {
            match (arg.as_str(), args.next()?.as_str()) {
                ("--chunk", n) => options.chunk = n.parse().ok().filter(|n| *n > 0)?,
                ("--proto", "2") => options.protocol = Protocol::Resp2,
                ("--proto", "3") => options.protocol = Protocol::Resp3,
                _ => return None,
            }
        }
        Some(options)
    }
}

/// Prints each reply of `input` as a line; the exit status is 0, 3 if the input ends within a
/// reply, 4 if it is malformed.
pub(crate) fn run(options: Options, mut input: impl Read, mut out: impl Write) -> io::Result<u8> {
    let mut decoder = Decoder::new(Limits::default()).only(options.protocol);
    let mut read = vec![0; 64 * 1024];
    loop {
        let count = input.read(&mut read)?;
        if count == 0 {
            break;
        }
        for piece in read[..count].chunks(options.chunk) {
            decoder.feed(piece);
            if !print_replies(&mut decoder, &mut out)? {
                return Ok(4);
            }
        }
        out.flush()?;
    }
    if decoder.is_idle() {
        return Ok(0);
    }
    writeln!(out, r#"{{"incomplete":true}}"#)?;
    Ok(3)
}

/// Prints the replies that are whole; `false` after a malformed one.
fn print_replies(decoder: &mut Decoder, out: &mut impl Write) -> io::Result<bool> {
    loop {
        match decoder.next_ref() {
            Ok(Some(reply)) => writeln!(out, "{}", json::render(reply))?,
            Ok(None) => return Ok(true),
            Err(error) => {
                let (kind, offset) = (json::quoted(&error.kind().to_string()), error.offset());
                writeln!(out, r#"{{"protocol_error":{kind},"offset":{offset}}}"#)?;
                return Ok(false);
            }
        }
    }
}
