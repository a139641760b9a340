//! Why a served socket came to its end, and what its callers are told of it.

use std::io;

use crate::{
    connector::{Error, cause::Cause, step::Step, violation::Violation},
    resp::ServerError,
};

/// Why a served socket came to its end.
#[derive(Debug)]
pub(in crate::connector) enum End {
    /// The connector was stopped.
    Stopped,
    /// Nothing new was taken any more, and what was in flight is answered or out of time.
    Drained,
    /// The peer closed, with its last words if it had any.
    Closed(Option<ServerError>),
    Failed(io::Error),
    Violation(Violation),
    /// Replies were owed and nothing came.
    Silent,
    /// The fence does not pass any more.
    Fence(Error),
}

impl From<End> for Error {
    fn from(end: End) -> Self {
        match end {
            End::Stopped | End::Closed(None) => Self::Disconnected { maybe_executed: false },
            End::Drained => Self::NotReady { step: Step::FenceRead, cause: Cause::Replica },
            End::Closed(Some(words)) => {
                Self::NotReady { step: Step::FenceRead, cause: Cause::Reply(words) }
            }
            End::Failed(error) => error.into(),
            End::Violation(violation) => Self::Protocol { violation, maybe_executed: true },
            End::Silent => Self::Timeout { maybe_executed: true },
            End::Fence(error) => error,
        }
    }
}
