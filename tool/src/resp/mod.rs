//! `echo-wire resp`: a capture, value by value.

mod pretty;
mod tagged;

use std::{
    fs::File,
    io::{self, BufWriter, Read, Write},
};

use echo_wire::resp::{Decoder, Limits, Protocol};
use serde_json::json;

use crate::{
    arguments::Resp,
    exit::{Exit, Stop},
    paint::Paint,
};

pub(crate) fn run(asked: &Resp, json: bool, paint: Paint) -> Result<Exit, Stop> {
    let mut input: Box<dyn Read> = match asked.file.as_deref() {
        Some(file) if file.as_os_str() != "-" => {
            let named = |error: io::Error| {
                io::Error::new(error.kind(), format!("{}: {error}", file.display()))
            };
            Box::new(File::open(file).map_err(named)?)
        }
        _ => Box::new(io::stdin().lock()),
    };
    let mut decoder = Decoder::new(Limits::default());
    if asked.proto == Some(2) {
        decoder = decoder.only(Protocol::Resp2);
    }
    let mut out = BufWriter::new(io::stdout().lock());
    let exit = print(&mut input, decoder, json, paint, &mut out)?;
    out.flush()?;
    Ok(exit)
}

fn print(
    input: &mut dyn Read,
    mut decoder: Decoder,
    json: bool,
    paint: Paint,
    out: &mut impl Write,
) -> io::Result<Exit> {
    let mut read = vec![0; 64 * 1024];
    // Bytes of all values before the next one; bytes fed.
    let (mut offset, mut fed) = (0_u64, 0_u64);
    loop {
        let count = input.read(&mut read)?;
        let piece = read.get(..count).unwrap_or_default();
        if piece.is_empty() {
            break;
        }
        decoder.feed(piece);
        fed += count as u64;
        loop {
            let reply = match decoder.next() {
                Ok(Some(reply)) => reply,
                Ok(None) => break,
                Err(error) => {
                    let at = error.offset();
                    if json {
                        let told = json!({ "offset": at, "malformed": error.to_string() });
                        writeln!(out, "{told}")?;
                    } else {
                        let offset = paint.dim(format!("{at:>8}"));
                        writeln!(out, "{offset}  {}", paint.bad(format!("malformed: {error}")))?;
                    }
                    return Ok(Exit::Failed);
                }
            };
            if json {
                let mut value = json!({ "offset": offset });
                if let Some(value) = value.as_object_mut() {
                    value.extend(tagged::reply(reply.as_ref()));
                }
                writeln!(out, "{value}")?;
            } else {
                pretty::reply(reply.as_ref(), offset, paint, out)?;
            }
            offset = fed.saturating_sub(decoder.buffered().len() as u64);
        }
        out.flush()?;
    }
    if decoder.is_idle() {
        return Ok(Exit::Done);
    }
    let left = fed.saturating_sub(offset);
    if json {
        writeln!(out, "{}", json!({ "offset": offset, "incomplete_bytes": left }))?;
    } else {
        let told = paint.bad(format!("incomplete: the capture ends {left} bytes into a value"));
        writeln!(out, "{}  {told}", paint.dim(format!("{offset:>8}")))?;
    }
    Ok(Exit::Failed)
}
