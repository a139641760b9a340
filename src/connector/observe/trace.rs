//! Spans and events, by the `tracing` crate. Their targets, levels and fields are in the table on the
//! crate's page.

use std::{fmt, future::Future, sync::Arc};

use tokio::time::Instant;
use tracing::{
    Instrument, Level, debug, enabled, error,
    field::{Empty, display},
    info, info_span, warn,
};

use super::{
    super::{Config, Error, Event, boot::Fenced, step::Step, transport::Transport},
    What,
};
use crate::resp::Protocol;

const CONNECT: &str = "echo_wire::connect";
const EVENT: &str = "echo_wire::event";
const COMMAND: &str = "echo_wire::command";

/// The endpoint, as it is shown.
#[derive(Clone)]
pub(in crate::connector) struct Place(Arc<str>);

impl Place {
    pub(in crate::connector) fn of(config: &Config) -> Self {
        Self(config.endpoint.to_string().into())
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// None: nobody listens.
#[derive(Debug)]
pub(super) struct Call<'a>(Option<Seen<'a>>);

#[derive(Debug)]
struct Seen<'a> {
    what: What<'a>,
    since: Instant,
}

impl<'a> Call<'a> {
    pub(super) fn begin(what: impl Fn() -> What<'a>) -> Self {
        let wanted = enabled!(target: COMMAND, Level::DEBUG);
        Self(wanted.then(|| Seen { what: what(), since: Instant::now() }))
    }

    pub(super) fn end(&mut self, error: Option<&Error>) {
        let code = match error {
            Some(Error::Server(error)) => Some(display(error.code())),
            _ => None,
        };
        self.tell(error.map_or("ok", Error::kind), code);
    }

    fn tell(&mut self, outcome: &str, code: Option<impl tracing::Value>) {
        let Some(Seen { what, since }) = self.0.take() else { return };
        let micros = u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX);
        debug!(
            target: COMMAND,
            command = what.name,
            commands = what.commands,
            micros,
            outcome,
            code,
        );
    }
}

/// Its caller has given it up.
impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.tell("dropped", None::<&str>);
    }
}

pub(super) async fn connect(
    config: &Config,
    attempt: impl Future<Output = Result<Fenced<Transport>, Error>>,
) -> Result<Fenced<Transport>, Error> {
    let span = info_span!(
        target: CONNECT,
        "connect",
        endpoint = %config.endpoint,
        tls = config.tls.is_some(),
        wire = config.wire.as_str(),
        passage = Empty,
        protocol = Empty,
    );
    let told = async {
        let result = attempt.await;
        match &result {
            Ok(fenced) => {
                span.record("passage", display(fenced.passage()));
                let is_resp3 = fenced.protocol() == Protocol::Resp3;
                span.record("protocol", if is_resp3 { 3 } else { 2 });
                info!(target: CONNECT, passage = %fenced.passage(), "fenced");
            }
            Err(error) => warn!(target: CONNECT, kind = error.kind(), error = %error, "failed"),
        }
        result
    };
    told.instrument(span.clone()).await
}

pub(super) fn step(step: Step) {
    debug!(target: CONNECT, step = %step, "done");
}

pub(super) fn event(Place(endpoint): &Place, event: &Event) {
    let endpoint = &**endpoint;
    match event {
        Event::Connected => debug!(target: EVENT, endpoint, "{event}"),
        Event::Fenced(_) | Event::Disconnected(Error::Closed) => {
            info!(target: EVENT, endpoint, "{event}");
        }
        Event::Disconnected(_)
        | Event::Reconnecting { .. }
        | Event::FenceVanished
        | Event::Orphaned { .. } => warn!(target: EVENT, endpoint, "{event}"),
        Event::Fatal(_) => error!(target: EVENT, endpoint, "{event}"),
    }
}
