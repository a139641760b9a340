//! A task that calls, gives up now and then, and writes down what it was told.

use std::time::Duration;

use echo_wire::{
    connector::{Connector, Error, Pipeline, Script, Transaction},
    resp::{Command, Reply},
};
use tokio::time::sleep;

use crate::{
    book::{Pages, Told},
    support::{Random, at_most},
    world::World,
};

pub static PUSH: Script = Script::new("return redis.call('RPUSH', KEYS[1], ARGV[1])");

pub struct Caller {
    pub connector: Connector,
    pub world: World,
    pub number: u64,
    pub random: Random,
}

/// What became of the ids of one call: an error for all, or for each its place or its error.
type Ended = Result<Vec<Result<u64, Error>>, Error>;

impl Caller {
    pub async fn work(mut self) -> Pages {
        let mut pages = Pages::new();
        for call in 0..self.world.plan.calls {
            let id = (self.number << 32) | (2 * call);
            let (ids, ended) = self.any_verb(id).await;
            match ended {
                None => pages.extend(ids.iter().map(|id| (*id, Told::Unknown))),
                Some(Err(error)) => {
                    let told = self.judge(&error);
                    pages.extend(ids.iter().map(|id| (*id, told)));
                }
                Some(Ok(places)) => {
                    assert_eq!(places.len(), ids.len());
                    for (id, place) in ids.into_iter().zip(places) {
                        let told = match place {
                            Ok(place) => Told::Answered { place },
                            Err(error) => self.judge(&error),
                        };
                        pages.push((id, told));
                    }
                }
            }
            self.look_at_what_is_owed();
            if self.random.below(4) == 0 {
                sleep(Duration::from_millis(self.random.below(3_000))).await;
            }
        }
        pages
    }

    async fn any_verb(&mut self, id: u64) -> (Vec<u64>, Option<Ended>) {
        let patience = [1, 2, 1 << self.random.below(7), u64::MAX, u64::MAX, u64::MAX];
        let patience = patience[self.random.below(6) as usize];
        let longest = if self.random.below(8) == 0 { 900 } else { 30 };
        let word = "w".repeat(self.random.below(longest) as usize) + &id.to_string();
        let also = id + 1;
        let push = |id: u64| Command::new("RPUSH").arg("list").arg(id);
        let connector = self.connector.clone();
        match self.random.below(16) {
            0..=3 => {
                let echo = async {
                    let reply = connector.command(Command::new("ECHO").arg(&word)).await?;
                    assert_eq!(reply.to::<String>().unwrap(), word);
                    Ok(vec![])
                };
                (vec![], at_most(patience, echo).await)
            }
            4..=6 => {
                let one = async { Ok(vec![Ok(number(&connector.command(push(id)).await?))]) };
                (vec![id], at_most(patience, one).await)
            }
            7..=9 => {
                let pipeline = Pipeline::new()
                    .command(push(id))
                    .command(Command::new("FAIL"))
                    .command(Command::new("ECHO").arg(&word))
                    .command(push(also));
                let both = async {
                    let replies = connector.pipeline(&pipeline).await?;
                    assert!(replies.len() == 4 && replies[1].is_error());
                    let echo = &replies[2];
                    assert!(echo.is_error() || echo.to::<String>().unwrap() == word);
                    Ok(vec![place(&replies[0]), place(&replies[3])])
                };
                (vec![id, also], at_most(patience, both).await)
            }
            10..=12 => {
                let pipeline = Pipeline::new().command(push(id)).command(push(also));
                let both = async { ended(connector.transaction(&pipeline).await?) };
                (vec![id, also], at_most(patience, both).await)
            }
            13..=14 => {
                let call = PUSH.call().key("list").arg(id);
                let one = async { Ok(vec![Ok(number(&connector.eval(&call).await?))]) };
                (vec![id], at_most(patience, one).await)
            }
            _ => {
                let one = async {
                    let mut line = connector.dedicated().await?;
                    Ok(vec![Ok(number(&line.command(push(id)).await?))])
                };
                (vec![id], at_most(patience, one).await)
            }
        }
    }

    /// What an error says of the command; no other may come than what the story brings about.
    fn judge(&self, error: &Error) -> Told {
        let plan = &self.world.plan;
        let is_expected = match error {
            Error::Disconnected { .. } | Error::Timeout { .. } | Error::Overloaded => true,
            Error::Server(_) => plan.errors > 0,
            Error::Protocol { .. } => plan.is_rude,
            Error::VersionFence { .. } => plan.usurped_after.is_some(),
            Error::Closed => plan.closed_after.is_some(),
            // Where the dial of a dedicated connection takes too long.
            Error::NotReady { .. } => true,
            _ => false,
        };
        assert!(is_expected, "{error:?}");
        if error.maybe_executed() { Told::Unknown } else { Told::NotRun }
    }

    /// Never more than may be, but for what the link itself asks, and a batch that is larger alone.
    fn look_at_what_is_owed(&self) {
        let (pending, most) = (self.connector.stats().pending, self.world.plan.max_pending as u64);
        assert!(pending <= most + 8, "{pending} replies are owed, {most} may be");
    }
}

fn number(reply: &Reply) -> u64 {
    reply.to().unwrap()
}

fn place(reply: &Reply) -> Result<u64, Error> {
    match reply.as_error() {
        Some(error) => Err(error.into()),
        None => Ok(number(reply)),
    }
}

fn ended(transaction: Transaction) -> Ended {
    match transaction {
        Transaction::Done(replies) => Ok(replies.iter().map(place).collect()),
        Transaction::Aborted { reason, refused } => {
            assert!(!refused.is_empty());
            Err(reason.into())
        }
        other => panic!("{other:?}"),
    }
}
