//! What callers were told, settled against one snapshot of the store after the other.
//!
//! What a snapshot destroyed and what is there in the end are together all that ever ran. So:
//!
//! - what was acknowledged is in there, where the reply said;
//! - what was reported as not run is not;
//! - nothing is in there twice, or was handed to two workers;
//! - of a transaction all or nothing, of a pipeline nothing without what comes before it.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{
    ids::{Habit, Id, Ids, partner},
    snapshot::{POP, Snapshot, Spot},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Told {
    Answered,
    NotRun,
    /// It may have run.
    Unknown,
    /// The future was dropped: nobody was there to be told.
    Dropped,
}

#[derive(Debug, Default)]
pub struct Ledger {
    book: Mutex<Book>,
}

#[derive(Debug, Default)]
struct Book {
    /// Acknowledged, and not in a snapshot so far.
    acked: HashMap<Id, Spot>,
    /// Those of them that the next snapshot has to hold.
    due: HashMap<Id, Spot>,
    /// In a snapshot, and its caller is not told so far.
    found: HashMap<Id, Spot>,
    /// In the store, or popped from it.
    ran: Ids,
    not_run: Ids,
    in_doubt: Ids,
    /// Moved or popped for a worker that was told so.
    handed: Ids,
    /// Acknowledged to be pushed, and neither in the store nor handed to anybody.
    missing: HashMap<Id, Spot>,
    total: Sum,
    watched: Sum,
    calls: BTreeMap<(&'static str, Told), u64>,
    breaches: Vec<String>,
    settled: u64,
    snapshots: u64,
}

/// A counter in the store, which callers add one to.
#[derive(Debug, Default, Clone, Copy)]
struct Sum {
    certain: u64,
    possible: u64,
    stored: u64,
}

impl Sum {
    fn told(&mut self, told: Told) {
        match told {
            Told::Answered => self.certain += 1,
            Told::NotRun => {}
            Told::Unknown | Told::Dropped => self.possible += 1,
        }
    }

    fn is_off(self) -> bool {
        !(self.certain..=self.certain + self.possible).contains(&self.stored)
    }
}

impl Ledger {
    pub fn new() -> Self {
        Self::default()
    }

    /// A call has ended, which wanted to write these ids; if it was answered, there.
    pub fn told(&self, verb: &'static str, told: Told, ids: &[(Id, Spot)]) {
        let mut book = self.book();
        *book.calls.entry((verb, told)).or_default() += 1;
        for (id, spot) in ids {
            book.told(*id, told, *spot);
        }
    }

    pub fn added_to_total(&self, told: Told) {
        self.book().total.told(told);
    }

    pub fn added_to_watched(&self, told: Told) {
        self.book().watched.told(told);
    }

    /// A worker has got this id out of its list.
    pub fn handed(&self, id: Id) {
        let mut book = self.book();
        if !book.handed.insert(id) {
            book.breach(format!("{id:x} was handed to two workers"));
        }
        if Habit::of(id) == Habit::Popped {
            if let Some(told) = book.missing.remove(&id) {
                book.due.insert(id, told);
            }
            book.is_there(id, Spot::somewhere(POP));
        }
    }

    /// What was acknowledged up to now has to be in the snapshot that is taken after this, if it was
    /// in none before.
    pub fn is_due(&self) {
        let mut book = self.book();
        book.due = mem::take(&mut book.acked);
    }

    /// What a snapshot holds. No two of them hold the same: each but the last destroys what it holds.
    pub fn settle(&self, snapshot: &Snapshot) {
        let mut book = self.book();
        book.snapshots += 1;
        let mut is_here = HashSet::new();
        for (id, spot) in &snapshot.ids {
            is_here.insert(*id);
            book.is_there(*id, *spot);
        }
        for (id, told) in mem::take(&mut book.due) {
            if Habit::of(id) == Habit::Popped {
                // A worker will have it, or it was popped for nobody.
                book.missing.insert(id, told);
            } else {
                book.breach(format!("{id:x} was acknowledged at {told:?} and is lost"));
            }
        }
        for (id, _) in &snapshot.ids {
            let is_broken = match Habit::of(*id) {
                Habit::Alone | Habit::Popped => false,
                // The first one may have been destroyed before.
                Habit::InOrder => id & 1 == 1 && !book.ran.contains(partner(*id)),
                Habit::Together => !is_here.contains(&partner(*id)),
            };
            if is_broken {
                book.breach(format!("{id:x} is there without its partner"));
            }
        }
        book.total.stored += snapshot.total;
        book.watched.stored += snapshot.watched;
    }

    /// Nothing more will be told, and the last snapshot was settled.
    pub fn close_the_book(&self) {
        let mut book = self.book();
        if !book.acked.is_empty() {
            let late = book.acked.len();
            book.breach(format!("{late} calls were answered after the end"));
        }
        let (missing, pops) = (book.missing.len() as u64, book.doubtful("BLPOP"));
        if missing > pops {
            book.breach(format!("{missing} ids were popped for nobody, by {pops} calls in doubt"));
        }
        let unheard = book.found.len();
        if unheard > 0 {
            book.breach(format!("{unheard} ids are there, of calls that nobody made"));
        }
        for (name, sum) in [("total", book.total), ("watched", book.watched)] {
            if sum.is_off() {
                book.breach(format!("{name}: {sum:?}"));
            }
        }
    }

    pub fn breach(&self, what: String) {
        self.book().breach(what);
    }

    pub fn breaches(&self) -> Vec<String> {
        self.book().breaches.clone()
    }

    /// How many calls were answered so far.
    pub fn answered(&self) -> u64 {
        let book = self.book();
        book.calls.iter().filter(|((_, told), _)| *told == Told::Answered).map(|(_, n)| n).sum()
    }

    pub fn calls(&self) -> BTreeMap<(&'static str, Told), u64> {
        self.book().calls.clone()
    }

    /// In words: what was settled.
    pub fn summary(&self) -> String {
        let book = self.book();
        format!(
            "{} ids in {} snapshots; acknowledged and found {}, not run and not found {}, in doubt {}; \
             handed to workers {}, popped for nobody {} by {} pops in doubt; \
             INCR {} of {} to {}, under WATCH {} of {} to {}",
            book.ran.len(),
            book.snapshots,
            book.settled,
            book.not_run.len(),
            book.in_doubt.len(),
            book.handed.len(),
            book.missing.len(),
            book.doubtful("BLPOP"),
            book.total.stored,
            book.total.certain,
            book.total.certain + book.total.possible,
            book.watched.stored,
            book.watched.certain,
            book.watched.certain + book.watched.possible,
        )
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    fn told(&mut self, id: Id, told: Told, spot: Spot) {
        match told {
            Told::Answered => match self.found.remove(&id) {
                Some(found) => self.compare(id, spot, found),
                None => drop(self.acked.insert(id, spot)),
            },
            Told::NotRun => {
                self.not_run.insert(id);
                if self.ran.contains(id) {
                    self.breach(format!("{id:x} was told not to have run, and has"));
                }
                self.found.remove(&id);
            }
            Told::Unknown | Told::Dropped => {
                self.in_doubt.insert(id);
                self.found.remove(&id);
            }
        }
    }

    /// It has run: it is in the store, or came out of it.
    fn is_there(&mut self, id: Id, spot: Spot) {
        if !self.ran.insert(id) {
            self.breach(format!("{id:x} has run twice: {spot:?}"));
        }
        if self.not_run.contains(id) {
            self.breach(format!("{id:x} was told not to have run, and is at {spot:?}"));
        }
        match self.acked.remove(&id).or_else(|| self.due.remove(&id)) {
            Some(told) => self.compare(id, told, spot),
            None if self.in_doubt.contains(id) || self.not_run.contains(id) => {}
            None => drop(self.found.insert(id, spot)),
        }
    }

    fn compare(&mut self, id: Id, told: Spot, found: Spot) {
        self.settled += 1;
        if !told.agrees(found) {
            self.breach(format!("{id:x} was told at {told:?} and is at {found:?}"));
        }
    }

    fn doubtful(&self, verb: &'static str) -> u64 {
        let doubts = [Told::Unknown, Told::Dropped];
        doubts.iter().filter_map(|told| self.calls.get(&(verb, *told))).sum()
    }

    fn breach(&mut self, what: String) {
        if self.breaches.len() < 1_000 {
            eprintln!("BROKEN: {what}");
            self.breaches.push(what);
        }
    }
}
