//! The connect sequence as data: which commands, in which order, and what a refusal of each means.
//!
//! Sources: HELLO, AUTH, SELECT, CLIENT SETNAME, CLIENT SETINFO, ROLE and CONFIG GET,
//! <https://valkey.io/commands/>.

use super::super::{
    Config,
    credentials::Credentials,
    dialect::{Auth, Dialect},
    step::Step,
};
use crate::{keyspace::VERSION_KEY, resp::Command};

/// One command of the first flight.
pub(super) struct Row<'a> {
    pub(super) step: Step,
    pub(super) on_refusal: OnRefusal,
    pub(super) command: Command<'a>,
}

/// What an error reply to a row leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnRefusal {
    /// The connection is refused, or not ready, as the error's code says.
    Verdict,
    /// It is noted, and the connection is none the worse.
    Ignore,
    /// Another form of the sequence is tried next, on the same socket; unless the error is about
    /// the credentials or time heals it.
    Try(Dialect),
}

/// The rows of the first flight in this dialect. Everything in it only reads or concerns this
/// session alone, so it may go out before any of it is answered.
pub(super) fn rows<'a>(
    config: &'a Config,
    credentials: Option<&'a Credentials>,
    dialect: Dialect,
) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    let mut row = |step, on_refusal, command| rows.push(Row { step, on_refusal, command });
    let resp2 = Dialect::Resp2(Auth::UserAndPassword);
    match (dialect, credentials) {
        (Dialect::Hello, credentials) => {
            let mut hello = Command::new("HELLO").arg("3");
            if let Some(credentials) = credentials {
                hello = hello.arg("AUTH").arg(credentials.user()).arg(credentials.secret());
            }
            let is_must = config.protocol.is_some();
            let on_refusal = if is_must { OnRefusal::Verdict } else { OnRefusal::Try(resp2) };
            row(Step::Hello, on_refusal, hello);
        }
        (Dialect::Resp2(Auth::UserAndPassword), Some(credentials)) => {
            let alone = Dialect::Resp2(Auth::PasswordAlone);
            let on_refusal = match credentials.is_default_user() {
                true => OnRefusal::Try(alone),
                false => OnRefusal::Verdict,
            };
            row(Step::Auth, on_refusal, credentials.auth(Auth::UserAndPassword));
        }
        (Dialect::Resp2(Auth::PasswordAlone), Some(credentials)) => {
            row(Step::Auth, OnRefusal::Verdict, credentials.auth(Auth::PasswordAlone));
        }
        (Dialect::Resp2(_), None) => {}
    }
    if config.database != 0 {
        let select = Command::new("SELECT").arg(config.database);
        row(Step::Select, OnRefusal::Verdict, select);
    }
    if let Some(name) = &config.client_name {
        let set_name = Command::new("CLIENT").arg("SETNAME").arg(name.as_str());
        row(Step::SetName, OnRefusal::Ignore, set_name);
    }
    for (attribute, value) in [("LIB-NAME", LIB_NAME), ("LIB-VER", LIB_VERSION)] {
        let set_info = Command::new("CLIENT").arg("SETINFO").arg(attribute).arg(value);
        row(Step::SetInfo, OnRefusal::Ignore, set_info);
    }
    if dialect != Dialect::Hello {
        row(Step::Role, OnRefusal::Ignore, Command::new("ROLE"));
    }
    if config.look_for_eviction {
        let get = Command::new("CONFIG").arg("GET").arg("maxmemory-policy");
        row(Step::Policy, OnRefusal::Ignore, get);
    }
    row(Step::FenceRead, OnRefusal::Verdict, Command::new("GET").arg(VERSION_KEY));
    rows
}

/// What CLIENT LIST shows as `lib-name` …
const LIB_NAME: &str = env!("CARGO_PKG_NAME");
/// … and as `lib-ver`.
const LIB_VERSION: &str = env!("CARGO_PKG_VERSION");
