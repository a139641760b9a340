//! The command line.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand};

use crate::{config::duration, paint::When};

const EXIT_CODES: &str = "\
Exit codes:
  0  done; for `fence`: verified or claimed
  1  something failed: a refused user, a lost connection, a malformed capture
  2  wrong usage, or a URL that cannot be used
  3  refused by the version fence: the store speaks another wire
  4  not ready: nobody listens, loading, a replica, a deadline
  5  unclaimed: the store has no version key, and this verb does not write one

URLs:
  redis://[user[:password]@]host[:port][/database]   valkey:// likewise
  rediss://, valkeys://: the same over TLS, if this was built with its feature `tls`; it trusts
  what the system trusts, or the roots in $SSL_CERT_FILE
  unix:///path/to/socket[?db=1]
  Options behind a `?`: protocol=2|3, connect_timeout=500ms, user=…, password=…";

/// Looks at a store through echo_wire: its version fence, keys, round trips, events; and at RESP.
#[derive(Debug, Parser)]
#[command(name = "echo-wire", version, after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    /// When to use colours; `auto` is on a terminal, unless NO_COLOR is set.
    #[arg(long, global = true, value_enum, default_value = "auto", value_name = "WHEN")]
    pub(crate) color: When,
    /// One JSON value a line instead of text.
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Fence(Fence),
    Keys(Keys),
    Ping(Ping),
    Watch(Watch),
    Resp(Resp),
}

/// A server, and how to come to it.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// Where the server is: redis://host:6379, unix:///path/to/socket, …
    ///
    /// From the environment it keeps a password out of the list of processes.
    #[arg(verbatim_doc_comment, env = "ECHO_WIRE_URL", hide_env_values = true)]
    pub(crate) url: String,
    /// The wire that the store has to speak [default: the crate's own].
    #[arg(long, value_name = "IDENTITY")]
    pub(crate) wire: Option<String>,
    /// How long a connect or a reply may take, as 500ms, 2s [default: 5s for a connect].
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,
}

/// Takes one connection through the version fence: the verdict, and each step that led to it.
///
/// It does what every program that works on the store does, so AN EMPTY STORE IS CLAIMED: one
/// `SET {emq}:version … NX` is written. With --dry-run nothing is ever written; a store that nobody
/// has claimed is then told as `unclaimed`, with exit code 5.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  echo-wire fence redis://localhost --dry-run        what would happen, without a write
  echo-wire fence redis://localhost                  verified, claimed or refused
  echo-wire fence redis://localhost --wire acme:1    as a program of another wire would fare
  echo-wire fence redis://localhost --json | jq -r .verdict

Exit codes: 0 verified or claimed, 3 refused, 4 not ready, 5 unclaimed (--dry-run), 1 and 2 as ever."
)]
pub(crate) struct Fence {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Only look: the store is not claimed, and a replica will do.
    #[arg(long, visible_alias = "look")]
    pub(crate) dry_run: bool,
}

/// Says where keys land: in the reserve or in a queue's space, of which type, in which slot, and why.
///
/// Nothing is connected to.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  echo-wire keys '{emq}:version' 'emq:{mail}:pending' 'emq:{mail}:job:USR0KHTOWnGLuC'
  valkey-cli --scan | echo-wire keys - --json | jq -r 'select(.space == \"foreign\").key'"
)]
pub(crate) struct Keys {
    /// Keys; a single `-` reads them from standard input, one a line.
    #[arg(required = true, value_name = "KEY")]
    pub(crate) keys: Vec<OsString>,
}

/// Measures round trips of PING on one connection that passed the fence. Writes nothing.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  echo-wire ping redis://localhost
  echo-wire ping redis://localhost --count 10000 --interval 0ms
  echo-wire ping redis://localhost --count 0            until Ctrl-C"
)]
pub(crate) struct Ping {
    #[command(flatten)]
    pub(crate) place: Place,
    /// How many; 0 is until Ctrl-C.
    #[arg(short, long, default_value_t = 100)]
    pub(crate) count: u64,
    /// The pause between a reply and the next PING.
    #[arg(short, long, value_name = "TIME", default_value = "10ms", value_parser = duration)]
    pub(crate) interval: Duration,
}

/// Follows what happens to a connection, and to the store's version key, until Ctrl-C.
///
/// A connector is kept on the store, and dials again whenever it is lost. It never writes: a store
/// that nobody has claimed is waited for. Another wire in the store ends it with exit code 3.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  echo-wire watch redis://localhost
  echo-wire watch redis://localhost --json | tee events.jsonl
  echo-wire watch redis://localhost --within 30s        ends by itself"
)]
pub(crate) struct Watch {
    #[command(flatten)]
    pub(crate) place: Place,
    /// How often the version key is read.
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = duration)]
    pub(crate) every: Duration,
    /// Ends after this time [default: goes on until Ctrl-C].
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) within: Option<Duration>,
}

/// Prints captured RESP, commands or replies, as a person reads it, with each value's offset.
///
/// A capture that is malformed, or ends within a value, is printed as far as it goes; then exit
/// code 1 and the offset of the trouble.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  printf '*2\\r\\n$3\\r\\nGET\\r\\n$1\\r\\na\\r\\n' | echo-wire resp
  printf 'PING\\r\\n' | nc -q1 localhost 6379 | echo-wire resp --json
  echo-wire resp capture.resp"
)]
pub(crate) struct Resp {
    /// The capture [default: standard input].
    pub(crate) file: Option<PathBuf>,
    /// Takes only what this generation has.
    #[arg(long, value_name = "2|3", value_parser = clap::value_parser!(u8).range(2..=3))]
    pub(crate) proto: Option<u8>,
}
