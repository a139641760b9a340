//! From a connector to a line of one's own: its config, its fence, its family.

use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::{
    super::{
        Connector, Error, Event, Passage, Traits,
        backoff::{Backoff, random},
        cause::Cause,
        deadline::after,
        establish::establish,
        handle::Handle,
        lifecycle::unless_stopped,
        step::Step,
    },
    exchange::Exchange,
    job::Job,
    line::{Known, Line},
};
use crate::resp::{Command, Protocol};

/// Dials a line. What time can heal is retried until the policy's `ready_within`; then its last
/// cause is the error. Another wire in the store condemns the family.
pub(super) async fn dial(connector: &Connector) -> Result<Line, Error> {
    let Handle { shared, config, family, .. } = connector.handle();
    let deadline = after(Instant::now(), config.policy.ready_within);
    let mut backoff = Backoff::new(&config.policy);
    let mut cause = Error::NotReady { step: Step::Dial, cause: Cause::Deadline };
    loop {
        let attempt = unless_stopped(shared, attempt(connector));
        let Ok(attempt) = timeout_at(deadline, attempt).await else { return Err(cause) };
        match attempt.and_then(|attempt| attempt) {
            Ok(line) => return Ok(line),
            Err(verdict @ Error::VersionFence { .. }) => {
                family.condemn(&verdict);
                return Err(verdict);
            }
            Err(error) if error.is_fatal() || shared.stops().is_some() => return Err(error),
            Err(error) => cause = error,
        }
        let pause = unless_stopped(shared, sleep(backoff.wait(random())));
        match timeout_at(deadline, pause).await {
            Ok(waited) => waited?,
            Err(_elapsed) => return Err(cause),
        }
    }
}

async fn attempt(connector: &Connector) -> Result<Line, Error> {
    let Handle { shared, config, dialer, events, .. } = connector.handle();
    // The shared link tells when the server is there, and waits with patience while it is not.
    shared.ready().await?;
    let beside = shared.stats().connects;
    let fenced = establish(config, dialer).await?;
    let (passage, protocol) = (fenced.passage(), fenced.protocol());
    let (sock, inbox, findings) = fenced.into_parts();
    shared.count(|stats| Some(&mut stats.dedicated));
    if passage == Passage::Claimed {
        // The shared link had seen it.
        shared.count(|stats| Some(&mut stats.fences_vanished));
        events.tell(Event::FenceVanished);
    }
    let beside = Some(beside).filter(|_| shared.stats().connects == beside);
    let client_id = findings.client_id;
    let unblocks_safely = findings.unblocks_safely;
    let known = Known { passage, protocol, client_id, unblocks_safely, beside };
    Ok(Line { sock, inbox, known })
}

/// As [`dial`], and the line knows what the server calls it.
pub(super) async fn dial_named(connector: &Connector) -> Result<Line, Error> {
    let line = dial(connector).await?;
    // RESP3's HELLO tells.
    if line.known.protocol == Protocol::Resp3 {
        return Ok(line);
    }
    let command = Command::new("CLIENT").arg("ID");
    let Job { out, replies, .. } = Job::command(&command, &Traits::of(&command));
    let mut asked = Exchange::new(line, out, replies);
    match timeout(connector.policy().response_timeout, asked.done()).await {
        Ok(Ok(())) => {}
        _lost_or_late => return Err(Error::Disconnected { maybe_executed: false }),
    }
    let (mut line, replies) = asked.into_parts();
    // A server that will not tell is none the worse.
    line.known.client_id = replies.first().and_then(|id| id.to().ok());
    Ok(line)
}
