//! What callers were told, against what the server knows.

use std::{collections::HashMap, ops::AddAssign};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    Answered {
        place: u64,
    },
    /// It was not sent, or the server said that it did not run it.
    NotRun,
    Unknown,
}

/// Of each id.
pub type Pages = Vec<(u64, Told)>;

/// How often it was seen what is to be seen. Two stories of one seed have the same digest.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    pub answered: u64,
    pub not_run: u64,
    pub unknown: u64,
    pub pushes: u64,
    pub messages: u64,
    pub gaps: u64,
    pub lagged: u64,
    pub reconnects: u64,
    pub noscripts: u64,
    pub usurped: u64,
    pub vanished: u64,
    pub broken: u64,
    pub overloads: u64,
    pub timeouts: u64,
    pub silences: u64,
    pub digest: u64,
}

impl Seen {
    /// Holds the pages against the list.
    pub fn audit(&mut self, pages: &Pages, list: &[u64]) {
        let places: HashMap<u64, u64> = (1..).zip(list).map(|(place, id)| (*id, place)).collect();
        assert_eq!(places.len(), list.len(), "an id has run twice");
        for (id, told) in pages {
            let there = places.get(id).copied();
            match told {
                Told::Answered { place } => {
                    assert_eq!(there, Some(*place), "{id:x}");
                    self.answered += 1;
                }
                Told::NotRun => {
                    assert_eq!(there, None, "{id:x} was told not to have run");
                    self.not_run += 1;
                }
                Told::Unknown => self.unknown += 1,
            }
        }
        assert!(places.len() <= pages.len(), "somebody else has written");
    }

    /// Whether it was enough of everything for the stories to mean something.
    pub fn assert_enough(&self, stories: u64) {
        for calls in [self.answered, self.not_run, self.unknown, self.pushes, self.messages] {
            assert!(calls > stories, "{self:?}");
        }
        let rare = [self.gaps, self.noscripts, self.overloads, self.timeouts, self.reconnects];
        for happened in rare {
            assert!(happened > stories / 10, "{self:?}");
        }
        let rarer = [self.usurped, self.vanished, self.broken, self.lagged, self.silences];
        for happened in rarer {
            assert!(happened > stories / 100, "{self:?}");
        }
    }
}

impl AddAssign for Seen {
    fn add_assign(&mut self, other: Self) {
        self.answered += other.answered;
        self.not_run += other.not_run;
        self.unknown += other.unknown;
        self.pushes += other.pushes;
        self.messages += other.messages;
        self.gaps += other.gaps;
        self.lagged += other.lagged;
        self.reconnects += other.reconnects;
        self.noscripts += other.noscripts;
        self.usurped += other.usurped;
        self.vanished += other.vanished;
        self.broken += other.broken;
        self.overloads += other.overloads;
        self.timeouts += other.timeouts;
        self.silences += other.silences;
        self.digest ^= other.digest;
    }
}
