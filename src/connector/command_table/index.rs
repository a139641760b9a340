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
    name: Folded,
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

    #[cold]
    fn is_named(&self, name: &[u8]) -> bool {
        self.row.name.as_bytes().eq_ignore_ascii_case(name)
    }
}

/// What is assumed of a command that no server listed: nothing but that it may write.
pub(super) static UNKNOWN: Entry = NOTHING;
const NOTHING: Entry = Entry { name: fold(b""), row: row("", 0, Keys::No), session: None };

static ENTRIES: [Entry; COMMANDS.len()] = join(COMMANDS);
static SUBENTRIES: [Entry; SUBCOMMANDS.len()] = join(SUBCOMMANDS);

/// Four places a name: most names are found at the first probe.
const PLACES: usize = 1024;
const FREE: u16 = u16::MAX;
static INDEX: [u16; PLACES] = index();

/// The command of this name.
#[inline]
pub(super) fn command(name: &[u8]) -> Option<&'static Entry> {
    let folded = fold(name);
    let mut place = folded.place();
    loop {
        let entry = ENTRIES.get(usize::from(*INDEX.get(place)?))?;
        if entry.name.is(&folded) && (name.len() <= FOLDED_WHOLE || entry.is_named(name)) {
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

/// A name as two words and a length, equal for names that differ in case only.
///
/// Up to [`FOLDED_WHOLE`] bytes it tells any two names apart, but for two bytes that are in no
/// command's name (CR and DEL, which fold into `-` and `_`): whoever sends them gets an unknown
/// command's error from the server.
#[derive(Debug, Clone, Copy)]
struct Folded {
    head: u64,
    tail: u64,
    len: usize,
}

const FOLDED_WHOLE: usize = 16;

#[inline]
const fn fold(name: &[u8]) -> Folded {
    // Clearing bit 5 makes letters upper case.
    const UPPER: u64 = 0xDFDF_DFDF_DFDF_DFDF;
    let (head, tail) = if let (Some(head), Some(tail)) = (name.first_chunk(), name.last_chunk()) {
        (u64::from_le_bytes(*head), u64::from_le_bytes(*tail))
    } else if let (Some(head), Some(tail)) = (name.first_chunk(), name.last_chunk()) {
        (u32::from_le_bytes(*head) as u64, u32::from_le_bytes(*tail) as u64)
    } else {
        let word = match *name {
            [a, b, c] => [a, b, c, 0],
            [a, b] => [a, b, 0, 0],
            [a] => [a, 0, 0, 0],
            _ => [0; 4],
        };
        (u32::from_le_bytes(word) as u64, 0)
    };
    Folded { head: head & UPPER, tail: tail & UPPER, len: name.len() }
}

impl Folded {
    #[inline]
    const fn is(&self, other: &Self) -> bool {
        self.head == other.head && self.tail == other.tail && self.len == other.len
    }

    /// Where the search for the name begins.
    #[inline]
    const fn place(&self) -> usize {
        let mixed = (self.head ^ self.tail.rotate_left(27)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> (u64::BITS - PLACES.ilog2())) as usize
    }
}

const fn index() -> [u16; PLACES] {
    let mut index = [FREE; PLACES];
    let mut i = 0;
    while i < COMMANDS.len() {
        let mut place = fold(COMMANDS[i].name.as_bytes()).place();
        while index[place] != FREE {
            place = (place + 1) % PLACES;
        }
        index[place] = i as u16;
        i += 1;
    }
    index
}

const fn join<const N: usize>(rows: &[Row]) -> [Entry; N] {
    let mut entries = [NOTHING; N];
    let mut i = 0;
    while i < N {
        let name = rows[i].name.as_bytes();
        entries[i] = Entry { name: fold(name), row: rows[i], session: session(name) };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_session_command_is_one_that_a_server_lists() {
        for (name, _) in SESSION {
            let listed = COMMANDS.iter().chain(SUBCOMMANDS).any(|row| row.name == *name);
            assert!(listed, "{name}");
        }
        assert!(SESSION.is_sorted_by_key(|(name, _)| name));
    }

    #[test]
    fn names_are_of_letters_that_fold_without_loss_and_sorted_for_bisection() {
        let plain = |byte: u8| byte.is_ascii_uppercase() || matches!(byte, b'-' | b'_' | b' ');
        for rows in [COMMANDS, SUBCOMMANDS] {
            assert!(rows.iter().all(|row| row.name.bytes().all(plain)));
            assert!(rows.is_sorted_by_key(|row| row.name));
        }
    }

    #[test]
    fn every_name_is_found_in_any_case_and_its_neighbours_are_not() {
        for row in COMMANDS {
            for name in [row.name.to_owned(), row.name.to_lowercase()] {
                assert_eq!(command(name.as_bytes()).unwrap().row.name, row.name);
            }
            for other in [format!("{}X", row.name), format!("X{}", row.name)] {
                assert!(command(other.as_bytes()).is_none_or(|found| found.row.name == other));
            }
        }
    }
}
