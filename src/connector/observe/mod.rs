//! What is told to those who watch: spans and events ([`trace`]), counters and times ([`meter`]).
//!
//! Each has a twin that tells nothing, for builds without its feature: inlined, it is no code at
//! all, so nothing elsewhere asks which features there are. Of a command its name is told, never an
//! argument; of a server's error its code.

#[cfg(feature = "metrics")]
mod meter;
#[cfg(not(feature = "metrics"))]
#[path = "meter_off.rs"]
mod meter;
#[cfg(feature = "tracing")]
mod trace;
#[cfg(not(feature = "tracing"))]
#[path = "trace_off.rs"]
mod trace;

use std::future::Future;

use super::{Config, Error, Event, boot::Fenced, step::Step, transport::Transport};

const IS_WATCHED: bool = cfg!(any(feature = "metrics", feature = "tracing"));

use crate::resp::Reply;

/// Where events come from, as far as somebody is told.
pub(super) use self::trace::Place;

/// What a caller does.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(
    not(all(feature = "metrics", feature = "tracing")),
    allow(dead_code, reason = "each of those who watch looks at a part of it")
)]
pub(super) struct What<'a> {
    verb: Verb,
    /// The command's name; of a batch, what it is.
    name: &'a str,
    commands: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Command,
    Script,
    Pipeline,
    Transaction,
}

impl<'a> What<'a> {
    #[inline]
    pub(super) fn command(name: &'a str) -> Self {
        Self { verb: Verb::Command, name, commands: 1 }
    }

    #[inline]
    pub(super) fn script() -> Self {
        Self { verb: Verb::Script, name: "EVALSHA", commands: 1 }
    }

    #[inline]
    pub(super) fn pipeline(commands: usize) -> Self {
        let commands = u32::try_from(commands).unwrap_or(u32::MAX);
        Self { verb: Verb::Pipeline, name: "pipeline", commands }
    }

    #[inline]
    pub(super) fn transaction(commands: usize) -> Self {
        Self { verb: Verb::Transaction, name: "transaction", ..Self::pipeline(commands) }
    }
}

/// A call under way. Dropped before its end, it was given up.
#[derive(Debug)]
pub(super) struct Call<'a> {
    trace: trace::Call<'a>,
    meter: meter::Call,
}

impl<'a> Call<'a> {
    #[inline]
    pub(super) fn begin(what: impl Fn() -> What<'a>) -> Self {
        Self { trace: trace::Call::begin(&what), meter: meter::Call::begin(&what) }
    }

    /// It ended so; gives that back.
    #[inline]
    pub(super) fn end<T>(mut self, result: Result<T, Error>) -> Result<T, Error> {
        let error = result.as_ref().err();
        self.trace.end(error);
        self.meter.end(error);
        result
    }

    /// No reply to it will come.
    #[inline]
    pub(super) fn failed(&mut self, error: &Error) {
        self.trace.end(Some(error));
        self.meter.end(Some(error));
    }

    /// It was answered, if only by a no.
    #[inline]
    pub(super) fn answered(&mut self, reply: &Reply) {
        let refused = IS_WATCHED.then(|| reply.as_error().map(Error::from)).flatten();
        self.trace.end(refused.as_ref());
        self.meter.end(refused.as_ref());
    }

    /// A batch was answered.
    #[inline]
    pub(super) fn done(&mut self) {
        self.trace.end(None);
        self.meter.end(None);
    }
}

/// An attempt to connect.
#[inline]
pub(super) async fn connect(
    config: &Config,
    attempt: impl Future<Output = Result<Fenced<Transport>, Error>>,
) -> Result<Fenced<Transport>, Error> {
    let result = trace::connect(config, attempt).await;
    meter::connected(&result);
    result
}

/// A step of the connect sequence is done.
#[inline]
pub(super) fn step(step: Step) {
    trace::step(step);
}

/// Something happened to a connector.
#[inline]
pub(super) fn event(place: &Place, event: &Event) {
    trace::event(place, event);
    meter::event(event);
}

/// A fenced connection is there again after one was lost.
#[inline]
pub(super) fn reconnected() {
    meter::reconnected();
}

#[cfg(all(test, not(feature = "metrics"), not(feature = "tracing")))]
mod tests {
    use super::*;

    #[test]
    fn nobody_who_watches_costs_nothing() {
        assert_eq!((size_of::<Call<'_>>(), size_of::<Place>()), (0, 0));
        assert!(!std::mem::needs_drop::<Call<'_>>());
    }
}
