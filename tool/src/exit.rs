//! What a run tells the shell.

use std::{
    io,
    process::{ExitCode, Termination as _},
};

use echo_wire::connector::{Cause, Error};

/// How a run ended. The codes are documented in `--help` and the README.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done,
    /// Something failed: the connection, a refused user, a malformed capture.
    Failed,
    /// The command line or the URL makes no sense.
    Usage,
    /// The fence: the store speaks another wire.
    Refused,
    /// Time may heal it: nobody listens, loading, a replica, a deadline.
    NotReady,
    /// Nobody has claimed the store, and this run was only to look.
    Unclaimed,
}

impl Exit {
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::NotReady => 4,
            Self::Unclaimed => 5,
        }
    }
}

impl From<&Error> for Exit {
    fn from(error: &Error) -> Self {
        match error {
            Error::VersionFence { .. } => Self::Refused,
            Error::NotReady { cause: Cause::Unclaimed, .. } => Self::Unclaimed,
            Error::NotReady { .. } => Self::NotReady,
            Error::Config(_) => Self::Usage,
            _ => Self::Failed,
        }
    }
}

/// Why a verb ended before it could say so in its own words.
#[derive(Debug)]
pub(crate) enum Stop {
    Error(Error),
    /// With the place that it happened at.
    At(String, Error),
    Io(io::Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The error in a sentence. Where it comes of our only looking, it says so.
pub(crate) fn in_words(error: &Error) -> String {
    match error {
        Error::NotReady { cause: Cause::Unclaimed, .. } => {
            "the store has no version key, and this does not claim it (`echo-wire fence` does)"
                .into()
        }
        error => error.to_string(),
    }
}

/// Says on standard error why a run stopped, if it did.
pub(crate) fn end(run: Result<Exit, Stop>) -> ExitCode {
    let exit = match run {
        Ok(exit) => exit,
        // Whoever read our output (`| head`) has seen enough.
        Err(Stop::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
        Err(Stop::Io(error)) => {
            eprintln!("echo-wire: {error}");
            Exit::Failed
        }
        Err(Stop::Error(error)) => {
            eprintln!("echo-wire: {}", in_words(&error));
            Exit::from(&error)
        }
        Err(Stop::At(place, error)) => {
            eprintln!("echo-wire: {place}: {}", in_words(&error));
            Exit::from(&error)
        }
    };
    ExitCode::from(exit.code()).report()
}
