//! Messages: each reader gets them in the order they were published in, each once, and is told
//! wherever some may be missing.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError, atomic::Ordering::Relaxed},
};

use echo_wire::connector::{Delivery, Subscription};

use crate::{
    ledger::Told,
    office::{Office, Till, keep_working},
};

/// What was published for certain, and what readers have missed without a word.
#[derive(Debug, Default)]
pub struct Press {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    answered: HashMap<u64, HashSet<u64>>,
    missed: Vec<(u64, u64)>,
}

impl Press {
    /// A clerk has published its message of this number, for all that it knows.
    pub fn published(&self, clerk: u64, number: u64, told: Told) {
        if told == Told::Answered {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let answered = state.answered.entry(clerk).or_default();
            answered.insert(number);
            // Readers are not further behind than this.
            answered.retain(|old| old + 2_000 > number);
        }
    }

    fn was_answered(&self, clerk: u64, number: u64) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.answered.get(&clerk).is_some_and(|numbers| numbers.contains(&number))
    }

    fn missed(&self, clerk: u64, numbers: impl Iterator<Item = u64>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.missed.extend(numbers.map(|number| (clerk, number)));
    }

    /// Messages that were published for certain, and missed by a reader that was not told.
    pub fn lost(&self) -> Vec<(u64, u64)> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let missed = std::mem::take(&mut state.missed);
        let is_lost = |(clerk, number): &(u64, u64)| {
            state.answered.get(clerk).is_some_and(|numbers| numbers.contains(number))
        };
        missed.into_iter().filter(is_lost).collect()
    }
}

pub async fn listen(n: usize, office: Arc<Office>) {
    keep_working(&office, n, |till| {
        let office = Arc::clone(&office);
        async move {
            while !office.is_shut() {
                let subscribed = till.pool.connectors()[0].subscribe(["news"]).await;
                let judged = office.judge(&till, "SUBSCRIBE", Some(subscribed));
                match judged.reply {
                    Some(news) => return read(&office, &till, news).await,
                    None if judged.is_over => return,
                    None => tokio::time::sleep(std::time::Duration::from_millis(20)).await,
                }
            }
        }
    })
    .await;
}

/// Until it ends.
async fn read(office: &Office, till: &Till, mut news: Subscription) {
    // The last numbers of each clerk; of one that is not in here, anything may come next.
    let mut last = HashMap::<u64, BTreeSet<u64>>::new();
    loop {
        let delivery = tokio::select! {
            delivery = news.next() => delivery,
            () = shut(office) => return,
        };
        match delivery {
            Some(Delivery::Message(message)) => {
                office.messages.fetch_add(1, Relaxed);
                let text = std::str::from_utf8(message.payload()).unwrap();
                let (clerk, number) = text.split_once(':').unwrap();
                let (clerk, number): (u64, u64) = (clerk.parse().unwrap(), number.parse().unwrap());
                match last.get_mut(&clerk) {
                    None => drop(last.insert(clerk, BTreeSet::from([number]))),
                    Some(heard) => next(office, clerk, number, heard),
                }
            }
            Some(_gap_or_loss) => {
                office.notices.fetch_add(1, Relaxed);
                last.clear();
            }
            None => {
                let why = news.end().map(Err::<(), _>);
                office.judge(till, "subscription", why);
                return;
            }
        }
    }
}

/// The next message of a clerk from whom something was heard before.
fn next(office: &Office, clerk: u64, number: u64, heard: &mut BTreeSet<u64>) {
    let before = heard.last().copied().unwrap_or(0);
    if !heard.insert(number) {
        office.ledger.breach(format!("clerk {clerk}'s message {number} came twice"));
    }
    match number > before {
        true => office.news.missed(clerk, before + 1..number),
        // Of two calls of which the first was given up, it may come later.
        false if !office.news.was_answered(clerk, number) => {}
        false => {
            let what = format!("clerk {clerk}'s message {number} came after {before}");
            office.ledger.breach(what);
        }
    }
    while heard.len() > 100 {
        heard.pop_first();
    }
}

async fn shut(office: &Office) {
    while !office.is_shut() {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}
