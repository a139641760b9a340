//! The version fence at work on a real server, step by step.
//!
//! ```text
//! ./run demo                                          # starts a Valkey and shows it
//! cargo run --example demo -- redis://127.0.0.1:6379  # an empty, throw-away one of yours
//! ```
//!
//! `Connection::connect` is all that it uses of the crate to connect; what it shows of the server,
//! it asks the server itself, by hand. Exits 1 if something is not as it must be.
#![allow(clippy::arithmetic_side_effects, reason = "a handful of connections is counted")]

mod observer;
mod screen;

use std::{process::ExitCode, sync::Arc};

use echo_wire::{
    connector::{Config, Connection, Error, Passage, WIRE_VERSION},
    keyspace::{VERSION_KEY, classify, slot},
    resp::Command,
};
use observer::{Monitor, Observer};
use screen::{Screen, line};
use tokio::{sync::Barrier, task::JoinSet};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> ExitCode {
    let Some(url) = std::env::args().nth(1) else {
        eprintln!("usage: demo <url of an empty, throw-away Valkey>");
        return ExitCode::from(2);
    };
    match demo(&url).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("demo: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn demo(url: &str) -> Outcome<bool> {
    let config = Config::from_url(url)?;
    let address = config.endpoint().to_string();
    let mut observer = Observer::connect(&address).await?;
    let keys = observer.ask("DBSIZE").await?;
    if keys.as_deref() != Some("0") {
        return Err(format!("{url} is not empty; this demo wants a throw-away server").into());
    }
    let mut screen = Screen::new();
    line("echo_wire: a connection is checked against the wire before it can touch the store");
    screen
        .say(format_args!("the server {address}, the key {VERSION_KEY}, our wire {WIRE_VERSION}"));

    let mut stage = Stage { screen: &mut screen, observer: &mut observer, config, address };
    let connection = stage.empty_store_is_claimed().await?;
    stage.same_wire_is_verified().await?;
    stage.other_wire_is_refused().await?;
    stage.changed_behind_a_live_connection(connection).await?;
    stage.race().await?;
    stage.keys();
    line("");
    Ok(screen.is_well())
}

struct Stage<'a> {
    screen: &'a mut Screen,
    observer: &'a mut Observer,
    config: Config,
    address: String,
}

impl Stage<'_> {
    async fn empty_store_is_claimed(&mut self) -> Outcome<Connection> {
        self.screen.scene("An empty store is claimed");
        let connection = Connection::connect(&self.config).await?;
        let passage = connection.passage();
        self.screen.expect(passage == Passage::Claimed, format_args!("we connect: {passage}"));
        let stored = self.stored().await?;
        self.screen.show(format_args!("GET {VERSION_KEY} → {stored}"));
        Ok(connection)
    }

    async fn same_wire_is_verified(&mut self) -> Outcome<()> {
        self.screen.scene("The same wire again is verified");
        self.observer.ask("CONFIG RESETSTAT").await?;
        let mut connection = Connection::connect(&self.config).await?;
        let passage = connection.passage();
        self.screen.expect(passage == Passage::Verified, format_args!("we connect: {passage}"));
        let sets = self.observer.sets().await?;
        self.screen.expect(sets == 0, format_args!("by the server's count it sent {sets} SETs"));
        let reply = connection.command(&Command::new("PING")).await?;
        self.screen
            .show(format_args!("only now can it run commands: PING → {:?}", reply.to::<String>()?));
        Ok(())
    }

    async fn other_wire_is_refused(&mut self) -> Outcome<()> {
        self.screen.scene("Another wire is refused, and writes nothing");
        self.observer.ask("CONFIG RESETSTAT").await?;
        let monitor = Monitor::start(&self.address).await?;
        let other = self.config.clone().wire("echomq:1.9.0")?.client_name("stranger")?;
        match Connection::connect(&other).await {
            Err(error @ Error::VersionFence { .. }) => {
                self.screen.expect(true, format_args!("echomq:1.9.0 connects: {error}"));
            }
            result => self.screen.expect(false, format_args!("echomq:1.9.0 connects: {result:?}")),
        }
        self.screen.say(
            "all that it sent, by the server's MONITOR (which leaves out the look at CONFIG):",
        );
        for command in monitor.seen(self.observer).await?.remove("stranger").unwrap_or_default() {
            self.screen.show(command);
        }
        let sets = self.observer.sets().await?;
        self.screen.expect(sets == 0, format_args!("by the server's count it sent {sets} SETs"));
        Ok(())
    }

    async fn changed_behind_a_live_connection(&mut self, mut live: Connection) -> Outcome<()> {
        self.screen.scene("A key that is changed behind a live connection stops the next");
        self.screen.say("somebody overwrites the key while our first connection lives:");
        self.observer.ask(&format!("SET {VERSION_KEY} echomq:3.0.0")).await?;
        self.screen.show(format_args!("SET {VERSION_KEY} echomq:3.0.0"));
        live.command(&Command::new("PING")).await?;
        live.close().await;
        match Connection::connect(&self.config).await {
            Err(error) => self.screen.expect(
                error.is_fatal() && matches!(error, Error::VersionFence { .. }),
                format_args!("we connect again: {error}; fatal, never retried"),
            ),
            Ok(connection) => {
                let passage = connection.passage();
                self.screen.expect(false, format_args!("we connect again: {passage}"));
            }
        }
        Ok(())
    }

    async fn race(&mut self) -> Outcome<()> {
        self.screen.scene("Sixteen connectors of two wires race for an empty store");
        self.observer.ask(&format!("DEL {VERSION_KEY}")).await?;
        self.observer.ask("CONFIG RESETSTAT").await?;
        let monitor = Monitor::start(&self.address).await?;

        let (mut race, start) = (JoinSet::new(), Arc::new(Barrier::new(16)));
        for at in 0..16 {
            let wire = if at % 2 == 0 { "acme:1" } else { "bolt:2" };
            let name = format!("{wire}-{at:02}");
            let config = self.config.clone().wire(wire)?.client_name(&name)?;
            let start = Arc::clone(&start);
            race.spawn(async move {
                start.wait().await;
                (wire, name, Connection::connect(&config).await)
            });
        }
        let results = race.join_all().await;
        let winner = self.stored().await?;
        self.screen.say(format_args!("the store now speaks {winner}"));

        let mut sent = monitor.seen(self.observer).await?;
        let (mut claims, mut is_pure, mut is_unmixed) = (0_u64, true, true);
        for wire in ["acme:1", "bolt:2"] {
            let (mut claimed, mut verified, mut refused, mut tried) = (0, 0, 0, 0);
            for (_, name, result) in results.iter().filter(|(of, ..)| *of == wire) {
                match result {
                    Ok(connection) if connection.passage() == Passage::Claimed => claimed += 1,
                    Ok(_) => verified += 1,
                    Err(Error::VersionFence { .. }) => refused += 1,
                    Err(error) => return Err(error.clone().into()),
                }
                is_unmixed &= result.is_ok() == (wire == winner);
                let own = format!("SET {VERSION_KEY} {wire} NX");
                let sent = sent.remove(name).unwrap_or_default();
                let writes = sent.iter().filter(|command| !only_looks(command));
                is_pure &= writes.clone().all(|command| *command == own);
                tried += writes.count();
            }
            claims += u64::try_from(tried)?;
            self.screen.say(format_args!(
                "{wire}: {claimed} claimed, {verified} verified, {refused} refused; \
                 {tried} tried SET … NX"
            ));
        }
        self.screen
            .expect(is_unmixed, "all that run speak the wire of the store, all others do not run");
        self.screen
            .expect(is_pure, "nobody wrote anything but SET … NX of its own wire, by MONITOR");
        let sets = self.observer.sets().await?;
        let text = format!("and by the server's count: {sets} SETs in all, {claims} by MONITOR");
        self.screen.expect(sets == claims, text);
        Ok(())
    }

    fn keys(&mut self) {
        self.screen.scene("Why the key cannot meet a queue's: where keys land");
        for key in [VERSION_KEY, "emq:{mail}:pending", "emq:{mail}:job:USR0KHTOWnGLuC", "mail:1"] {
            let class = classify(key.as_bytes());
            self.screen.say(format_args!("{key}"));
            self.screen.show(format_args!("{class}; slot {}", slot(key.as_bytes())));
        }
    }

    async fn stored(&mut self) -> Outcome<String> {
        let stored = self.observer.ask(&format!("GET {VERSION_KEY}")).await?;
        Ok(stored.unwrap_or_else(|| "(none)".into()))
    }
}

/// Whether a command of the connect sequence leaves the store as it was.
fn only_looks(command: &str) -> bool {
    let name = command.split(' ').next().unwrap_or_default();
    ["HELLO", "CLIENT", "CONFIG", "ROLE", "GET"].contains(&name)
}
