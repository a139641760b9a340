//! The client's end of a path that takes and gives as much as it likes, when it likes; and tasks that run
//! in another order than they were woken in.

use std::{
    future::{Future, poll_fn},
    io::{self, IoSlice},
    pin::{Pin, pin},
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};

use crate::support::Random;

/// The future, but now and then other tasks run before it does, although it was woken first.
pub async fn elsewhere<F: Future>(mut random: Random, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| {
        if random.below(5) == 0 {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        future.as_mut().poll(cx)
    })
    .await
}

#[derive(Debug)]
pub struct Restless {
    stream: DuplexStream,
    random: Random,
}

impl Restless {
    pub fn new(stream: DuplexStream, random: Random) -> Self {
        Self { stream, random }
    }

    /// Not now, although it could: other tasks come first.
    fn is_elsewhere(&mut self, cx: &Context<'_>) -> bool {
        let is_elsewhere = self.random.below(5) == 0;
        if is_elsewhere {
            cx.waker().wake_by_ref();
        }
        is_elsewhere
    }

    fn some_of(&mut self, len: usize) -> usize {
        len.min(1 + self.random.below(600) as usize)
    }
}

impl AsyncRead for Restless {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_elsewhere(cx) {
            return Poll::Pending;
        }
        let mut scrap = [0; 600];
        let len = self.some_of(buf.remaining());
        let mut some = ReadBuf::new(&mut scrap[..len]);
        let polled = Pin::new(&mut self.stream).poll_read(cx, &mut some);
        buf.put_slice(some.filled());
        polled
    }
}

impl AsyncWrite for Restless {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.is_elsewhere(cx) {
            return Poll::Pending;
        }
        let len = self.some_of(buf.len());
        Pin::new(&mut self.stream).poll_write(cx, &buf[..len])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // Across the borders of the parts as well.
        let together: Vec<u8> = bufs.iter().flat_map(|buf| buf.iter().copied()).collect();
        self.poll_write(cx, &together)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
