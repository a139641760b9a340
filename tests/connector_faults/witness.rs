//! What reached a server, by its own account.

use crate::support::{Raw, Server};

/// Sees every command that a server runs for a client on TCP; the tests' own look-ins come over the
/// Unix socket.
pub struct Witness {
    monitor: Raw,
}

impl Witness {
    pub fn of(server: &Server) -> Self {
        let mut monitor = server.raw();
        monitor.text(&["MONITOR"]);
        Self { monitor }
    }

    /// The commands since the last call, words in quotes.
    pub fn seen(&mut self, server: &Server) -> Vec<String> {
        server.cli(&["ECHO", "the witness is asked"]);
        let mut seen = Vec::new();
        loop {
            // <seconds> [<database> <client>] "WORD" "word" …
            let line = self.monitor.read().unwrap().to_string();
            let (client, command) = line.split_once("] ").unwrap();
            if command.contains("the witness is asked") {
                return seen;
            }
            if !client.contains("unix:") {
                seen.push(command.to_owned());
            }
        }
    }
}

/// The connect sequence of a connector that may not go on: nothing that writes, and of the data
/// only the version key.
pub fn is_only_the_fence(commands: &[String]) -> bool {
    commands.iter().all(|command| {
        let allowed = [
            r#""HELLO" "3""#,
            r#""SELECT""#,
            r#""CLIENT" "SETNAME""#,
            r#""CLIENT" "SETINFO""#,
            r#""CONFIG" "GET" "maxmemory-policy""#,
            r#""GET" "{emq}:version""#,
        ];
        allowed.iter().any(|start| command.starts_with(start))
    })
}

/// How often the server has run (or refused) each command, in its own statistics, but for those
/// that the tests look in with.
pub fn statistics(server: &Server) -> Vec<String> {
    let mut raw = server.raw();
    let stats = raw.text(&["INFO", "commandstats"]);
    raw.quit();
    let own = ["info", "quit", "auth", "ping"];
    let mut counts: Vec<_> = stats
        .lines()
        .filter_map(|line| line.strip_prefix("cmdstat_")?.split_once(",usec="))
        .map(|(calls, _)| calls.to_owned())
        .filter(|calls| !own.iter().any(|own| calls.starts_with(&format!("{own}:"))))
        .collect();
    counts.sort();
    counts
}
