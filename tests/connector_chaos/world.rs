//! What all connections of a server share: the store, and what is to happen to it.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, MutexGuard},
};

use tokio::time::Instant;

use crate::plan::Plan;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transcript {
    Silent,
    Aloud,
}

/// A server.
#[derive(Debug, Clone)]
pub struct World {
    pub plan: Plan,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
pub struct State {
    pub list: Vec<u64>,
    pub is_claimed: bool,
    /// How often the version key was lost.
    pub vanished: u64,
    /// The shared script is in its cache.
    pub has_script: bool,
    pub connections: u64,
    /// Commands of callers that have run.
    pub ran: u64,
    /// Connections on which another wire was answered to the fence.
    pub refused: u64,
    pub garbage: u64,
    /// Commands that came where none may.
    pub wrongs: Vec<String>,
    began: Instant,
    transcript: Transcript,
    hash: DefaultHasher,
}

impl World {
    pub fn new(plan: Plan, transcript: Transcript) -> Self {
        let state = State {
            list: Vec::new(),
            is_claimed: false,
            vanished: 0,
            has_script: false,
            connections: 0,
            ran: 0,
            refused: 0,
            garbage: 0,
            wrongs: Vec::new(),
            began: Instant::now(),
            transcript,
            hash: DefaultHasher::new(),
        };
        Self { plan, state: Arc::new(Mutex::new(state)) }
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Another wire has the store.
    pub fn is_usurped(&self) -> bool {
        self.plan.usurped_after.is_some_and(|after| self.state().ran >= after)
    }

    /// The version key is lost, as often as it may be.
    pub fn lose_the_key(&self) {
        let mut state = self.state();
        if state.is_claimed && state.vanished < self.plan.vanishes {
            (state.is_claimed, state.vanished) = (false, state.vanished + 1);
        }
    }

    /// Something happened: it is part of the story.
    pub fn note(&self, what: &str) {
        let mut state = self.state();
        let at = state.began.elapsed();
        (at, what).hash(&mut state.hash);
        if state.transcript == Transcript::Aloud {
            println!("{at:>12.3?}  {what}");
        }
    }

    /// One number for all that happened.
    pub fn digest(&self) -> u64 {
        self.state().hash.finish()
    }
}
