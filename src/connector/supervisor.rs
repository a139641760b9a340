//! The life of a connector as a state machine: what follows what, without a socket or a clock.

use std::time::Duration;

use super::{Error, Policy, backoff::Backoff};

/// ```text
///            ┌────────── Elapsed ───────────┐
///            ▼                              │
///  ──▶ Dialing ──Fenced──▶ Serving ──Lost──▶ Waiting
///         │ └──────────────Failed───────────▲  │
///         │                   │                │
///         └──fatal───┬──fatal─┘    ┌──Closed───┘
///                    ▼             ▼
///                  Stopped (no way out; Closed leads here from everywhere)
/// ```
#[derive(Debug)]
pub(super) struct Supervisor {
    state: State,
    backoff: Backoff,
}

#[derive(Debug, Clone)]
pub(super) enum State {
    /// An attempt to connect, boot and pass the fence is under way.
    Dialing,
    /// A fenced socket is served.
    Serving,
    /// The next attempt comes after this.
    Waiting { after: Duration, failures: u32, cause: Error },
    /// For good.
    Stopped { why: Error },
}

/// What can happen to a connector.
#[derive(Debug)]
pub(super) enum Input {
    /// The fence passed.
    Fenced,
    /// The attempt failed.
    Failed(Error),
    /// The served socket is gone.
    Lost { why: Error, served: Duration },
    /// The wait is over.
    Elapsed,
    /// Somebody wants an end: the last handle went, `close`, or a fence elsewhere in the family.
    Closed(Error),
}

impl Supervisor {
    pub(super) fn new(policy: &Policy) -> Self {
        Self { state: State::Dialing, backoff: Backoff::new(policy) }
    }

    pub(super) fn state(&self) -> &State {
        &self.state
    }

    /// The state that follows; `random` jitters a wait. An input that makes no sense in a state
    /// (a stale one) changes nothing.
    pub(super) fn on(&mut self, input: Input, random: u64) -> &State {
        self.state = match (&self.state, input) {
            (State::Stopped { .. }, _) => return &self.state,
            (_, Input::Closed(why)) => State::Stopped { why },
            (State::Dialing, Input::Failed(why)) | (State::Serving, Input::Lost { why, .. })
                if why.is_fatal() =>
            {
                State::Stopped { why }
            }
            (State::Dialing, Input::Fenced) => State::Serving,
            (State::Dialing, Input::Failed(cause)) => self.wait(cause, random),
            (State::Serving, Input::Lost { why, served }) => {
                self.backoff.served(served);
                self.wait(why, random)
            }
            (State::Waiting { .. }, Input::Elapsed) => State::Dialing,
            _ => return &self.state,
        };
        &self.state
    }

    fn wait(&mut self, cause: Error, random: u64) -> State {
        let failures = self.backoff.failures();
        State::Waiting { after: self.backoff.wait(random), failures, cause }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connector::{Cause, Found, Step};

    fn transient() -> Error {
        Error::NotReady { step: Step::FenceRead, cause: Cause::Replica }
    }

    fn fence() -> Error {
        Error::VersionFence { got: Found::Absent }
    }

    fn lost(why: Error) -> Input {
        Input::Lost { why, served: Duration::ZERO }
    }

    fn name(state: &State) -> &'static str {
        match state {
            State::Dialing => "dialing",
            State::Serving => "serving",
            State::Waiting { .. } => "waiting",
            State::Stopped { .. } => "stopped",
        }
    }

    /// A machine in each state.
    fn machines() -> Vec<Supervisor> {
        let new = || Supervisor::new(&Policy::default());
        let (mut serving, mut waiting, mut stopped) = (new(), new(), new());
        serving.on(Input::Fenced, 0);
        waiting.on(Input::Failed(transient()), 0);
        stopped.on(Input::Closed(Error::Closed), 0);
        vec![new(), serving, waiting, stopped]
    }

    type MakeInput = fn() -> Input;

    #[test]
    fn every_transition() {
        let inputs: [(&str, MakeInput); 7] = [
            ("fenced", || Input::Fenced),
            ("failed", || Input::Failed(transient())),
            ("failed, fatal", || Input::Failed(fence())),
            ("lost", || lost(transient())),
            ("lost, fatal", || lost(fence())),
            ("elapsed", || Input::Elapsed),
            ("closed", || Input::Closed(Error::Closed)),
        ];
        let mut moves = Vec::new();
        for (input, make) in inputs {
            for mut machine in machines() {
                let from = name(&machine.state);
                let to = name(machine.on(make(), 0));
                if from != to {
                    moves.push(format!("{from} --{input}--> {to}"));
                }
            }
        }
        assert_eq!(
            moves,
            [
                "dialing --fenced--> serving",
                "dialing --failed--> waiting",
                "dialing --failed, fatal--> stopped",
                "serving --lost--> waiting",
                "serving --lost, fatal--> stopped",
                "waiting --elapsed--> dialing",
                "dialing --closed--> stopped",
                "serving --closed--> stopped",
                "waiting --closed--> stopped",
            ]
        );
    }

    #[test]
    fn a_server_that_hangs_up_after_every_fence_is_dialled_ever_more_rarely() {
        let mut machine = Supervisor::new(&Policy::default());
        let mut waits = Vec::new();
        for _ in 0..4 {
            machine.on(Input::Fenced, 0);
            if let State::Waiting { after, .. } = machine.on(lost(transient()), u64::MAX) {
                waits.push(after.as_millis());
            }
            machine.on(Input::Elapsed, 0);
        }
        assert_eq!(waits, [100, 200, 400, 800]);
    }
}
