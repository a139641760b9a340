//! A hundred tasks call scripts, alone and in batches, while the server's scripts are flushed, its
//! clients killed and the server itself restarted. The store is held against what callers were told.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use echo_wire::{
    connector::{Connector, Error, Pipeline, Script, Transaction},
    resp::{Command, Protocol, Reply},
};
use tokio::{runtime, sync::watch};

use crate::{
    connect,
    support::{Server, bounded, flavors},
};

/// Adds an id to the ledger: the list has it, and the counter agrees. Both or none.
static ADD: Script = Script::new(
    "redis.call('INCR', KEYS[2])
     redis.call('RPUSH', KEYS[1], ARGV[1])
     return ARGV[1]",
);
/// The same with another hash, so that one is there when the other is not.
static ALSO: Script = Script::new(
    "redis.call('RPUSH', KEYS[1], ARGV[1])
     redis.call('INCR', KEYS[2])
     return ARGV[1]",
);

const TASKS: u64 = 100;

/// What callers were told about each id.
#[derive(Debug, Default)]
struct Told {
    answered: BTreeSet<String>,
    not_sent: BTreeSet<String>,
    unknown: BTreeSet<String>,
    is_over: bool,
}

struct Task {
    connector: Connector,
    task: u64,
    told: Arc<watch::Sender<Told>>,
}

impl Task {
    async fn work(self) {
        let mut turn = 0_u64;
        while !self.told.borrow().is_over {
            turn += 1;
            let id = |part: u64| format!("{}:{turn}:{part}", self.task);
            let ids = match turn % 3 {
                0 => vec![id(0)],
                _ => (0..3).map(id).collect(),
            };
            let outcome = match turn % 3 {
                0 => self.alone(&ids[0]).await,
                1 => self.pipeline(&ids).await,
                _ => self.transaction(&ids).await,
            };
            self.told.send_modify(|told| {
                let told = match outcome {
                    Ok(()) => &mut told.answered,
                    Err(error) if error.maybe_executed() => &mut told.unknown,
                    Err(_) => &mut told.not_sent,
                };
                told.extend(ids);
            });
        }
    }

    async fn alone(&self, id: &str) -> Result<(), Error> {
        let said = self.connector.eval(ADD.call().key("ids").key("count").arg(id)).await;
        match said {
            Err(Error::Server(error)) => panic!("no call is answered an error: {error}"),
            said => is_said(&said?, id),
        }
        Ok(())
    }

    fn batch(&self, ids: &[String]) -> Pipeline {
        Pipeline::new()
            .eval(ADD.call().key("ids").key("count").arg(&ids[0]))
            .command(Command::new("ECHO").arg(&ids[0]))
            .eval(ALSO.call().key("ids").key("count").arg(&ids[1]))
            .eval(ADD.call().key("ids").key("count").arg(&ids[2]))
    }

    async fn pipeline(&self, ids: &[String]) -> Result<(), Error> {
        let replies = self.batch(ids).run(&self.connector).await?;
        let owners = [&ids[0], &ids[0], &ids[1], &ids[2]];
        assert_eq!(replies.len(), owners.len());
        replies.iter().zip(owners).for_each(|(reply, id)| is_said(reply, id));
        Ok(())
    }

    async fn transaction(&self, ids: &[String]) -> Result<(), Error> {
        match self.batch(ids).run_as_transaction(&self.connector).await? {
            Transaction::Done(replies) => {
                let owners = [&ids[0], &ids[0], &ids[1], &ids[2]];
                assert_eq!(replies.len(), owners.len());
                replies.iter().zip(owners).for_each(|(reply, id)| is_said(reply, id));
            }
            other => panic!("{other:?}"),
        }
        Ok(())
    }
}

fn is_said(reply: &Reply, id: &str) {
    assert_eq!(reply.to::<String>().unwrap(), id, "an answer, and no NOSCRIPT");
}

/// Waits for `more` answers, so that each wreck meets traffic.
async fn goes_on(told: &watch::Sender<Told>, more: usize) {
    let enough = told.borrow().answered.len() + more;
    bounded("calls are answered", told.subscribe().wait_for(|told| told.answered.len() >= enough))
        .await
        .unwrap();
}

fn storm(wreck: impl Fn(&Server, usize), rounds: usize) {
    // Wrecking blocks: it has the test's own thread, beside those of the tasks.
    let runtime =
        runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    for flavor in flavors() {
        // A write is on the disk before it is answered, so that a restart keeps what was told.
        let server =
            flavor.server().args(["--appendonly", "yes", "--appendfsync", "always"]).start();
        for protocol in [Protocol::Resp2, Protocol::Resp3] {
            server.cli(&["FLUSHALL"]);
            runtime.block_on(async {
                let connector = connect(&server, protocol).await;
                let told = Arc::new(watch::Sender::new(Told::default()));
                let tasks: Vec<_> = (0..TASKS)
                    .map(|task| Task {
                        connector: connector.clone(),
                        task,
                        told: Arc::clone(&told),
                    })
                    .map(|task| tokio::spawn(task.work()))
                    .collect();
                for round in 0..rounds {
                    goes_on(&told, 1_000).await;
                    wreck(&server, round);
                }
                goes_on(&told, 1_000).await;
                told.send_modify(|told| told.is_over = true);
                for task in tasks {
                    bounded("a task ends", task).await.unwrap();
                }
                assert_eq!(connector.stats().pending, 0);
                audit(&server, &told.borrow());
            });
        }
    }
}

fn audit(server: &Server, told: &Told) {
    let list = server.cli(&["LRANGE", "ids", "0", "-1"]);
    let mut times = BTreeMap::<&str, u32>::new();
    list.split_whitespace().for_each(|id| *times.entry(id).or_default() += 1);
    assert!(times.values().all(|times| *times == 1), "an id is there twice");
    assert_eq!(server.cli(&["GET", "count"]), times.len().to_string());
    let is_there = |id: &String| times.contains_key(id.as_str());
    assert!(told.answered.iter().all(is_there), "what was answered is there");
    assert!(!told.not_sent.iter().any(is_there), "what was not sent is not");
    let known = told.answered.len() + told.unknown.iter().filter(|id| is_there(id)).count();
    assert_eq!(known, times.len(), "nothing is there that nobody sent");
}

#[test]
fn flushes_in_the_middle_of_traffic() {
    storm(|server, _| drop(server.cli(&["SCRIPT", "FLUSH"])), 20);
}

#[test]
fn kills_and_flushes_in_the_middle_of_traffic() {
    storm(
        |server, round| {
            if round % 2 == 0 {
                server.cli(&["SCRIPT", "FLUSH"]);
            }
            server.cli(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
        },
        10,
    );
}

#[test]
fn restarts_in_the_middle_of_traffic() {
    storm(|server, _| server.restart(), 3);
}
