//! When which command was handed in, without a clock read or a timer per command.
//!
//! Commands are numbered in wire order. The driver stamps all that came since its last turn with
//! one instant; a mark covers them until the next mark.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

/// `first ≤ expired ≤ stamped`, but for `expired`, which may lag behind `first`; marks rise in both
/// fields.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// The number of the oldest command without its last reply.
    first: u64,
    /// Commands below this one have a mark, or had one.
    stamped: u64,
    /// Commands below this one were told that their time is up.
    expired: u64,
    marks: VecDeque<Mark>,
    /// Since when at least one command has been waiting.
    waiting_since: Option<Instant>,
}

#[derive(Debug)]
struct Mark {
    from: u64,
    at: Instant,
}

impl Clock {
    /// `waiting` commands have no reply yet; those without a mark came about `now`.
    pub(super) fn stamp(&mut self, waiting: usize, now: Instant) {
        let tail = self.first.saturating_add(waiting as u64);
        if tail > self.stamped {
            self.marks.push_back(Mark { from: self.stamped, at: now });
            self.stamped = tail;
        }
        if waiting > 0 {
            self.waiting_since.get_or_insert(now);
        }
    }

    /// The oldest command got its last reply; `waiting` are left.
    pub(super) fn completed(&mut self, waiting: usize) {
        self.first = self.first.saturating_add(1);
        if waiting == 0 {
            self.waiting_since = None;
        }
        if self.first >= self.stamped {
            self.stamped = self.first;
            self.marks.clear();
        }
        while self.marks.get(1).is_some_and(|next| next.from <= self.first) {
            self.marks.pop_front();
        }
    }

    /// A command was put in behind the `ahead` oldest ones, before others that came earlier.
    pub(super) fn inserted(&mut self, ahead: usize) {
        let place = self.first.saturating_add(ahead as u64);
        if place < self.stamped {
            self.stamped = self.stamped.saturating_add(1);
            for mark in self.marks.iter_mut().filter(|mark| mark.from > place) {
                mark.from = mark.from.saturating_add(1);
            }
        }
    }

    /// Since when the peer has owed us a reply without a break.
    pub(super) fn waiting_since(&self) -> Option<Instant> {
        self.waiting_since
    }

    /// When the next command's time is up, if each has `timeout`.
    pub(super) fn deadline(&self, timeout: Duration) -> Option<Instant> {
        self.marks.front().and_then(|mark| mark.at.checked_add(timeout))
    }

    /// The places, counted from the oldest command, whose time is up and who were not told yet.
    pub(super) fn expire(&mut self, timeout: Duration, now: Instant) -> std::ops::Range<usize> {
        let from = self.expired.max(self.first);
        while self.deadline(timeout).is_some_and(|deadline| deadline <= now) {
            self.marks.pop_front();
            self.expired = self.marks.front().map_or(self.stamped, |mark| mark.from);
        }
        place(from, self.first)..place(self.expired, self.first)
    }

    /// Forgets everything: the socket is gone.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }
}

fn place(number: u64, first: u64) -> usize {
    usize::try_from(number.saturating_sub(first)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(10);

    fn at(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    #[test]
    fn each_wave_has_its_own_deadline() {
        let start = Instant::now();
        let mut clock = Clock::default();
        clock.stamp(3, at(start, 0));
        clock.stamp(5, at(start, 4));
        clock.stamp(5, at(start, 5));
        assert_eq!(clock.deadline(TIMEOUT), Some(at(start, 10)));
        assert_eq!(clock.expire(TIMEOUT, at(start, 9)), 0..0);
        assert_eq!(clock.expire(TIMEOUT, at(start, 10)), 0..3);
        assert_eq!(clock.expire(TIMEOUT, at(start, 10)), 3..3, "nobody is told twice");
        assert_eq!(clock.deadline(TIMEOUT), Some(at(start, 14)));
        for left in (0..4).rev() {
            clock.completed(left + 1);
        }
        // One of the second wave is left, and it is the oldest now.
        assert_eq!(clock.expire(TIMEOUT, at(start, 20)), 0..1);
        assert_eq!(clock.deadline(TIMEOUT), None);
    }

    #[test]
    fn a_quiet_link_has_no_deadline_and_starts_afresh() {
        let start = Instant::now();
        let mut clock = Clock::default();
        clock.stamp(1, start);
        assert_eq!(clock.waiting_since(), Some(start));
        clock.completed(0);
        assert_eq!((clock.deadline(TIMEOUT), clock.waiting_since()), (None, None));
        clock.stamp(1, at(start, 60));
        assert_eq!(clock.deadline(TIMEOUT), Some(at(start, 70)));
        assert_eq!(clock.expire(TIMEOUT, at(start, 70)), 0..1);
    }

    #[test]
    fn a_command_put_in_between_moves_the_later_marks() {
        let start = Instant::now();
        let mut clock = Clock::default();
        clock.stamp(2, start);
        clock.stamp(4, at(start, 5));
        clock.inserted(3);
        assert_eq!(clock.expire(TIMEOUT, at(start, 10)), 0..2);
        assert_eq!(clock.expire(TIMEOUT, at(start, 15)), 2..5);
    }
}
