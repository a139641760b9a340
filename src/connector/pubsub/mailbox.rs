//! One reader's messages, waiting for it.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use super::message::{Delivery, Message};
use crate::connector::Error;

/// Bounded by messages and by bytes; when it is full the oldest go, and are counted.
#[derive(Debug)]
pub(in crate::connector) struct Mailbox {
    room: Room,
    state: Mutex<State>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    pub(super) messages: usize,
    pub(super) bytes: usize,
}

#[derive(Debug, Default)]
struct State {
    /// Messages, and between two of them a gap at most.
    queue: VecDeque<Delivery>,
    /// At most `room.messages`, of at most `room.bytes`, but for a single one that is larger.
    messages: usize,
    bytes: usize,
    /// Dropped since the reader was last told.
    lost: u64,
    /// Among what was dropped there was a gap.
    gap: bool,
    /// The connection went, and the subscription is not in force again.
    severed: bool,
    end: Option<Error>,
    ended: bool,
    waker: Option<Waker>,
}

impl Mailbox {
    pub(super) fn new(room: Room) -> Self {
        Self { room, state: Mutex::default() }
    }

    /// Puts a message in. Answers how many were dropped for it, and whom to wake.
    pub(super) fn put(&self, message: Message) -> (u64, Option<Waker>) {
        let mut state = self.state();
        if state.ended {
            return (0, None);
        }
        let mut lost = 0_u64;
        state.messages = state.messages.saturating_add(1);
        state.bytes = state.bytes.saturating_add(message.len());
        state.queue.push_back(Delivery::Message(message));
        while state.messages > self.room.messages.max(1)
            || (state.bytes > self.room.bytes && state.messages > 1)
        {
            match state.take() {
                Some(Delivery::Message(_)) => lost = lost.saturating_add(1),
                Some(_) => state.gap = true,
                None => break,
            }
        }
        state.lost = state.lost.saturating_add(lost);
        (lost, state.waker.take())
    }

    /// The connection is gone.
    pub(super) fn sever(&self) {
        self.state().severed = true;
    }

    /// A subscription of this reader is in force; after a severed one it learns of the gap.
    pub(super) fn in_force(&self) -> Option<Waker> {
        let mut state = self.state();
        if !std::mem::take(&mut state.severed) {
            return None;
        }
        if state.queue.back() != Some(&Delivery::Gap) {
            state.queue.push_back(Delivery::Gap);
        }
        state.waker.take()
    }

    /// Nothing will come any more, and why.
    pub(super) fn end(&self, why: Option<Error>) -> Option<Waker> {
        let mut state = self.state();
        if !std::mem::replace(&mut state.ended, true) {
            state.end = why;
        }
        state.waker.take()
    }

    /// Why it ended, if it did and there was a reason.
    pub(super) fn reason(&self) -> Option<Error> {
        self.state().end.clone()
    }

    /// The next thing for the reader; `None` after the end.
    pub(super) fn poll(&self, cx: &Context<'_>) -> Poll<Option<Delivery>> {
        let mut state = self.state();
        if state.lost > 0 {
            return Poll::Ready(Some(Delivery::Lagged(std::mem::take(&mut state.lost))));
        }
        if std::mem::take(&mut state.gap) {
            return Poll::Ready(Some(Delivery::Gap));
        }
        if let Some(delivery) = state.take() {
            return Poll::Ready(Some(delivery));
        }
        if state.ended {
            return Poll::Ready(None);
        }
        let stale = state.waker.replace(cx.waker().clone());
        drop(state);
        // Dropped outside the lock: a waker's drop may run anything.
        drop(stale);
        Poll::Pending
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self) -> Option<Delivery> {
        let delivery = self.queue.pop_front()?;
        if let Delivery::Message(message) = &delivery {
            self.messages = self.messages.saturating_sub(1);
            self.bytes = self.bytes.saturating_sub(message.len());
        }
        Some(delivery)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resp::{Decoder, Limits};

    fn message(payload: &str) -> Message {
        let mut decoder = Decoder::new(Limits::default());
        let len = payload.len();
        decoder.feed(format!(">3\r\n+message\r\n+c\r\n${len}\r\n{payload}\r\n").as_bytes());
        Message::from_push(decoder.next().unwrap().unwrap()).unwrap()
    }

    fn mailbox() -> Mailbox {
        Mailbox::new(Room { messages: 3, bytes: 100 })
    }

    fn drain(mailbox: &Mailbox) -> Vec<String> {
        let cx = Context::from_waker(Waker::noop());
        let mut said = Vec::new();
        loop {
            said.push(match mailbox.poll(&cx) {
                Poll::Pending => return said,
                Poll::Ready(None) => "end".into(),
                Poll::Ready(Some(Delivery::Gap)) => "gap".into(),
                Poll::Ready(Some(Delivery::Lagged(lost))) => format!("lost {lost}"),
                Poll::Ready(Some(Delivery::Message(message))) => {
                    String::from_utf8(message.payload().to_vec()).unwrap()
                }
            });
            if said.last().is_some_and(|last| last == "end") {
                return said;
            }
        }
    }

    #[test]
    fn a_slow_reader_loses_the_oldest_and_is_told_how_many() {
        let mailbox = mailbox();
        let lost: u64 = (1..=7).map(|n| mailbox.put(message(&n.to_string())).0).sum();
        assert_eq!(lost, 4);
        assert_eq!(drain(&mailbox), ["lost 4", "5", "6", "7"]);
        mailbox.put(message("8"));
        assert_eq!(drain(&mailbox), ["8"]);
    }

    #[test]
    fn bytes_are_bounded_as_well_and_one_large_message_still_comes() {
        let mailbox = mailbox();
        let large = "x".repeat(500);
        mailbox.put(message("a"));
        mailbox.put(message(&large));
        assert_eq!(drain(&mailbox), ["lost 1", &large]);
    }

    #[test]
    fn a_gap_is_told_in_its_place_and_once() {
        let mailbox = mailbox();
        assert!(mailbox.in_force().is_none());
        mailbox.put(message("before"));
        mailbox.sever();
        mailbox.in_force();
        mailbox.in_force();
        mailbox.put(message("after"));
        assert_eq!(drain(&mailbox), ["before", "gap", "after"]);
    }

    #[test]
    fn a_gap_is_not_lost_with_the_messages_around_it() {
        let mailbox = mailbox();
        mailbox.put(message("1"));
        mailbox.sever();
        mailbox.in_force();
        (2..=9).for_each(|n| drop(mailbox.put(message(&n.to_string()))));
        assert_eq!(drain(&mailbox), ["lost 6", "gap", "7", "8", "9"]);
    }

    #[test]
    fn after_the_end_what_came_before_is_still_read() {
        let mailbox = mailbox();
        mailbox.put(message("last"));
        mailbox.end(Some(Error::Closed));
        mailbox.put(message("late"));
        assert_eq!(drain(&mailbox), ["last", "end"]);
        assert!(matches!(mailbox.reason(), Some(Error::Closed)));
    }
}
