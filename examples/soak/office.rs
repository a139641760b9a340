//! The connectors that everybody uses, each with its own manners, and their successors.

use std::{
    future::Future,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use echo_wire::{
    connector::{Config, Error, Orphan, Policy, Pool, Stats, WhenAway, WhenFull},
    resp::Protocol,
};
use tokio::{sync::watch, time::sleep};

use crate::{
    ids::Id,
    ledger::{Ledger, Told},
    support::Server,
};

pub const TILLS: usize = 4;
/// The first ones; the last speaks RESP2.
pub const TILLS_IN_RESP3: usize = 3;

#[derive(Debug)]
pub struct Till {
    pub pool: Pool,
    /// Another wire was written into its store: from then on it may refuse.
    pub is_usurped: AtomicBool,
}

pub struct Office {
    pub ledger: Arc<Ledger>,
    url: String,
    tills: watch::Sender<Vec<Arc<Till>>>,
    is_shut: AtomicBool,
    /// The counters of the tills that are gone.
    retired: Mutex<Vec<Stats>>,
    /// Messages, and notices of gaps and losses, that readers have got.
    pub messages: AtomicU64,
    pub notices: AtomicU64,
    pub news: crate::news::Press,
}

fn policy() -> Policy {
    Policy {
        heartbeat: Duration::from_millis(100),
        response_timeout: Duration::from_secs(1),
        watchdog: Duration::from_millis(1_500),
        ready_within: Duration::from_secs(60),
        backoff_base: Duration::from_millis(5),
        backoff_cap: Duration::from_millis(100),
        ..Policy::default()
    }
}

impl Office {
    pub async fn open(server: &Server, ledger: Arc<Ledger>) -> Self {
        let office = Self {
            ledger,
            url: server.url(),
            tills: watch::Sender::new(Vec::new()),
            is_shut: AtomicBool::new(false),
            retired: Mutex::default(),
            messages: AtomicU64::new(0),
            notices: AtomicU64::new(0),
            news: crate::news::Press::default(),
        };
        office.renew().await;
        office
    }

    pub fn config(&self) -> Config {
        let config = Config::from_url(&self.url).unwrap().policy(policy());
        config.connect_timeout(Duration::from_secs(1)).unwrap()
    }

    /// New connectors in the place of those that there are.
    pub async fn renew(&self) {
        let waits = Policy {
            when_away: WhenAway::WaitAtMost(Duration::from_secs(5)),
            when_full: WhenFull::Wait,
            max_pending: 24,
            ..policy()
        };
        let narrow = Policy { max_pending: 8, max_messages: 64, ..policy() };
        let manners = [
            (self.config(), 1),
            (self.config().policy(waits), 2),
            (self.config().policy(narrow), 1),
            (self.config().protocol(Protocol::Resp2), 1),
        ];
        let mut tills = Vec::new();
        for (config, size) in manners {
            let pool = Pool::connect(config, size).await.expect("the server is there");
            tills.push(Arc::new(Till { pool, is_usurped: AtomicBool::new(false) }));
        }
        let old = self.tills.send_replace(tills);
        self.retire(old).await;
    }

    async fn retire(&self, old: Vec<Arc<Till>>) {
        for till in &old {
            till.pool.close().await;
            self.keep_orphans(till.pool.take_orphans());
        }
        let stats = old.iter().map(|till| till.pool.stats()).sum();
        self.retired.lock().unwrap_or_else(PoisonError::into_inner).push(stats);
    }

    pub fn till(&self, n: usize) -> Arc<Till> {
        Arc::clone(&self.tills.borrow()[n])
    }

    pub fn tills(&self) -> Vec<Arc<Till>> {
        self.tills.borrow().clone()
    }

    /// Waits until this till is not the one in use any more, or nobody works any more.
    pub async fn successor(&self, till: &Arc<Till>, n: usize) {
        let is_gone = |tills: &Vec<Arc<Till>>| {
            tills.get(n).is_none_or(|now| !Arc::ptr_eq(now, till)) || self.is_shut()
        };
        drop(self.tills.subscribe().wait_for(is_gone).await);
    }

    pub fn is_shut(&self) -> bool {
        self.is_shut.load(Relaxed)
    }

    pub fn shut(&self) {
        self.is_shut.store(true, Relaxed);
        // Whoever waits for a successor looks again.
        self.tills.send_modify(|_| ());
    }

    pub async fn close(&self) {
        let old = self.tills.send_replace(Vec::new());
        self.retire(old).await;
    }

    /// The counters of all connectors that there were.
    pub fn stats(&self) -> Stats {
        let now = self.tills.borrow().iter().map(|till| till.pool.stats()).sum();
        let retired = self.retired.lock().unwrap_or_else(PoisonError::into_inner);
        retired.iter().copied().chain([now]).sum()
    }

    /// What a call came to: its reply, if it was answered; how it is to be entered in the book.
    pub fn judge<T>(&self, till: &Till, verb: &str, result: Option<Result<T, Error>>) -> Judged<T> {
        let error = match result {
            None => return Judged { reply: None, told: Told::Dropped, is_over: false },
            Some(Ok(reply)) => {
                return Judged { reply: Some(reply), told: Told::Answered, is_over: false };
            }
            Some(Err(error)) => error,
        };
        let is_over = matches!(error, Error::VersionFence { .. } | Error::Closed);
        let is_expected = match &error {
            Error::Disconnected { .. } | Error::Timeout { .. } | Error::Overloaded => true,
            Error::NotReady { .. } => true,
            // A stream, its group and its scripts go with everything else in a FLUSHALL.
            Error::Server(error) => matches!(error.code(), "NOGROUP" | "LOADING" | "UNBLOCKED"),
            _ => is_over && till.is_usurped.load(Relaxed),
        };
        if !is_expected {
            self.ledger.breach(format!("{verb}: {error:?}"));
        }
        let told = if error.maybe_executed() { Told::Unknown } else { Told::NotRun };
        Judged { reply: None, told, is_over }
    }

    /// Enters what the server had handed out to calls that were given up.
    fn keep_orphans(&self, orphans: Vec<Orphan>) {
        for orphan in orphans {
            let reply = orphan.reply();
            match orphan.command() {
                "BLMOVE" => self.ledger.handed(reply.to::<Id>().unwrap()),
                "BLPOP" => self.ledger.handed(reply.to::<(String, Id)>().unwrap().1),
                _ => crate::worker::entries(reply).iter().for_each(|id| self.ledger.handed(*id)),
            }
        }
    }
}

pub struct Judged<T> {
    pub reply: Option<T>,
    pub told: Told,
    /// This till will never answer again.
    pub is_over: bool,
}

pub async fn collect_orphans(office: Arc<Office>) {
    while !office.is_shut() {
        for till in office.tills() {
            office.keep_orphans(till.pool.take_orphans());
        }
        sleep(Duration::from_millis(100)).await;
    }
}

/// Runs `work` with one till after the other until the office is shut.
pub async fn keep_working<F: Future<Output = ()>>(
    office: &Arc<Office>,
    n: usize,
    mut work: impl FnMut(Arc<Till>) -> F,
) {
    while !office.is_shut() {
        let till = office.till(n);
        work(Arc::clone(&till)).await;
        office.successor(&till, n).await;
    }
}
