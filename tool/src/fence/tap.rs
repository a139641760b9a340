//! A stream that notes what passes, so that the connect sequence can be told as it was on the wire.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Instant,
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes in the order in which they passed.
pub(crate) type Passed = Vec<(Way, Instant, Vec<u8>)>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Out,
    In,
}

/// What was noted; a clone is the same notes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes(Arc<Mutex<Passed>>);

impl Notes {
    pub(crate) fn take(&self) -> Passed {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, way: Way, bytes: &[u8]) {
        if !bytes.is_empty() {
            let mut passed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            passed.push((way, Instant::now(), bytes.to_vec()));
        }
    }
}

#[derive(Debug)]
pub(crate) struct Tap<S> {
    stream: S,
    notes: Notes,
}

impl<S> Tap<S> {
    pub(crate) fn new(stream: S, notes: Notes) -> Self {
        Self { stream, notes }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Tap<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { stream, notes } = self.get_mut();
        let before = buf.filled().len();
        let read = Pin::new(stream).poll_read(cx, buf);
        notes.add(Way::In, buf.filled().get(before..).unwrap_or_default());
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Tap<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let Self { stream, notes } = self.get_mut();
        let written = Pin::new(stream).poll_write(cx, bytes);
        if let Poll::Ready(Ok(n)) = written {
            notes.add(Way::Out, bytes.get(..n).unwrap_or_default());
        }
        written
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
