//! All that the store holds, read at one moment, with a parser that is not the crate's.

use crate::{
    ids::Id,
    support::{Answer, Server},
};

/// Lists that ids are pushed to, for each their own place.
pub const LISTS: [&str; 5] = ["soak:0", "soak:1", "soak:2", "soak:3", "soak:4"];
/// Workers move ids from one to the other.
pub const TODO: &str = "move:todo";
pub const DONE: &str = "move:done";
/// Workers pop ids from here.
pub const POP: &str = "pop:todo";
pub const STREAM: &str = "stream";
/// INCR, and compare-and-set under WATCH.
pub const TOTAL: &str = "total";
pub const WATCHED: &str = "watched";

/// Where an id is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    pub key: &'static str,
    /// In a list counted from one, in a stream its entry's own id; none where it changes.
    pub place: Option<u64>,
}

impl Spot {
    pub fn somewhere(key: &'static str) -> Self {
        Self { key, place: None }
    }

    pub fn entry(id: &str) -> Self {
        let (ms, count) = id.split_once('-').unwrap();
        let (ms, count): (u64, u64) = (ms.parse().unwrap(), count.parse().unwrap());
        Self { key: STREAM, place: Some((ms << 20) | count) }
    }

    /// Whether what a caller was told agrees with what was found.
    pub fn agrees(self, found: Self) -> bool {
        let moved = self.key == TODO && found.key == DONE;
        (self.key == found.key || moved) && self.place.is_none_or(|told| found.place == Some(told))
    }
}

#[derive(Debug, Default)]
pub struct Snapshot {
    pub ids: Vec<(Id, Spot)>,
    pub total: u64,
    pub watched: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    Keep,
    /// FLUSHALL in the very same moment, so that it is known to the id what it destroys.
    Destroy,
}

pub fn take(server: &Server, then: Then) -> Snapshot {
    let mut raw = server.raw();
    raw.text(&["MULTI"]);
    let lists: Vec<_> = LISTS.into_iter().chain([TODO, DONE, POP]).collect();
    for key in &lists {
        raw.text(&["LRANGE", key, "0", "-1"]);
    }
    raw.text(&["XRANGE", STREAM, "-", "+"]);
    raw.text(&["MGET", TOTAL, WATCHED]);
    if then == Then::Destroy {
        raw.text(&["FLUSHALL"]);
    }
    let Answer::List(mut answers) = raw.call(&["EXEC"]) else { panic!("EXEC answers a list") };
    raw.quit();
    let mut snapshot = Snapshot::default();
    let mut rest = answers.split_off(lists.len()).into_iter();
    for (key, answer) in lists.into_iter().zip(answers) {
        let has_places = LISTS.contains(&key);
        for (place, id) in (1..).zip(elements(answer)) {
            let spot = Spot { key, place: has_places.then_some(place) };
            snapshot.ids.push((number(&id), spot));
        }
    }
    for entry in elements(rest.next().unwrap()) {
        let [entry, fields] = <[Answer; 2]>::try_from(elements(entry)).unwrap();
        snapshot.ids.push((number(&elements(fields)[1]), Spot::entry(&entry.to_string())));
    }
    let counters: Vec<u64> = elements(rest.next().unwrap()).iter().map(number).collect();
    (snapshot.total, snapshot.watched) = (counters[0], counters[1]);
    snapshot
}

fn elements(answer: Answer) -> Vec<Answer> {
    match answer {
        Answer::List(elements) => elements,
        Answer::Null => Vec::new(),
        other => panic!("a list, and not {other:?}"),
    }
}

/// Of a null, zero.
fn number(answer: &Answer) -> u64 {
    match answer {
        Answer::Null => 0,
        answer => answer.to_string().parse().unwrap_or_else(|_| panic!("a number: {answer:?}")),
    }
}
