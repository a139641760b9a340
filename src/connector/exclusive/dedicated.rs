//! The handle of a dedicated connection.

use std::{borrow::Borrow, mem};

use super::{
    super::{
        Connector, Error, Passage, Pipeline, Replies, ScriptCall, Traits, Transaction,
        observe::{self, What},
        scripting::{Form, is_missing},
    },
    call::Call,
    dial::dial_named,
    job::{Job, Leaves},
    line::Known,
    orphan::Orphan,
    rescue::release,
    seat::Seat,
    watch::Watch,
};
use crate::resp::{Arg, Command, Protocol, Reply};

/// A connection that is this handle's alone: for commands that wait on the server (BLPOP, XREAD
/// BLOCK, WAIT, …) and for transactions on watched keys.
///
/// From [`Connector::dedicated`]. It has the connector's config, passed the same fence, and belongs
/// to the same family: another wire in the store, met by any of them, stops them all with the same
/// [`Error::VersionFence`]. It counts as a clone of the connector's handle. A lost connection is
/// dialled anew by the next call, within [`Policy::ready_within`]; nothing is sent twice, and an
/// open [`Watch`] does not survive it.
///
/// # Deadlines
///
/// A command that waits has the time that its own argument says, and
/// [`Policy::response_timeout`] on top; where it says for ever, there is no limit. A command
/// [marked](Command::blocking) as blocking that is none of the known ones has no limit either. All
/// others have the response timeout alone.
///
/// # Giving up never loses an element
///
/// Drop the future of a waiting command, or let its deadline pass, and the command is ended on the
/// server by CLIENT UNBLOCK, over the connector's shared link; its answer is read by a task, and
/// the next call waits for that. Where the server had popped an element in that very moment, it is
/// kept as an [`Orphan`], told as [`Event::Orphaned`], and waits at [`Connector::take_orphans`].
/// Dropping the handle afterwards does the same and then closes.
///
/// Where UNBLOCK is no way (no right to it, the shared link lost meanwhile), our side of the socket
/// is ended, what the server had sent is read to its end, and the next call dials. What stays is a
/// server that pops and learns of our end in the same turn, that pops and then falls silent for
/// longer than [`Policy::drain_within`], or that dies.
///
/// The reply to a command that does not wait is read and dropped when its future was dropped, as on
/// the shared connection.
///
/// # What it cannot take
///
/// Commands that would change the session for later calls: they are refused with
/// [`Error::Refused`]. For MULTI and WATCH there are [`transaction`](Self::transaction) and
/// [`watch`](Self::watch), which leave nothing behind; for modes, a
/// [`Connection`](crate::connector::Connection).
///
/// [`Policy::ready_within`]: crate::connector::Policy::ready_within
/// [`Policy::response_timeout`]: crate::connector::Policy::response_timeout
/// [`Policy::drain_within`]: crate::connector::Policy::drain_within
/// [`Event::Orphaned`]: crate::connector::Event::Orphaned
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use echo_wire::{connector::{Config, Connector}, resp::Command};
/// # use tokio::io::{AsyncReadExt, AsyncWriteExt};
/// # let server = || async {
/// #     let (ours, mut theirs) = tokio::io::duplex(4096);
/// #     tokio::spawn(async move {
/// #         let mut read = [0; 4096];
/// #         while let Ok(n @ 1..) = theirs.read(&mut read).await {
/// #             let command = String::from_utf8_lossy(&read[..n]);
/// #             let answer = match () {
/// #                 () if command.contains("HELLO") => "%1\r\n+role\r\n+master\r\n+OK\r\n+OK\r\n_\r\n$12\r\nechomq:2.0.0\r\n",
/// #                 () if command.contains("BLPOP") => "*2\r\n$4\r\nmail\r\n$5\r\nhello\r\n",
/// #                 () => "+OK\r\n",
/// #             };
/// #             theirs.write_all(answer.as_bytes()).await.unwrap();
/// #         }
/// #     });
/// #     Ok(ours)
/// # };
/// # let connector = Connector::over(server, Config::tcp("localhost", 6379)).await?;
/// let mut worker = connector.dedicated().await?;
/// // Waits for five seconds at most; null when nothing came.
/// let reply = worker.command(Command::new("BLPOP").arg("mail").arg(5)).await?;
/// if let Some((_key, job)) = reply.to::<Option<(String, String)>>()? {
///     assert_eq!(job, "hello");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Dedicated {
    connector: Connector,
    seat: Seat,
    /// Of the line in the seat, or of the last one.
    known: Known,
    /// Keys are watched, or were on a line that is lost: a transaction must not run on another.
    watching: bool,
}

impl Connector {
    /// A connection of one's own, for commands that wait and for transactions on watched keys.
    ///
    /// Dials, boots and passes the fence. While the server is away, and for all else that time can
    /// heal, it waits for at most [`Policy::ready_within`](super::super::Policy::ready_within);
    /// then the last cause is the error. Fails at once with [`Error::VersionFence`], a refused user
    /// or step, or [`Error::Closed`]. Cancel safe.
    pub async fn dedicated(&self) -> Result<Dedicated, Error> {
        let line = dial_named(self).await?;
        let (connector, known) = (self.clone(), line.known);
        Ok(Dedicated { connector, seat: Seat::Here(line), known, watching: false })
    }

    /// What the server handed out to calls that had been given up, the oldest first; none as a
    /// rule. Each is given to one taker only. See [`Dedicated`].
    ///
    /// At most 4 096 are kept; the oldest of more are lost, and counted in
    /// [`Stats::orphans_lost`](super::super::Stats::orphans_lost).
    #[must_use = "the store no longer has what is in them, and they are given out once"]
    pub fn take_orphans(&self) -> Vec<Orphan> {
        self.handle().orphans.take()
    }
}

impl Dedicated {
    /// Sends one command, lent or given, and answers its reply; the server's error reply comes as
    /// [`Error::Server`]. A server that is no longer the primary ends waiting commands with the
    /// code `UNBLOCKED`: nothing was done, and the next call finds the new one.
    ///
    /// Fails with [`Error::Refused`] for a command that it cannot take, and with
    /// [`Error::Disconnected`], [`Error::Timeout`], [`Error::Protocol`], [`Error::NotReady`],
    /// [`Error::Closed`] or [`Error::VersionFence`] as their docs say. For a dropped future see
    /// [above](Self#giving-up-never-loses-an-element).
    pub async fn command<'a>(&mut self, command: impl Borrow<Command<'a>>) -> Result<Reply, Error> {
        self.single(command.borrow(), OnLoss::Dial).await
    }

    /// Sends N commands in one flush and answers N replies in order; the server's error replies are
    /// values in their slots. Commands that wait do so one after another, and their times add up.
    ///
    /// Fails as [`command`](Self::command) does but for [`Error::Server`], as a whole.
    pub async fn pipeline(&mut self, pipeline: &Pipeline) -> Result<Replies, Error> {
        self.batch(pipeline, OnLoss::Dial).await
    }

    /// Runs the commands between MULTI and EXEC: all of them, with nobody's in between, or none.
    /// What would wait outside does not wait in there. Fails as [`pipeline`](Self::pipeline) does.
    pub async fn transaction(&mut self, pipeline: &Pipeline) -> Result<Transaction, Error> {
        self.exec(pipeline, OnLoss::Dial).await
    }

    /// As [`Connector::noreply_pipeline`]: on a connection of its own, not on this one.
    pub async fn noreply_pipeline(&mut self, pipeline: &Pipeline) -> Result<bool, Error> {
        self.connector.noreply_pipeline(pipeline).await
    }

    /// Runs a call of a script, lent or given: by its hash, and with its source where the server does
    /// not have it. As [`Connector::eval`] otherwise.
    pub async fn eval<'a>(&mut self, call: impl Borrow<ScriptCall<'a>>) -> Result<Reply, Error> {
        self.call(call.borrow(), OnLoss::Dial).await
    }

    /// Watches keys: as long as the answer lives, a transaction that is run by it comes to nothing
    /// once somebody has changed one of them. See [`Watch`].
    ///
    /// Fails as [`command`](Self::command) does; then nothing is watched. Cancel safe: a dropped
    /// future leaves no watch behind.
    pub async fn watch<'a, K>(&mut self, keys: K) -> Result<Watch<'_>, Error>
    where
        K: IntoIterator<Item: Into<Arg<'a>>>,
    {
        let job = Job::watch(&Command::new("WATCH").args(keys));
        let seen = observe::Call::begin(|| What::command("WATCH"));
        seen.end(self.one(job, OnLoss::Dial).await)?;
        self.watching = true;
        Ok(Watch::new(self))
    }

    /// How the connection came through the fence; of a lost one, how it did.
    pub fn passage(&self) -> Passage {
        self.known.passage
    }

    /// The generation of the protocol that it speaks.
    pub fn protocol(&self) -> Protocol {
        self.known.protocol
    }

    /// What the server calls the connection (CLIENT ID), if it said so; another one after each
    /// reconnect.
    pub fn client_id(&self) -> Option<u64> {
        self.known.client_id
    }

    /// Waits for the end of what was given up, and closes. Cancel safe: a dropped `close` closes.
    pub async fn close(mut self) {
        if let Some(line) = self.seat.take().await {
            line.close().await;
        }
    }
}

/// What a call does that finds the connection lost before it has sent anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnLoss {
    Dial,
    /// It needs what was on the lost one.
    Fail,
}

impl Dedicated {
    pub(super) async fn single(
        &mut self,
        command: &Command<'_>,
        on_loss: OnLoss,
    ) -> Result<Reply, Error> {
        let traits = Traits::of(command);
        if let Some(refusal) = traits.refusal_dedicated() {
            return Err(refusal.into());
        }
        let seen = observe::Call::begin(|| What::command(command.name()));
        seen.end(self.one(Job::command(command, &traits), on_loss).await)
    }

    pub(super) async fn batch(
        &mut self,
        pipeline: &Pipeline,
        on_loss: OnLoss,
    ) -> Result<Replies, Error> {
        if let Some(refusal) = pipeline.refusal_dedicated() {
            return Err(refusal.into());
        }
        let seen = observe::Call::begin(|| What::pipeline(pipeline.len()));
        Ok(seen.end(self.run(Job::pipeline(pipeline), on_loss).await)?.into())
    }

    pub(super) async fn one(&mut self, job: Job, on_loss: OnLoss) -> Result<Reply, Error> {
        let replies = self.run(job, on_loss).await?;
        let reply = replies.into_iter().next().unwrap_or_default();
        Ok(reply.into_result()?)
    }

    pub(super) async fn call(
        &mut self,
        call: &ScriptCall<'_>,
        on_loss: OnLoss,
    ) -> Result<Reply, Error> {
        let seen = observe::Call::begin(What::script);
        seen.end(match self.one(Job::script(call, Form::Hash), on_loss).await {
            // Only this caller is here: EVAL runs the call and loads the script in one.
            Err(Error::Server(error)) if is_missing(&error) => {
                self.one(Job::script(call, Form::Source), on_loss).await
            }
            ended => ended,
        })
    }

    pub(super) async fn exec(
        &mut self,
        pipeline: &Pipeline,
        on_loss: OnLoss,
    ) -> Result<Transaction, Error> {
        if let Some(refusal) = pipeline.refusal_dedicated() {
            return Err(refusal.into());
        }
        let seen = observe::Call::begin(|| What::transaction(pipeline.len()));
        let replies = seen.end(self.run(Job::transaction(pipeline), on_loss).await)?;
        Transaction::from_replies(pipeline, replies)
    }

    pub(super) async fn run(&mut self, job: Job, on_loss: OnLoss) -> Result<Vec<Reply>, Error> {
        if job.replies == 0 {
            return Ok(Vec::new());
        }
        if on_loss == OnLoss::Dial {
            // A guard that was forgotten rather than dropped.
            self.unwatch();
        }
        let line = match self.seat.take().await {
            Some(line) => line,
            None if on_loss == OnLoss::Fail => {
                return Err(Error::Disconnected { maybe_executed: false });
            }
            None => dial_named(&self.connector).await?,
        };
        self.known = line.known;
        if let Some(why) = self.connector.shared().stops() {
            return Err(why);
        }
        if job.leaves == Leaves::Transaction {
            // Whatever comes of it, it takes the watches along, or the line.
            self.watching = false;
        }
        Call::new(&self.connector, &mut self.seat, line, job).replies().await
    }

    /// Nothing is watched any more: a task sees to it, and the next call waits for that.
    pub(super) fn unwatch(&mut self) {
        if mem::take(&mut self.watching) {
            let seat = mem::replace(&mut self.seat, Seat::Empty);
            self.seat = release(&self.connector, seat);
        }
    }

    pub(super) fn forget_watch(&mut self) {
        self.watching = false;
    }
}
