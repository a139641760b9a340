//! Every order in which connectors can race for a store, walked through one by one.
//!
//! A store runs one command at a time, so all that can differ is the order of the connectors'
//! commands, and of somebody else's deletions. Each order is played over a model of the store, and
//! the fence's rules are checked at every step and at the end.

use std::collections::{BTreeSet, VecDeque};

use super::{table::reply, *};
use crate::resp::{Decoder, Limits};

const A: &str = "acme:1";
const B: &str = "bolt:2";
const C: &str = "cord:3";

#[derive(Clone)]
struct World {
    key: Option<&'static str>,
    connectors: Vec<Connector>,
    /// How often somebody else may still delete the key.
    deletions: usize,
    sabotage: Sabotage,
}

/// A broken store or a broken fence, to see that the rules notice.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sabotage {
    None,
    /// SET writes, whatever is there.
    NoNx,
    /// SET's answer is the last word: the connector runs.
    NoConfirmingRead,
}

#[derive(Clone)]
struct Connector {
    wire: &'static str,
    state: State,
    /// Commands sent that the store has not run.
    sent: VecDeque<Vec<String>>,
    flights: usize,
    writes: usize,
}

#[derive(Clone)]
enum State {
    AtTheFence(Fence),
    Runs,
    Refused(Found),
}

/// What all orders from a beginning showed.
#[derive(Default)]
struct Seen {
    orders: usize,
    /// What the store held in the end.
    winners: BTreeSet<Option<&'static str>>,
    broken: BTreeSet<String>,
}

fn explore(wires: &[&'static str], deletions: usize, sabotage: Sabotage) -> Seen {
    let connectors = wires.iter().map(|wire| Connector::new(wire)).collect();
    let mut seen = Seen::default();
    World { key: None, connectors, deletions, sabotage }.explore(&mut seen);
    seen
}

impl World {
    /// Plays every order from here on.
    fn explore(&self, seen: &mut Seen) {
        let racing = || (0..self.connectors.len()).filter(|at| self.connectors[*at].is_racing());
        for at in racing() {
            let mut next = self.clone();
            next.step(at, seen);
            next.explore(seen);
        }
        if racing().next().is_none() {
            seen.orders += 1;
            seen.winners.insert(self.key);
            self.check_the_end(seen);
        } else if self.key.is_some() && self.deletions > 0 {
            let mut next = Self { key: None, ..self.clone() };
            next.deletions -= 1;
            next.explore(seen);
        }
    }

    /// The store runs the next command of one connector, which takes the answer.
    fn step(&mut self, at: usize, seen: &mut Seen) {
        let connector = &mut self.connectors[at];
        let command = connector.sent.pop_front().unwrap();
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let before = self.key;
        let answer = match words[..] {
            ["GET", VERSION_KEY] => match self.key {
                Some(value) => format!("${}\r\n{value}\r\n", value.len()),
                None => "_\r\n".to_owned(),
            },
            ["SET", VERSION_KEY, wire, "NX"] if wire == connector.wire => {
                connector.writes += 1;
                if self.key.is_none() || self.sabotage == Sabotage::NoNx {
                    self.key = Some(connector.wire);
                    "+OK\r\n".to_owned()
                } else {
                    "_\r\n".to_owned()
                }
            }
            _ => panic!("no connector may send {words:?}"),
        };
        connector.take(&answer);
        if words[0] == "SET" && self.sabotage == Sabotage::NoConfirmingRead {
            connector.sent.clear();
            connector.state = State::Runs;
        }
        if before.is_some() && before != self.key {
            seen.broken.insert("the key changed once it was set".into());
        }
        if matches!(connector.state, State::Runs) && self.key != Some(connector.wire) {
            seen.broken.insert("one runs on a store of another wire".into());
        }
    }

    fn check_the_end(&self, seen: &mut Seen) {
        let mut broken = |rule: &str| seen.broken.insert(rule.to_owned());
        for connector in &self.connectors {
            // One flight to read, and one a round with one write in it.
            if connector.flights > 4 || connector.writes >= connector.flights {
                broken("more flights or writes than rounds");
            }
            match &connector.state {
                State::AtTheFence(_) => drop(broken("one hangs")),
                State::Refused(Found::Value(got)) if got == connector.wire => {
                    broken("one is refused by its own wire");
                }
                State::Refused(Found::Value(got)) if self.key.is_some_and(|key| got != key) => {
                    broken("one is refused by what is not there");
                }
                _ => {}
            }
        }
        let mut running = self.connectors.iter().filter(|one| matches!(one.state, State::Runs));
        if running.clone().next().is_none() {
            broken("none runs");
        }
        if running.any(|one| Some(one.wire) != self.key) {
            broken("those that run do not speak the wire of the store");
        }
    }
}

impl Connector {
    fn new(wire: &'static str) -> Self {
        let fence = Fence::new(Wire::new(wire.into()).unwrap(), Claims::Allowed);
        let state = State::AtTheFence(fence);
        let mut connector = Self { wire, state, sent: VecDeque::new(), flights: 0, writes: 0 };
        connector.send(VERSION_GET);
        connector
    }

    fn send(&mut self, flight: &[u8]) {
        let mut decoder = Decoder::new(Limits::default());
        decoder.feed(flight);
        while let Some(command) = decoder.next().unwrap() {
            self.sent.push_back(command.to().unwrap());
        }
        assert!(decoder.is_idle());
        self.flights += 1;
    }

    fn is_racing(&self) -> bool {
        !self.sent.is_empty()
    }

    fn take(&mut self, answer: &str) {
        let State::AtTheFence(fence) = self.state.clone() else { panic!("it has passed already") };
        self.state = match fence.handle(&reply(answer)) {
            Ok(Next::Await(fence)) => State::AtTheFence(fence),
            Ok(Next::Ask(fence, flight)) => {
                self.send(&flight.encoded);
                State::AtTheFence(fence)
            }
            Ok(Next::Pass(_)) => State::Runs,
            Err(Error::VersionFence { got }) => State::Refused(got),
            Err(error) => panic!("{error}"),
        };
    }
}

#[test]
fn connectors_of_one_wire_all_run_in_every_order() {
    for connectors in [2, 3] {
        let seen = explore(&[A; 3][..connectors], 0, Sabotage::None);
        println!("{connectors} connectors of one wire: {} orders", seen.orders);
        assert_eq!(seen.broken, BTreeSet::new());
        assert_eq!(seen.winners, [Some(A)].into());
    }
}

#[test]
fn of_different_wires_one_wins_in_every_order_and_each_in_some() {
    for wires in [&[A, B][..], &[A, A, B], &[A, B, C]] {
        let seen = explore(wires, 0, Sabotage::None);
        println!("wires {wires:?}: {} orders", seen.orders);
        assert_eq!(seen.broken, BTreeSet::new());
        assert_eq!(seen.winners, wires.iter().copied().map(Some).collect());
    }
}

#[test]
fn with_somebody_deleting_nothing_hangs_and_no_wrong_wire_passes() {
    for (wires, deletions) in [(&[A, A][..], 4), (&[A, B], 4), (&[A, A, B], 1), (&[A, B, C], 1)] {
        let seen = explore(wires, deletions, Sabotage::None);
        println!("wires {wires:?}, at most {deletions} deletions: {} orders", seen.orders);
        // Once the key is gone another wire may claim the store, and none of those who passed
        // before can know; and one who always finds it gone is refused.
        let allowed = [
            "none runs",
            "one is refused by what is not there",
            "those that run do not speak the wire of the store",
        ];
        let broken: Vec<_> =
            seen.broken.iter().filter(|rule| !allowed.contains(&rule.as_str())).collect();
        assert_eq!(broken, Vec::<&String>::new());
    }
}

#[test]
fn without_nx_or_without_the_confirming_read_the_rules_are_seen_to_break() {
    let broken = explore(&[A, B], 0, Sabotage::NoNx).broken;
    assert!(broken.contains("the key changed once it was set"), "{broken:?}");
    assert!(broken.contains("those that run do not speak the wire of the store"), "{broken:?}");
    let broken = explore(&[A, B], 0, Sabotage::NoConfirmingRead).broken;
    assert!(broken.contains("one runs on a store of another wire"), "{broken:?}");
}
