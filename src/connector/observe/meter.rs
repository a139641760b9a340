//! Counters, a gauge and a histogram, by the `metrics` crate. Their names and what they count are
//! in the table on the crate's page.

use metrics::{
    Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};
use tokio::time::Instant;

use super::{
    super::{Error, Event, Passage, boot::Fenced, transport::Transport},
    Verb, What,
};

const COMMANDS: &str = "echo_wire_commands_total";
const ERRORS: &str = "echo_wire_errors_total";
const PENDING: &str = "echo_wire_pending";
const SECONDS: &str = "echo_wire_call_seconds";
const CONNECTS: &str = "echo_wire_connects_total";
const CONNECT_ERRORS: &str = "echo_wire_connect_errors_total";
const RECONNECTS: &str = "echo_wire_reconnects_total";
const DISCONNECTS: &str = "echo_wire_disconnects_total";
const FENCE_REFUSALS: &str = "echo_wire_fence_refusals_total";

/// Among [`PENDING`] until it is dropped.
#[derive(Debug)]
pub(super) struct Call {
    verb: Verb,
    commands: f64,
    since: Instant,
}

impl Call {
    pub(super) fn begin<'a>(what: impl Fn() -> What<'a>) -> Self {
        let What { verb, commands, .. } = what();
        counter!(COMMANDS).increment(u64::from(commands));
        let commands = f64::from(commands);
        gauge!(PENDING).increment(commands);
        Self { verb, commands, since: Instant::now() }
    }

    pub(super) fn end(&mut self, error: Option<&Error>) {
        let call = match self.verb {
            Verb::Command => "command",
            Verb::Script => "script",
            Verb::Pipeline => "pipeline",
            Verb::Transaction => "transaction",
        };
        histogram!(SECONDS, "call" => call).record(self.since.elapsed());
        if let Some(error) = error {
            counter!(ERRORS, "kind" => error.kind()).increment(1);
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        gauge!(PENDING).decrement(self.commands);
    }
}

pub(super) fn connected(result: &Result<Fenced<Transport>, Error>) {
    describe();
    match result {
        Ok(fenced) => {
            let passage = match fenced.passage() {
                Passage::Verified => "verified",
                Passage::Claimed => "claimed",
            };
            counter!(CONNECTS, "passage" => passage).increment(1);
        }
        Err(error) => {
            counter!(CONNECT_ERRORS, "kind" => error.kind()).increment(1);
            refused(error);
        }
    }
}

pub(super) fn event(event: &Event) {
    if let Event::Disconnected(why) = event {
        counter!(DISCONNECTS, "kind" => why.kind()).increment(1);
        refused(why);
    }
}

pub(super) fn reconnected() {
    counter!(RECONNECTS).increment(1);
}

fn refused(why: &Error) {
    if let Error::VersionFence { .. } = why {
        counter!(FENCE_REFUSALS).increment(1);
    }
}

/// Again at each connect, for the recorder may be another one.
fn describe() {
    describe_counter!(COMMANDS, Unit::Count, "Commands handed in, those in batches each");
    describe_counter!(ERRORS, Unit::Count, "Calls that ended with an error");
    describe_gauge!(PENDING, Unit::Count, "Commands whose callers wait for the reply");
    describe_histogram!(SECONDS, Unit::Seconds, "From a call to its last reply");
    describe_counter!(CONNECTS, Unit::Count, "Connections that passed the fence");
    describe_counter!(CONNECT_ERRORS, Unit::Count, "Attempts to connect that failed");
    describe_counter!(RECONNECTS, Unit::Count, "Shared connections that were made again");
    describe_counter!(DISCONNECTS, Unit::Count, "Shared connections that ended");
    describe_counter!(FENCE_REFUSALS, Unit::Count, "Connections that met another wire");
}
