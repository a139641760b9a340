//! A task that writes over a shared connection, checks each reply against its request, and has the
//! ledger know how every call ended.

use std::{sync::Arc, time::Duration};

use echo_wire::connector::Error;
use tokio::time::sleep;

use crate::{
    ids::{Id, Mint},
    ledger::Told,
    office::{Office, TILLS, Till},
    snapshot::{LISTS, Spot},
    support::{Random, at_most},
};

pub struct Clerk {
    pub number: u64,
    pub office: Arc<Office>,
    pub till: Arc<Till>,
    pub random: Random,
    pub mint: Mint,
    pub calls: u64,
    /// The last number that it has published.
    pub published: u64,
    is_over: bool,
}

pub async fn work(number: u64, office: Arc<Office>) {
    let n = number as usize % TILLS;
    let mut clerk = Clerk {
        number,
        till: office.till(n),
        office: Arc::clone(&office),
        random: Random::new(number),
        mint: Mint::new(number),
        calls: 0,
        published: 0,
        is_over: false,
    };
    while !office.is_shut() {
        clerk.calls += 1;
        let told = clerk.any_verb().await;
        if std::mem::take(&mut clerk.is_over) {
            office.successor(&clerk.till, n).await;
        }
        if !office.is_shut() {
            clerk.till = office.till(n);
        }
        // Neither an idle server nor a busy loop while it is away.
        let pause = if told == Told::NotRun { 10 } else { clerk.random.below(20) };
        sleep(Duration::from_millis(pause)).await;
    }
}

impl Clerk {
    /// One call in ten is given up after a few polls.
    pub fn patience(&mut self) -> u64 {
        match self.random.below(10) {
            0 => 1 << self.random.below(7),
            _ => u64::MAX,
        }
    }

    pub fn list(&mut self) -> &'static str {
        LISTS[self.random.below(LISTS.len() as u64) as usize]
    }

    /// Something that only this call of this clerk says.
    pub fn word(&self) -> String {
        format!("{}/{}", self.number, self.calls)
    }

    /// Awaits the call, or drops it; enters how it ended, with the places that `read` finds in the
    /// reply.
    pub async fn enter<T>(
        &mut self,
        verb: &'static str,
        patience: u64,
        call: impl Future<Output = Result<T, Error>>,
        ids: &[Id],
        read: impl FnOnce(T) -> Result<Vec<Spot>, String>,
    ) -> Told {
        let result = at_most(patience, call).await;
        let judged = self.office.judge(&self.till, verb, result);
        self.is_over |= judged.is_over;
        let spots = match judged.reply.map(read) {
            Some(Ok(spots)) => spots,
            Some(Err(wrong)) => {
                self.office.ledger.breach(format!("{verb} was answered {wrong}"));
                vec![Spot::somewhere(""); ids.len()]
            }
            None => vec![Spot::somewhere(""); ids.len()],
        };
        let ids: Vec<(Id, Spot)> = ids.iter().copied().zip(spots).collect();
        self.office.ledger.told(verb, judged.told, &ids);
        judged.told
    }
}
