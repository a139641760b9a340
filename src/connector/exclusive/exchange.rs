//! Commands out and replies in, on a socket that is one caller's.

use std::{
    fmt,
    future::poll_fn,
    io,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::BytesMut;
use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::{
    super::{inbox::End, sync::poll_read},
    line::Line,
};
use crate::resp::Reply;

/// A flight under way, as a value: whoever holds it may go on with it, and nothing is lost between
/// two polls. Dropped, it closes the socket.
///
/// Both ways are polled in every turn, so two large values in opposite directions cannot wait for
/// each other.
pub(super) struct Exchange {
    line: Line,
    out: BytesMut,
    /// 0 <= written <= out.len(): what the socket has taken.
    written: usize,
    flushed: bool,
    replies: Vec<Reply>,
    /// How many replies are still to come.
    owed: usize,
    /// We have said that nothing more will come.
    ended: bool,
    lost: bool,
}

impl Exchange {
    /// Sends `out`, which `owed` replies will answer, on a line that is settled.
    pub(super) fn new(line: Line, out: BytesMut, owed: usize) -> Self {
        let (replies, flushed) = (Vec::new(), false);
        Self { line, out, written: 0, flushed, replies, owed, ended: false, lost: false }
    }

    pub(super) fn line(&self) -> &Line {
        &self.line
    }

    /// The replies that came so far, in order.
    pub(super) fn replies(&self) -> &[Reply] {
        &self.replies
    }

    /// The line and the replies. The line is of no use unless the flight is done.
    pub(super) fn into_parts(self) -> (Line, Vec<Reply>) {
        (self.line, self.replies)
    }

    /// So many more replies will come.
    pub(super) fn expect(&mut self, more: usize) {
        self.owed = self.owed.saturating_add(more);
    }

    /// Whether a byte has left. If not, nothing has run, and the line is as it was.
    pub(super) fn has_sent(&self) -> bool {
        self.written > 0
    }

    /// Whether all has left.
    pub(super) fn is_sent(&self) -> bool {
        self.written == self.out.len()
    }

    /// Whether a part of the next reply has come.
    pub(super) fn is_midway(&mut self) -> bool {
        !self.line.inbox.decoder().is_idle()
    }

    /// Whether the line can be used again, once the flight is done.
    pub(super) fn is_open(&self) -> bool {
        !self.ended && !self.lost
    }

    /// Resolves when every reply is in, or the socket is lost. Cancel safe.
    pub(super) async fn done(&mut self) -> Result<(), End> {
        poll_fn(|cx| self.poll(cx)).await
    }

    /// What [`done`](Self::done) says already, if it does.
    pub(super) async fn try_done(&mut self) -> Option<Result<(), End>> {
        poll_fn(|cx| match self.poll(cx) {
            Poll::Ready(end) => Poll::Ready(Some(end)),
            Poll::Pending => Poll::Ready(None),
        })
        .await
    }

    /// Says that nothing more will be sent. What the server has sent before it learns of it still
    /// comes; a command that waits there is given up by it. The line cannot be used again.
    pub(super) async fn end_sending(&mut self) {
        (self.flushed, self.ended) = (true, true);
        self.out.truncate(self.written);
        // A peer that is gone needs not be told.
        drop(self.line.sock.shutdown().await);
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), End>> {
        if self.lost {
            return Poll::Ready(Err(End::Closed(None)));
        }
        for _ in 0..TURNS {
            let read = self.poll_read(cx);
            let wrote = self.write(cx);
            if let Err(end) = self.decode() {
                self.lost = true;
                return Poll::Ready(Err(end));
            }
            if self.owed == 0 && self.flushed {
                return Poll::Ready(Ok(()));
            }
            if self.line.inbox.has_ended() {
                self.lost = true;
                return Poll::Ready(Err(self.line.inbox.take_end()));
            }
            if !read && !wrote {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> bool {
        let Line { sock, inbox, .. } = &mut self.line;
        !inbox.has_ended() && poll_read(sock, inbox, cx).is_ready()
    }

    fn decode(&mut self) -> Result<(), End> {
        while self.owed > 0 {
            let Some(reply) = self.line.inbox.next()? else { break };
            self.replies.push(reply);
            self.owed = self.owed.saturating_sub(1);
        }
        Ok(())
    }

    /// Writes what the socket takes. `true`: it took something, or failed.
    fn write(&mut self, cx: &mut Context<'_>) -> bool {
        if self.flushed || self.line.inbox.has_ended() {
            return false;
        }
        match self.poll_write(cx) {
            Poll::Pending => false,
            Poll::Ready(Ok(())) => true,
            Poll::Ready(Err(error)) => {
                // The reason may lie in what the peer said before.
                for _ in 0..TURNS {
                    if !self.poll_read(cx) {
                        break;
                    }
                }
                self.line.inbox.ended(End::Failed(error));
                true
            }
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let sock = Pin::new(&mut self.line.sock);
        let rest = self.out.get(self.written..).unwrap_or_default();
        if rest.is_empty() {
            return sock.poll_flush(cx).map_ok(|()| self.flushed = true);
        }
        match sock.poll_write(cx, rest) {
            Poll::Ready(Ok(0)) => Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
            Poll::Ready(Ok(n)) => {
                self.written = self.written.saturating_add(n);
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange")
            .field("written", &self.written)
            .field("of", &self.out.len())
            .field("owed", &self.owed)
            .finish_non_exhaustive()
    }
}

/// Turns in a row before other tasks get theirs.
const TURNS: usize = 64;
