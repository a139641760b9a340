//! Does to the server what operators, kernels and other programs do, one thing after the other, and
//! sees to it that work goes on after each.

use std::{
    collections::BTreeMap,
    sync::Arc,
    thread::sleep,
    time::{Duration, Instant},
};

use tokio::{runtime::Handle, time::timeout};

use crate::{
    office::Office,
    snapshot::{self, Then},
    support::{Random, Server},
    usurper,
    weight::Weight,
};

pub struct Wrecker {
    pub server: Arc<Server>,
    pub office: Arc<Office>,
    pub runtime: Handle,
    length: Duration,
    random: Random,
    wrecks: Wrecks,
}

/// What it has done, and what the process weighed after each of the ledger's settlements.
#[derive(Debug, Default)]
pub struct Wrecks {
    pub counts: BTreeMap<&'static str, u64>,
    pub weights: Vec<Weight>,
    /// The longest time from the end of a fault to work by everybody.
    pub slowest: Duration,
}

impl Wrecker {
    /// Inside the runtime whose tasks are to suffer.
    pub fn new(server: Arc<Server>, office: Arc<Office>, length: Duration) -> Self {
        let (runtime, random) = (Handle::current(), Random::new(length.as_secs()));
        Self { server, office, runtime, length, random, wrecks: Wrecks::default() }
    }

    /// Blocks until the time is up.
    pub fn wreck(mut self) -> Wrecks {
        let (start, mut settled, mut usurped) = (Instant::now(), Instant::now(), Instant::now());
        while start.elapsed() < self.length {
            let fault = if settled.elapsed() > BETWEEN_SETTLEMENTS {
                settled = Instant::now();
                self.flush()
            } else if usurped.elapsed() > BETWEEN_USURPERS {
                usurped = Instant::now();
                usurper::usurp(&self);
                "another wire"
            } else {
                self.any_fault()
            };
            *self.wrecks.counts.entry(fault).or_default() += 1;
            self.work_goes_on(fault);
            self.naps(500);
        }
        self.wrecks
    }

    fn any_fault(&mut self) -> &'static str {
        match self.random.below(12) {
            0..=1 => {
                self.server.kill();
                self.naps(400);
                self.server.restart();
                "kill -9, restart"
            }
            2..=3 => {
                self.server.pause();
                // Shorter than anybody's patience, longer than a call's, longer than the watchdog's.
                let pause = [200, 1_200, 2_600][self.random.below(3) as usize];
                sleep(Duration::from_millis(pause));
                self.server.resume();
                "SIGSTOP, SIGCONT"
            }
            4 => {
                self.command(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
                "CLIENT KILL of all"
            }
            5 => {
                self.command(&["CLIENT", "KILL", "TYPE", "pubsub"]);
                "CLIENT KILL of readers"
            }
            6 => {
                let clients = self.server.clients();
                if let Some(one) =
                    clients.get(self.random.below(clients.len().max(1) as u64) as usize)
                {
                    let id = one.split([' ', '=']).nth(1).unwrap();
                    // It may have gone by itself.
                    self.server.raw().call(&["CLIENT", "KILL", "ID", id]);
                }
                "CLIENT KILL of one"
            }
            7..=8 => {
                let what = ["ALL", "WRITE"][self.random.below(2) as usize];
                let pause = [100, 700, 1_800][self.random.below(3) as usize];
                self.command(&["CLIENT", "PAUSE", &pause.to_string(), what]);
                sleep(Duration::from_millis(pause));
                "CLIENT PAUSE"
            }
            9 => {
                let mut raw = self.server.raw();
                raw.text(&["CONFIG", "SET", "maxclients", "2"]);
                raw.text(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
                self.naps(600);
                raw.text(&["CONFIG", "SET", "maxclients", "10000"]);
                raw.quit();
                "CONFIG SET maxclients"
            }
            _ => {
                self.command(&["SCRIPT", "FLUSH"]);
                "SCRIPT FLUSH"
            }
        }
    }

    /// FLUSHALL, and the ledger learns what it destroyed.
    fn flush(&mut self) -> &'static str {
        let ledger = &self.office.ledger;
        ledger.is_due();
        ledger.settle(&snapshot::take(&self.server, Then::Destroy));
        for (clerk, number) in self.office.news.lost() {
            ledger.breach(format!("clerk {clerk}'s message {number} was missed without a word"));
        }
        self.wrecks.weights.push(self.runtime.block_on(async { Weight::now() }));
        "FLUSHALL"
    }

    fn command(&self, words: &[&str]) {
        let mut raw = self.server.raw();
        raw.text(words);
        raw.quit();
    }

    fn naps(&mut self, below: u64) {
        sleep(Duration::from_millis(self.random.below(below)));
    }

    /// Every connector comes back by itself, and is answered.
    fn work_goes_on(&mut self, fault: &str) {
        let since = Instant::now();
        let everybody = async {
            for till in self.office.tills() {
                if let Err(error) = till.pool.ready().await {
                    self.office.ledger.breach(format!("after {fault}: {error:?}"));
                }
            }
            let enough = self.office.ledger.answered() + 200;
            while self.office.ledger.answered() < enough {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        if self.runtime.block_on(async { timeout(PATIENCE, everybody).await }).is_err() {
            self.office.ledger.breach(format!("after {fault} nothing goes on for {PATIENCE:?}"));
        }
        self.wrecks.slowest = self.wrecks.slowest.max(since.elapsed());
    }
}

const BETWEEN_SETTLEMENTS: Duration = Duration::from_secs(15);
const BETWEEN_USURPERS: Duration = Duration::from_secs(25);
/// Turns a hang into a breach.
const PATIENCE: Duration = Duration::from_secs(60);
