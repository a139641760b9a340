//! Commands as bytes: one array of bulk strings, written once.
//!
//! Source: the RESP specification, "Arrays" and "Bulk strings".

use bytes::{Bytes, BytesMut};

use super::argument::Arg;

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

pub(super) fn command<'c, 'a: 'c, S: Sink>(
    name: &str,
    arg_count: usize,
    args: impl Iterator<Item = &'c Arg<'a>>,
    sink: &mut S,
) {
    head(b'*', arg_count.saturating_add(1), sink.bytes());
    bulk(name.as_bytes(), sink.bytes());
    for arg in args {
        match arg.as_shared() {
            Some(bytes) if bytes.len() >= SHARED_FROM => {
                head(b'$', bytes.len(), sink.bytes());
                sink.put_shared(bytes);
                sink.bytes().extend_from_slice(b"\r\n");
            }
            _ => bulk(arg.as_bytes(), sink.bytes()),
        }
    }
}

fn bulk(bytes: &[u8], out: &mut BytesMut) {
    head(b'$', bytes.len(), out);
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

fn head(kind: u8, len: usize, out: &mut BytesMut) {
    let mut digits = [0; super::number::LONGEST];
    let len = u64::try_from(len).unwrap_or(u64::MAX);
    out.extend_from_slice(&[kind]);
    out.extend_from_slice(super::number::integer(false, len, &mut digits));
    out.extend_from_slice(b"\r\n");
}
