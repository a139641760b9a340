//! The ledger: many tasks write, the path to the server is cut again and again inside requests and
//! inside replies, and in the end what every caller was told is held against what is in the store.
//!
//! - What was acknowledged is there, exactly once, at the place that the reply named.
//! - What was reported as not sent is not there.
//! - Of the rest nobody knows, and it is there at most once; of a transaction all or nothing, of a
//!   pipeline whatever came first.
//! - Every reply belonged to its request, and the counters add up.
//!
//! `ECHO_WIRE_SOAK=n` makes it n times 1 000 cuts and 200 000 commands, on the four combinations of
//! server and runtime together; without it, four tenths of that.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    unreachable_pub,
    reason = "a test stops where it fails, and is nobody's library"
)]

#[path = "../support/mod.rs"]
mod support;

mod audit;
mod book;
mod clerk;
mod till;
mod wrecker;

use std::{env, sync::Arc};

use support::{Flavor, Proxy, bounded, flavors, until};
use tokio::{
    runtime::{Builder, Runtime},
    task::JoinSet,
};

use self::{audit::audit, book::Book, clerk::Clerk, wrecker::Wrecker};

/// What one run has to reach.
#[derive(Debug, Clone, Copy)]
struct Quota {
    cuts: u64,
    commands: u64,
}

impl Quota {
    fn of_this_run() -> Self {
        let tenths = match env::var("ECHO_WIRE_SOAK") {
            Ok(times) => times.parse::<u64>().expect("ECHO_WIRE_SOAK is a number") * 10,
            Err(_) => 4,
        };
        Self { cuts: 25 * tenths, commands: 5_000 * tenths }
    }
}

const CLERKS: u64 = 48;

#[test]
fn what_callers_were_told_is_what_the_store_holds_on_one_thread() {
    for flavor in flavors() {
        run(flavor, &Builder::new_current_thread().enable_all().build().unwrap());
    }
}

#[test]
fn what_callers_were_told_is_what_the_store_holds_on_two_threads() {
    for flavor in flavors() {
        run(flavor, &Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap());
    }
}

fn run(flavor: Flavor, runtime: &Runtime) {
    let quota = Quota::of_this_run();
    let server = flavor.server().start();
    let proxy = Proxy::start(server.address());
    runtime.block_on(async {
        let tills = till::open_all(&proxy).await;
        let mut clerks = JoinSet::new();
        let wrecker = Arc::new(Wrecker::new(quota));
        for n in 0..CLERKS {
            let till = Arc::clone(&tills[n as usize % tills.len()]);
            clerks.spawn(Clerk::new(n, till, Arc::clone(&wrecker)).work());
        }
        wrecker.wreck(&server, &proxy, &tills).await;
        let mut book = Book::default();
        while let Some(pages) = bounded("a clerk goes home", clerks.join_next()).await {
            book.add(pages.unwrap());
        }
        for till in &tills {
            until("the last replies come", || till.connector.stats().pending == 0).await;
            bounded("it closes", till.connector.close()).await;
        }
        // Whatever was on its way has arrived when the server has seen the last socket close.
        proxy.open_becomes(0).await;
        until("the server is alone", || server.clients().is_empty()).await;
        let sums = audit(&server, &proxy, &tills, &book);
        println!("{flavor}, {}: {} cuts; {sums}", kind(runtime), wrecker.cuts());
        sums.assert_enough(quota);
    });
}

fn kind(runtime: &Runtime) -> &'static str {
    match runtime.metrics().num_workers() {
        1 => "one thread",
        _ => "two threads",
    }
}
