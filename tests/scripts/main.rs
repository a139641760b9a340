//! Scripts on real servers: called by hash, loaded once, never met with NOSCRIPT, never run twice.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail"
)]

#[path = "../support/mod.rs"]
mod support;

mod answers;
mod batches;
mod calls;
mod storm;

use std::{collections::BTreeMap, time::Duration};

use echo_wire::{
    connector::{Config, Connector, Policy, WhenAway},
    resp::Protocol,
};
use support::{BOUND, Server, flavors};

/// Each server in both generations of the protocol, emptied, and a connector there.
fn everywhere(test: impl AsyncFn(&Server, Connector)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for flavor in flavors() {
        let server = flavor.server().start();
        for protocol in [Protocol::Resp2, Protocol::Resp3] {
            server.cli(&["FLUSHALL"]);
            server.cli(&["SCRIPT", "FLUSH"]);
            server.cli(&["CONFIG", "RESETSTAT"]);
            runtime.block_on(async { test(&server, connect(&server, protocol).await).await });
        }
    }
}

/// A connector that waits for the server while it is away.
async fn connect(server: &Server, protocol: Protocol) -> Connector {
    let config = Config::from_url(&server.url()).unwrap().protocol(protocol).policy(Policy {
        backoff_base: Duration::from_millis(5),
        when_away: WhenAway::WaitAtMost(BOUND),
        ..Policy::default()
    });
    Connector::connect(config).await.unwrap()
}

/// How often the server was sent each command that is about scripts, by its own count.
fn script_commands(server: &Server) -> BTreeMap<String, u64> {
    let info = server.cli(&["INFO", "commandstats"]);
    let line = |line: &str| {
        let (name, counts) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
        let calls = counts.split(',').next()?.parse().ok()?;
        let is_about_scripts = name.starts_with("eval") || name.starts_with("script|load");
        is_about_scripts.then(|| (name.to_owned(), calls))
    };
    info.lines().filter_map(line).collect()
}

/// The same as the connector counts it, where all of it came from there and over one connection.
fn counted(connector: &Connector) -> BTreeMap<String, u64> {
    let stats = connector.stats();
    let counts = [
        ("evalsha", stats.evalsha_calls),
        ("eval", stats.eval_calls),
        ("script|load", stats.script_loads),
    ];
    let happened = counts.into_iter().filter(|(_, calls)| *calls > 0);
    happened.map(|(name, calls)| (name.to_owned(), calls)).collect()
}
