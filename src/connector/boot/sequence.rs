//! The connect sequence without a socket: replies in, the next flight or the verdict out.

use std::collections::VecDeque;

use bytes::BytesMut;

use super::{
    super::{
        Config,
        cause::Cause,
        credentials::Credentials,
        dialect::Dialect,
        error::Error,
        fence::{self, Fence},
        passage::Passage,
        step::Step,
        tls_error::TlsError,
        tongue,
        violation::Violation,
    },
    findings::{self, Findings, Role},
    plan::{self, OnRefusal},
    release,
};
use crate::resp::{Protocol, Reply, ServerError, Value};

/// One run of the connect sequence on one socket: boot's rows and the fence's first read in one
/// flight, then whatever the fence asks for.
///
/// The first refusal of a required row is the verdict. The replies behind it belong to commands
/// that may have run as somebody else or in another database: they are read and set aside.
#[derive(Debug)]
pub(super) struct Sequence<'c> {
    config: &'c Config,
    credentials: Option<Credentials>,
    dialect: Dialect,
    /// Rows of this flight whose replies are still to come. Never empty while one is awaited.
    owed: VecDeque<(Step, OnRefusal)>,
    verdict: Option<Error>,
    /// What is tried next, once this flight's replies are in.
    detour: Option<Dialect>,
    opening: Opening,
    findings: Findings,
    fence: Fence,
}

/// What the peer has said on this socket so far.
#[derive(Debug)]
enum Opening {
    Nothing,
    /// One error and nothing more: it may be the reason of a close.
    OneError(Step, OnRefusal, ServerError),
    Talks,
}

/// What comes after a reply.
#[derive(Debug)]
pub(super) enum Next<'c> {
    /// The next reply of this flight.
    Await(Sequence<'c>),
    /// These commands go out together.
    Send(Sequence<'c>, BytesMut),
    Pass(Passage, Findings),
}

/// Why a socket did not come through.
#[derive(Debug)]
pub(in crate::connector) enum Failure {
    Verdict(Error),
    /// The peer hung up when it saw HELLO: a new socket in RESP2 may fare better.
    HungUpOnHello(Error),
}

impl From<Error> for Failure {
    fn from(verdict: Error) -> Self {
        Self::Verdict(verdict)
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Verdict(error) | Failure::HungUpOnHello(error) => error,
        }
    }
}

impl<'c> Sequence<'c> {
    /// The run, and its first flight.
    pub(super) fn start(
        config: &'c Config,
        credentials: Option<Credentials>,
        dialect: Dialect,
    ) -> (Self, BytesMut) {
        let mut sequence = Self {
            config,
            credentials,
            dialect,
            owed: VecDeque::new(),
            verdict: None,
            detour: None,
            opening: Opening::Nothing,
            findings: Findings {
                protocol: Protocol::Resp2,
                client_id: None,
                unblocks_safely: false,
                eviction: None,
                declined: Vec::new(),
            },
            fence: Fence::new(config.wire.clone(), config.claims()),
        };
        let flight = sequence.flight(dialect);
        (sequence, flight)
    }

    fn flight(&mut self, dialect: Dialect) -> BytesMut {
        self.dialect = dialect;
        self.findings.declined.clear();
        let mut encoded = BytesMut::new();
        for row in plan::rows(self.config, self.credentials.as_ref(), dialect) {
            row.command.encode(&mut encoded);
            self.owed.push_back((row.step, row.on_refusal));
        }
        encoded
    }

    /// The step whose reply is awaited.
    pub(super) fn step(&self) -> Step {
        match self.owed.front() {
            Some((step, _)) if !step.is_fence() => *step,
            _ => self.fence.step(),
        }
    }

    /// Takes the next reply that is no push.
    pub(super) fn handle(mut self, reply: &Reply) -> Result<Next<'c>, Error> {
        let Some((step, on_refusal)) = self.owed.pop_front() else {
            return Err(self.violation(Violation::unasked(reply)));
        };
        let error = reply.as_error().map(|error| match step {
            Step::Hello | Step::Auth => self.without_password(error),
            _ => error,
        });
        self.opening = match (self.opening, &error) {
            (Opening::Nothing, Some(error)) => Opening::OneError(step, on_refusal, error.clone()),
            _ => Opening::Talks,
        };
        if self.verdict.is_none() && self.detour.is_none() {
            if step.is_fence() {
                return self.fence(reply);
            }
            let judged = match error {
                Some(error) => self.refused(step, on_refusal, error),
                None => self.accepted(step, reply),
            };
            self.verdict = judged.err();
        }
        self.go_on()
    }

    fn fence(mut self, reply: &Reply) -> Result<Next<'c>, Error> {
        match self.fence.handle(reply)? {
            fence::Next::Pass(passage) => Ok(Next::Pass(passage, self.findings)),
            fence::Next::Await(fence) => Ok(Next::Await(Self { fence, ..self })),
            fence::Next::Ask(fence, flight) => {
                let row = (fence.step(), OnRefusal::Verdict);
                self.owed.extend(std::iter::repeat_n(row, flight.replies));
                Ok(Next::Send(Self { fence, ..self }, flight.encoded))
            }
        }
    }

    /// Waits for the rest of the flight; then the verdict, if there is one, or the detour.
    fn go_on(mut self) -> Result<Next<'c>, Error> {
        if !self.owed.is_empty() {
            return Ok(Next::Await(self));
        }
        match (self.verdict.take(), self.detour.take()) {
            (Some(verdict), _) => Err(verdict),
            (None, Some(dialect)) => {
                let flight = self.flight(dialect);
                Ok(Next::Send(self, flight))
            }
            // The last row is the fence's, which has its say in any other case.
            (None, None) => Ok(Next::Await(self)),
        }
    }

    fn refused(
        &mut self,
        step: Step,
        on_refusal: OnRefusal,
        error: ServerError,
    ) -> Result<(), Error> {
        match on_refusal {
            OnRefusal::Verdict => Err(step.refused(error)),
            OnRefusal::Ignore => {
                self.findings.declined.push((step, error));
                Ok(())
            }
            OnRefusal::Try(dialect) if self.may_try(step, &error) => {
                self.detour = Some(dialect);
                Ok(())
            }
            OnRefusal::Try(_) => Err(step.refused(error)),
        }
    }

    /// What the server says, unless it may repeat the password.
    fn without_password(&self, error: ServerError) -> ServerError {
        match &self.credentials {
            Some(credentials) => credentials.hidden_in(error),
            None => error,
        }
    }

    fn violation(&self, violation: Violation) -> Error {
        let violation = match &self.credentials {
            Some(credentials) => violation.hiding(|text| credentials.may_be_in(text)),
            None => violation,
        };
        Error::Protocol { violation, maybe_executed: false }
    }

    /// Whether a refusal is about the form of the command rather than about us.
    fn may_try(&self, step: Step, error: &ServerError) -> bool {
        match error.code() {
            "WRONGPASS" => false,
            // HELLO carried credentials and the peer did not look: a proxy, which wants AUTH.
            "NOAUTH" => step == Step::Hello && self.credentials.is_some(),
            _ => !matches!(step.refused(error.clone()), Error::NotReady { .. }),
        }
    }

    fn accepted(&mut self, step: Step, reply: &Reply) -> Result<(), Error> {
        let unexpected = || Err(self.violation(Violation::unexpected(step, reply)));
        match (step, reply.value()) {
            (Step::Hello, Value::Map(_) | Value::Array(_)) => {
                let proto = findings::field(reply, b"proto").map(|proto| proto.value());
                self.findings.protocol = match proto {
                    Some(Value::Integer(2)) => Protocol::Resp2,
                    _ => Protocol::Resp3,
                };
                self.findings.unblocks_safely = release::unblocks_safely(reply);
                self.findings.client_id = findings::field(reply, b"id").and_then(|id| id.to().ok());
                let role = findings::field(reply, b"role").and_then(|role| role.value().text());
                self.check_role(step, role)
            }
            (Step::Role, Value::Array(items)) => {
                self.check_role(step, items.get(0).and_then(|role| role.value().text()))
            }
            (Step::Auth | Step::Select, Value::SimpleString(b"OK")) => Ok(()),
            (Step::Hello | Step::Role | Step::Auth | Step::Select, _) => unexpected(),
            (Step::Policy, _) => {
                self.findings.eviction = findings::eviction(reply);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// A server that does not tell its role is taken as it is.
    fn check_role(&self, step: Step, role: Option<&[u8]>) -> Result<(), Error> {
        match role.map(Role::new) {
            Some(Role::Other) if !self.config.read_from_replica => {
                Err(Error::NotReady { step, cause: Cause::Replica })
            }
            _ => Ok(()),
        }
    }

    /// The socket was lost, or the deadline passed, before the sequence came to its end.
    pub(super) fn ended(self, cause: Cause) -> Failure {
        let step = self.step();
        let cause = match cause {
            Cause::Reply(words) => Cause::Reply(self.without_password(words)),
            cause => cause,
        };
        let closed = matches!(cause, Cause::Closed | Cause::Io(_));
        match (self.opening, self.verdict) {
            // One error, not asked for perhaps, and the door: the server's own word.
            (Opening::OneError(step, on_refusal, words), _) if closed => {
                Failure::Verdict(match (words.code(), step.refused(words.clone())) {
                    ("DENIED", refused) => refused,
                    // Of a courtesy or of HELLO it ends nothing, so it is not why the door closed.
                    ("NOPERM", refused) if on_refusal == OnRefusal::Verdict => refused,
                    (_, refused @ Error::AuthRefused { .. }) if speaks_of_credentials(&words) => {
                        refused
                    }
                    _ => Error::NotReady { step, cause: Cause::Reply(words) },
                })
            }
            (_, Some(verdict)) => Failure::Verdict(verdict),
            (Opening::Nothing, None)
                if closed && self.dialect == Dialect::Hello && self.config.protocol.is_none() =>
            {
                Failure::HungUpOnHello(Error::NotReady { step, cause })
            }
            (_, None) => Failure::Verdict(Error::NotReady { step, cause }),
        }
    }

    /// The peer broke the protocol.
    pub(super) fn violated(self, violation: Violation) -> Error {
        let verdict = match &violation {
            Violation::Malformed(error)
                if error.offset() == 0 && tongue::is_record(error.seen()) =>
            {
                Error::TlsRefused(TlsError::PeerIsTls)
            }
            _ => self.violation(violation),
        };
        self.verdict.unwrap_or(verdict)
    }
}

fn speaks_of_credentials(error: &ServerError) -> bool {
    matches!(error.code(), "NOAUTH" | "WRONGPASS")
}
