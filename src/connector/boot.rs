//! The connect sequence on a socket: boot and the fence, flight by flight.
//!
//! `plan` says what is sent, `sequence` what the replies mean, `findings` what was learned. Here is
//! the loop that owns the socket, and [`Fenced`], the proof that it came through.

mod findings;
mod plan;
mod release;
mod sequence;

use tokio::time::{Instant, timeout_at};

use self::sequence::{Next, Sequence};
pub(super) use self::{findings::Findings, sequence::Failure};
use super::{
    Config,
    cause::Cause,
    credentials::Credentials,
    dialect::Dialect,
    error::Error,
    inbox::{End, Inbox},
    observe,
    passage::Passage,
    step::Step,
    sync::{Lost, Socket, receive, send, settle},
    tls_error::TlsError,
};
use crate::resp::Protocol;

/// A socket that came through boot and the fence. Only [`boot`] makes one, and whatever runs
/// commands is made of one: that is the proof that no command can run on a store which was not
/// checked.
///
/// What was read beyond the last reply goes with the socket: pushes only.
#[derive(Debug)]
pub(super) struct Fenced<S> {
    sock: S,
    inbox: Box<Inbox>,
    passage: Passage,
    findings: Findings,
}

impl<S> Fenced<S> {
    /// How it came through the fence.
    pub(super) fn passage(&self) -> Passage {
        self.passage
    }

    /// The generation of the protocol that it speaks.
    pub(super) fn protocol(&self) -> Protocol {
        self.findings.protocol
    }

    /// The socket, what was read from it, and what boot learned.
    pub(super) fn into_parts(self) -> (S, Box<Inbox>, Findings) {
        (self.sock, self.inbox, self.findings)
    }
}

/// Boots the socket, as who the credentials say, and takes it through the fence, by `deadline`.
pub(super) async fn boot<S: Socket>(
    sock: S,
    config: &Config,
    credentials: Option<Credentials>,
    dialect: Dialect,
    deadline: Instant,
) -> Result<Fenced<S>, Failure> {
    let (mut sequence, mut flight) = Sequence::start(config, credentials, dialect);
    let mut inbox = Inbox::new(config.limits);
    let mut sock = sock;
    // Before the first flight the peer may have said why it will not talk to us, and that is read
    // as an answer to it. Before a later one nothing may be there but pushes.
    loop {
        let mut sent = false;
        let sending = send(sock, &flight, inbox, &mut sent);
        (sock, inbox) = match timeout_at(deadline, sending).await {
            Ok(sent) => sent,
            Err(_elapsed) => return Err(sequence.ended(Cause::Deadline)),
        };
        loop {
            let reply;
            (sock, reply, inbox) = match timeout_at(deadline, receive(sock, inbox)).await {
                Ok(Ok(received)) => received,
                Ok(Err(lost)) => return Err(lost.ends(sequence)),
                Err(_elapsed) => return Err(sequence.ended(Cause::Deadline)),
            };
            let step = sequence.step();
            let next = sequence.handle(&reply)?;
            observe::step(step);
            match next {
                Next::Await(rest) => sequence = rest,
                Next::Send(rest, next) => {
                    (sequence, flight) = (rest, next);
                    break;
                }
                Next::Pass(passage, findings) => {
                    let settled = settle(sock, inbox).await;
                    let (sock, inbox) = settled.map_err(|lost| lost.behind(step))?;
                    return Ok(Fenced { sock, inbox, passage, findings });
                }
            }
        }
        (sock, inbox) = match settle(sock, inbox).await {
            Ok(settled) => settled,
            Err(lost) => return Err(lost.ends(sequence)),
        };
    }
}

impl Lost {
    /// The socket was lost before the sequence had come to its end.
    fn ends(self, sequence: Sequence<'_>) -> Failure {
        match self.why {
            End::Closed(None) => sequence.ended(Cause::Closed),
            End::Closed(Some(words)) => sequence.ended(Cause::Reply(words)),
            End::Failed(error) => match TlsError::inside(&error) {
                Some(error) => error.verdict(sequence.step()).into(),
                None => sequence.ended(error.into()),
            },
            End::Violation(violation) => sequence.violated(violation).into(),
        }
    }

    /// The socket was lost behind its last step, in the moment in which it had come through.
    fn behind(self, step: Step) -> Error {
        match self.why {
            End::Closed(None) => Error::NotReady { step, cause: Cause::Closed },
            End::Closed(Some(words)) => Error::NotReady { step, cause: Cause::Reply(words) },
            End::Failed(error) => match TlsError::inside(&error) {
                Some(error) => error.verdict(step),
                None => Error::NotReady { step, cause: error.into() },
            },
            End::Violation(violation) => Error::Protocol { violation, maybe_executed: false },
        }
    }
}
