//! The commands that change the session of the connection they run on.
//!
//! `COMMAND` has no flag for it, so this is our list, from the servers' command pages. Everything
//! here is refused on a connection that callers share; the reason says what to use instead. What
//! acts on the server or on other connections only (CONFIG SET, CLIENT KILL, CLIENT PAUSE,
//! FLUSHALL, SHUTDOWN, …) is not here: it is as much one caller's as another's.

use super::refusal::Reason::{self, Boot, End, Mode, Replies, Stream, Subscription, Transaction};

pub(super) const SESSION: &[(&str, Reason)] = &[
    // The redirection exception for the next command of the connection, whoever sends that.
    ("ASKING", Mode),
    // Who the connection is.
    ("AUTH", Boot),
    // Whether the next command's keys are tracked.
    ("CLIENT CACHING", Mode),
    // What redirections and the like look like from here on.
    ("CLIENT CAPA", Mode),
    // Marks the connection as one that imports data: expiry works differently for it.
    ("CLIENT IMPORT-SOURCE", Mode),
    // Spares the connection when memory for clients runs out.
    ("CLIENT NO-EVICT", Mode),
    // Commands of the connection no longer refresh the keys they touch.
    ("CLIENT NO-TOUCH", Mode),
    // OFF and SKIP suppress replies, so that others would get each other's.
    ("CLIENT REPLY", Replies),
    // The library's name and version: told once at boot.
    ("CLIENT SETINFO", Boot),
    // The name of the connection: the config's, set again after a reconnect.
    ("CLIENT SETNAME", Boot),
    // Invalidation messages begin or end.
    ("CLIENT TRACKING", Mode),
    // The connection becomes a link between two nodes.
    ("CLUSTER SYNCSLOTS", Stream),
    ("DISCARD", Transaction),
    ("EXEC", Transaction),
    // Protocol, user and name at once.
    ("HELLO", Boot),
    // Every command of every client follows as a status line.
    ("MONITOR", Stream),
    ("MULTI", Transaction),
    ("PSUBSCRIBE", Subscription),
    // Replication begins.
    ("PSYNC", Stream),
    ("PUNSUBSCRIBE", Subscription),
    // The server closes.
    ("QUIT", End),
    // Reads from a replica of a cluster are allowed, or no longer.
    ("READONLY", Boot),
    ("READWRITE", Boot),
    // Part of replication; ACK and GETACK get no reply at all.
    ("REPLCONF", Replies),
    // Database, user, protocol, transaction and subscriptions go.
    ("RESET", End),
    // Scripts of the connection run in the debugger, in a fork.
    ("SCRIPT DEBUG", Mode),
    // The database.
    ("SELECT", Boot),
    ("SSUBSCRIBE", Subscription),
    ("SUBSCRIBE", Subscription),
    ("SUNSUBSCRIBE", Subscription),
    // Replication begins.
    ("SYNC", Stream),
    ("UNSUBSCRIBE", Subscription),
    // Drops the watches that another caller's transaction relies on.
    ("UNWATCH", Transaction),
    ("WATCH", Transaction),
];
