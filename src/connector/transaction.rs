//! MULTI … EXEC: all or none, and how it ended.
//!
//! Source: Valkey's pages "Transactions", "MULTI", "EXEC".

use super::{Error, Pipeline, Replies, scripting::Forms};
use crate::resp::{Command, ConvertError, Reply, ReplyRef, ServerError, Sink, Value};

/// How a transaction ended.
///
/// ```
/// use echo_wire::connector::Transaction;
/// let ended = Transaction::Conflict;
/// assert!(ended.done().is_none());
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
#[must_use = "nothing may have run, and only this says so"]
pub enum Transaction {
    /// All commands ran; their replies in order, an error of one command as a value in its slot.
    Done(Replies),
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
        replies: Replies,
    },
}

impl Transaction {
    /// The replies, if all commands ran.
    pub fn done(self) -> Option<Replies> {
        match self {
            Self::Done(replies) => Some(replies),
            _ => None,
        }
    }

    pub(super) fn encode<S: Sink>(pipeline: &Pipeline, forms: Forms, out: &mut S) {
        Command::new("MULTI").encode_to(out);
        pipeline.encode_in(forms, out);
        Command::new("EXEC").encode_to(out);
    }

    /// The outcome of `pipeline` from the replies to MULTI, every command, and EXEC.
    pub(super) fn from_replies(
        pipeline: &Pipeline,
        mut replies: Vec<Reply>,
    ) -> Result<Self, Error> {
        let exec = replies.pop().unwrap_or_default();
        let mut replies = replies.into_iter();
        if let Some(reason) = replies.next().as_ref().and_then(Reply::as_error) {
            let mut replies: Vec<_> = replies.collect();
            pipeline.calls().settle(&mut replies);
            return Ok(Self::NotAtomic { reason, replies: replies.into() });
        }
        if exec.is_null() {
            return Ok(Self::Conflict);
        }
        if let Some(reason) = exec.as_error() {
            let refused = replies.enumerate().filter_map(|(i, reply)| Some((i, reply.as_error()?)));
            return Ok(Self::Aborted { reason, refused: refused.collect() });
        }
        // Not `to::<Vec<Reply>>()`: an error in here is a value in its slot.
        match exec.value() {
            Value::Array(replies) => {
                let mut replies: Vec<_> = replies.iter().map(ReplyRef::to_reply).collect();
                pipeline.calls().settle(&mut replies);
                Ok(Self::Done(replies.into()))
            }
            _ => Err(ConvertError::mismatch("the replies of EXEC", exec.as_ref()).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resp::{Decoder, Limits};

    fn outcome(wire: &str) -> Transaction {
        let mut decoder = Decoder::new(Limits::default());
        decoder.feed(wire.as_bytes());
        let replies = std::iter::from_fn(|| decoder.next().unwrap()).collect();
        Transaction::from_replies(&Pipeline::new(), replies).unwrap()
    }

    #[test]
    fn an_error_of_one_command_is_a_value_in_its_slot() {
        let wire = "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n+OK\r\n-WRONGTYPE not a list\r\n";
        let replies = outcome(wire).done().unwrap();
        let read: ((), Result<i64, ServerError>) = replies.to().unwrap();
        assert_eq!(read.1.unwrap_err().code(), "WRONGTYPE");
    }

    #[test]
    fn every_null_is_a_conflict_and_an_empty_array_is_none() {
        for null in ["_\r\n", "*-1\r\n", "$-1\r\n"] {
            let ended = outcome(&format!("+OK\r\n+QUEUED\r\n{null}"));
            assert!(matches!(ended, Transaction::Conflict), "{ended:?}");
        }
        assert_eq!(outcome("+OK\r\n*0\r\n").done().unwrap().len(), 0);
    }

    #[test]
    fn an_abort_names_the_commands_that_could_not_be_queued() {
        let wire =
            "+OK\r\n+QUEUED\r\n-ERR wrong number\r\n+QUEUED\r\n-NOPERM no\r\n-EXECABORT no\r\n";
        let Transaction::Aborted { reason, refused } = outcome(wire) else { panic!() };
        let refused: Vec<_> = refused.iter().map(|(place, why)| (*place, why.code())).collect();
        assert_eq!((reason.code(), refused), ("EXECABORT", vec![(1, "ERR"), (3, "NOPERM")]));
    }

    #[test]
    fn commands_that_ran_without_multi_are_not_called_a_transaction() {
        let ended = outcome("-NOPERM no\r\n:1\r\n:2\r\n-ERR EXEC without MULTI\r\n");
        let Transaction::NotAtomic { reason, replies } = ended else { panic!() };
        assert_eq!((reason.code(), replies.to::<(i64, i64)>().unwrap()), ("NOPERM", (1, 2)));
    }
}
