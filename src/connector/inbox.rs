//! What a socket has said so far: the unread bytes, and the pushes found among them.

use std::io;

use bytes::BytesMut;

use super::{pushes::Pushes, violation::Violation};
use crate::resp::{Decoder, Limits, Reply, ServerError};

/// The reading side's memory of one socket. It goes with the socket from `sync` to `sync`, so that
/// no byte that came early is lost and none is taken for an answer to something sent later. It is
/// boxed, because it is handed on so often.
#[derive(Debug)]
pub(super) struct Inbox {
    decoder: Decoder,
    pushes: Pushes,
    /// The first part of the next frame came before the commands now under way were sent, so it
    /// answers none of them.
    stale: bool,
    end: Option<End>,
    out: BytesMut,
}

/// Why a socket is done with.
#[derive(Debug)]
pub(super) enum End {
    /// The peer closed it, with a reason if it gave one.
    Closed(Option<ServerError>),
    Failed(io::Error),
    Violation(Violation),
}

impl Inbox {
    pub(super) fn new(limits: Limits) -> Box<Self> {
        Box::new(Self {
            decoder: Decoder::new(limits),
            pushes: Pushes::default(),
            stale: false,
            end: None,
            out: BytesMut::new(),
        })
    }

    /// Where a command is encoded before it is sent: empty between calls, kept for its memory.
    pub(super) fn out(&mut self) -> &mut BytesMut {
        &mut self.out
    }

    pub(super) fn decoder(&mut self) -> &mut Decoder {
        &mut self.decoder
    }

    pub(super) fn pushes(&mut self) -> &mut Pushes {
        &mut self.pushes
    }

    pub(super) fn lost_pushes(&self) -> u64 {
        self.pushes.lost()
    }

    pub(super) fn into_parts(self: Box<Self>) -> (Decoder, Pushes) {
        (self.decoder, self.pushes)
    }

    /// No more bytes will come: decoded as far as they go, then `why`.
    pub(super) fn ended(&mut self, why: End) {
        self.end.get_or_insert(why);
    }

    pub(super) fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// Why no more bytes will come.
    pub(super) fn take_end(&mut self) -> End {
        self.end.take().unwrap_or(End::Closed(None))
    }

    /// The next reply of those that are owed; pushes before it are kept. `None`: more bytes needed.
    pub(super) fn next(&mut self) -> Result<Option<Reply>, Violation> {
        let mut reply = Reply::default();
        Ok(self.next_reply(&mut reply)?.then_some(reply))
    }

    /// Appends replies of those that are owed, as far as they have come, until `replies` holds
    /// `owed`. Each is built in its place.
    pub(super) fn next_into(
        &mut self,
        replies: &mut Vec<Reply>,
        owed: usize,
    ) -> Result<(), Violation> {
        while replies.len() < owed {
            replies.push(Reply::default());
            let came = match replies.last_mut() {
                Some(place) => self.next_reply(place)?,
                None => false,
            };
            if !came {
                replies.pop();
                break;
            }
        }
        Ok(())
    }

    fn next_reply(&mut self, place: &mut Reply) -> Result<bool, Violation> {
        while self.decoder.next_into(place)? {
            let is_stale = std::mem::take(&mut self.stale);
            if place.is_push() {
                self.pushes.keep(std::mem::take(place));
            } else if is_stale {
                return Err(Violation::unasked(place));
            } else {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Makes sure that nothing here could be taken for the answer to what is sent next. Pushes are
    /// kept. To be called before anything is sent while no reply is owed.
    pub(super) fn settle(&mut self) -> Result<(), End> {
        if self.decoder.is_idle() {
            return Ok(());
        }
        if let Some(reply) = self.next()? {
            return Err(match reply.as_error() {
                Some(words) => End::Closed(Some(words)),
                None => Violation::unasked(&reply).into(),
            });
        }
        let part = self.decoder.buffered();
        match part.first() {
            None => Ok(()),
            // A push may be under way, or attributes of one, or the reason of a close.
            Some(b'>' | b'|' | b'-') => {
                self.stale = true;
                Ok(())
            }
            Some(_) => Err(Violation::unasked_part(part).into()),
        }
    }
}

impl From<Violation> for End {
    fn from(violation: Violation) -> Self {
        Self::Violation(violation)
    }
}
