//! A task with a connection of its own: commands that wait there, and compare-and-set under WATCH.

use std::{sync::Arc, time::Duration};

use echo_wire::{
    connector::{Dedicated, Error, Pipeline, Transaction},
    resp::{Command, FromReply, Reply},
};
use tokio::time::{sleep, timeout};

use crate::{
    ids::Id,
    ledger::Told,
    office::{Office, TILLS, Till, keep_working},
    snapshot::{DONE, POP, STREAM, TODO, WATCHED},
    support::Random,
};

struct Worker {
    office: Arc<Office>,
    till: Arc<Till>,
    number: u64,
}

pub async fn work(number: u64, office: Arc<Office>) {
    let mut random = Random::new(number);
    let n = number as usize % TILLS;
    keep_working(&office, n, |till| {
        let worker = Worker { office: Arc::clone(&office), till, number };
        let seed = random.below(u64::MAX >> 1);
        async move { worker.work(Random::new(seed)).await }
    })
    .await;
}

impl Worker {
    /// Until the till is over.
    async fn work(&self, mut random: Random) {
        while !self.office.is_shut() {
            let dialled = Some(self.till.pool.dedicated().await);
            let judged = self.office.judge(&self.till, "dedicated", dialled);
            match judged.reply {
                Some(mut bed) => {
                    for _ in 0..1 + random.below(200) {
                        if self.office.is_shut() {
                            break;
                        }
                        if self.any_verb(&mut bed, &mut random).await {
                            return;
                        }
                    }
                    if random.below(2) == 0 {
                        bed.close().await;
                    }
                }
                None if judged.is_over => return,
                None => sleep(Duration::from_millis(20)).await,
            }
        }
    }

    /// `true`: the till is over.
    async fn any_verb(&self, bed: &mut Dedicated, random: &mut Random) -> bool {
        let patience = match random.below(4) {
            0 => Duration::from_millis(random.below(120)),
            _ => Duration::from_secs(3600),
        };
        match random.below(4) {
            0 => {
                let pop =
                    Command::new("BLMOVE").arg(TODO).arg(DONE).arg("LEFT").arg("RIGHT").arg("0.4");
                self.waits("BLMOVE", bed, &pop, patience, |reply| {
                    read(reply).map(|id: Option<Id>| id.into_iter().collect())
                })
                .await
            }
            1 => {
                let pop = Command::new("BLPOP").arg(POP).arg("0.3");
                self.waits("BLPOP", bed, &pop, patience, |reply| {
                    let popped: Option<(String, Id)> = read(reply)?;
                    Ok(popped.into_iter().map(|(_, id)| id).collect())
                })
                .await
            }
            2 => self.read_stream(bed, patience).await,
            _ => self.compare_and_set(bed).await,
        }
    }

    /// A command that waits, or is given up while it does.
    async fn waits(
        &self,
        verb: &'static str,
        bed: &mut Dedicated,
        command: &Command<'_>,
        patience: Duration,
        ids: impl FnOnce(&Reply) -> Result<Vec<Id>, String>,
    ) -> bool {
        let result = timeout(patience, bed.command(command)).await.ok();
        self.ends(verb, result, |reply| match ids(&reply) {
            Ok(ids) => ids.into_iter().for_each(|id| self.office.ledger.handed(id)),
            Err(wrong) => self.office.ledger.breach(format!("{verb} was answered {wrong}")),
        })
        .0
    }

    async fn read_stream(&self, bed: &mut Dedicated, patience: Duration) -> bool {
        let name = self.number.to_string();
        let command = Command::new("XREADGROUP").arg("GROUP").arg("crew").arg(&name);
        let command = command.arg("COUNT").arg(20).arg("BLOCK").arg(200);
        let command = command.arg("STREAMS").arg(STREAM).arg(">");
        let result = timeout(patience, bed.command(&command)).await.ok();
        let is_gone =
            matches!(&result, Some(Err(Error::Server(error))) if error.code() == "NOGROUP");
        let mut read = Vec::new();
        let (is_over, _) = self.ends("XREADGROUP", result, |reply| read = entries(&reply));
        read.iter().for_each(|id| self.office.ledger.handed(*id));
        if is_gone {
            let create = Command::new("XGROUP").arg("CREATE").arg(STREAM).arg("crew").arg(0);
            let result = bed.command(create.arg("MKSTREAM")).await;
            // Another worker was faster.
            let is_there =
                matches!(&result, Err(Error::Server(error)) if error.code() == "BUSYGROUP");
            return !is_there && self.ends("XGROUP", Some(result), drop).0;
        }
        is_over
    }

    /// GET and SET under WATCH: an update is never lost, whoever comes in between.
    async fn compare_and_set(&self, bed: &mut Dedicated) -> bool {
        let result = self.one_more(bed).await;
        let (is_over, told) = self.ends("watch", Some(result), drop);
        self.office.ledger.added_to_watched(told);
        is_over
    }

    async fn one_more(&self, bed: &mut Dedicated) -> Result<(), Error> {
        loop {
            let mut watch = bed.watch([WATCHED]).await.map_err(nothing_ran)?;
            let get = watch.command(Command::new("GET").arg(WATCHED)).await;
            let count: Option<u64> = get.map_err(nothing_ran)?.to()?;
            let count = count.unwrap_or_default() + 1;
            let set = Pipeline::new().command(Command::new("SET").arg(WATCHED).arg(count));
            match watch.exec(&set).await? {
                Transaction::Done(_) => return Ok(()),
                Transaction::Conflict => {}
                other => self.office.ledger.breach(format!("under WATCH: {other:?}")),
            }
        }
    }

    fn ends<T>(
        &self,
        verb: &'static str,
        result: Option<Result<T, Error>>,
        take: impl FnOnce(T),
    ) -> (bool, Told) {
        let judged = self.office.judge(&self.till, verb, result);
        self.office.ledger.told(verb, judged.told, &[]);
        judged.reply.map(take);
        (judged.is_over, judged.told)
    }
}

/// WATCH and GET may have run, the SET has not.
fn nothing_ran(error: Error) -> Error {
    match error {
        Error::Disconnected { .. } => Error::Disconnected { maybe_executed: false },
        Error::Timeout { .. } => Error::Timeout { maybe_executed: false },
        other => other,
    }
}

fn read<T: FromReply>(reply: &Reply) -> Result<T, String> {
    reply.to().map_err(|error| format!("{reply:?}: {error}"))
}

/// The ids in a reply to XREADGROUP, which is a map in RESP3 and an array in RESP2.
pub fn entries(reply: &Reply) -> Vec<Id> {
    type Entries = Vec<(String, Vec<String>)>;
    let streams: Option<Vec<(String, Entries)>> = reply.to().unwrap();
    let entries = streams.into_iter().flatten().flat_map(|(_, entries)| entries);
    entries.map(|(_, fields)| fields[1].parse().unwrap()).collect()
}
