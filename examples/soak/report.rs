//! What it came to, in figures; what is not flat is a breach.

use std::{collections::BTreeMap, sync::atomic::Ordering::Relaxed, time::Duration};

use crate::{
    ledger::{Ledger, Told},
    office::Office,
    support::Flavor,
    weight::Weight,
    wrecker::Wrecks,
};

pub struct Soak<'a> {
    pub flavor: Flavor,
    pub took: Duration,
    pub office: &'a Office,
    pub wrecks: &'a Wrecks,
    pub before: Weight,
    pub after: Weight,
}

impl Soak<'_> {
    pub fn print(&self) {
        let Self { flavor, took, office, wrecks, .. } = self;
        let ledger = &office.ledger;
        println!("{flavor}, {took:.0?}; calls: answered / not run / unknown / dropped");
        let mut verbs = BTreeMap::<_, [u64; 4]>::new();
        for ((verb, told), count) in ledger.calls() {
            verbs.entry(verb).or_default()[told as usize] = count;
        }
        let mut sums = [0; 4];
        for (verb, counts) in &verbs {
            let [answered, not_run, unknown, dropped] = counts;
            println!("  {verb:<12} {answered:>8} {not_run:>8} {unknown:>8} {dropped:>8}");
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        println!("  {:<12} {:>8} {:>8} {:>8} {:>8}", "all", sums[0], sums[1], sums[2], sums[3]);
        println!("faults: {:?}", wrecks.counts);
        println!("the slowest return to work by all: {:.1?}", wrecks.slowest);
        println!("ledger: {}", ledger.summary());
        let (messages, notices) = (office.messages.load(Relaxed), office.notices.load(Relaxed));
        println!("messages: {messages}, notices of gaps and losses: {notices}");
        println!("counters: {:?}", office.stats());
        self.enough(ledger, &sums);
        self.flat(ledger);
    }

    /// A soak in which nothing happened says nothing.
    fn enough(&self, ledger: &Ledger, sums: &[u64; 4]) {
        let stats = self.office.stats();
        if stats.protocol_errors > 0 {
            ledger.breach(format!("{} protocol errors", stats.protocol_errors));
        }
        for told in [Told::Answered, Told::NotRun, Told::Unknown, Told::Dropped] {
            if sums[told as usize] == 0 {
                ledger.breach(format!("no call was told {told:?}: too short a soak"));
            }
        }
    }

    fn flat(&self, ledger: &Ledger) {
        let Self { wrecks, before, after, .. } = self;
        let weights = &wrecks.weights;
        let rss: Vec<_> = weights.iter().map(|weight| weight.kib / 1024).collect();
        println!(
            "memory: {} MiB before, at each settlement {rss:?}, {} after",
            before.kib / 1024,
            after.kib / 1024
        );
        let span = |of: fn(&Weight) -> usize| {
            let all = weights.iter().map(of);
            (all.clone().min().unwrap_or(0), all.max().unwrap_or(0))
        };
        let files = span(|weight| weight.gauge.open_files);
        let tasks = span(|weight| weight.gauge.alive_tasks);
        let (start, end) = (before.gauge, after.gauge);
        println!(
            "descriptors: {} before, {} to {} meanwhile, {} after; tasks: {}, {} to {}, {}",
            start.open_files,
            files.0,
            files.1,
            end.open_files,
            start.alive_tasks,
            tasks.0,
            tasks.1,
            end.alive_tasks
        );
        if end.open_files > start.open_files || end.alive_tasks > start.alive_tasks {
            ledger.breach(format!("left behind: {start:?}, {end:?}"));
        }
        // The first settlements are left out: buffers and allocator find their size.
        let peak = |part: &[Weight]| part.iter().map(|weight| weight.kib).max().unwrap_or(0);
        if weights.len() >= 9 {
            let third = weights.len() / 3;
            let (first, last) =
                (peak(&weights[1..=third]), peak(&weights[weights.len() - third..]));
            if last > first + first / 4 + 8 * 1024 {
                ledger.breach(format!("memory rises: from {first} KiB to {last} KiB"));
            }
            let tasks =
                |part: &[Weight]| part.iter().map(|it| it.gauge.alive_tasks).max().unwrap_or(0);
            let (first, last) =
                (tasks(&weights[1..=third]), tasks(&weights[weights.len() - third..]));
            if last > first + 10 {
                ledger.breach(format!("tasks rise: from {first} to {last}"));
            }
        }
    }
}
