//! Holds the book against the store.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt,
    sync::Arc,
};

use echo_wire::connector::Stats;

use crate::{
    Quota,
    book::{Book, Entry, Kind, Told},
    clerk::{LISTS, list},
    support::{Answer, Proxy, Server, VERSION_KEY, WIRE, Way},
    till::Till,
};

/// What it came to.
#[derive(Debug, Default)]
pub struct Sums {
    commands: u64,
    answered: u64,
    not_sent: u64,
    unknown: u64,
    timed_out: u64,
    dropped: u64,
    /// Calls of which nobody knew, by kind: those that had run, and all.
    ran: BTreeMap<Kind, (u64, u64)>,
    dials: u64,
    stats: Vec<Stats>,
}

/// Where each id is; an id that is there twice is a fault.
fn stored(server: &Server) -> HashMap<u64, (u64, u64)> {
    let mut raw = server.raw();
    let mut places = HashMap::new();
    for n in 0..LISTS {
        let Answer::List(ids) = raw.call(&["LRANGE", &list(n), "0", "-1"]) else {
            panic!("a list");
        };
        for (place, id) in (1..).zip(ids) {
            let id: u64 = id.to_string().parse().unwrap();
            let twice = places.insert(id, (n, place));
            assert_eq!(twice, None, "id {id} is in the store twice");
        }
    }
    places
}

pub fn audit(server: &Server, proxy: &Proxy, tills: &[Arc<Till>], book: &Book) -> Sums {
    let stored = stored(server);
    let mut sums = Sums { dials: tills.iter().map(|till| till.dialled()).sum(), ..Sums::default() };
    let mut known = HashSet::new();
    for entry in &book.entries {
        pushes(entry, &stored, &mut sums);
        known.extend(entry.pushes.iter().map(|push| push.id));
        sums.add(entry);
    }
    for id in stored.keys() {
        assert!(known.contains(id), "nobody has pushed {id}");
    }
    totals(server, book);
    counters(proxy, tills, book, &mut sums);
    assert_eq!(server.cli(&["GET", VERSION_KEY]), WIRE);
    sums
}

/// What became of the ids of one call.
fn pushes(entry: &Entry, stored: &HashMap<u64, (u64, u64)>, sums: &mut Sums) {
    let there: Vec<bool> = entry.pushes.iter().map(|push| stored.contains_key(&push.id)).collect();
    match entry.told {
        Told::Answered => {
            for push in &entry.pushes {
                let found = stored.get(&push.id).copied();
                let (list, place) =
                    found.unwrap_or_else(|| panic!("acknowledged, lost: {entry:?}"));
                assert_eq!(list, push.list, "{entry:?}");
                // The reply was this request's own, and no other's.
                assert!(push.place.is_none_or(|told| told == place), "{place}: {entry:?}");
                assert!(push.place.is_some() || entry.kind == Kind::Silent, "{entry:?}");
            }
        }
        Told::NotSent => assert!(!there.contains(&true), "not sent, and there: {entry:?}"),
        Told::Unknown | Told::TimedOut | Told::Dropped => {
            if !there.is_empty() {
                let (ran, all) = sums.ran.entry(entry.kind).or_default();
                (*ran, *all) = (*ran + u64::from(there.contains(&true)), *all + 1);
            }
            // Nothing of it, or from the first on; of a transaction all.
            assert!(there.is_sorted_by(|before, after| before >= after), "{entry:?}");
            let is_part = there.contains(&true) && there.contains(&false);
            assert!(!is_part || entry.kind != Kind::Transaction, "half of it: {entry:?}");
        }
    }
}

fn totals(server: &Server, book: &Book) {
    let total: u64 = server.cli(&["GET", "total"]).parse().unwrap();
    let mut told = HashSet::new();
    let (mut certain, mut possible) = (0, 0);
    for entry in &book.entries {
        if let Some(value) = entry.total {
            assert!(told.insert(value), "{value} was told twice");
            assert!((1..=total).contains(&value), "{value} of {total}");
        }
        match entry.told {
            Told::Answered => certain += entry.incrs,
            Told::NotSent => {}
            Told::Unknown | Told::TimedOut | Told::Dropped => possible += entry.incrs,
        }
    }
    let range = certain..=certain + possible;
    assert!(range.contains(&total), "{total} of {range:?}");
}

fn counters(proxy: &Proxy, tills: &[Arc<Till>], book: &Book, sums: &mut Sums) {
    let stats: Vec<Stats> = tills.iter().map(|till| till.connector.stats()).collect();
    let sum = |count: fn(&Stats) -> u64| stats.iter().map(count).sum::<u64>();
    let commands = |of: fn(&&Entry) -> bool| -> u64 {
        book.entries.iter().filter(of).map(|entry| entry.commands).sum()
    };
    // Taken for sending: what was answered or lost, and what of the others was let in. Scripts may
    // be loaded besides.
    let certain = commands(|entry| entry.is_taken());
    let taken = sum(|stats| stats.commands);
    assert!(taken >= certain, "{taken} taken, {certain} at least");
    assert!(sum(|stats| stats.replies) >= commands(|entry| entry.told == Told::Answered));
    let batches = book.entries.iter().filter(|entry| entry.is_batch());
    let certain = batches.clone().filter(|entry| entry.is_taken()).count() as u64;
    let taken = sum(|stats| stats.pipelines);
    assert!((certain..=batches.count() as u64).contains(&taken), "{taken}, {certain} at least");
    assert!(sum(|stats| stats.timeouts) >= sums.timed_out);
    assert_eq!(sum(|stats| stats.pending), 0);
    assert_eq!(sum(|stats| stats.protocol_errors), 0);
    assert_eq!(sum(|stats| stats.fences_vanished), 0);
    for stats in &stats {
        assert_eq!(stats.connects, stats.reconnects + 1);
        assert!(stats.heartbeats > 0, "{stats:?}");
    }
    // Nobody read what had not passed, and all that passed had been written by somebody.
    assert!(sum(|stats| stats.bytes_in) <= proxy.bytes(Way::Down));
    let boot = 2_000 * proxy.connections() + silent(book);
    assert!(proxy.bytes(Way::Up) <= sum(|stats| stats.bytes_out) + boot);
    // A dial that the proxy saw is one that a connector counts; a cut in the midst of HELLO may
    // have been followed by a second one at once.
    assert_eq!(proxy.connections(), sums.dials);
    let attempts = sum(|stats| stats.connects + stats.failed_connects + stats.dedicated);
    assert!(attempts <= sums.dials, "{attempts} attempts, {} dials", sums.dials);
    sums.stats = stats;
}

/// What the pipelines without replies have written at most.
fn silent(book: &Book) -> u64 {
    let silent = book.entries.iter().filter(|entry| entry.kind == Kind::Silent);
    silent.count() as u64 * 1_000
}

impl Sums {
    fn add(&mut self, entry: &Entry) {
        self.commands += entry.commands;
        *match entry.told {
            Told::Answered => &mut self.answered,
            Told::NotSent => &mut self.not_sent,
            Told::Unknown => &mut self.unknown,
            Told::TimedOut => &mut self.timed_out,
            Told::Dropped => &mut self.dropped,
        } += 1;
    }

    /// Whether each outcome was seen so often that the audit means something.
    pub fn assert_enough(&self, quota: Quota) {
        assert!(self.commands >= quota.commands, "{self}");
        assert!(self.answered >= quota.commands / 10, "{self}");
        for seen in [self.not_sent, self.unknown, self.dropped] {
            assert!(seen >= quota.cuts, "{self}");
        }
        assert!(self.timed_out > 0, "{self}");
    }
}

impl fmt::Display for Sums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { commands, answered, not_sent, unknown, timed_out, dropped, .. } = self;
        write!(
            f,
            "{commands} commands; calls: {answered} answered, {not_sent} not sent, \
             {unknown} unknown, {timed_out} out of time, {dropped} dropped; of the last three ran"
        )?;
        for (kind, (ran, all)) in &self.ran {
            write!(f, " {kind:?} {ran}/{all}")?;
        }
        let connects: u64 = self.stats.iter().map(|stats| stats.connects).sum();
        let failed: u64 = self.stats.iter().map(|stats| stats.failed_connects).sum();
        let silences: u64 = self.stats.iter().map(|stats| stats.silences).sum();
        write!(
            f,
            "; {} dials, {connects} passed, {failed} failed, {silences} given up as silent",
            self.dials
        )
    }
}
