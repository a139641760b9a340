//! The servers' rows and our list of session commands, joined at compile time, and found by name.
//!
//! A name costs one multiplication, one probe and one comparison; case does not matter and
//! nothing is allocated. Subcommands are found by bisection: few of them are ever hot.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "only const functions index and count: a mistake in them does not compile"
)]

use std::cmp::Ordering;

use super::{
    refusal::{Reason, Refusal},
    row::{Keys, Row, row},
    rows::{COMMANDS, SUBCOMMANDS},
    session::SESSION,
};

/// A row, and what the command does to the session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) row: Row,
    pub(super) session: Option<Reason>,
}

impl Entry {
    pub(super) const fn refusal(&self) -> Option<Refusal> {
        match self.session {
            Some(reason) => Some(Refusal::new(self.row.name, reason)),
            None => None,
        }
    }
}

/// What is assumed of a command that no server listed: nothing but that it may write.
pub(super) static UNKNOWN: Entry = Entry { row: row("", 0, Keys::No), session: None };

static ENTRIES: [Entry; COMMANDS.len()] = join(COMMANDS);
static SUBENTRIES: [Entry; SUBCOMMANDS.len()] = join(SUBCOMMANDS);

/// Four places a name: most names are found at the first probe.
const PLACES: usize = 1024;
const FREE: u16 = u16::MAX;
static INDEX: [u16; PLACES] = index();

/// The command of this name.
#[inline]
pub(super) fn command(name: &[u8]) -> Option<&'static Entry> {
    let mut place = hash(name);
    loop {
        let entry = ENTRIES.get(usize::from(*INDEX.get(place)?))?;
        if entry.row.name.as_bytes().eq_ignore_ascii_case(name) {
            return Some(entry);
        }
        place = (place + 1) % PLACES;
    }
}

/// The subcommand of this name under `container`, which is a name in the table.
pub(super) fn subcommand(container: &str, name: &[u8]) -> Option<&'static Entry> {
    let wanted = || container.bytes().chain([b' ']).chain(name.iter().map(u8::to_ascii_uppercase));
    let by_name = |entry: &Entry| -> Ordering { entry.row.name.bytes().cmp(wanted()) };
    SUBENTRIES.get(SUBENTRIES.binary_search_by(by_name).ok()?)
}

/// The place where the search for a name begins: equal for names that differ in case only.
#[inline]
const fn hash(name: &[u8]) -> usize {
    // Clearing bit 5 makes letters upper case; what it does to other bytes, the comparison sees.
    const UPPER: u64 = 0xDFDF_DFDF_DFDF_DFDF;
    let word = if let (Some(head), Some(tail)) = (name.first_chunk(), name.last_chunk()) {
        u64::from_le_bytes(*head) & UPPER ^ (u64::from_le_bytes(*tail) & UPPER).rotate_left(27)
    } else if let (Some(head), Some(tail)) = (name.first_chunk(), name.last_chunk()) {
        let (head, tail) = (u32::from_le_bytes(*head), u32::from_le_bytes(*tail));
        (head as u64 | (tail as u64) << 32) & UPPER
    } else {
        match *name {
            [a, b, c] => u32::from_le_bytes([a, b, c, 0]) as u64 & UPPER,
            [a, b] => u32::from_le_bytes([a, b, 0, 0]) as u64 & UPPER,
            _ => 0,
        }
    };
    (word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - PLACES.ilog2())) as usize
}

const fn index() -> [u16; PLACES] {
    let mut index = [FREE; PLACES];
    let mut i = 0;
    while i < COMMANDS.len() {
        let mut place = hash(COMMANDS[i].name.as_bytes());
        while index[place] != FREE {
            place = (place + 1) % PLACES;
        }
        index[place] = i as u16;
        i += 1;
    }
    index
}

const fn join<const N: usize>(rows: &[Row]) -> [Entry; N] {
    let mut entries = [Entry { row: row("", 0, Keys::No), session: None }; N];
    let mut i = 0;
    while i < N {
        entries[i] = Entry { row: rows[i], session: session(rows[i].name.as_bytes()) };
        i += 1;
    }
    entries
}

const fn session(name: &[u8]) -> Option<Reason> {
    let mut i = 0;
    while i < SESSION.len() {
        if same(SESSION[i].0.as_bytes(), name) {
            return Some(SESSION[i].1);
        }
        i += 1;
    }
    None
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    match (a, b) {
        ([], []) => true,
        ([x, a @ ..], [y, b @ ..]) => *x == *y && same(a, b),
        _ => false,
    }
}
