//! What a call sends on a line, and what that leaves behind there.

use bytes::BytesMut;

use super::super::{
    Pipeline, ScriptCall, Transaction,
    command_table::Traits,
    patience::Waiting,
    scripting::{Form, Forms},
};
use crate::resp::{Command, Reply, Value};

/// One flight.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) out: BytesMut,
    /// How many replies answer it.
    pub(super) replies: usize,
    /// Those of its commands that may wait on the server.
    pub(super) waiting: Vec<Waiting>,
    pub(super) leaves: Leaves,
}

/// What a flight may leave behind on the server's side of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaves {
    Nothing,
    /// Watched keys.
    Watch,
    /// Nothing, if its last reply says that the transaction has ended.
    Transaction,
}

impl Job {
    pub(super) fn command(command: &Command<'_>, traits: &Traits) -> Self {
        let mut out = BytesMut::new();
        command.encode(&mut out);
        let waiting = Waiting::of(command, traits, 0).into_iter().collect();
        Self { out, replies: 1, waiting, leaves: Leaves::Nothing }
    }

    pub(super) fn script(call: &ScriptCall<'_>, form: Form) -> Self {
        let mut out = BytesMut::new();
        call.encode(form, &mut out);
        Self { out, replies: 1, waiting: Vec::new(), leaves: Leaves::Nothing }
    }

    pub(super) fn pipeline(pipeline: &Pipeline) -> Self {
        let mut out = BytesMut::with_capacity(pipeline.encoded_len());
        pipeline.encode(&mut out);
        let waiting = pipeline.waiting().to_vec();
        Self { out, replies: pipeline.len(), waiting, leaves: Leaves::Nothing }
    }

    /// Between MULTI and EXEC nothing waits: what would block answers at once.
    pub(super) fn transaction(pipeline: &Pipeline) -> Self {
        let mut out = BytesMut::with_capacity(pipeline.encoded_len().saturating_add(64));
        Transaction::encode(pipeline, Forms::Atomic, &mut out);
        let replies = pipeline.len().saturating_add(2);
        Self { out, replies, waiting: Vec::new(), leaves: Leaves::Transaction }
    }

    pub(super) fn watch(command: &Command<'_>) -> Self {
        let job = Self::command(command, &Traits::of(command));
        Self { leaves: Leaves::Watch, ..job }
    }

    pub(super) fn unwatch() -> Self {
        let command = Command::new("UNWATCH");
        Self::command(&command, &Traits::of(&command))
    }
}

/// Whether the replies to a transaction say that neither MULTI nor WATCH is left: EXEC has run it
/// or dropped it. Anything else (MULTI refused, so that EXEC was none) leaves the watch.
pub(super) fn has_ended(replies: &[Reply]) -> bool {
    let begun = replies.first().is_some_and(|multi| !multi.is_error());
    let ended = replies.last().is_some_and(|exec| match exec.value() {
        Value::Array(_) | Value::Null(_) => true,
        _ => exec.as_error().is_some_and(|error| error.code() == "EXECABORT"),
    });
    begun && ended
}

/// Whether the server has told that it is no longer the primary.
pub(super) fn is_demoted(replies: &[Reply]) -> bool {
    let told = |reply: &Reply| reply.as_error();
    let codes = ["READONLY", "UNBLOCKED"];
    replies.iter().filter_map(told).any(|error| codes.contains(&error.code()))
}
