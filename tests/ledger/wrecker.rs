//! Cuts the path, again and again, until there were enough cuts and enough commands.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

use tokio::sync::watch;

use crate::{
    Quota,
    book::{Entry, Told},
    support::{Cut, Proxy, Random, Server, Way, bounded, until},
    till::Till,
};

pub struct Wrecker {
    quota: Quota,
    cuts: AtomicU64,
    done: AtomicBool,
    /// What clerks have heard so far.
    heard: watch::Sender<Heard>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Heard {
    commands: u64,
    answered: u64,
    timed_out: u64,
}

impl Wrecker {
    pub fn new(quota: Quota) -> Self {
        let (cuts, done) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { quota, cuts, done, heard: watch::Sender::default() }
    }

    pub fn is_done(&self) -> bool {
        self.done.load(Relaxed)
    }

    pub fn cuts(&self) -> u64 {
        self.cuts.load(Relaxed)
    }

    /// A clerk tells how a call of its ended.
    pub fn hears(&self, entry: &Entry) {
        self.heard.send_modify(|heard| {
            heard.commands += entry.commands;
            heard.answered += u64::from(entry.told == Told::Answered);
            heard.timed_out += u64::from(entry.told == Told::TimedOut);
        });
    }

    pub async fn wreck(&self, server: &Server, proxy: &Proxy, tills: &[Arc<Till>]) {
        let mut random = Random::new(self.quota.cuts);
        let mut raw = server.raw();
        while self.cuts() < self.quota.cuts || self.heard.borrow().commands < self.quota.commands {
            let cut = [Cut::Close, Cut::Reset][random.below(2) as usize];
            let way = [Way::Up, Way::Down][random.below(2) as usize];
            let connections = proxy.connections();
            match random.below(16) {
                // At once, all of them.
                0..=1 => proxy.cut(cut),
                // By the server.
                2 => drop(raw.text(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"])),
                // In the midst of silence: waves pile up, and callers run out of time.
                3 => {
                    proxy.stall(way);
                    self.silence_tells(tills).await;
                    proxy.cut(cut);
                    proxy.resume();
                }
                // Inside something large, or behind it.
                4..=6 => proxy.cut_after(way, random.below(200_000), cut),
                // Inside the connect sequence of the next one, if that comes first.
                7..=9 => {
                    proxy.cut(cut);
                    proxy.cut_after(way, random.below(500), cut);
                }
                // Inside a command or a reply.
                _ => proxy.cut_after(way, random.below(3_000), cut),
            }
            self.cuts.fetch_add(1, Relaxed);
            let comes_back = proxy.connections_reach(connections + 1);
            bounded("somebody comes back", comes_back).await;
            // Next time in the midst of the connect sequence, or of full work.
            let progress = [0, 0, 10, 40, 100, 200][random.below(6) as usize];
            let enough = self.heard.borrow().answered + progress;
            self.wait("work goes on", |now| now.answered >= enough).await;
        }
        proxy.keep(Way::Up);
        proxy.keep(Way::Down);
        self.done.store(true, Relaxed);
    }

    async fn wait(&self, what: &str, holds: impl FnMut(&Heard) -> bool) {
        bounded(what, self.heard.subscribe().wait_for(holds)).await.unwrap();
    }

    /// Until callers are out of time, or just pile up; or, where the silence fell into the connect
    /// sequence, until that is given up.
    async fn silence_tells(&self, tills: &[Arc<Till>]) {
        let failed =
            || tills.iter().map(|till| till.connector.stats().failed_connects).sum::<u64>();
        let pending = || tills.iter().map(|till| till.connector.stats().pending).sum::<u64>();
        let (failed_before, timed_out_before) = (failed(), self.heard.borrow().timed_out);
        let is_patient = self.cuts().is_multiple_of(2);
        until("the silence tells", || {
            let timed_out = self.heard.borrow().timed_out > timed_out_before;
            timed_out || failed() > failed_before || (!is_patient && pending() > 30)
        })
        .await;
    }
}
