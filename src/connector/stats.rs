//! Counters of one connector.

use std::iter::Sum;

/// What a connector has done so far. All counts rise from its creation and survive reconnects;
/// [`pending`](Self::pending) is the one that also falls.
///
/// Read under the lock that guards what they count, so one snapshot is consistent in itself:
/// `replies` never runs ahead of `commands` by more than the link's own fence checks.
///
/// ```
/// let stats = echo_wire::connector::Stats::default();
/// assert_eq!((stats.commands, stats.pending), (0, 0));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Commands taken for sending, those inside pipelines and transactions each counted.
    pub commands: u64,
    /// Pipelines and transactions taken for sending.
    pub pipelines: u64,
    /// Replies read, those that nobody waited for any more included.
    pub replies: u64,
    /// RESP3 pushes read.
    pub pushes: u64,
    /// Messages dropped because their reader was slow, for each reader.
    pub messages_lost: u64,
    /// Bytes read from sockets after the fence.
    pub bytes_in: u64,
    /// Bytes that sockets took after the fence.
    pub bytes_out: u64,
    /// Fenced connections made, the first included.
    pub connects: u64,
    /// Fenced connections made after one was lost.
    pub reconnects: u64,
    /// Attempts to connect that failed.
    pub failed_connects: u64,
    /// Fence checks on a live connection that passed.
    pub heartbeats: u64,
    /// Times the version key was found gone after it had been seen.
    pub fences_vanished: u64,
    /// Connections ended by a malformed reply or one that answered nothing.
    pub protocol_errors: u64,
    /// Calls refused, or made to wait, because too much was in flight.
    pub overloads: u64,
    /// Calls that ended with [`Error::Timeout`](super::Error::Timeout).
    pub timeouts: u64,
    /// Connections torn down because replies were owed and nothing came.
    pub silences: u64,
    /// EVALSHA (and EVALSHA_RO) taken for sending: calls of scripts by hash, each try counted.
    pub evalsha_calls: u64,
    /// EVAL (and EVAL_RO) taken for sending: calls of scripts with their source.
    pub eval_calls: u64,
    /// SCRIPT LOADs that the link itself has queued, on its connections. They are among `commands`.
    pub script_loads: u64,
    /// Calls of scripts by hash that did not run, because the server did not have the script.
    pub noscripts: u64,
    /// Fenced connections made for dedicated use. What runs on them is not counted elsewhere here.
    pub dedicated: u64,
    /// Replies with data that came after their caller on a dedicated connection had gone.
    pub orphans: u64,
    /// Those of them that were lost because nobody took them.
    pub orphans_lost: u64,
    /// Replies owed right now.
    pub pending: u64,
}

/// Of several connectors together.
impl Sum for Stats {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |a, b| Self {
            commands: a.commands.saturating_add(b.commands),
            pipelines: a.pipelines.saturating_add(b.pipelines),
            replies: a.replies.saturating_add(b.replies),
            pushes: a.pushes.saturating_add(b.pushes),
            messages_lost: a.messages_lost.saturating_add(b.messages_lost),
            bytes_in: a.bytes_in.saturating_add(b.bytes_in),
            bytes_out: a.bytes_out.saturating_add(b.bytes_out),
            connects: a.connects.saturating_add(b.connects),
            reconnects: a.reconnects.saturating_add(b.reconnects),
            failed_connects: a.failed_connects.saturating_add(b.failed_connects),
            heartbeats: a.heartbeats.saturating_add(b.heartbeats),
            fences_vanished: a.fences_vanished.saturating_add(b.fences_vanished),
            protocol_errors: a.protocol_errors.saturating_add(b.protocol_errors),
            overloads: a.overloads.saturating_add(b.overloads),
            timeouts: a.timeouts.saturating_add(b.timeouts),
            silences: a.silences.saturating_add(b.silences),
            evalsha_calls: a.evalsha_calls.saturating_add(b.evalsha_calls),
            eval_calls: a.eval_calls.saturating_add(b.eval_calls),
            script_loads: a.script_loads.saturating_add(b.script_loads),
            noscripts: a.noscripts.saturating_add(b.noscripts),
            dedicated: a.dedicated.saturating_add(b.dedicated),
            orphans: a.orphans.saturating_add(b.orphans),
            orphans_lost: a.orphans_lost.saturating_add(b.orphans_lost),
            pending: a.pending.saturating_add(b.pending),
        })
    }
}

/// Counters count; at the end of `u64` they stay there.
pub(super) fn count(counter: &mut u64, by: u64) {
    *counter = counter.saturating_add(by);
}
