//! What becomes of a call that was given up: its line comes back, and nothing that the server
//! handed out for it is lost.
//!
//! A command that waits on the server is ended there by CLIENT UNBLOCK, sent on the shared link;
//! then its reply comes, as if its time had been up. UNBLOCK's 0 means that it does not wait: not
//! yet, or no more because it has popped. So it is asked again until the reply is in, for a bounded
//! time. No UNBLOCK is under way when the line goes back, or the next command could be hit by it.
//!
//! Older servers die of an UNBLOCK whose client is held up by CLIENT PAUSE (see `boot/release.rs`).
//! Unless a server is known to be mended, UNBLOCK goes into a transaction, together with a PFCOUNT:
//! a paused server holds that back, as it may write, and so never runs the UNBLOCK in a pause.
//!
//! Where UNBLOCK is no way (no right to it, the shared link lost), the line is given up: we say
//! that nothing more will be sent, and read until the server closes. It sends what it had popped
//! before, unless it learns of our end in the very turn of its loop in which it pops.
//!
//! Source: Valkey's page "CLIENT UNBLOCK".

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
    time::Duration,
};

use tokio::{
    sync::oneshot,
    time::{Instant, timeout, timeout_at},
};

use super::{
    super::{
        Connector, Event, Policy,
        deadline::after,
        inbox::End,
        link::{Hold, Outcome},
        patience::Waiting,
    },
    exchange::Exchange,
    job::{self, Job, Leaves},
    line::{Known, Line},
    orphan::orphans,
    seat::Seat,
};
use crate::{
    keyspace::VERSION_KEY,
    resp::{Command, Reply, ReplyRef, Value},
};

/// A flight, and what is to be minded when it is over.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) exchange: Exchange,
    pub(super) waiting: Vec<Waiting>,
    pub(super) leaves: Leaves,
}

impl Work {
    pub(super) fn into_replies(self) -> Vec<Reply> {
        self.exchange.into_parts().1
    }

    /// Keeps what the server has handed out for it.
    pub(super) fn keep_orphans(&self, connector: &Connector) {
        let handle = connector.handle();
        for orphan in orphans(&self.waiting, self.exchange.replies()) {
            let command = orphan.command().to_owned();
            let lost = !handle.orphans.keep(orphan);
            handle.shared.count(|stats| Some(&mut stats.orphans));
            handle.shared.count(|stats| lost.then_some(&mut stats.orphans_lost));
            // Told last: whoever hears it finds it there.
            handle.events.tell(Event::Orphaned { command });
        }
    }
}

/// Takes over a call that its caller has given up.
pub(super) fn rescue(connector: &Connector, work: Work, hold: Hold) -> Seat {
    if !work.exchange.has_sent() {
        // Nothing has left: the line is as it was.
        return Seat::Here(work.exchange.into_parts().0);
    }
    let connector = connector.clone();
    Seat::lend(&connector.handle().runtime.clone(), |back| async move {
        let line = finish(&connector, work).await;
        bring_back(line, back).await;
        drop((hold, connector));
    })
}

/// Takes the watches off the line that is in the seat, or comes back to it.
pub(super) fn release(connector: &Connector, seat: Seat) -> Seat {
    if matches!(seat, Seat::Empty) {
        return seat;
    }
    let connector = connector.clone();
    let hold = connector.handle().shared.hold();
    let mut seat = seat;
    Seat::lend(&connector.handle().runtime.clone(), |back| async move {
        let line = match seat.take().await {
            Some(line) => unwatched(connector.policy(), line).await,
            None => None,
        };
        bring_back(line, back).await;
        drop((hold, connector));
    })
}

/// Brings the call to its end and keeps its orphans; the line, if it can be used again.
async fn finish(connector: &Connector, mut work: Work) -> Option<Line> {
    let is_whole = read_out(connector, &mut work).await.is_ok();
    work.keep_orphans(connector);
    let Work { exchange, leaves, .. } = work;
    let (line, replies) = exchange.into_parts();
    if !is_whole || job::is_demoted(&replies) {
        return None;
    }
    match leaves {
        Leaves::Nothing => Some(line),
        Leaves::Watch => unwatched(connector.policy(), line).await,
        Leaves::Transaction => Some(line).filter(|_| job::has_ended(&replies)),
    }
}

/// `Ok`: every reply is in, and the line can go on.
pub(super) async fn read_out(connector: &Connector, work: &mut Work) -> Result<(), ()> {
    let Work { exchange, waiting, .. } = work;
    let bound = after(Instant::now(), connector.policy().drain_within);
    let in_time = match (exchange.is_sent(), waiting.is_empty()) {
        // The rest of it is not worth sending.
        (false, true) => return Err(()),
        (false, false) => None,
        (true, true) => timeout_at(bound, exchange.done()).await.ok(),
        (true, false) => unblock(connector, exchange, bound).await,
    };
    match in_time {
        Some(end) => end.map_err(drop),
        None if waiting.is_empty() => Err(()),
        None => match last_words(exchange, bound).await {
            Ok(()) if exchange.is_open() => Ok(()),
            _ => Err(()),
        },
    }
}

/// Ends what waits on the server until every reply is in. `None`: it could not be done.
async fn unblock(
    connector: &Connector,
    exchange: &mut Exchange,
    bound: Instant,
) -> Option<Result<(), End>> {
    let known = exchange.line().known;
    let mut pause = FIRST_PAUSE;
    loop {
        if let Some(end) = exchange.try_done().await {
            return Some(end);
        }
        let asked = alongside(exchange, timeout_at(bound, ask(connector, known))).await;
        // Without its answer an UNBLOCK may still be on its way.
        asked.ok().flatten()?;
        let next = Instant::now().checked_add(pause)?.min(bound);
        if let Ok(end) = timeout_at(next, exchange.done()).await {
            return Some(end);
        }
        if next >= bound {
            return None;
        }
        pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
    }
}

/// One CLIENT UNBLOCK. `None`: it was not run, or it is not known whether it was.
async fn ask(connector: &Connector, known: Known) -> Option<()> {
    let shared = &connector.handle().shared;
    let id = known.client_id?;
    // Ids are the server's: on another one this would hit a stranger.
    if known.beside != Some(shared.stats().connects) {
        return None;
    }
    let unblock = Command::new("CLIENT").arg("UNBLOCK").arg(id);
    let outcome = match known.unblocks_safely {
        true => shared.call_last(1, |out| unblock.encode_to(out)).await,
        false => {
            let may_write = Command::new("PFCOUNT").arg(VERSION_KEY);
            let guarded = [&Command::new("MULTI"), &may_write, &unblock, &Command::new("EXEC")];
            shared.call_last(4, |out| guarded.iter().for_each(|it| it.encode_to(out))).await
        }
    };
    let replies = match outcome.ok()? {
        Outcome::One(reply) => return is_number(reply.as_ref()),
        Outcome::Many(replies) => replies,
        Outcome::Failed(_) => return None,
    };
    match replies.last()?.value() {
        Value::Array(ran) => is_number(ran.get(1)?),
        _ => None,
    }
}

fn is_number(reply: ReplyRef<'_>) -> Option<()> {
    matches!(reply.value(), Value::Integer(_)).then_some(())
}

/// Awaits `other` while the exchange goes on.
async fn alongside<T>(exchange: &mut Exchange, other: impl Future<Output = T>) -> T {
    let mut other = pin!(other);
    poll_fn(|cx| {
        // Its end is kept, and seen by whoever looks next.
        let _: Poll<_> = exchange.poll(cx);
        other.as_mut().poll(cx)
    })
    .await
}

/// Gives the line up and hears what the server has still to say; `Ok`: all the replies.
async fn last_words(exchange: &mut Exchange, bound: Instant) -> Result<(), End> {
    // What is here already, and the rest of what has begun to come.
    if let Ok(end) = timeout(MOMENT, exchange.done()).await {
        return end;
    }
    if exchange.is_midway()
        && let Ok(end) = timeout_at(bound, exchange.done()).await
    {
        return end;
    }
    exchange.end_sending().await;
    let bound = Instant::now().checked_add(LAST_WORDS).map_or(bound, |least| bound.max(least));
    timeout_at(bound, exchange.done()).await.unwrap_or(Err(End::Closed(None)))
}

/// The line without a watch on it, if the server says so.
async fn unwatched(policy: &Policy, line: Line) -> Option<Line> {
    let Job { out, replies, .. } = Job::unwatch();
    let mut exchange = Exchange::new(line, out, replies);
    let done = timeout(policy.response_timeout, exchange.done()).await;
    let (line, replies) = exchange.into_parts();
    // Not `+QUEUED`, say.
    let is_off = replies.first().is_some_and(|reply| reply.value().text() == Some(b"OK"));
    (is_off && matches!(done, Ok(Ok(())))).then_some(line)
}

async fn bring_back(line: Option<Line>, back: oneshot::Sender<Line>) {
    // Nobody wants it any more: its handle was dropped.
    if let Some(Err(line)) = line.map(|line| back.send(line)) {
        line.close().await;
    }
}

/// Between two UNBLOCKs, doubled each time.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(200);
/// In this time the runtime learns what has happened to a socket.
const MOMENT: Duration = Duration::from_millis(2);
/// How long a server may take at least to learn of our end and to close.
const LAST_WORDS: Duration = Duration::from_secs(1);
