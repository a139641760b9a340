//! The client's end of a connection in memory, which tells its peer how much it has read.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf, duplex},
    sync::watch,
};

/// A stream for `Connection::over` and the like; the other end is a `Script`.
#[derive(Debug)]
pub struct MemoryStream {
    stream: DuplexStream,
    bytes_read: watch::Sender<u64>,
    reset: Arc<AtomicBool>,
}

/// The script's end of it.
#[derive(Debug)]
pub(super) struct MemoryPeer {
    pub(super) stream: DuplexStream,
    /// How many bytes the other end has read.
    pub(super) bytes_read: watch::Receiver<u64>,
    reset: Arc<AtomicBool>,
}

/// Both ends; each direction holds at most `capacity` bytes that are not yet read.
pub(super) fn memory(capacity: usize) -> (MemoryStream, MemoryPeer) {
    let (ours, theirs) = duplex(capacity);
    let (tell, bytes_read) = watch::channel(0);
    let reset = Arc::new(AtomicBool::new(false));
    let peer = MemoryPeer { stream: theirs, bytes_read, reset: Arc::clone(&reset) };
    (MemoryStream { stream: ours, bytes_read: tell, reset }, peer)
}

impl MemoryPeer {
    /// Closes, so that the other end meets a reset where its end of stream would be.
    pub(super) fn reset(self) {
        self.reset.store(true, Ordering::Release);
    }
}

impl AsyncRead for MemoryStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buf))?;
        let read = buf.filled().len() - before;
        if read == 0 && buf.remaining() > 0 && self.reset.load(Ordering::Acquire) {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        self.bytes_read.send_modify(|bytes| *bytes += u64::try_from(read).unwrap());
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for MemoryStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
