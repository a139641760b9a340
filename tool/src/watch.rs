//! `echo-wire watch`: what happens to a connection, and to the version key, as it happens.

use std::{
    future::{Future, pending},
    io::{self, Write},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use echo_wire::{
    connector::{Config, Connector, Error, Event, Policy},
    keyspace::VERSION_KEY,
    resp::{Command, Reply},
};
use serde_json::{Value as Json, json};
use tokio::{
    signal,
    time::{MissedTickBehavior, interval, sleep},
};

use crate::{
    arguments::Watch,
    escape,
    exit::{Exit, Stop, in_words},
    paint::Paint,
};

/// How long the first connect tries before that is told, and it tries again.
const TRY: Duration = Duration::from_secs(1);

pub(crate) async fn run(asked: &Watch, json: bool, paint: Paint) -> Result<Exit, Stop> {
    let policy = Policy { ready_within: TRY, heartbeat: asked.every, ..Policy::default() };
    let config = asked.place.looking()?.policy(policy);
    let mut log = Log { json, paint, started: Instant::now(), status: 0 };
    let over = async {
        match asked.within {
            Some(within) => sleep(within).await,
            None => pending().await,
        }
    };
    let stopped = tokio::select! {
        stopped = follow(config, asked, &mut log) => Some(stopped?),
        () = over => None,
        _ = signal::ctrl_c() => None,
    };
    log.end_status()?;
    Ok(stopped.as_ref().map_or(Exit::Done, Exit::from))
}

/// Answers only when the connector has stopped for good.
async fn follow(config: Config, asked: &Watch, log: &mut Log) -> io::Result<Error> {
    let place = config.endpoint().to_string();
    log.say("watching", &place, Tone::Plain, json!({ "place": place }))?;
    let connector = match first(config, log).await? {
        Ok(connector) => connector,
        Err(error) => return log.stopped(error),
    };
    let mut events = connector.events();
    let wire = asked.place.wire();
    let text = format!("the fence passed, the store speaks {wire}");
    log.say("connected", &text, Tone::Good, json!({ "wire": wire }))?;
    let mut look = interval(asked.every.max(Duration::from_millis(10)));
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut key = None;
    loop {
        tokio::select! {
            event = events.next() => match event {
                Some(Event::Fatal(error)) => return log.stopped(error),
                Some(event) => {
                    // After a gap whatever the key holds is worth a line.
                    key = None;
                    log.event(&event)?;
                }
                None => return log.stopped(Error::Closed),
            },
            _ = look.tick() => log.key(read(&connector).await, &mut key, wire)?,
        }
    }
}

/// Connects, and tells what stands in the way as long as time may heal it.
async fn first(config: Config, log: &mut Log) -> io::Result<Result<Connector, Error>> {
    loop {
        match Connector::connect(config.clone()).await {
            Err(error @ Error::NotReady { .. }) => {
                let text = in_words(&error);
                log.say("waiting", &text, Tone::Wait, json!({ "cause": text }))?;
            }
            ended => return Ok(ended),
        }
    }
}

fn read(connector: &Connector) -> impl Future<Output = Result<(Reply, Duration), Error>> {
    let asked = Instant::now();
    async move {
        let reply = connector.command(Command::new("GET").arg(VERSION_KEY)).await?;
        Ok((reply, asked.elapsed()))
    }
}

#[derive(Debug, Clone, Copy)]
enum Tone {
    Plain,
    Good,
    Bad,
    Wait,
}

/// Where lines go.
#[derive(Debug)]
struct Log {
    json: bool,
    paint: Paint,
    started: Instant,
    /// Characters of the status line that stands below the last line, if one does.
    status: usize,
}

impl Log {
    fn say(&mut self, event: &str, text: &str, tone: Tone, details: Json) -> io::Result<()> {
        self.end_status()?;
        let mut out = io::stdout().lock();
        if self.json {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let millis = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
            let mut line = json!({ "at_ms": millis, "event": event });
            if let (Some(line), Json::Object(details)) = (line.as_object_mut(), details) {
                line.extend(details);
            }
            writeln!(out, "{line}")?;
        } else {
            let padded = format!("{event:<13}");
            let event = match tone {
                Tone::Plain => padded,
                Tone::Good => self.paint.good(padded),
                Tone::Bad => self.paint.bad(padded),
                Tone::Wait => self.paint.wait(padded),
            };
            let at = self.paint.dim(format!("{:>9.3}", self.started.elapsed().as_secs_f64()));
            writeln!(out, "{at}  {event}  {text}")?;
        }
        out.flush()
    }

    fn stopped(&mut self, error: Error) -> io::Result<Error> {
        let text = error.to_string();
        self.say("stopped", &text, Tone::Bad, json!({ "cause": text }))?;
        Ok(error)
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            // The fence, told next, says more.
            Event::Connected => Ok(()),
            Event::Fenced(passage) => {
                let text = format!("the fence passed again: {passage}");
                self.say("connected", &text, Tone::Good, json!({ "passage": passage.to_string() }))
            }
            Event::Disconnected(why) => {
                let text = why.to_string();
                self.say("disconnected", &text, Tone::Bad, json!({ "cause": text }))
            }
            Event::Reconnecting { after, failures, cause } => {
                let cause = in_words(cause);
                let after_ms = after.as_secs_f64() * 1e3;
                let text = format!("in {after_ms:.0} ms, {failures} failures before; {cause}");
                let details = json!({
                    "after_ms": after_ms.round(), "failures": failures, "cause": cause,
                });
                self.say("reconnecting", &text, Tone::Wait, details)
            }
            other => {
                let text = other.to_string();
                self.say("event", &text, Tone::Wait, json!({ "text": text }))
            }
        }
    }

    /// A look at the version key: a line when it is not as at the last look, the status line else.
    fn key(
        &mut self,
        looked: Result<(Reply, Duration), Error>,
        last: &mut Option<Result<Reply, String>>,
        wire: &str,
    ) -> io::Result<()> {
        let (now, took) = match looked {
            Ok((reply, took)) => (Ok(reply), Some(took)),
            // That there is no connection was told already.
            Err(Error::Disconnected { .. } | Error::Closed | Error::VersionFence { .. }) => {
                return Ok(());
            }
            Err(error) => (Err(error.to_string()), None),
        };
        if last.as_ref() == Some(&now) {
            return self.status(took);
        }
        let (text, tone, holds) = match &now {
            Err(error) => (error.clone(), Tone::Wait, Json::Null),
            Ok(reply) => match reply.value().text() {
                None => ("nothing: the version key is gone".to_owned(), Tone::Bad, Json::Null),
                Some(value) => {
                    let tone = if value == wire.as_bytes() { Tone::Good } else { Tone::Bad };
                    (escape::short(value, 64), tone, escape::json(value))
                }
            },
        };
        let error = now.as_ref().err().cloned();
        *last = Some(now);
        self.say("version key", &text, tone, json!({ "holds": holds, "error": error }))
    }

    /// On a terminal, a line that the next one overwrites.
    fn status(&mut self, took: Option<Duration>) -> io::Result<()> {
        let (Some(took), true, false) = (took, self.paint.is_live(), self.json) else {
            return Ok(());
        };
        let line = format!(
            "{:>9.3}  holds, {:.1} ms",
            self.started.elapsed().as_secs_f64(),
            took.as_secs_f64() * 1e3
        );
        let pad = " ".repeat(self.status.saturating_sub(line.len()));
        self.status = line.len();
        let mut out = io::stdout().lock();
        write!(out, "\r{}{pad}", self.paint.dim(line))?;
        out.flush()
    }

    fn end_status(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.status) > 0 {
            writeln!(io::stdout())?;
        }
        Ok(())
    }
}
