//! What was promised, to be compared with what the store holds.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use echo_wire::{
    connector::{Connector, Pipeline},
    keyspace::BrandedId,
    resp::Command,
};
use tokio::sync::Notify;

use crate::{Outcome, queue::Jobs};

#[derive(Default)]
pub(crate) struct Ledger {
    book: Mutex<Book>,
    changed: Notify,
}

#[derive(Default)]
struct Book {
    enqueued: Vec<BrandedId>,
    /// How often a worker was told that it completed the job.
    completed: BTreeMap<String, u64>,
    outcomes: BTreeMap<String, u64>,
    heard: u64,
}

impl Ledger {
    pub(crate) fn enqueued(&self, id: BrandedId) {
        self.book().enqueued.push(id);
    }

    pub(crate) fn worked(&self, id: &BrandedId, outcome: &str) {
        let mut book = self.book();
        *book.outcomes.entry(outcome.to_owned()).or_default() += 1;
        if matches!(outcome, "completed" | "already") {
            *book.completed.entry(id.to_string()).or_default() += 1;
        }
        drop(book);
        self.changed.notify_waiters();
    }

    pub(crate) fn heard(&self) {
        self.book().heard += 1;
    }

    pub(crate) fn completed(&self) -> u64 {
        self.book().completed.len() as u64
    }

    /// Waits until so many jobs are completed.
    pub(crate) async fn reached(&self, jobs: u64) {
        loop {
            let changed = self.changed.notified();
            if self.completed() >= jobs {
                return;
            }
            changed.await;
        }
    }

    /// Compares the book with the store, job by job.
    pub(crate) async fn check(&self, connector: &Connector, queue: &Jobs) -> Outcome<bool> {
        let (enqueued, completed, outcomes, heard) = {
            let book = self.book();
            (book.enqueued.clone(), book.completed.clone(), book.outcomes.clone(), book.heard)
        };
        let (mut lost, mut twice) = (0, 0);
        for ids in enqueued.chunks(500) {
            let mut pipeline = Pipeline::new();
            for id in ids {
                let job = queue.job_key(id);
                pipeline.push(Command::new("HMGET").arg(&job).arg("state").arg("completions"));
            }
            let replies = connector.pipeline(&pipeline).await?;
            for (id, (state, completions)) in ids.iter().zip(replies.to::<Vec<(String, u64)>>()?) {
                lost += u64::from(state != "completed");
                let told = completed.get(&id.to_string()).copied().unwrap_or_default();
                twice += u64::from(completions > 1 || told > 1);
            }
        }
        let kept = lost == 0 && twice == 0;
        println!("outcomes as workers saw them: {outcomes:?}; events heard: {heard}");
        println!(
            "ledger: {} enqueued, {} completed, {lost} lost, {twice} completed twice: {}",
            enqueued.len(),
            completed.len(),
            if kept { "every promise kept" } else { "BROKEN" },
        );
        Ok(kept)
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
