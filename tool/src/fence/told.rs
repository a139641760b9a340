//! What came of it, for a person and for a program.

use std::io::{self, Write};

use echo_wire::{
    connector::{Config, Connection, Error, Found, Passage},
    resp::Protocol,
};
use serde_json::json;

use super::{Heard, history::Step};
use crate::{arguments::Fence, escape, exit::Exit, paint::Paint};

#[derive(Debug)]
pub(crate) struct Told<'a> {
    wire: &'a str,
    place: String,
    result: Result<Connection, Error>,
    heard: Heard,
    steps: Vec<Step>,
}

impl<'a> Told<'a> {
    pub(crate) fn new(
        asked: &'a Fence,
        config: &Config,
        result: Result<Connection, Error>,
        heard: Heard,
        steps: Vec<Step>,
    ) -> Self {
        let place = config.endpoint().to_string();
        Self { wire: asked.place.wire(), place, result, heard, steps }
    }

    pub(crate) fn exit(&self) -> Exit {
        match &self.result {
            Ok(_passed) => Exit::Done,
            Err(error) => error.into(),
        }
    }

    /// In a word.
    fn verdict(&self) -> &'static str {
        match (&self.result, self.exit()) {
            (Ok(connection), _) => match connection.passage() {
                Passage::Verified => "verified",
                Passage::Claimed => "claimed",
            },
            (Err(_), Exit::Refused) => "refused",
            (Err(_), Exit::NotReady) => "not ready",
            (Err(_), Exit::Unclaimed) => "unclaimed",
            (Err(_), _) => "failed",
        }
    }

    /// In a sentence.
    fn reason(&self) -> String {
        let Self { wire, place, .. } = self;
        match &self.result {
            Ok(connection) => match connection.passage() {
                Passage::Verified => format!("{place} speaks {wire}"),
                Passage::Claimed => format!("{place} was nobody's and now speaks {wire}"),
            },
            Err(Error::VersionFence { got: Found::Value(got) }) => {
                format!("{place} speaks {}, not {wire}", escape::short(got, 64))
            }
            Err(Error::VersionFence { got: Found::WrongType }) => {
                format!("{place} has a version key that is no string, not {wire}")
            }
            Err(_) if self.exit() == Exit::Unclaimed => {
                format!("{place} has no version key; a connect would claim it for {wire}")
            }
            Err(Error::NotReady { step, cause }) => format!("{place}, {step}: {cause}"),
            Err(error) => format!("{place}: {error}"),
        }
    }

    /// Flights, and writes among them; unknown where not all was heard.
    fn figures(&self) -> Option<(usize, usize)> {
        let flights = self.steps.last().map_or(0, |step| step.flight);
        let writes = self.steps.iter().filter(|step| step.writes()).count();
        (self.heard == Heard::Whole).then_some((flights, writes))
    }

    pub(crate) fn text(&self, out: &mut impl Write, paint: Paint) -> io::Result<()> {
        let verdict = match self.exit() {
            Exit::Done => paint.good(self.verdict()),
            Exit::NotReady | Exit::Unclaimed => paint.wait(self.verdict()),
            _ => paint.bad(self.verdict()),
        };
        writeln!(out, "{verdict}  {}", self.reason())?;
        if self.steps.is_empty() {
            return Ok(());
        }
        writeln!(out)?;
        let width = |step: &Step| step.sent.join(" ").chars().count();
        let width = self.steps.iter().map(width).max().unwrap_or_default();
        let (mut flight, mut told) = (0, String::new());
        for step in &self.steps {
            // Commands that went out together stand together.
            let number =
                if step.flight == flight { String::new() } else { step.flight.to_string() };
            flight = step.flight;
            let sent = step.sent.join(" ");
            let pad = " ".repeat(width.saturating_sub(sent.chars().count()));
            let sent = if step.writes() { paint.wait(sent) } else { paint.name(sent) };
            write!(out, "  {}  {sent}{pad}  ", paint.dim(format!("{number:>2}")))?;
            match &step.answer {
                None => writeln!(out, "{}", paint.dim("(no answer)"))?,
                Some(answer) => {
                    let shown = match answer.is_error {
                        true => paint.bad(&answer.shown),
                        false => answer.shown.clone(),
                    };
                    // Answers that came together took the same time, which is told once.
                    let took = format!("{:.2} ms", answer.after.as_secs_f64() * 1e3);
                    let (again, time) = (took == told && number.is_empty(), paint.dim(&took));
                    match again {
                        true => writeln!(out, "{shown}")?,
                        false => writeln!(out, "{shown}  {time}")?,
                    }
                    told = took;
                }
            }
        }
        match self.figures() {
            None => {
                writeln!(out, "\n  hung up on; what came after, on other sockets, is not shown")?;
            }
            Some((trips, writes)) => {
                let plural = if trips == 1 { "" } else { "s" };
                let writes = match writes {
                    0 => "nothing written".to_owned(),
                    1 => "1 write, the claim".to_owned(),
                    n => format!("{n} writes, the claim tried again"),
                };
                writeln!(out, "\n  {trips} round trip{plural}, {writes}")?;
            }
        }
        if let Ok(connection) = &self.result
            && let Some(policy) = connection.eviction_policy()
        {
            let warning = format!("maxmemory-policy is {policy}: the version key may be evicted");
            writeln!(out, "  {} {warning}", paint.wait("warning:"))?;
        }
        Ok(())
    }

    pub(crate) fn json(&self, out: &mut impl Write) -> io::Result<()> {
        let found = match &self.result {
            Err(Error::VersionFence { got: Found::Value(got) }) => Some(escape::json(got)),
            Err(Error::VersionFence { got }) => Some(got.to_string().into()),
            _ => None,
        };
        let connection = self.result.as_ref().ok();
        let protocol = connection.map(|connection| match connection.protocol() {
            Protocol::Resp2 => 2,
            _ => 3,
        });
        let error = self.result.as_ref().err().map(ToString::to_string);
        let steps: Vec<_> = self.steps.iter().map(Step::json).collect();
        let told = json!({
            "verdict": self.verdict(),
            "exit": self.exit().code(),
            "place": self.place,
            "wire": self.wire,
            "found": found,
            "error": error,
            "protocol": protocol,
            "round_trips": self.figures().map(|(trips, _)| trips),
            "writes": self.figures().map(|(_, writes)| writes),
            "eviction_policy": connection.and_then(Connection::eviction_policy),
            "steps": steps,
        });
        writeln!(out, "{told}")
    }
}
