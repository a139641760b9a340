//! Ids that are written into the store, and sets of them that cost three bits an id.

use std::collections::HashMap;

/// `writer << 40 | habit << 38 | count`
pub type Id = u64;

/// What is promised of an id beside that it is there once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Habit {
    Alone = 0,
    /// Two of a pipeline, with counts 2n and 2n + 1: the second is never there without the first.
    InOrder = 1,
    /// Two of a transaction: both are there or none.
    Together = 2,
    /// Workers pop it, and then it is in no store.
    Popped = 3,
}

impl Habit {
    pub fn of(id: Id) -> Self {
        match (id >> 38) & 3 {
            0 => Self::Alone,
            1 => Self::InOrder,
            2 => Self::Together,
            _ => Self::Popped,
        }
    }
}

/// The ids of one writer.
#[derive(Debug)]
pub struct Mint {
    writer: u64,
    counts: [u64; 4],
}

impl Mint {
    pub fn new(writer: u64) -> Self {
        Self { writer, counts: [0; 4] }
    }

    pub fn next(&mut self, habit: Habit) -> Id {
        let count = &mut self.counts[habit as usize];
        let id = (self.writer << 40) | ((habit as u64) << 38) | *count;
        *count += 1;
        id
    }
}

/// The other one of a pair.
pub fn partner(id: Id) -> Id {
    id ^ 1
}

/// A set.
#[derive(Debug, Default)]
pub struct Ids {
    bits: HashMap<u64, Vec<u64>>,
}

impl Ids {
    /// `false`: it was in there already.
    pub fn insert(&mut self, id: Id) -> bool {
        let (words, word, bit) = (self.bits.entry(id >> 38).or_default(), word(id), bit(id));
        if words.len() <= word {
            words.resize(word + 1, 0);
        }
        let is_new = words[word] & bit == 0;
        words[word] |= bit;
        is_new
    }

    pub fn contains(&self, id: Id) -> bool {
        let words = self.bits.get(&(id >> 38));
        words.and_then(|words| words.get(word(id))).is_some_and(|word| word & bit(id) != 0)
    }

    pub fn len(&self) -> u64 {
        self.bits.values().flatten().map(|word| u64::from(word.count_ones())).sum()
    }
}

fn word(id: Id) -> usize {
    ((id & ((1 << 38) - 1)) / 64) as usize
}

fn bit(id: Id) -> u64 {
    1 << (id % 64)
}
