//! The core by itself: promises one by one, then a model of callers, socket and peer.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::*;
use crate::resp::{Decoder, Limits, Reply};

fn core() -> Core {
    let mut core = Core::new(Bounds { commands: 1000, bytes: 1 << 20 });
    core.open(Protocol::Resp3);
    core
}

fn integer(n: u64) -> Reply {
    let mut decoder = Decoder::new(Limits::default());
    decoder.feed(format!(":{n}\r\n").as_bytes());
    decoder.next().unwrap().unwrap()
}

fn number(reply: &Reply) -> u64 {
    reply.to().unwrap()
}

/// A caller's command is the text `<n>;`, its reply is `n`.
fn submit(core: &mut Core, numbers: std::ops::Range<u64>) -> Result<SlotId, Refusal> {
    let count = u32::try_from(numbers.end - numbers.start).unwrap();
    let encode = |out: &mut Outbox| {
        for n in numbers {
            out.bytes().extend_from_slice(format!("{n};").as_bytes());
        }
    };
    core.submit(Answer::Replies(count), encode).map(|(slot, _)| slot)
}

fn outcome(core: &mut Core, slot: SlotId) -> Option<Outcome> {
    core.poll(slot, Waker::noop()).ok()
}

fn lost() -> Loss {
    Loss {
        unsent: Error::Disconnected { maybe_executed: false },
        sent: Error::Disconnected { maybe_executed: true },
    }
}

#[test]
fn what_did_not_leave_was_not_sent_and_what_left_in_part_may_have_run() {
    let mut core = core();
    let slots: Vec<_> = (10..15).map(|n| submit(&mut core, n..n + 1).unwrap()).collect();
    let mut wave = Outbox::default();
    core.take(&mut wave);
    core.wrote(7);
    let late = submit(&mut core, 15..16).unwrap();
    core.deliver(integer(10)).unwrap();
    // "10;11;12;13;14;": seven bytes left, the third command in part, the fourth not at all.
    core.lose(7, &lost(), &mut Vec::new());
    let told: Vec<_> = slots
        .into_iter()
        .chain([late])
        .map(|slot| match outcome(&mut core, slot).unwrap() {
            Outcome::Failed(error) => error.maybe_executed().to_string(),
            Outcome::One(reply) => number(&reply).to_string(),
            Outcome::Many(replies) => panic!("{replies:?}"),
        })
        .collect();
    assert_eq!(told, ["10", "true", "true", "false", "false", "false"]);
    assert_eq!((core.pending(), core.slots.taken()), (0, 0));
    assert!(matches!(submit(&mut core, 0..1), Err(Refusal::Away)));
}

#[test]
fn a_batch_that_fails_in_one_place_still_takes_all_its_replies() {
    let mut core = core();
    let batch = submit(&mut core, 0..3).unwrap();
    let next = submit(&mut core, 3..4).unwrap();
    core.take(&mut Outbox::default());
    core.wrote(8);
    for n in 0..4 {
        core.deliver(integer(n)).unwrap();
    }
    assert!(matches!(outcome(&mut core, batch), Some(Outcome::Many(replies))
        if replies.iter().map(number).eq(0..3)));
    assert!(matches!(outcome(&mut core, next), Some(Outcome::One(reply)) if number(&reply) == 3));
}

#[test]
fn a_reply_that_answers_nothing_is_given_back() {
    let mut core = core();
    submit(&mut core, 0..1).unwrap();
    assert!(core.deliver(integer(0)).is_err(), "gathered is not sent");
    core.take(&mut Outbox::default());
    assert!(core.deliver(integer(0)).is_err(), "not a byte of it has left");
    core.wrote(1);
    assert!(core.deliver(integer(0)).is_ok());
}

#[test]
fn who_drains_the_link_is_never_overtaken_by_a_loss() {
    let mut core = core();
    core.drain(Some(Error::Closed));
    core.lose(0, &lost(), &mut Vec::new());
    core.open(Protocol::Resp3);
    assert!(matches!(submit(&mut core, 0..1), Err(Refusal::Stopped(Error::Closed))));

    let mut away = Core::new(Bounds { commands: 9, bytes: 9 });
    away.drain(Some(Error::Closed));
    assert!(matches!(away.phase(), Phase::Stopped(Error::Closed)), "nothing to wait for");

    let mut demoted = self::core();
    demoted.drain(None);
    demoted.lose(0, &lost(), &mut Vec::new());
    demoted.open(Protocol::Resp3);
    assert!(submit(&mut demoted, 0..1).is_ok());
}

#[test]
fn bytes_count_until_the_socket_has_taken_them() {
    let mut core = Core::new(Bounds { commands: 100, bytes: 100 });
    core.open(Protocol::Resp3);
    core.submit(Answer::Replies(1), |out| out.bytes().extend_from_slice(&[0; 100])).unwrap();
    core.take(&mut Outbox::default());
    assert!(matches!(submit(&mut core, 0..1), Err(Refusal::Full)), "they are being written");
    core.wrote(20);
    assert!(!core.takes_waiters());
    core.wrote(30);
    assert!(core.takes_waiters());
    assert!(submit(&mut core, 0..1).is_ok());
}

#[test]
fn no_more_than_the_bounds_are_let_in_but_for_one_large_batch_alone() {
    let mut core = Core::new(Bounds { commands: 4, bytes: 100 });
    core.open(Protocol::Resp3);
    assert!(submit(&mut core, 0..9).is_ok());
    assert!(matches!(submit(&mut core, 0..1), Err(Refusal::Full)));
    core.take(&mut Outbox::default());
    core.wrote(18);
    (0..9).for_each(|n| drop(core.deliver(integer(n)).unwrap()));
    assert!(core.takes_waiters() && !core.takes_waiters());
    core.submit(Answer::Replies(1), |out| out.bytes().extend_from_slice(&[0; 200])).unwrap();
    assert!(matches!(submit(&mut core, 0..1), Err(Refusal::Full)), "bytes count as well");
}

#[test]
fn a_fence_check_overtakes_what_gathered_and_nothing_else() {
    let mut core = core();
    let early = submit(&mut core, 1..2).unwrap();
    let mut wave = Outbox::default();
    core.take(&mut wave);
    let late = submit(&mut core, 3..4).unwrap();
    core.probe(1, b"fence;", &mut wave);
    assert_eq!(wave.plain(), Some(&b"1;fence;"[..]));
    core.wrote(8);
    core.deliver(integer(1)).unwrap();
    assert!(matches!(core.deliver(integer(2)), Ok(Delivered::Fence(reply)) if number(&reply) == 2));
    wave.clear();
    core.take(&mut wave);
    core.wrote(10);
    core.deliver(integer(3)).unwrap();
    for (slot, n) in [(early, 1), (late, 3)] {
        assert!(matches!(outcome(&mut core, slot), Some(Outcome::One(r)) if number(&r) == n));
    }
}

/// A peer that answers each number with itself, in the order in which it came.
#[derive(Default)]
struct Peer {
    text: Vec<u8>,
    owes: VecDeque<Option<u64>>,
    ran: BTreeSet<u64>,
}

impl Peer {
    fn receive(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
        while let Some(end) = self.text.iter().position(|byte| *byte == b';') {
            let word: Vec<u8> = self.text.drain(..=end).take(end).collect();
            let number = String::from_utf8(word).unwrap().parse().ok();
            self.ran.extend(number);
            self.owes.push_back(number);
        }
    }

    fn reply(&mut self) -> Option<(Option<u64>, Reply)> {
        let number = self.owes.pop_front()?;
        Some((number, integer(number.unwrap_or(u64::MAX / 2))))
    }
}

/// Random callers, drops, time-outs, waves, fence checks and losses.
#[test]
fn whatever_happens_a_reply_reaches_only_the_caller_that_asked() {
    let (mut answered, mut unsent, mut unknown, mut timed_out) = (0, 0, 0, 0);
    let mut batches = 0;
    for seed in 1..=300_u64 {
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut draw = |below: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % below
        };
        let (mut core, mut wave, mut written) = (core(), Outbox::default(), 0);
        let (mut peer, mut next, mut now) = (Peer::default(), 0, Instant::now());
        let mut waiting: BTreeMap<SlotId, std::ops::Range<u64>> = BTreeMap::new();
        for step in 0..600 {
            match draw(24) {
                0..=7 => {
                    let numbers = next..next + 1 + draw(3);
                    next = numbers.end;
                    let slot = submit(&mut core, numbers.clone()).unwrap();
                    assert!(waiting.insert(slot, numbers).is_none(), "a slot was reused");
                }
                8..=10 if wave.is_empty() => core.take(&mut wave),
                11 => core.probe(1, b"fence;", &mut wave),
                12..=15 if !wave.is_empty() => {
                    let bytes = wave.plain().unwrap().to_vec();
                    let n = 1 + usize::try_from(draw(bytes.len() as u64)).unwrap();
                    peer.receive(&bytes[..n]);
                    wave.advance(n);
                    written += n as u64;
                }
                16..=19 => {
                    core.wrote(written);
                    let together = core.batch_waits_for().min(peer.owes.len());
                    if together > 0 && draw(2) == 0 {
                        let replies: Vec<_> = (0..together).filter_map(|_| peer.reply()).collect();
                        let mut replies = replies.into_iter().map(|(_, reply)| reply);
                        core.deliver_batch(replies.by_ref().take(together));
                        assert_eq!(replies.len(), 0, "replies were left for the next caller");
                        batches += 1;
                    } else if let Some((number, reply)) = peer.reply() {
                        let delivered = core.deliver(reply).unwrap();
                        assert_eq!(number.is_none(), matches!(delivered, Delivered::Fence(_)));
                    }
                }
                20 => {
                    now += Duration::from_secs(draw(4));
                    core.stamp(now);
                    core.expire(Duration::from_secs(7), now, &mut Vec::new());
                }
                21 if !waiting.is_empty() => {
                    let place = usize::try_from(draw(waiting.len() as u64)).unwrap();
                    let slot = *waiting.keys().nth(place).unwrap();
                    waiting.remove(&slot);
                    core.abandon(slot);
                }
                22 if step % 7 == 0 => {
                    core.lose(written, &lost(), &mut Vec::new());
                    core.open(Protocol::Resp3);
                    (wave, written) = (Outbox::default(), 0);
                    (peer.text, peer.owes) = Default::default();
                }
                _ => {}
            }
            waiting.retain(|slot, numbers| match outcome(&mut core, *slot) {
                None => true,
                Some(Outcome::One(reply)) => {
                    assert_eq!(number(&reply)..number(&reply) + 1, *numbers);
                    answered += 1;
                    false
                }
                Some(Outcome::Many(replies)) => {
                    assert!(replies.iter().map(number).eq(numbers.clone()));
                    answered += 1;
                    false
                }
                Some(Outcome::Failed(Error::Timeout { .. })) => {
                    timed_out += 1;
                    false
                }
                Some(Outcome::Failed(error)) => {
                    if error.maybe_executed() {
                        unknown += 1;
                    } else {
                        unsent += 1;
                        assert!(!peer.ran.contains(&numbers.start), "told unsent, and it ran");
                    }
                    false
                }
            });
        }
        core.lose(written, &lost(), &mut Vec::new());
        waiting.keys().for_each(|slot| drop(outcome(&mut core, *slot).unwrap()));
        assert_eq!((core.pending(), core.slots.taken()), (0, 0), "seed {seed}");
    }
    for seen in [answered, unsent, unknown, timed_out, batches] {
        assert!(seen > 1000, "{answered} {unsent} {unknown} {timed_out} {batches}");
    }
}
