//! Commands as bytes: one array of bulk strings, written once.
//!
//! Source: the RESP specification, "Arrays" and "Bulk strings".
//!
//! What stands between two arguments, `\r\n$<length>\r\n`, has at most eight bytes up to a length
//! of 999. It is stored as eight whatever it has, and what is too much is cut off again: one store
//! and no branch on the number of digits.

use bytes::{Bytes, BytesMut};

use super::{argument::Arg, number};

/// Where an encoded command goes.
///
/// A plain [`BytesMut`] copies everything. A connection's output buffer can take a large shared
/// argument as it is and write it to the socket beside the rest.
pub(crate) trait Sink {
    /// The buffer that everything small is appended to.
    fn bytes(&mut self) -> &mut BytesMut;

    /// Appends `bytes`, which is at least [`SHARED_FROM`] long, after what [`Self::bytes`] holds.
    fn put_shared(&mut self, bytes: &Bytes);
}

/// From this length on a shared argument is handed on without a copy: below it, copying costs
/// less than another entry of a vectored write.
pub(crate) const SHARED_FROM: usize = 16 * 1024;

impl Sink for BytesMut {
    #[inline]
    fn bytes(&mut self) -> &mut BytesMut {
        self
    }

    fn put_shared(&mut self, bytes: &Bytes) {
        self.extend_from_slice(bytes);
    }
}

/// `*<count>` and the name.
#[inline]
pub(super) fn name(name: &str, count: usize, out: &mut BytesMut) {
    match count {
        0..10 => out.extend_from_slice(&[b'*', b'0'.wrapping_add(low(count))]),
        _ => {
            out.extend_from_slice(b"*");
            digits(count, out);
        }
    }
    separator(name.len(), out);
    out.extend_from_slice(name.as_bytes());
}

#[inline]
pub(super) fn args<S: Sink>(args: &[Arg<'_>], sink: &mut S) {
    for arg in args {
        match arg.as_shared() {
            Some(bytes) if bytes.len() >= SHARED_FROM => {
                separator(bytes.len(), sink.bytes());
                sink.put_shared(bytes);
            }
            _ => {
                let bytes = arg.as_bytes();
                separator(bytes.len(), sink.bytes());
                sink.bytes().extend_from_slice(bytes);
            }
        }
    }
}

#[inline]
pub(super) fn end(out: &mut BytesMut) {
    out.extend_from_slice(b"\r\n");
}

#[inline]
fn separator(len: usize, out: &mut BytesMut) {
    match SEPARATORS.get(len) {
        Some(separator) => {
            out.extend_from_slice(separator);
            if len < 100 {
                let spare = if len < 10 { 2 } else { 1 };
                out.truncate(out.len().saturating_sub(spare));
            }
        }
        None => long_separator(len, out),
    }
}

#[cold]
fn long_separator(len: usize, out: &mut BytesMut) {
    out.extend_from_slice(b"\r\n$");
    digits(len, out);
    out.extend_from_slice(b"\r\n");
}

fn digits(value: usize, out: &mut BytesMut) {
    let value = u64::try_from(value).unwrap_or(u64::MAX);
    out.extend_from_slice(number::integer(false, value, &mut [0; number::LONGEST]));
}

fn low(value: usize) -> u8 {
    let [low, ..] = value.to_le_bytes();
    low
}

static SEPARATORS: [[u8; 8]; 1000] = separators();

#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "evaluated by the compiler, where a mistake does not compile"
)]
const fn separators() -> [[u8; 8]; 1000] {
    let mut table = [[0; 8]; 1000];
    let mut len = 0;
    while len < table.len() {
        let (a, b, c) = ((len / 100) as u8, (len / 10 % 10) as u8, (len % 10) as u8);
        table[len] = match len {
            0..10 => [b'\r', b'\n', b'$', b'0' + c, b'\r', b'\n', 0, 0],
            10..100 => [b'\r', b'\n', b'$', b'0' + b, b'0' + c, b'\r', b'\n', 0],
            _ => [b'\r', b'\n', b'$', b'0' + a, b'0' + b, b'0' + c, b'\r', b'\n'],
        };
        len += 1;
    }
    table
}
