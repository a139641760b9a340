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

use self::delivery::Told;
pub(in crate::connector) use self::end::End;
use super::{
    core::{Loss, Phase},
    outbox::Outbox,
    pulse::Pulse,
    shared::Shared,
};
use crate::{
    connector::{
        Config, Error, Policy, boot::Fenced, deadline::after, event::Announcer, stats::count,
        transport::Transport,
    },
    resp::{Command, Decoder, Reply},
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

mod delivery;
mod end;
