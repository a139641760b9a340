//! What clerks do: every verb of a shared connection.

use bytes::Bytes;
use echo_wire::{
    connector::{Error, Pipeline, Script},
    resp::{Command, ConvertError, Reply},
};

use crate::{
    clerk::Clerk,
    ids::Habit,
    ledger::Told,
    snapshot::{POP, STREAM, Spot, TODO, TOTAL},
};

static PUSH: Script = Script::new(
    "local place = redis.call('RPUSH', KEYS[1], ARGV[1])
     redis.call('INCR', KEYS[2])
     return {place, ARGV[1]}",
);

/// Places from a reply, or what is wrong with it.
type Read = Result<Vec<Spot>, String>;

impl Clerk {
    pub async fn any_verb(&mut self) -> Told {
        match self.random.below(40) {
            0..=8 => self.push().await,
            9..=12 => self.echo().await,
            13..=18 => self.pipeline().await,
            19..=23 => self.transaction().await,
            24..=28 => self.script().await,
            29..=30 => self.add_to_stream().await,
            31..=32 => self.publish().await,
            33..=35 => self.give_work().await,
            36 => self.silent().await,
            _ => self.large().await,
        }
    }

    async fn push(&mut self) -> Told {
        let (key, id) = (self.list(), self.mint.next(Habit::Alone));
        let (till, patience) = (self.till.clone(), self.patience());
        let call = till.pool.command(Command::new("RPUSH").arg(key).arg(id));
        self.enter("RPUSH", patience, call, &[id], |reply| Ok(vec![at(key, &reply)?])).await
    }

    async fn echo(&mut self) -> Told {
        let word = self.word();
        let (till, patience) = (self.till.clone(), self.patience());
        let call = till.pool.command(Command::new("ECHO").arg(&word));
        let check = |reply: Reply| same(&reply, &word).map(|()| vec![]);
        self.enter("ECHO", patience, call, &[], check).await
    }

    /// RPUSH, ECHO, a command that fails, INCR, RPUSH.
    async fn pipeline(&mut self) -> Told {
        let (key, also) = (self.list(), self.list());
        let ids = [self.mint.next(Habit::InOrder), self.mint.next(Habit::InOrder)];
        let word = self.word();
        let pipeline = Pipeline::new()
            .command(Command::new("RPUSH").arg(key).arg(ids[0]))
            .command(Command::new("ECHO").arg(&word))
            .command(Command::new("INCR").arg(key))
            .command(Command::new("INCR").arg(TOTAL))
            .command(Command::new("RPUSH").arg(also).arg(ids[1]));
        let (till, patience) = (self.till.clone(), self.patience());
        let call = till.pool.pipeline(&pipeline);
        let read = |replies: echo_wire::connector::Replies| -> Read {
            if replies.len() != 5 || !replies[2].is_error() {
                return Err(format!("{replies:?}"));
            }
            same(&replies[1], &word)?;
            let _total: u64 = replies[3].to().map_err(wrong)?;
            Ok(vec![at(key, &replies[0])?, at(also, &replies[4])?])
        };
        let told = self.enter("pipeline", patience, call, &ids, read).await;
        self.office.ledger.added_to_total(told);
        told
    }

    async fn transaction(&mut self) -> Told {
        let (key, also) = (self.list(), self.list());
        let ids = [self.mint.next(Habit::Together), self.mint.next(Habit::Together)];
        let pipeline = Pipeline::new()
            .command(Command::new("RPUSH").arg(key).arg(ids[0]))
            .command(Command::new("INCR").arg(TOTAL))
            .command(Command::new("RPUSH").arg(also).arg(ids[1]));
        let (till, patience) = (self.till.clone(), self.patience());
        let call = till.pool.transaction(&pipeline);
        let read = |ended: echo_wire::connector::Transaction| -> Read {
            let said = format!("{ended:?}");
            let replies = ended.done().filter(|replies| replies.len() == 3).ok_or(said)?;
            Ok(vec![at(key, &replies[0])?, at(also, &replies[2])?])
        };
        let told = self.enter("transaction", patience, call, &ids, read).await;
        self.office.ledger.added_to_total(told);
        told
    }

    async fn script(&mut self) -> Told {
        let (key, id) = (self.list(), self.mint.next(Habit::Alone));
        let (till, patience) = (self.till.clone(), self.patience());
        let call = till.pool.eval(PUSH.call().key(key).key(TOTAL).arg(id));
        let read = |reply: Reply| -> Read {
            let (place, tag): (u64, u64) = reply.to().map_err(wrong)?;
            let spot = Spot { key, place: Some(place) };
            if tag == id { Ok(vec![spot]) } else { Err(format!("{reply:?} to {id}")) }
        };
        let told = self.enter("script", patience, call, &[id], read).await;
        self.office.ledger.added_to_total(told);
        told
    }

    async fn add_to_stream(&mut self) -> Told {
        let id = self.mint.next(Habit::Alone);
        let (till, patience) = (self.till.clone(), self.patience());
        let xadd = Command::new("XADD").arg(STREAM).arg("*").arg("id").arg(id);
        let call = till.pool.command(xadd);
        let read = |reply: Reply| Ok(vec![Spot::entry(&reply.to::<String>().map_err(wrong)?)]);
        self.enter("XADD", patience, call, &[id], read).await
    }

    async fn publish(&mut self) -> Told {
        self.published += 1;
        let number = self.published;
        let message = format!("{}:{number}", self.number);
        let (till, patience) = (self.till.clone(), self.patience());
        let call = till.pool.command(Command::new("PUBLISH").arg("news").arg(&message));
        let told = self.enter("PUBLISH", patience, call, &[], |_| Ok(vec![])).await;
        self.office.news.published(self.number, number, told);
        told
    }

    /// Something for workers to move, or to pop.
    async fn give_work(&mut self) -> Told {
        let (key, habit) =
            [(TODO, Habit::Alone), (POP, Habit::Popped)][self.random.below(2) as usize];
        let id = self.mint.next(habit);
        let (till, patience) = (self.till.clone(), self.patience());
        let call = till.pool.command(Command::new("RPUSH").arg(key).arg(id));
        self.enter("RPUSH", patience, call, &[id], |_| Ok(vec![Spot::somewhere(key)])).await
    }

    /// On a connection of its own, without replies.
    async fn silent(&mut self) -> Told {
        let (key, also) = (self.list(), self.list());
        let ids = [self.mint.next(Habit::InOrder), self.mint.next(Habit::InOrder)];
        let pipeline = Pipeline::new()
            .command(Command::new("RPUSH").arg(key).arg(ids[0]))
            .command(Command::new("RPUSH").arg(also).arg(ids[1]));
        let (till, patience) = (self.till.clone(), self.patience());
        let call = async {
            match till.pool.noreply_pipeline(&pipeline).await {
                Ok(false) => Err(Error::Timeout { maybe_executed: true }),
                ended => ended,
            }
        };
        let read = |_| Ok(vec![Spot::somewhere(key), Spot::somewhere(also)]);
        self.enter("noreply", patience, call, &ids, read).await
    }

    /// A value of its own, there and back, so that faults fall into the midst of values.
    async fn large(&mut self) -> Told {
        let len = 1 << (10 + self.random.below(8));
        let word = self.word();
        let value: Bytes = format!("{word}.").bytes().cycle().take(len).collect();
        let key = format!("large:{word}");
        let pipeline = Pipeline::new()
            .command(Command::new("SET").arg(&key).arg(&value).arg("PX").arg(60_000))
            .command(Command::new("GET").arg(&key));
        let (till, patience) = (self.till.clone(), self.patience());
        let call = till.pool.pipeline(&pipeline);
        let read = |replies: echo_wire::connector::Replies| -> Read {
            // A FLUSHALL may have come in between.
            let ((), got): ((), Option<Bytes>) = replies.to().map_err(wrong)?;
            let is_right = got.is_none_or(|got| got == value);
            if is_right { Ok(vec![]) } else { Err(format!("another value to {word}")) }
        };
        self.enter("large", patience, call, &[], read).await
    }
}

fn at(key: &'static str, reply: &Reply) -> Result<Spot, String> {
    Ok(Spot { key, place: Some(reply.to().map_err(wrong)?) })
}

fn same(reply: &Reply, word: &str) -> Result<(), String> {
    let said: String = reply.to().map_err(wrong)?;
    if said == word { Ok(()) } else { Err(format!("{said:?} to {word:?}")) }
}

fn wrong(error: ConvertError) -> String {
    error.to_string()
}
