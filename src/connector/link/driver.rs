//! The one task that owns the socket: it writes what gathered, reads what came, and tells whose
//! time is up. Both halves are polled in every turn, so neither ever waits for the other.

use std::{
    future::Future,
    io::{self, IoSlice},
    iter, mem,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Waker},
};

use tokio::{
    io::{AsyncReadExt, AsyncWrite},
    time::{Instant, Sleep, sleep_until},
};

use super::{
    core::{Confirms, Core, Delivered, Loss, Phase},
    outbox::Outbox,
    pulse::{Beat, Pulse},
    shared::Shared,
};
use crate::{
    connector::{
        Config, Error, Event, Policy, boot::Fenced, cause::Cause, deadline::after,
        event::Announcer, pubsub::Notice, stats::count, step::Step, transport::Transport,
        violation::Violation,
    },
    resp::{Command, Decoder, Reply, ServerError},
};

/// Serves one fenced socket until it ends; the output says why.
#[derive(Debug)]
pub(in crate::connector) struct Driver {
    shared: Arc<Shared>,
    events: Announcer,
    policy: Policy,
    /// Whether a server that turns out to be a replica is left.
    needs_primary: bool,
    socket: Transport,
    decoder: Decoder,
    /// What is being written; the core gathers the next wave meanwhile.
    wave: Outbox,
    /// Bytes that the socket took.
    written: u64,
    needs_flush: bool,
    /// Why the socket takes no more bytes; what the peer said before is read to its end first.
    broken: Option<io::Error>,
    /// Whether one turn of the run queue has passed, in which a wave could gather.
    lingered: bool,
    /// Decoded and not handed out yet.
    replies: Vec<Reply>,
    /// For the router, in the order in which it came.
    told: Vec<Told>,
    messages_lost: u64,
    wakers: Vec<Waker>,
    bytes_in: u64,
    bytes_out: u64,
    last_read: Instant,
    pulse: Pulse,
    timer: Pin<Box<Sleep>>,
    drain_until: Option<Instant>,
}

/// Why a served socket came to its end.
#[derive(Debug)]
pub(in crate::connector) enum End {
    /// The connector was stopped.
    Stopped,
    /// Nothing new was taken any more, and what was in flight is answered or out of time.
    Drained,
    /// The peer closed, with its last words if it had any.
    Closed(Option<ServerError>),
    Failed(io::Error),
    Violation(Violation),
    /// Replies were owed and nothing came.
    Silent,
    /// The fence does not pass any more.
    Fence(Error),
}

/// Turns without a pause before other tasks get theirs.
const TURNS: usize = 32;
/// Places for replies and wakers that are kept from one heartbeat to the next.
const KEPT: usize = 1024;
/// Slices in one vectored write.
const SLICES: usize = 32;

impl Future for Driver {
    type Output = End;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<End> {
        let this = self.get_mut();
        for _ in 0..TURNS {
            match this.turn(cx) {
                Ok(Turn::Moved) => {}
                Ok(Turn::Lingers) => break,
                Ok(Turn::Sleeps) => return Poll::Pending,
                Err(end) => return Poll::Ready(end),
            }
        }
        this.lingered = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Driver {
    pub(in crate::connector) fn new(
        shared: Arc<Shared>,
        events: Announcer,
        config: &Config,
        fenced: Fenced<Transport>,
    ) -> Self {
        let (socket, inbox, _findings) = fenced.into_parts();
        let (decoder, mut pushes) = inbox.into_parts();
        let told = iter::from_fn(|| pushes.pop()).map(Told::Push).collect();
        let now = Instant::now();
        Self {
            shared,
            events,
            policy: config.policy.clone(),
            needs_primary: !config.read_from_replica,
            socket,
            decoder,
            wave: Outbox::default(),
            written: 0,
            needs_flush: false,
            broken: None,
            lingered: false,
            replies: Vec::new(),
            told,
            messages_lost: 0,
            wakers: Vec::new(),
            bytes_in: 0,
            bytes_out: 0,
            last_read: now,
            pulse: Pulse::new(config.wire.clone(), config.claims(), config.policy.heartbeat, now),
            timer: Box::pin(sleep_until(now)),
            drain_until: None,
        }
    }
}

enum Turn {
    /// Something was read, taken or written: look again.
    Moved,
    /// A wave gathers: come back after the others.
    Lingers,
    /// Nothing to do until the socket, the timer or a caller wakes us.
    Sleeps,
}

impl Driver {
    fn turn(&mut self, cx: &mut Context<'_>) -> Result<Turn, End> {
        let now = Instant::now();
        let ending = self.read(cx, now);
        // Replies that arrived before the end still reach their callers.
        let exchange = self.exchange(now);
        self.route();
        for waker in self.wakers.drain(..) {
            waker.wake();
        }
        let read = ending?;
        let took = exchange?;
        if let Some(error) = self.broken.take_if(|_error| !read) {
            return Err(End::Failed(error));
        }
        let wrote = self.write(cx);
        if read || wrote || took == Took::Wave {
            return Ok(Turn::Moved);
        }
        if took == Took::Lingers {
            return Ok(Turn::Lingers);
        }
        if self.timer(cx, now)? || !self.park(cx.waker()) {
            return Ok(Turn::Moved);
        }
        Ok(Turn::Sleeps)
    }
}

/// Whether a reply is for its caller only: no push, and no error that may speak of the server's role.
fn is_plain(reply: &Reply) -> bool {
    !reply.is_push() && !reply.is_error()
}

/// What the router is told.
#[derive(Debug)]
enum Told {
    Push(Reply),
    /// The oldest subscription that was asked for again was answered.
    AskedAgain(Option<ServerError>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Took {
    Nothing,
    Lingers,
    Wave,
}

impl Driver {
    /// Reads once and decodes every whole reply of it. `Ok(true)`: bytes came.
    fn read(&mut self, cx: &mut Context<'_>, now: Instant) -> Result<bool, End> {
        let read = pin!(self.socket.read_buf(self.decoder.read_buf())).poll(cx);
        let n = match read {
            Poll::Pending => return Ok(false),
            Poll::Ready(Ok(0)) => return Err(End::Closed(None)),
            Poll::Ready(Ok(n)) => n,
            Poll::Ready(Err(error)) => return Err(End::Failed(error)),
        };
        self.last_read = now;
        self.bytes_in = self.bytes_in.saturating_add(n as u64);
        // Each is built where it stays until it is handed out.
        let decoded = loop {
            self.replies.push(Reply::default());
            let Some(place) = self.replies.last_mut() else { break Ok(true) };
            match self.decoder.next_into(place) {
                Ok(true) => {}
                Ok(false) => break Ok(true),
                Err(error) => break Err(End::Violation(error.into())),
            }
        };
        self.replies.pop();
        decoded
    }

    /// One visit to the core: replies in, expired callers told, the next wave out.
    fn exchange(&mut self, now: Instant) -> Result<Took, End> {
        let shared = Arc::clone(&self.shared);
        let mut core = shared.core();
        count(&mut core.stats.bytes_in, mem::take(&mut self.bytes_in));
        count(&mut core.stats.bytes_out, mem::take(&mut self.bytes_out));
        count(&mut core.stats.messages_lost, mem::take(&mut self.messages_lost));
        core.wrote(self.written);
        self.deliver(&mut core, now)?;
        core.stamp(now);
        core.expire(self.policy.response_timeout, now, &mut self.wakers);
        if core.takes_waiters() {
            shared.ring();
        }
        match core.phase() {
            Phase::Serving => {}
            Phase::Draining(_) => {
                let until = after(now, self.policy.drain_within);
                if core.is_drained() || *self.drain_until.get_or_insert(until) <= now {
                    return Err(End::Drained);
                }
            }
            Phase::Away | Phase::Stopped(_) => return Err(End::Stopped),
        }
        if let Some(get) = self.pulse.begin(now) {
            core.shrink();
            self.replies.shrink_to(KEPT);
            self.wakers.shrink_to(KEPT);
            self.wave.shrink();
            core.probe(1, get, &mut self.wave);
            for (verb, name) in shared.router().ask_put_off() {
                core.ask_again(|out| Command::new(verb).arg(&name).encode_to(out));
            }
            return Ok(Took::Wave);
        }
        // While the fence is in doubt nothing of a caller's leaves.
        if self.pulse.holds_back() || !self.wave.is_empty() || !core.has_gathered() {
            return Ok(Took::Nothing);
        }
        if !mem::take(&mut self.lingered) && core.expects_more() {
            return Ok(Took::Lingers);
        }
        core.take(&mut self.wave);
        Ok(Took::Wave)
    }

    fn deliver(&mut self, core: &mut Core, now: Instant) -> Result<(), End> {
        let mut replies = self.replies.drain(..);
        loop {
            let waiting = replies.as_slice().iter().take(core.batch_waits_for());
            let plain = waiting.take_while(|reply| is_plain(reply)).count();
            if plain > 0 {
                self.wakers.extend(core.deliver_batch(replies.by_ref().take(plain)));
                continue;
            }
            let Some(reply) = replies.next() else { break };
            if reply.is_push() {
                count(&mut core.stats.pushes, 1);
                let word = match Notice::of(&reply) {
                    Some(Notice::Subscribed) => Some(Confirms::Begin),
                    Some(Notice::Unsubscribed { .. }) => Some(Confirms::End),
                    _ => None,
                };
                let confirmed = word.and_then(|word| core.confirm(word));
                // Who asked for the end is gone; the name may have new readers already.
                let concerns_readers = confirmed.is_none();
                match confirmed {
                    Some(Delivered::Caller(waker)) => self.wakers.extend(waker),
                    Some(Delivered::AskedAgain(refused)) => {
                        self.told.push(Told::AskedAgain(refused));
                    }
                    Some(Delivered::Fence(_)) | None => {}
                }
                if concerns_readers {
                    self.told.push(Told::Push(reply));
                }
                continue;
            }
            let demoted = self.needs_primary
                && reply.as_error().is_some_and(|error| error.code() == "READONLY");
            match core.deliver(reply) {
                Ok(Delivered::AskedAgain(refused)) => self.told.push(Told::AskedAgain(refused)),
                Ok(Delivered::Caller(waker)) => self.wakers.extend(waker),
                Ok(Delivered::Fence(reply)) => {
                    match self.pulse.handle(&reply, now).map_err(End::Fence)? {
                        Beat::Alive => count(&mut core.stats.heartbeats, 1),
                        Beat::Reclaimed => {
                            count(&mut core.stats.fences_vanished, 1);
                            self.events.tell(Event::FenceVanished);
                        }
                        Beat::Ask(encoded, replies) => {
                            core.probe(replies, &encoded, &mut self.wave);
                        }
                        Beat::Unsure | Beat::Waits => {}
                    }
                }
                // An error line that nobody asked for is the reason of the close behind it.
                Err(reply) => {
                    return Err(match reply.as_error() {
                        Some(words) => End::Closed(Some(words)),
                        None => End::Violation(Violation::unasked(&reply)),
                    });
                }
            }
            if demoted {
                core.drain(None);
            }
        }
        Ok(())
    }

    /// Hands the pushes to those who want them.
    fn route(&mut self) {
        if self.told.is_empty() {
            return;
        }
        let mut router = self.shared.router();
        for told in self.told.drain(..) {
            match told {
                Told::Push(push) => {
                    let lost = router.route(push, &mut self.wakers);
                    self.messages_lost = self.messages_lost.saturating_add(lost);
                }
                Told::AskedAgain(refused) => router.answered(refused, &mut self.wakers),
            }
        }
    }

    /// Writes what it can. `true`: something came of it.
    fn write(&mut self, cx: &mut Context<'_>) -> bool {
        if self.broken.is_some() {
            return false;
        }
        self.try_write(cx).unwrap_or_else(|error| {
            self.broken = Some(error);
            true
        })
    }

    /// Writes until the wave is out or the socket is full. `true`: bytes left.
    fn try_write(&mut self, cx: &mut Context<'_>) -> io::Result<bool> {
        let before = self.written;
        while !self.wave.is_empty() {
            let socket = Pin::new(&mut self.socket);
            let written = match self.wave.plain() {
                Some(bytes) => socket.poll_write(cx, bytes),
                None => {
                    let mut slices = [IoSlice::new(&[]); SLICES];
                    let filled = self.wave.slices(&mut slices);
                    socket.poll_write_vectored(cx, slices.get(..filled).unwrap_or_default())
                }
            };
            let n = match written {
                Poll::Pending => break,
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(n)) => n,
                Poll::Ready(Err(error)) => return Err(error),
            };
            self.wave.advance(n);
            self.written = self.written.saturating_add(n as u64);
            self.bytes_out = self.bytes_out.saturating_add(n as u64);
            self.needs_flush = true;
        }
        if self.needs_flush && self.wave.is_empty() {
            match Pin::new(&mut self.socket).poll_flush(cx) {
                Poll::Pending => {}
                Poll::Ready(flushed) => {
                    flushed?;
                    self.needs_flush = false;
                }
            }
        }
        Ok(self.written > before)
    }

    /// Sets the one timer to what comes next. `Ok(true)`: something is due already.
    fn timer(&mut self, cx: &mut Context<'_>, now: Instant) -> Result<bool, End> {
        let (deadline, owed_since) = {
            let mut core = self.shared.core();
            (core.clock().deadline(self.policy.response_timeout), core.clock().waiting_since())
        };
        // Silence counts from the last byte read, or from when a reply was first owed.
        let silence = owed_since
            .and_then(|since| since.max(self.last_read).checked_add(self.policy.watchdog));
        if silence.is_some_and(|silence| silence <= now) {
            return Err(End::Silent);
        }
        let due = [deadline, silence, self.pulse.due(), self.drain_until];
        let Some(due) = due.into_iter().flatten().min() else { return Ok(false) };
        // A timer that is set too early costs one idle turn; setting it anew each turn costs more.
        if due < self.timer.deadline() || self.timer.is_elapsed() {
            self.timer.as_mut().reset(due);
        }
        Ok(self.timer.as_mut().poll(cx).is_ready())
    }

    /// Sleeps unless something came up meanwhile.
    fn park(&mut self, waker: &Waker) -> bool {
        let mut core = self.shared.core();
        let could_take = self.wave.is_empty() && !self.pulse.holds_back() && core.has_gathered();
        let stays = match core.phase() {
            Phase::Serving => !could_take,
            Phase::Draining(_) => !could_take && self.drain_until.is_some() && !core.is_drained(),
            Phase::Away | Phase::Stopped(_) => false,
        };
        if stays {
            core.park(waker);
        }
        stays
    }

    /// Answers everybody who waited for this socket, which is gone: `unsent` to those whose command
    /// did not leave, and to the others that it may have run.
    pub(in crate::connector) fn bury(self, unsent: Error) {
        let Self { shared, written, mut wakers, bytes_in, bytes_out, messages_lost, .. } = self;
        let loss = Loss { unsent, sent: Error::Disconnected { maybe_executed: true } };
        {
            let mut core = shared.core();
            count(&mut core.stats.bytes_in, bytes_in);
            count(&mut core.stats.bytes_out, bytes_out);
            count(&mut core.stats.messages_lost, messages_lost);
            core.lose(written, &loss, &mut wakers);
        }
        shared.router().sever();
        wakers.into_iter().for_each(Waker::wake);
        shared.ring();
    }
}

impl From<End> for Error {
    fn from(end: End) -> Self {
        match end {
            End::Stopped | End::Closed(None) => Self::Disconnected { maybe_executed: false },
            End::Drained => Self::NotReady { step: Step::FenceRead, cause: Cause::Replica },
            End::Closed(Some(words)) => {
                Self::NotReady { step: Step::FenceRead, cause: Cause::Reply(words) }
            }
            End::Failed(error) => error.into(),
            End::Violation(violation) => Self::Protocol { violation, maybe_executed: true },
            End::Silent => Self::Timeout { maybe_executed: true },
            End::Fence(error) => error,
        }
    }
}
