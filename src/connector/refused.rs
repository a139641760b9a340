//! What a server's error reply to a required step of the connect sequence means.
//!
//! By its code alone, the first word compared as a token: never by the English behind it.

use super::{cause::Cause, error::Error, found::Found, step::Step};
use crate::resp::ServerError;

/// Codes that time heals.
const TRANSIENT: [&str; 11] = [
    // A dump is being read.
    "LOADING",
    // A script runs and does not end.
    "BUSY",
    // A replica has lost its primary and serves no stale data.
    "MASTERDOWN",
    "CLUSTERDOWN",
    "TRYAGAIN",
    // Too few replicas for a write, at the claim.
    "NOREPLICAS",
    // No memory for a write, at the claim.
    "OOM",
    // No disk for a write, at the claim.
    "MISCONF",
    // A replica, at the claim.
    "READONLY",
    // A failover ended a wait.
    "UNBLOCKED",
    "FAILOVER",
];

/// Whether time heals what the server says.
pub(super) fn is_transient(error: &ServerError) -> bool {
    TRANSIENT.contains(&error.code())
}

impl Step {
    /// The verdict when the server refuses this step.
    pub(super) fn refused(self, reply: ServerError) -> Error {
        let step = self;
        match reply.code() {
            _ if is_transient(&reply) => Error::NotReady { step, cause: Cause::Reply(reply) },
            "NOAUTH" | "WRONGPASS" => Error::AuthRefused { step, reply },
            // Whatever an old server or a proxy says there ("ERR invalid password"), it is about
            // the credentials.
            _ if step == Self::Auth => Error::AuthRefused { step, reply },
            "WRONGTYPE" if step.is_fence() => Error::VersionFence { got: Found::WrongType },
            // MOVED and ASK are here, too: their text names the owner of the slot.
            _ => Error::BootRefused { step, reply },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_decides_as_a_token() {
        let table = [
            (Step::FenceRead, "LOADING Valkey is loading the dataset in memory", "not ready"),
            (Step::Select, "BUSY running a script", "not ready"),
            (Step::FenceRead, "MASTERDOWN Link with MASTER is down", "not ready"),
            (Step::FenceClaim, "OOM command not allowed", "not ready"),
            (Step::FenceClaim, "READONLY You can't write", "not ready"),
            (Step::FenceClaim, "ERR READONLY a proxy's words", "not ready"),
            (Step::FenceClaim, "MISCONF no disk", "not ready"),
            (Step::FenceRead, "CLUSTERDOWN Hash slot not served", "not ready"),
            (Step::FenceRead, "LOADINGS nothing", "boot refused"),
            (Step::FenceRead, "it says LOADING later", "boot refused"),
            (Step::Hello, "NOAUTH HELLO must be", "auth refused"),
            (Step::FenceRead, "NOAUTH Authentication required.", "auth refused"),
            (Step::Hello, "WRONGPASS invalid", "auth refused"),
            (Step::Auth, "ERR invalid password", "auth refused"),
            (Step::Auth, "LOADING not now", "not ready"),
            (Step::Select, "ERR DB index is out of range", "boot refused"),
            (Step::Select, "NOPERM no permissions", "boot refused"),
            (Step::FenceRead, "NOPERM no permissions", "boot refused"),
            (Step::FenceRead, "MOVED 9051 127.0.0.1:7001", "boot refused"),
            (Step::FenceRead, "ASK 9051 127.0.0.1:7001", "boot refused"),
            (Step::FenceRead, "WRONGTYPE Operation against a key", "version fence"),
            (Step::Select, "WRONGTYPE what?", "boot refused"),
            (Step::FenceRead, "", "boot refused"),
        ];
        for (step, words, want) in table {
            let got = match step.refused(ServerError::new(words.as_bytes())) {
                Error::NotReady { step: at, .. } if at == step => "not ready",
                Error::AuthRefused { step: at, .. } if at == step => "auth refused",
                Error::BootRefused { step: at, .. } if at == step => "boot refused",
                Error::VersionFence { got: Found::WrongType } => "version fence",
                other => panic!("{words}: {other:?}"),
            };
            assert_eq!(got, want, "{step}: {words}");
        }
    }
}
