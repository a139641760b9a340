//! A call on a line, as its caller sees it.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
    time::Duration,
};

use tokio::time::{Instant, sleep_until};

use super::{
    super::{Connector, Error, inbox::End, link::Hold},
    exchange::Exchange,
    job::{self, Job, Leaves},
    line::Line,
    rescue::{Work, read_out, rescue},
    seat::Seat,
};
use crate::{connector::patience::Patience, resp::Reply};

/// A call under way. Its line is not in the seat meanwhile; when the call ends it is there again,
/// or lost, or with a rescue: that is so for a dropped call, too.
#[derive(Debug)]
pub(super) struct Call<'d> {
    connector: &'d Connector,
    seat: &'d mut Seat,
    /// None once it has ended.
    work: Option<Work>,
    hold: Option<Hold>,
}

enum Turn {
    Ended(Result<(), End>),
    /// The connector is stopped.
    Stopped(Error),
    /// The time is up.
    Late,
}

impl<'d> Call<'d> {
    /// `line` was taken from `seat`. Nothing is sent before the call is polled.
    pub(super) fn new(connector: &'d Connector, seat: &'d mut Seat, line: Line, job: Job) -> Self {
        let Job { out, replies, waiting, leaves } = job;
        let work = Work { exchange: Exchange::new(line, out, replies), waiting, leaves };
        let hold = connector.handle().shared.hold();
        Self { connector, seat, work: Some(work), hold: Some(hold) }
    }

    /// The replies, one for each command.
    pub(super) async fn replies(mut self) -> Result<Vec<Reply>, Error> {
        match self.turn().await {
            Turn::Ended(Ok(())) => Ok(self.end()),
            Turn::Ended(Err(end)) => {
                let maybe_executed = self.has_sent();
                self.lose();
                Err(match end {
                    End::Closed(_) | End::Failed(_) => Error::Disconnected { maybe_executed },
                    End::Violation(violation) => Error::Protocol { violation, maybe_executed },
                })
            }
            Turn::Stopped(why) if !self.has_sent() => {
                self.work = None;
                Err(why)
            }
            Turn::Stopped(_why) => {
                let Some(work) = &mut self.work else { return Ok(Vec::new()) };
                match read_out(self.connector, work).await {
                    Ok(()) => Ok(self.work.take().map(Work::into_replies).unwrap_or_default()),
                    Err(()) => {
                        self.lose();
                        Err(Error::Disconnected { maybe_executed: true })
                    }
                }
            }
            Turn::Late => Err(Error::Timeout { maybe_executed: self.has_sent() }),
        }
    }

    async fn turn(&mut self) -> Turn {
        let limit = self.limit().and_then(|limit| Instant::now().checked_add(limit));
        let mut late = pin!(limit.map(sleep_until));
        let mut stopping = pin!(self.connector.handle().shared.stopping());
        poll_fn(|cx| {
            let Some(work) = &mut self.work else { return Poll::Pending };
            if let Poll::Ready(end) = work.exchange.poll(cx) {
                return Poll::Ready(Turn::Ended(end));
            }
            if let Poll::Ready(why) = stopping.as_mut().poll(cx) {
                return Poll::Ready(Turn::Stopped(why));
            }
            match late.as_mut().as_pin_mut().map(|late| late.poll(cx)) {
                Some(Poll::Ready(())) => Poll::Ready(Turn::Late),
                Some(Poll::Pending) | None => Poll::Pending,
            }
        })
        .await
    }

    fn limit(&self) -> Option<Duration> {
        let waiting = self.work.as_ref().map(|work| &work.waiting);
        let patience = Patience::sum(waiting.into_iter().flatten());
        patience.limit(self.connector.policy().response_timeout)
    }

    fn has_sent(&self) -> bool {
        self.work.as_ref().is_some_and(|work| work.exchange.has_sent())
    }

    /// The socket is gone. What had come for a part of the flight is not.
    fn lose(&mut self) {
        if let Some(work) = self.work.take() {
            work.keep_orphans(self.connector);
        }
    }

    /// Every reply is in.
    fn end(&mut self) -> Vec<Reply> {
        let Some(Work { exchange, leaves, .. }) = self.work.take() else { return Vec::new() };
        let (line, replies) = exchange.into_parts();
        let is_clean = leaves != Leaves::Transaction || job::has_ended(&replies);
        if is_clean && !job::is_demoted(&replies) {
            *self.seat = Seat::Here(line);
        }
        replies
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if let (Some(work), Some(hold)) = (self.work.take(), self.hold.take()) {
            *self.seat = rescue(self.connector, work, hold);
        }
    }
}
