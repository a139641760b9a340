//! A worker that survives: a small queue on top of the crate, while its server is killed and started
//! again under it. At the end the ledger: no job lost, none completed twice.
//!
//! ```text
//! ./run worker                            # ten kills, two thousand jobs
//! ./run worker --kills 3 --jobs 500
//! ```
//!
//! Exits 1 if a promise was broken.
#![allow(clippy::arithmetic_side_effects, reason = "jobs and kills are counted")]

mod ledger;
mod queue;
mod server;

use std::{
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use echo_wire::connector::{Config, Connector, Delivery, Policy, WhenAway};
use ledger::Ledger;
use queue::Jobs;
use server::Server;
use tokio::{task::JoinSet, time::timeout};

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

const WORKERS: usize = 8;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("worker: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Outcome<bool> {
    let (kills, jobs) = (option("--kills", 10)?, option("--jobs", 2000)?);
    let mut server = Server::start().await?;
    println!("a Valkey at {}, {jobs} jobs, {WORKERS} workers, {kills} kills", server.url());
    let policy = Policy {
        when_away: WhenAway::WaitAtMost(Duration::from_secs(30)),
        backoff_cap: Duration::from_millis(500),
        ..Policy::default()
    };
    let config = Config::from_url(&server.url())?.client_name("worker")?.policy(policy);
    let connector = Connector::connect(config).await?;
    let queue = Arc::new(Jobs::new(connector.clone(), "mail")?);
    let ledger = Arc::new(Ledger::default());
    let over = Arc::new(AtomicBool::new(false));

    let mut tasks = JoinSet::new();
    tasks.spawn(watch(connector.clone(), Arc::clone(&over)));
    tasks.spawn(count_events(connector.clone(), queue.events().to_string(), Arc::clone(&ledger)));
    for worker in 0..WORKERS {
        let (connector, queue) = (connector.clone(), Arc::clone(&queue));
        tasks.spawn(work(worker, connector, queue, Arc::clone(&ledger), Arc::clone(&over)));
    }
    let killing = async {
        for kill in 1..=kills {
            // A kill each time another share of the jobs is done.
            ledger.reached(jobs * kill / (kills + 1)).await;
            println!("kill {kill}: {} of {jobs} jobs completed so far", ledger.completed());
            server.kill_and_restart(Duration::from_millis(50 * kill)).await?;
        }
        // Enough for any backlog: what is missing after that is lost, and the ledger says so.
        drop(timeout(Duration::from_secs(60), ledger.reached(jobs)).await);
        Outcome::Ok(())
    };
    let all = async { tokio::try_join!(produce(jobs, &queue, &ledger), killing) };
    tokio::select! {
        all = all => drop(all?),
        // A task that ends before all is done has failed.
        Some(failed) = tasks.join_next() => failed??,
    }
    over.store(true, Ordering::Relaxed);
    // Workers end by themselves; the others when the connector does.
    let kept = ledger.check(&connector, &queue).await?;
    println!("counters: {:?}", connector.stats());
    connector.close().await;
    // The last handles: the stream of events ends with them.
    drop((connector, queue));
    while let Some(task) = tasks.join_next().await {
        task??;
    }
    Ok(kept)
}

async fn produce(jobs: u64, queue: &Jobs, ledger: &Ledger) -> Outcome<()> {
    for n in 0..jobs {
        let id = queue.mint()?;
        queue.enqueue(&id, &format!("mail {n}")).await?;
        ledger.enqueued(id);
    }
    Ok(())
}

/// Claims, works, completes; every tenth first attempt fails and is tried again.
async fn work(
    worker: usize,
    connector: Connector,
    queue: Arc<Jobs>,
    ledger: Arc<Ledger>,
    over: Arc<AtomicBool>,
) -> Outcome<()> {
    let mut bed = connector.dedicated().await?;
    while !over.load(Ordering::Relaxed) {
        let Some(claim) = queue.claim(worker).await? else {
            queue.doze(&mut bed).await?;
            continue;
        };
        tokio::time::sleep(Duration::from_millis(1)).await;
        let fails = claim.attempt == 1 && claim.payload.ends_with('7');
        let outcome = match fails {
            true => queue.retry(&claim).await?,
            false => queue.complete(&claim).await?,
        };
        ledger.worked(&claim.id, &outcome);
    }
    Ok(())
}

/// Prints what happens to the connection.
async fn watch(connector: Connector, over: Arc<AtomicBool>) -> Outcome<()> {
    let mut events = connector.events();
    drop(connector);
    while let Some(event) = events.next().await {
        if !over.load(Ordering::Relaxed) {
            println!("    {event}");
        }
    }
    Ok(())
}

/// The queue's own events, by push. What a gap swallowed is told, not guessed.
async fn count_events(connector: Connector, channel: String, ledger: Arc<Ledger>) -> Outcome<()> {
    let mut events = connector.subscribe([channel]).await?;
    drop(connector);
    while let Some(delivery) = events.next().await {
        match delivery {
            Delivery::Message(_) => ledger.heard(),
            Delivery::Gap => println!("    events: a gap, some were missed"),
            Delivery::Lagged(lost) => println!("    events: too slow, {lost} were dropped"),
            _ => {}
        }
    }
    Ok(())
}

fn option(name: &str, default: u64) -> Outcome<u64> {
    let mut words = std::env::args().skip_while(|word| word != name).skip(1);
    Ok(words.next().map(|word| word.parse()).transpose()?.unwrap_or(default))
}
