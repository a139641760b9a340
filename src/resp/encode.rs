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

    /// Appends `bytes`, which is at least [`LARGE`] long, after what [`Self::bytes`] holds.
    fn put_shared(&mut self, bytes: &Bytes);

    /// As [`put_shared`](Self::put_shared), what the caller only lends. It gets memory of its own,
    /// which goes when it is written: one buffer for all would be grown, and given back, each time.
    fn put_lent(&mut self, bytes: &[u8]) {
        self.put_shared(&Bytes::copy_from_slice(bytes));
    }
}

/// From this length on an argument may stand beside the buffer: below it, copying costs less than
/// another entry of a vectored write.
pub(crate) const LARGE: usize = 16 * 1024;

impl Sink for BytesMut {
    #[inline]
    fn bytes(&mut self) -> &mut BytesMut {
        self
    }

    fn put_shared(&mut self, bytes: &Bytes) {
        self.extend_from_slice(bytes);
    }

    fn put_lent(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

pub(super) fn command<S: Sink>(name: &str, args: &[Arg<'_>], sink: &mut S) {
    begin(name, args.len(), sink);
    args.iter().for_each(|arg| argument(arg, sink));
    end(sink);
}

/// Begins a command: exactly `args` times [`argument`] follows, then [`end`].
#[inline]
pub(crate) fn begin<S: Sink>(name: &str, args: usize, sink: &mut S) {
    count(args.saturating_add(1), sink.bytes());
    bulk(name.as_bytes(), sink.bytes());
}

#[inline]
pub(crate) fn argument<S: Sink>(arg: &Arg<'_>, sink: &mut S) {
    let bytes = arg.as_bytes();
    if bytes.len() < LARGE {
        return bulk(bytes, sink.bytes());
    }
    separator(bytes.len(), sink.bytes());
    match arg.as_shared() {
        Some(shared) => sink.put_shared(shared),
        None => sink.put_lent(bytes),
    }
}

#[inline]
pub(crate) fn end<S: Sink>(sink: &mut S) {
    sink.bytes().extend_from_slice(b"\r\n");
}

/// `*<count>`, without its line end: that belongs to the separator that follows.
#[inline]
fn count(count: usize, out: &mut BytesMut) {
    match DIGITS.get(count) {
        Some(digit) => out.extend_from_slice(&[b'*', *digit]),
        None => {
            out.extend_from_slice(b"*");
            digits(count, out);
        }
    }
}

/// The line end of what stands before, and `$<length>\r\n<bytes>` without its own.
#[inline]
fn bulk(bytes: &[u8], out: &mut BytesMut) {
    separator(bytes.len(), out);
    out.extend_from_slice(bytes);
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

const DIGITS: &[u8] = b"0123456789";

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resp::Command;

    /// A sink that keeps what it is given apart.
    #[derive(Default)]
    struct Pieces {
        text: BytesMut,
        shared: Vec<(usize, Bytes)>,
    }

    impl Sink for Pieces {
        fn bytes(&mut self) -> &mut BytesMut {
            &mut self.text
        }

        fn put_shared(&mut self, bytes: &Bytes) {
            self.shared.push((self.text.len(), bytes.clone()));
        }
    }

    #[test]
    fn lengths_of_every_number_of_digits_are_written() {
        for len in (0..1200).chain([9_999, 10_000, 99_999, 100_000, 1_234_567]) {
            let value = vec![b'x'; len];
            let mut out = BytesMut::new();
            Command::new("ECHO").arg(&value).encode(&mut out);
            let head = format!("*2\r\n$4\r\nECHO\r\n${len}\r\n");
            assert!(out.starts_with(head.as_bytes()), "{len}");
            assert_eq!(out.len(), head.len() + len + 2);
            assert!(out.ends_with(b"\r\n"));
        }
    }

    #[test]
    fn counts_of_every_number_of_digits_are_written() {
        for count in [1_usize, 2, 9, 10, 99, 100, 1_000, 12_345] {
            let mut out = BytesMut::new();
            Command::new("DEL").args(vec!["k"; count - 1]).encode(&mut out);
            let want = format!("*{count}\r\n$3\r\nDEL\r\n{}", "$1\r\nk\r\n".repeat(count - 1));
            assert_eq!(out, want.as_bytes());
        }
    }

    #[test]
    fn what_the_buffer_holds_already_is_kept() {
        let mut out = BytesMut::from(&b"before"[..]);
        Command::new("PING").encode(&mut out);
        Command::new("PING").encode(&mut out);
        assert_eq!(out, &b"before*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n"[..]);
    }

    #[test]
    fn large_arguments_are_handed_on_in_their_place_and_those_that_are_shared_as_they_are() {
        let small = Bytes::from(vec![b's'; LARGE - 1]);
        let large = Bytes::from(vec![b'l'; LARGE]);
        let borrowed = vec![b'b'; LARGE];
        let command = Command::new("X").arg(&small).arg(&large).arg(&borrowed).arg(&large);
        let mut pieces = Pieces::default();
        command.encode_to(&mut pieces);
        let as_it_is = pieces.shared.iter().map(|(_, bytes)| bytes.as_ptr() == large.as_ptr());
        assert!(as_it_is.eq([true, false, true]));

        let mut joined = Vec::new();
        let mut from = 0;
        for (at, bytes) in &pieces.shared {
            joined.extend_from_slice(&pieces.text[from..*at]);
            joined.extend_from_slice(bytes);
            from = *at;
        }
        joined.extend_from_slice(&pieces.text[from..]);
        let mut whole = BytesMut::new();
        command.encode(&mut whole);
        assert_eq!(joined, whole);
    }
}
