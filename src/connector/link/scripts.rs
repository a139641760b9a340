//! Which scripts callers use, and which of them this connection has loaded. What another client
//! does to the server's cache is not known here.

use crate::connector::scripting::Script;

/// Scripts that are remembered; a new one takes the place of the oldest.
const KNOWN: usize = 64;
/// Bytes of source that a new connection loads at once, at most. What does not fit is loaded when
/// it is called.
const AT_ONCE: usize = 128 * 1024;

/// Counts the SCRIPT LOADs on the wire. A call is sent at the turn of the last one before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::connector) struct Turn(u32);

#[derive(Debug, Default)]
pub(super) struct Scripts {
    /// known.len() <= KNOWN
    known: Vec<Known>,
    /// Where the next one goes once all places are taken.
    oldest: usize,
    /// Where the last one was found: calls of one script come in rows.
    found: usize,
    turn: Turn,
}

#[derive(Debug)]
struct Known {
    script: Script,
    /// When it was loaded on this connection, if it was and is not known to be gone.
    loaded: Option<Turn>,
}

impl Scripts {
    pub(super) fn turn(&self) -> Turn {
        self.turn
    }

    /// Remembers a script that is called.
    #[inline]
    pub(super) fn used(&mut self, script: &Script) {
        self.known(script);
    }

    /// Whether SCRIPT LOAD has to go on the wire now for the script to be there: then it counts as
    /// loaded from this turn on.
    pub(super) fn load(&mut self, script: &Script) -> Option<Turn> {
        let turn = Turn(self.turn.0.wrapping_add(1));
        let known = self.known(script)?;
        if known.loaded.is_some() {
            return None;
        }
        known.loaded = Some(turn);
        self.turn = turn;
        Some(turn)
    }

    /// A call that was sent at `sent` did not find the script. What was loaded later may be there.
    pub(super) fn missed(&mut self, script: &Script, sent: Turn) {
        if let Some(known) = self.known(script) {
            known.loaded = known.loaded.filter(|loaded| *loaded > sent);
        }
    }

    /// The server would not load what was sent at this turn.
    pub(super) fn refused(&mut self, turn: Turn) {
        if let Some(known) = self.known.iter_mut().find(|known| known.loaded == Some(turn)) {
            known.loaded = None;
        }
    }

    /// The connection is gone, and what it had loaded may be with it.
    pub(super) fn lost(&mut self) {
        self.known.iter_mut().for_each(|known| known.loaded = None);
    }

    /// What a new connection loads at once: as much as fits of what was called.
    pub(super) fn again(&self) -> Vec<Script> {
        let mut room = AT_ONCE;
        let fits = |known: &&Known| {
            let left = room.checked_sub(known.script.source().len());
            room = left.unwrap_or(room);
            left.is_some()
        };
        self.known.iter().filter(fits).map(|known| known.script.clone()).collect()
    }

    #[inline]
    fn known(&mut self, script: &Script) -> Option<&mut Known> {
        let is_it = |known: &Known| known.script.is(script);
        if !self.known.get(self.found).is_some_and(is_it) {
            self.found = match self.known.iter().position(is_it) {
                Some(place) => place,
                None => self.remember(script),
            };
        }
        self.known.get_mut(self.found)
    }

    fn remember(&mut self, script: &Script) -> usize {
        let new = Known { script: script.clone(), loaded: None };
        if self.known.len() < KNOWN {
            self.known.push(new);
            return self.known.len().saturating_sub(1);
        }
        let place = self.oldest;
        self.oldest = place.saturating_add(1) % KNOWN;
        if let Some(oldest) = self.known.get_mut(place) {
            *oldest = new;
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static A: Script = Script::new("return 'a'");
    static B: Script = Script::new("return 'b'");

    #[test]
    fn of_many_callers_who_missed_a_script_the_first_loads_it() {
        let mut scripts = Scripts::default();
        scripts.used(&A);
        let sent = scripts.turn();
        for caller in 0..100 {
            scripts.missed(&A, sent);
            assert_eq!(scripts.load(&A).is_some(), caller == 0);
        }
        assert!(scripts.load(&B).is_some(), "each script by itself");
    }

    #[test]
    fn a_script_that_was_emptied_out_after_its_load_is_loaded_again_once() {
        let mut scripts = Scripts::default();
        scripts.load(&A).unwrap();
        let (early, late) = (Turn::default(), scripts.turn());
        scripts.missed(&A, early);
        assert!(scripts.load(&A).is_none(), "that call was before the load");
        scripts.missed(&A, late);
        assert!(scripts.load(&A).is_some(), "this one was behind it");
        scripts.missed(&A, late);
        assert!(scripts.load(&A).is_none());
    }

    #[test]
    fn neither_a_refused_load_nor_a_lost_connection_leaves_a_script_that_counts_as_loaded() {
        let mut scripts = Scripts::default();
        let (a, b) = (scripts.load(&A).unwrap(), scripts.load(&B).unwrap());
        scripts.refused(a);
        assert!(scripts.load(&B).is_none() && scripts.load(&A).is_some());
        scripts.refused(a);
        assert!(scripts.load(&A).is_none(), "an old refusal says nothing of a newer load");
        scripts.lost();
        scripts.refused(b);
        assert!(scripts.load(&A).is_some() && scripts.load(&B).is_some());
    }

    #[test]
    fn a_new_connection_loads_what_was_called_and_no_more_than_fits() {
        let sized = |byte: u8, len: usize| Script::from_source(vec![byte; len]);
        let (large, huge) = (sized(b'l', AT_ONCE - 20), sized(b'h', AT_ONCE));
        let mut scripts = Scripts::default();
        [&A, &huge, &large, &B, &A].into_iter().for_each(|script| scripts.used(script));
        let again = scripts.again();
        assert!(again.iter().zip([&A, &large, &B]).all(|(again, used)| again.is(used)));
        assert_eq!(again.len(), 3, "{again:?}");
    }

    #[test]
    fn no_number_of_scripts_makes_it_grow() {
        let mut scripts = Scripts::default();
        for n in 0..10 * KNOWN {
            scripts.used(&Script::from_source(format!("return {n}")));
        }
        assert_eq!(scripts.again().len(), KNOWN);
        let last = Script::from_source(format!("return {}", 10 * KNOWN - 1));
        assert!(scripts.again().iter().any(|script| script.is(&last)));
    }
}
