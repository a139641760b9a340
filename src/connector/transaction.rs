//! MULTI … EXEC: all or none, and how it ended.
//!
//! Source: Valkey's pages "Transactions", "MULTI", "EXEC".

use super::{Error, Pipeline};
use crate::resp::{Command, Reply, ServerError, Sink};

/// How a transaction ended.
///
/// ```
/// use echo_wire::connector::Transaction;
/// let ended = Transaction::Conflict;
/// assert!(ended.done().is_none());
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Transaction {
    /// All commands ran; their replies in order, an error of one command as a value in its slot.
    Done(Vec<Reply>),
    /// A watched key had changed: nothing ran.
    Conflict,
    /// Nothing ran, because a command could not be queued.
    Aborted {
        /// EXEC's own words, `EXECABORT …`.
        reason: ServerError,
        /// Which commands (0 is the first) were refused, and why.
        refused: Vec<(usize, ServerError)>,
    },
    /// The server refused MULTI itself (a user without that right): the commands ran one by one,
    /// not as a transaction.
    NotAtomic {
        /// Its words.
        reason: ServerError,
        /// The replies of the commands.
        replies: Vec<Reply>,
    },
}

impl Transaction {
    /// The replies, if all commands ran.
    pub fn done(self) -> Option<Vec<Reply>> {
        match self {
            Self::Done(replies) => Some(replies),
            _ => None,
        }
    }

    pub(super) fn encode<S: Sink>(pipeline: &Pipeline, out: &mut S) {
        Command::new("MULTI").encode_to(out);
        pipeline.encode_to(out);
        Command::new("EXEC").encode_to(out);
    }

    /// The outcome from the replies to MULTI, every command, and EXEC.
    pub(super) fn from_replies(mut replies: Vec<Reply>) -> Result<Self, Error> {
        let exec = replies.pop().unwrap_or_default();
        let mut replies = replies.into_iter();
        if let Some(reason) = replies.next().as_ref().and_then(Reply::as_error) {
            return Ok(Self::NotAtomic { reason, replies: replies.collect() });
        }
        if exec.is_null() {
            return Ok(Self::Conflict);
        }
        if let Some(reason) = exec.as_error() {
            let refused = replies.enumerate().filter_map(|(i, reply)| Some((i, reply.as_error()?)));
            return Ok(Self::Aborted { reason, refused: refused.collect() });
        }
        Ok(Self::Done(exec.to::<Vec<Reply>>()?))
    }
}
