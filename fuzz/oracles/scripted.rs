//! A server whose words were chosen before it was asked, and its record of what it heard and said.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
    vec,
};

use echo_wire::connector::WIRE_VERSION;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::{reference, tree::Tree};

/// In an input: what follows is said to the next flight.
const NEXT_FLIGHT: u8 = 0xFE;

/// What went over one connection.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// What was written to the server, and how much it had said by then.
    writes: Vec<(Vec<u8>, usize)>,
    /// What was read of it.
    said: Vec<u8>,
}

impl Log {
    /// The words of each command, and how much had been said when its first byte was written.
    fn commands(&self) -> Vec<(Vec<Vec<u8>>, usize)> {
        let whole: Vec<u8> = self.writes.iter().flat_map(|(bytes, _)| bytes).copied().collect();
        let mut starts = self.writes.iter().flat_map(|(bytes, said)| bytes.iter().map(|_| *said));
        let mut rest = &whole[..];
        let mut commands = Vec::new();
        while let Ok((command, len)) = reference::decode(rest) {
            let Tree::Array(words) = command else { panic!("{command:?}") };
            let word = |word| match word {
                Tree::Bulk(word) => word,
                word => panic!("{word:?}"),
            };
            let said = starts.nth(0).expect("it was written");
            starts.by_ref().take(len - 1).for_each(drop);
            commands.push((words.into_iter().map(word).collect(), said));
            rest = &rest[len..];
        }
        commands
    }

    /// No word of a caller was written before the last fence's read was answered by our identity.
    pub(crate) fn assert_fenced(&self) {
        let mut fence = None;
        for (index, (words, said)) in self.commands().iter().enumerate() {
            let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
            match words[..] {
                [b"GET", b"{emq}:version"] => fence = fence.or(Some((index, false))),
                [b"SET", b"{emq}:version", wire, b"NX"] => {
                    assert_eq!(wire, WIRE_VERSION.as_bytes());
                    fence = None;
                }
                [b"ECHO", _] => {
                    let Some((read, passed)) = &mut fence else { panic!("no fence was sent") };
                    // Once it has passed, later ones are heartbeats.
                    if !*passed {
                        let answers = replies(&self.said[..*said]);
                        let shown = text(answers.get(*read).expect("the fence was answered"));
                        assert_eq!(shown, Some(WIRE_VERSION.as_bytes()));
                        *passed = true;
                    }
                }
                [b"HELLO", ..] | [b"AUTH", ..] | [b"SELECT", b"7"] | [b"CLIENT", ..] => {}
                [b"ROLE"] | [b"CONFIG", b"GET", b"maxmemory-policy"] => {}
                _ => panic!("{words:?}"),
            }
        }
    }

    /// For each command with this argument, what was said in its place.
    pub(crate) fn answers_to(&self, id: &str) -> Vec<Option<Tree>> {
        let commands = self.commands();
        let mut answers = Vec::new();
        for (index, (words, _)) in commands.iter().enumerate() {
            if words.get(1).is_some_and(|word| word == id.as_bytes()) {
                answers.push(replies(&self.said).get(index).cloned());
            }
        }
        answers
    }
}

/// What was said in answer: all but pushes.
fn replies(mut said: &[u8]) -> Vec<Tree> {
    let mut replies = Vec::new();
    while let Ok((reply, len)) = reference::decode(said) {
        if !is_push(&reply) {
            replies.push(reply);
        }
        said = &said[len..];
    }
    replies
}

fn is_push(reply: &Tree) -> bool {
    match reply {
        Tree::Attribute(_, inner) => is_push(inner),
        reply => matches!(reply, Tree::Push(_)),
    }
}

fn text(reply: &Tree) -> Option<&[u8]> {
    match reply {
        Tree::Attribute(_, inner) => text(inner),
        Tree::Bulk(text) | Tree::Simple(text) | Tree::Verbatim(_, text) => Some(text),
        _ => None,
    }
}

/// Answers each flight in pieces, and then is silent until the next, or closes.
pub(crate) struct Server {
    flights: vec::IntoIter<Vec<u8>>,
    /// What it has still to say to this flight.
    saying: vec::IntoIter<u8>,
    piece: usize,
    /// Whether it falls silent when it has nothing more to say; otherwise it closes.
    silent: bool,
    /// Whether anything was written since it last had something to say.
    is_asked: bool,
    waker: Option<Waker>,
    log: Arc<Mutex<Log>>,
}

impl Server {
    pub(crate) fn new(says: &[u8], piece: usize, silent: bool, log: Arc<Mutex<Log>>) -> Self {
        let flights: Vec<_> = says.split(|byte| *byte == NEXT_FLIGHT).map(<[u8]>::to_vec).collect();
        Self {
            flights: flights.into_iter(),
            saying: Vec::new().into_iter(),
            piece,
            silent,
            is_asked: false,
            waker: None,
            log,
        }
    }
}

impl AsyncRead for Server {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.saying.len() == 0 && std::mem::take(&mut self.is_asked) {
            self.saying = self.flights.next().unwrap_or_default().into_iter();
        }
        if self.saying.len() == 0 && (self.silent || self.flights.len() > 0) {
            self.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let len = self.piece.min(buf.remaining());
        let said: Vec<u8> = self.saying.by_ref().take(len).collect();
        buf.put_slice(&said);
        self.log.lock().unwrap().said.extend(said);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Server {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        // A small piece is a small window as well.
        let taken = bytes.len().min(self.piece * 8);
        let mut log = self.log.lock().unwrap();
        let said = log.said.len();
        log.writes.push((bytes[..taken].to_vec(), said));
        drop(log);
        self.is_asked = true;
        self.waker.take().into_iter().for_each(Waker::wake);
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
