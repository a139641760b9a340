//! The version fence, without a socket: what to ask, and what the answers mean.
//!
//! One reserved key, `{emq}:version`, says which wire a store speaks. A connection asks for it
//! before anything of a caller's may leave; where there is none, it claims the store for its own
//! wire. Once set, the key is never written again.
//!
//! Sources: GET and SET (`NX`), <https://valkey.io/commands/set/>.

use bytes::{Bytes, BytesMut};

use super::{
    cause::Cause, error::Error, found::Found, passage::Passage, step::Step,
    version_get::VERSION_GET, violation::Violation, wire::Wire,
};
use crate::{
    keyspace::VERSION_KEY,
    resp::{Command, Reply, ServerError, Value},
};

/// One run of the fence.
///
/// ```text
///           GET                      SET … NX                  GET
///  ──────▶ Read ──null──▶ ask ──▶ Claim ──any──▶ await ──▶ Confirm ──ours──▶ pass: claimed if SET
///           │ ▲                    └────── one flight ──────┘ │  │           said OK, else verified
///           │ └ VERSION_GET is out                            │  ├─null─▶ SET's error, if it had one
///           │                                                 │  └─null─▶ ask again, 3 rounds in all
///           ├─ours─▶ pass: verified                           │
///           └─other, wrong type, error ─────────────────────▶ refused ◀─ other, wrong type, error
/// ```
///
/// Transitions consume it: after an error there is nothing to go on with. `Await` is the next
/// reply of the same flight; `Ask` is a flight to send.
///
/// Invariants: the only write it ever asks for is `SET … NX` of its own wire, once a round; the
/// passage is ours only after a `GET` that gave our identity, byte for byte.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone))]
pub(super) struct Fence {
    run: Run,
    state: State,
}

/// What all states have.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone))]
struct Run {
    wire: Wire,
    claims: Claims,
    /// Claims asked for so far, `<= ROUNDS`.
    rounds: u8,
}

/// Whether an empty store may be claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claims {
    Allowed,
    /// A replica may be read from, so nothing is written, whoever answers.
    Never,
}

#[derive(Debug)]
#[cfg_attr(test, derive(Clone))]
enum State {
    Read,
    Claim,
    Confirm(Claim),
}

/// How the server answered our `SET … NX`.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone))]
enum Claim {
    Won,
    /// Somebody was there before.
    Lost,
    /// Counts only if the confirming read finds nothing.
    Refused(ServerError),
}

/// What comes after an answer.
#[derive(Debug)]
pub(super) enum Next {
    /// The next reply of this flight.
    Await(Fence),
    /// These commands go out together; their replies come one by one.
    Ask(Fence, Flight),
    Pass(Passage),
}

/// Commands to be written together.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) encoded: BytesMut,
    /// How many replies it will have.
    pub(super) replies: usize,
}

/// Claims at most, where the key vanishes again each time before it is read back.
const ROUNDS: u8 = 3;

impl Fence {
    /// A run whose first question, [`VERSION_GET`], goes out (or is out) already.
    pub(super) fn new(wire: Wire, claims: Claims) -> Self {
        Self { run: Run { wire, claims, rounds: 0 }, state: State::Read }
    }

    /// The step whose reply is awaited.
    pub(super) fn step(&self) -> Step {
        match self.state {
            State::Read => Step::FenceRead,
            State::Claim => Step::FenceClaim,
            State::Confirm(_) => Step::FenceConfirm,
        }
    }

    /// Takes the next reply that is no push.
    pub(super) fn handle(self, reply: &Reply) -> Result<Next, Error> {
        let step = self.step();
        let Self { run, state } = self;
        match (state, Answer::new(reply)) {
            (State::Claim, Answer::Okay) => Ok(run.confirm(Claim::Won)),
            (State::Claim, Answer::Null) => Ok(run.confirm(Claim::Lost)),
            (State::Claim, Answer::Error(error)) => Ok(run.confirm(Claim::Refused(error))),

            (State::Confirm(Claim::Won), Answer::Value(value)) if run.is_ours(value) => {
                Ok(Next::Pass(Passage::Claimed))
            }
            (State::Read | State::Confirm(_), Answer::Value(value)) if run.is_ours(value) => {
                Ok(Next::Pass(Passage::Verified))
            }
            (State::Read | State::Confirm(_), Answer::Value(value)) => {
                Err(Error::VersionFence { got: Found::Value(Bytes::copy_from_slice(value)) })
            }

            (State::Read, Answer::Null) if run.claims == Claims::Never => {
                Err(Error::NotReady { step, cause: Cause::Unclaimed })
            }
            (State::Confirm(Claim::Refused(error)), Answer::Null) => {
                Err(Step::FenceClaim.refused(error))
            }
            (State::Confirm(_), Answer::Null) if run.rounds >= ROUNDS => {
                Err(Error::VersionFence { got: Found::Absent })
            }
            (State::Read | State::Confirm(_), Answer::Null) => Ok(run.claim()),

            (State::Read | State::Confirm(_), Answer::Error(error)) => Err(step.refused(error)),
            (_, Answer::Okay | Answer::Value(_) | Answer::Other) => {
                let violation = Violation::unexpected(step, reply);
                Err(Error::Protocol { violation, maybe_executed: false })
            }
        }
    }
}

impl Run {
    /// Byte for byte.
    fn is_ours(&self, value: &[u8]) -> bool {
        value == self.wire.as_str().as_bytes()
    }

    fn claim(self) -> Next {
        let mut encoded = BytesMut::new();
        Command::new("SET").arg(VERSION_KEY).arg(self.wire.as_str()).arg("NX").encode(&mut encoded);
        encoded.extend_from_slice(VERSION_GET);
        let run = Self { rounds: self.rounds.saturating_add(1), ..self };
        Next::Ask(Fence { run, state: State::Claim }, Flight { encoded, replies: 2 })
    }

    fn confirm(self, claim: Claim) -> Next {
        Next::Await(Fence { run: self, state: State::Confirm(claim) })
    }
}

/// A reply as the fence sees it.
enum Answer<'a> {
    Okay,
    Null,
    Value(&'a [u8]),
    Error(ServerError),
    Other,
}

impl<'a> Answer<'a> {
    fn new(reply: &'a Reply) -> Self {
        match reply.value() {
            Value::SimpleString(b"OK") => Self::Okay,
            Value::Null(_) => Self::Null,
            Value::BulkString(value) => Self::Value(value),
            Value::SimpleError(_) | Value::BulkError(_) => {
                reply.as_error().map_or(Self::Other, Self::Error)
            }
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod interleavings;
#[cfg(test)]
mod table;
