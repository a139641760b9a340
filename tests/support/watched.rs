//! A stream that counts flights, and lets a test step in before one leaves.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Passes everything on. A flight is what is written between two reads.
pub struct Watched<S> {
    stream: S,
    flights: Arc<AtomicUsize>,
    is_writing: bool,
    before: Box<dyn FnMut(usize) + Send>,
}

impl<S> Watched<S> {
    /// Watches `stream`; the counter goes on counting wherever the stream goes.
    pub fn new(stream: S) -> (Self, Arc<AtomicUsize>) {
        let flights = Arc::new(AtomicUsize::new(0));
        let before = Box::new(|_flight| ());
        (Self { stream, flights: Arc::clone(&flights), is_writing: false, before }, flights)
    }

    /// Calls `step_in` before a flight leaves, with its number, from 1.
    pub fn before(mut self, step_in: impl FnMut(usize) + Send + 'static) -> Self {
        self.before = Box::new(step_in);
        self
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        if buf.filled().len() > before {
            self.is_writing = false;
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if !self.is_writing {
            self.is_writing = true;
            let flight = self.flights.fetch_add(1, Ordering::SeqCst) + 1;
            (self.before)(flight);
        }
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
