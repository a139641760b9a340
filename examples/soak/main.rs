//! The soak: many tasks use every verb on a real server, while a thread does to that server whatever
//! operators, networks and other programs do. At the end, and many times on the way, what every
//! caller was told is held against what the store holds.
//!
//! ```text
//! ./run soak            # ten minutes on each server
//! ./run soak 2          # two
//! ```
//!
//! Exits 1 if a promise was broken; what was broken is printed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    unreachable_pub,
    reason = "a soak stops where it fails, and is nobody's library"
)]

#[path = "../../tests/support/mod.rs"]
mod support;

mod clerk;
mod ids;
mod ledger;
mod news;
mod office;
mod report;
mod snapshot;
mod usurper;
mod verbs;
mod weight;
mod worker;
mod wrecker;

use std::{
    process::ExitCode,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use support::{Flavor, flavors};
use tokio::{runtime::Builder, sync::oneshot, task::JoinSet, time::timeout};

use self::{ledger::Ledger, office::Office, report::Soak, weight::Weight, wrecker::Wrecker};

/// Tasks that write on shared connections.
const CLERKS: u64 = 60;
/// Tasks that wait on connections of their own.
const WORKERS: u64 = 9;

fn main() -> ExitCode {
    let minutes = std::env::args().nth(1).map_or(Ok(10.0), |word| word.parse::<f64>());
    let Ok(minutes) = minutes else {
        eprintln!("soak [minutes]");
        return ExitCode::from(2);
    };
    let kept =
        flavors().into_iter().map(|flavor| soak(flavor, Duration::from_secs_f64(minutes * 60.0)));
    // All of them, whatever the first one came to.
    match kept.collect::<Vec<_>>().iter().all(|kept| *kept) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn soak(flavor: Flavor, length: Duration) -> bool {
    // What was answered is on the disk, so a kill takes nothing back.
    let on_disk = ["--appendonly", "yes", "--appendfsync", "always"];
    let server = Arc::new(flavor.server().args(on_disk).start());
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let ledger = Arc::new(Ledger::new());
    println!("== {flavor}: {length:?}, {CLERKS} clerks, {WORKERS} workers");
    let started = Instant::now();
    runtime.block_on(async {
        let before = Weight::now();
        let office = Arc::new(Office::open(&server, Arc::clone(&ledger)).await);
        let mut tasks = JoinSet::new();
        for n in 0..CLERKS {
            tasks.spawn(clerk::work(n, Arc::clone(&office)));
        }
        for n in 0..WORKERS {
            tasks.spawn(worker::work(CLERKS + n, Arc::clone(&office)));
        }
        for n in 0..office::TILLS_IN_RESP3 {
            tasks.spawn(news::listen(n, Arc::clone(&office)));
        }
        tasks.spawn(office::collect_orphans(Arc::clone(&office)));

        let wrecker = Wrecker::new(Arc::clone(&server), Arc::clone(&office), length);
        let (done, is_done) = oneshot::channel();
        let wrecking = thread::spawn(move || done.send(wrecker.wreck()).ok());
        let wrecks = is_done.await;
        office.shut();
        let home = async {
            while let Some(ended) = tasks.join_next().await {
                if let Err(panic) = ended {
                    ledger.breach(format!("a task came to a bad end: {panic}"));
                }
            }
        };
        if timeout(Duration::from_secs(120), home).await.is_err() {
            ledger.breach("callers wait and are not answered".into());
        }
        office.close().await;
        let Ok(wrecks) = wrecks else {
            ledger.breach("the wrecker came to a bad end".into());
            return;
        };
        drop(wrecking.join());
        ledger.is_due();
        ledger.settle(&snapshot::take(&server, snapshot::Then::Keep));
        ledger.close_the_book();
        let (office, wrecks) = (&*office, &wrecks);
        let after = Weight::settled(before).await;
        Soak { flavor, took: started.elapsed(), office, wrecks, before, after }.print();
    });
    let breaches = ledger.breaches();
    for breach in breaches.iter().take(40) {
        println!("BROKEN: {breach}");
    }
    println!("== {flavor}: {}", if breaches.is_empty() { "every promise kept" } else { "BROKEN" });
    breaches.is_empty()
}
