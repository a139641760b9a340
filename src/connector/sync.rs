//! One command out, exactly one reply in.
//!
//! Everything here takes the socket and the inbox *by value* and gives both back with the result.
//! A future that is dropped half-way drops the socket with it, so a reply that was still under way
//! can never be read as the answer to something else.

use std::{
    future::{Future, poll_fn},
    io,
    pin::{Pin, pin},
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite},
    time::timeout,
};

use super::{
    Pipeline,
    inbox::{End, Inbox},
    pushes::Pushes,
};
use crate::resp::{Command, Reply};

/// A socket that can go on: what both halves ask of it.
pub(super) trait Socket: AsyncRead + AsyncWrite + Unpin {}
impl<S: AsyncRead + AsyncWrite + Unpin> Socket for S {}

/// The socket is closed: why, and the pushes that it leaves behind.
#[derive(Debug)]
pub(super) struct Lost {
    pub(super) why: End,
    pub(super) pushes: Pushes,
}

/// Writes one command and reads exactly one reply. Pushes that come meanwhile are kept in the
/// inbox, as are the bytes behind the reply.
///
/// `sent` is set as soon as a byte of the command may have left, even if the future is dropped.
pub(super) async fn sync<S: Socket>(
    sock: S,
    cmd: &Command<'_>,
    buf: Box<Inbox>,
    sent: &mut bool,
) -> Result<(S, Reply, Box<Inbox>), Lost> {
    let (sock, mut buf) = settle(sock, buf).await?;
    cmd.encode(buf.out());
    let (sock, buf) = send_out(sock, buf, sent).await;
    receive(sock, buf).await
}

/// Writes all commands of a pipeline, then reads exactly one reply for each.
pub(super) async fn sync_all<S: Socket>(
    sock: S,
    pipeline: &Pipeline,
    buf: Box<Inbox>,
    sent: &mut bool,
) -> Result<(S, Vec<Reply>, Box<Inbox>), Lost> {
    let (sock, mut buf) = settle(sock, buf).await?;
    pipeline.encode(buf.out());
    let (mut sock, mut buf) = send_out(sock, buf, sent).await;
    let mut replies = Vec::with_capacity(pipeline.len());
    loop {
        match buf.next_into(&mut replies, pipeline.len()) {
            Ok(()) if replies.len() == pipeline.len() => return Ok((sock, replies, buf)),
            Ok(()) if buf.has_ended() => return Err(Lost::ended(buf)),
            Ok(()) => poll_fn(|cx| poll_read(&mut sock, &mut buf, cx)).await,
            Err(violation) => return Err(Lost::new(violation.into(), buf)),
        }
    }
}

async fn send_out<S: Socket>(sock: S, mut buf: Box<Inbox>, sent: &mut bool) -> (S, Box<Inbox>) {
    let mut out = std::mem::take(buf.out());
    let (sock, mut buf) = send(sock, &out, buf, sent).await;
    if out.capacity() <= KEPT {
        out.clear();
        *buf.out() = out;
    }
    (sock, buf)
}

/// Before anything is sent while no reply is owed: takes in what has come, without waiting, and
/// makes sure that it answers nothing.
pub(super) async fn settle<S: Socket>(
    mut sock: S,
    mut buf: Box<Inbox>,
) -> Result<(S, Box<Inbox>), Lost> {
    poll_fn(|cx| {
        take_in(&mut sock, &mut buf, cx);
        Poll::Ready(())
    })
    .await;
    match buf.settle() {
        Err(end) => Err(Lost::new(end, buf)),
        Ok(()) if buf.has_ended() => Err(Lost::ended(buf)),
        Ok(()) => Ok((sock, buf)),
    }
}

/// The first half: writes all of `bytes`. Meanwhile it takes in what comes, so that two large
/// values in opposite directions cannot wait for each other.
///
/// A failed write is no error yet: the reason may lie in what the peer said before, so that is read
/// first, by the second half.
pub(super) async fn send<S: Socket>(
    mut sock: S,
    bytes: &[u8],
    mut buf: Box<Inbox>,
    sent: &mut bool,
) -> (S, Box<Inbox>) {
    let mut rest = bytes;
    let written = poll_fn(|cx| {
        for _ in 0..TURNS {
            let read = !buf.has_ended() && poll_read(&mut sock, &mut buf, cx).is_ready();
            match poll_write(&mut sock, &mut rest, sent, cx) {
                Poll::Ready(Ok(Wrote::Some)) => {}
                Poll::Ready(Ok(Wrote::All)) => return Poll::Ready(Ok(())),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending if read => {}
                Poll::Pending => return Poll::Pending,
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
    if let Err(error) = written {
        let last_words = async {
            while !buf.has_ended() {
                poll_fn(|cx| poll_read(&mut sock, &mut buf, cx)).await;
            }
        };
        // A socket that cannot be written to has been closed, and says so at once. Another kind of
        // stream may not.
        drop(timeout(LAST_WORDS, last_words).await);
        buf.ended(End::Failed(error));
    }
    (sock, buf)
}

/// The second half: the next reply of those that are owed.
pub(super) async fn receive<S: Socket>(
    mut sock: S,
    mut buf: Box<Inbox>,
) -> Result<(S, Reply, Box<Inbox>), Lost> {
    loop {
        match buf.next() {
            Ok(Some(reply)) => return Ok((sock, reply, buf)),
            Ok(None) if buf.has_ended() => return Err(Lost::ended(buf)),
            Ok(None) => poll_fn(|cx| poll_read(&mut sock, &mut buf, cx)).await,
            Err(violation) => return Err(Lost::new(violation.into(), buf)),
        }
    }
}

/// Reads once. Ready: bytes came, or the end.
pub(super) fn poll_read<S: Socket>(
    sock: &mut S,
    buf: &mut Inbox,
    cx: &mut Context<'_>,
) -> Poll<()> {
    // Cancel safe: a read that is not ready has taken nothing.
    let read = pin!(sock.read_buf(buf.decoder().read_buf())).poll(cx);
    match ready!(read) {
        Ok(0) => buf.ended(End::Closed(None)),
        Ok(_) => {}
        Err(error) => buf.ended(End::Failed(error)),
    }
    Poll::Ready(())
}

/// Reads what is there.
fn take_in<S: Socket>(sock: &mut S, buf: &mut Inbox, cx: &mut Context<'_>) {
    for _ in 0..TURNS {
        if buf.has_ended() || poll_read(sock, buf, cx).is_pending() {
            return;
        }
    }
}

enum Wrote {
    Some,
    /// And it is flushed.
    All,
}

fn poll_write<S: Socket>(
    sock: &mut S,
    rest: &mut &[u8],
    sent: &mut bool,
    cx: &mut Context<'_>,
) -> Poll<io::Result<Wrote>> {
    if rest.is_empty() {
        return Pin::new(sock).poll_flush(cx).map_ok(|()| Wrote::All);
    }
    match ready!(Pin::new(sock).poll_write(cx, rest))? {
        0 => Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
        written => {
            *sent = true;
            *rest = rest.get(written..).unwrap_or_default();
            Poll::Ready(Ok(Wrote::Some))
        }
    }
}

impl Lost {
    pub(super) fn new(why: End, buf: Box<Inbox>) -> Self {
        Self { why, pushes: buf.into_parts().1 }
    }

    pub(super) fn ended(mut buf: Box<Inbox>) -> Self {
        Self::new(buf.take_end(), buf)
    }
}

/// Reads or writes in a row before other tasks get their turn: a peer that never stops talking
/// must not keep the thread.
const TURNS: usize = 64;
/// How long a peer that takes no more bytes may go on talking.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// What was sent is encoded into the same memory next time, unless it was more than this.
const KEPT: usize = 256 * 1024;
