//! A task that writes, checks each reply against its request, and keeps its pages of the book.

use std::sync::Arc;

use bytes::Bytes;
use echo_wire::{
    connector::{Error, Pipeline, Script},
    resp::{Command, Reply},
};
use tokio::task::yield_now;

use crate::{
    book::{Entry, Kind, Told},
    support::{Random, at_most},
    till::Till,
    wrecker::Wrecker,
};

/// Lists that ids are spread over.
pub const LISTS: u64 = 7;

pub fn list(n: u64) -> String {
    format!("ledger:{n}")
}

static PUSH: Script = Script::new(
    "local place = redis.call('RPUSH', KEYS[1], ARGV[1])
     redis.call('INCR', 'total')
     return {place, ARGV[1]}",
);

pub struct Clerk {
    number: u64,
    till: Arc<Till>,
    wrecker: Arc<Wrecker>,
    random: Random,
    ids: u64,
    /// The last total that it was told.
    total: u64,
    pages: Vec<Entry>,
}

impl Clerk {
    pub fn new(number: u64, till: Arc<Till>, wrecker: Arc<Wrecker>) -> Self {
        let (random, pages) = (Random::new(number), Vec::new());
        Self { number, till, wrecker, random, ids: 0, total: 0, pages }
    }

    /// Until the wrecker has done what it wanted to.
    pub async fn work(mut self) -> Vec<Entry> {
        while !self.wrecker.is_done() {
            let entry = match self.random.below(32) {
                0..=7 => self.push().await,
                8..=11 => self.incr().await,
                12..=15 => self.echo().await,
                16..=21 => self.pipeline().await,
                22..=25 => self.transaction().await,
                26..=28 => self.script().await,
                29..=30 => self.large().await,
                _ => self.silent().await,
            };
            self.wrecker.hears(&entry);
            let told = entry.told;
            self.pages.push(entry);
            if told == Told::NotSent {
                // There is no connection, most likely.
                self.till.connector.ready().await.unwrap();
                yield_now().await;
            }
        }
        self.pages
    }

    fn next_id(&mut self) -> (u64, u64) {
        self.ids += 1;
        (self.random.below(LISTS), (self.number << 32) | self.ids)
    }

    /// One call in eight is given up after a few polls.
    fn patience(&mut self) -> u64 {
        match self.random.below(8) {
            0 => 1 << self.random.below(6),
            _ => u64::MAX,
        }
    }

    async fn push(&mut self) -> Entry {
        let (to, id) = self.next_id();
        let mut entry = Entry::new(Kind::Command);
        entry.push(to, id);
        entry.commands = 1;
        let key = list(to);
        let command = Command::new("RPUSH").arg(&key).arg(id);
        let patience = self.patience();
        let result = at_most(patience, self.till.connector.command(command)).await;
        told(&mut entry, result, |entry, reply| {
            entry.pushes[0].place = Some(number(&reply));
        });
        entry
    }

    async fn incr(&mut self) -> Entry {
        let mut entry = Entry::new(Kind::Command);
        (entry.incrs, entry.commands) = (1, 1);
        let patience = self.patience();
        let incr = self.till.connector.command(Command::new("INCR").arg("total"));
        let result = at_most(patience, incr).await;
        told(&mut entry, result, |entry, reply| entry.total = Some(number(&reply)));
        self.totals_rise(&entry);
        entry
    }

    async fn echo(&mut self) -> Entry {
        let mut entry = Entry::new(Kind::Command);
        entry.commands = 1;
        let word = format!("{}/{}", self.number, self.pages.len());
        let patience = self.patience();
        let echo = self.till.connector.command(Command::new("ECHO").arg(&word));
        let result = at_most(patience, echo).await;
        told(&mut entry, result, |_, reply| assert_eq!(text(&reply), word));
        entry
    }

    /// RPUSH, ECHO, a command that fails, INCR, RPUSH.
    async fn pipeline(&mut self) -> Entry {
        let ((to, first), (also_to, second)) = (self.next_id(), self.next_id());
        let mut entry = Entry::new(Kind::Pipeline);
        entry.push(to, first);
        entry.push(also_to, second);
        (entry.incrs, entry.commands) = (1, 5);
        let word = format!("{}/{}", self.number, self.pages.len());
        let pipeline = Pipeline::new()
            .command(Command::new("RPUSH").arg(&list(to)).arg(first))
            .command(Command::new("ECHO").arg(&word))
            .command(Command::new("INCR").arg(&list(to)))
            .command(Command::new("INCR").arg("total"))
            .command(Command::new("RPUSH").arg(&list(also_to)).arg(second));
        let patience = self.patience();
        let result = at_most(patience, self.till.connector.pipeline(&pipeline)).await;
        told(&mut entry, result, |entry, replies| {
            assert_eq!(replies.len(), 5);
            entry.pushes[0].place = Some(number(&replies[0]));
            assert_eq!(text(&replies[1]), word);
            assert_eq!(replies[2].as_error().unwrap().code(), "WRONGTYPE");
            entry.total = Some(number(&replies[3]));
            entry.pushes[1].place = Some(number(&replies[4]));
        });
        self.totals_rise(&entry);
        entry
    }

    async fn transaction(&mut self) -> Entry {
        let ((to, first), (also_to, second)) = (self.next_id(), self.next_id());
        let mut entry = Entry::new(Kind::Transaction);
        entry.push(to, first);
        entry.push(also_to, second);
        // MULTI and EXEC count as well.
        (entry.incrs, entry.commands) = (1, 5);
        let pipeline = Pipeline::new()
            .command(Command::new("RPUSH").arg(&list(to)).arg(first))
            .command(Command::new("INCR").arg("total"))
            .command(Command::new("RPUSH").arg(&list(also_to)).arg(second));
        let patience = self.patience();
        let result = at_most(patience, self.till.connector.transaction(&pipeline)).await;
        told(&mut entry, result, |entry, ended| {
            let replies = ended.done().expect("nothing aborts it");
            assert_eq!(replies.len(), 3);
            entry.pushes[0].place = Some(number(&replies[0]));
            entry.total = Some(number(&replies[1]));
            entry.pushes[1].place = Some(number(&replies[2]));
        });
        self.totals_rise(&entry);
        entry
    }

    /// A script that a new connection does not know at first: it may go out twice, and run once.
    async fn script(&mut self) -> Entry {
        let (to, id) = self.next_id();
        let mut entry = Entry::new(Kind::Script);
        entry.push(to, id);
        (entry.incrs, entry.commands) = (1, 1);
        let key = list(to);
        let patience = self.patience();
        let eval = self.till.connector.eval(PUSH.call().key(&key).arg(id));
        let result = at_most(patience, eval).await;
        told(&mut entry, result, |entry, reply| {
            let (place, tag): (u64, u64) = reply.to().unwrap();
            assert_eq!(tag, id);
            entry.pushes[0].place = Some(place);
        });
        entry
    }

    /// A value of its own, there and back, so that cuts fall into the midst of values.
    async fn large(&mut self) -> Entry {
        let (_, id) = self.next_id();
        let mut entry = Entry::new(Kind::Pipeline);
        entry.commands = 3;
        let len = 1 << (10 + self.random.below(9));
        let value: Bytes = format!("{id}.").bytes().cycle().take(len).collect();
        let key = format!("large:{id}");
        let pipeline = Pipeline::new()
            .command(Command::new("SET").arg(&key).arg(&value))
            .command(Command::new("GET").arg(&key))
            .command(Command::new("DEL").arg(&key));
        let patience = self.patience();
        let result = at_most(patience, self.till.connector.pipeline(&pipeline)).await;
        told(&mut entry, result, |_, replies| {
            let ((), got, gone): ((), Bytes, u64) = replies.to().unwrap();
            assert!(got == value && gone == 1, "{id}");
        });
        entry
    }

    async fn silent(&mut self) -> Entry {
        let (to, first) = self.next_id();
        let (also_to, second) = self.next_id();
        let mut entry = Entry::new(Kind::Silent);
        entry.push(to, first);
        entry.push(also_to, second);
        let pipeline = Pipeline::new()
            .command(Command::new("RPUSH").arg(&list(to)).arg(first))
            .command(Command::new("RPUSH").arg(&list(also_to)).arg(second));
        let result = self.till.connector.noreply_pipeline(&pipeline).await;
        match result {
            Ok(false) => entry.told = Told::Unknown,
            result => told(&mut entry, Some(result), |_, _| ()),
        }
        entry
    }

    /// The total is one counter for all, and this clerk's calls follow each other.
    fn totals_rise(&mut self, entry: &Entry) {
        if let Some(total) = entry.total {
            assert!(total > self.total, "{total} after {}", self.total);
            self.total = total;
        }
    }
}

/// Enters how a call ended; `None`: it was given up.
fn told<T>(entry: &mut Entry, result: Option<Result<T, Error>>, take: impl FnOnce(&mut Entry, T)) {
    entry.told = match result {
        None => Told::Dropped,
        Some(Ok(reply)) => {
            take(entry, reply);
            Told::Answered
        }
        Some(Err(error)) => match error {
            Error::Disconnected { maybe_executed: false }
            | Error::NotReady { .. }
            | Error::Overloaded => {
                assert!(!error.maybe_executed());
                Told::NotSent
            }
            Error::Disconnected { maybe_executed: true } => Told::Unknown,
            Error::Timeout { maybe_executed } => {
                if maybe_executed {
                    Told::TimedOut
                } else {
                    Told::NotSent
                }
            }
            error => panic!("{:?}: {error:?}", entry.kind),
        },
    };
}

fn number(reply: &Reply) -> u64 {
    reply.to().unwrap()
}

fn text(reply: &Reply) -> String {
    reply.to().unwrap()
}
