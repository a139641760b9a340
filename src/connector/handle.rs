//! The handle that callers share.

use std::{borrow::Borrow, future::Future, io, sync::Arc};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    runtime::Handle as Runtime,
    task::AbortHandle,
    time::timeout,
};

use super::{
    Config, Error, Event, Events, Pipeline, Policy, Replies, Stats, Traits, Transaction,
    cause::Cause,
    dialer::Dialer,
    event::Announcer,
    exclusive::Orphans,
    family::Family,
    lifecycle::{self, Life},
    link::{Outbox, Outcome, Shared, Turn},
    observe::{Call, What},
    scripting::{Forms, ScriptCall},
    step::Step,
};
use crate::resp::{Command, Reply};

/// A cheap, cloneable handle to one supervised, pipelined connection that many tasks share.
///
/// The connection was checked against the wire before this handle existed, and is checked again on
/// every reconnect and at every heartbeat. Commands of all callers travel together: each is encoded
/// once into a shared buffer, one task writes what gathered and hands out the replies in order.
///
/// # What a call can count on
///
/// - **Its own reply.** A dropped future, a timeout, an error in a pipeline, a push: none can shift
///   a reply to another caller.
/// - **At most once.** Nothing is ever sent twice. When a call fails,
///   [`Error::maybe_executed`] tells whether the command may have run.
/// - **An answer in time**: its reply, or an error within [`Policy::response_timeout`]
///   (plus, where the policy says wait, the wait for room or for a connection).
///
/// # Cancel safety
///
/// A call's future does nothing until it is polled. Dropped after that, its command was sent, or
/// will be, and the reply is read and dropped when it comes.
///
/// Dropping the last clone ends the task and closes the socket at once; [`close`](Self::close)
/// first waits for what is in flight.
///
/// [`Policy::response_timeout`]: super::Policy::response_timeout
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use echo_wire::{connector::{Config, Connector}, resp::Command};
/// # use tokio::io::{AsyncReadExt, AsyncWriteExt};
/// # let server = || async {
/// #     let (ours, mut theirs) = tokio::io::duplex(4096);
/// #     tokio::spawn(async move {
/// #         let mut read = [0; 4096];
/// #         for answer in ["%1\r\n+role\r\n+master\r\n+OK\r\n+OK\r\n+OK\r\n_\r\n$12\r\nechomq:2.0.0\r\n", ":1\r\n"] {
/// #             theirs.read(&mut read).await.unwrap();
/// #             theirs.write_all(answer.as_bytes()).await.unwrap();
/// #         }
/// #         theirs.read(&mut read).await.unwrap();
/// #     });
/// #     Ok(ours)
/// # };
/// let config = Config::from_url("valkey://localhost:6379")?.client_name("mailer-7")?;
/// # let connector = Connector::over(server, config).await?;
/// # if false {
/// # let config = Config::tcp("localhost", 6379);
/// let connector = Connector::connect(config).await?;
/// # }
/// let mailer = connector.clone();
/// let sent = tokio::spawn(async move {
///     mailer.command(Command::new("INCR").arg("emq:{mail}:sent")).await
/// });
/// assert_eq!(sent.await??.to::<i64>()?, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Connector {
    handle: Arc<Handle>,
}

#[derive(Debug)]
pub(super) struct Handle {
    pub(super) shared: Arc<Shared>,
    pub(super) config: Arc<Config>,
    pub(super) dialer: Arc<Dialer>,
    pub(super) events: Announcer,
    pub(super) family: Family,
    pub(super) orphans: Orphans,
    pub(super) runtime: Runtime,
    task: AbortHandle,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.stop(Error::Closed);
        self.task.abort();
    }
}

impl Connector {
    /// Dials, boots and passes the fence, and goes on to do so whenever the connection is lost.
    ///
    /// Returns after the first pass, or with the first fatal error: another wire in the store, a
    /// refused user, a refused step. What time can heal is retried until
    /// [`Policy::ready_within`](super::Policy::ready_within), then the last cause is returned.
    pub async fn connect(config: Config) -> Result<Self, Error> {
        Self::alone(config, Dialer::Endpoint).await
    }

    /// As [`connect`](Self::connect), over streams that `dial` makes: a new one for every attempt.
    /// The config's endpoint is not used; boot and the fence run on each stream as on any other.
    pub async fn over<F, D, S>(dial: F, config: Config) -> Result<Self, Error>
    where
        F: Fn() -> D + Send + Sync + 'static,
        D: Future<Output = io::Result<S>> + Send + 'static,
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        Self::alone(config, Dialer::own(dial)).await
    }

    async fn alone(config: Config, dialer: Dialer) -> Result<Self, Error> {
        let events = Announcer::new(&config);
        Self::spawn(config, Arc::new(dialer), Family::default(), events).await
    }

    /// One of a family, whose events are told together.
    pub(super) async fn spawn(
        config: Config,
        dialer: Arc<Dialer>,
        family: Family,
        events: Announcer,
    ) -> Result<Self, Error> {
        let runtime = Runtime::try_current()
            .map_err(|_none| Error::Misuse("connect runs inside a tokio runtime".into()))?;
        let config = Arc::new(Config { identity: config.identity.own(), ..config });
        let shared = Arc::new(Shared::new(&config.policy));
        family.join(&shared)?;
        let life = Life {
            shared: Arc::clone(&shared),
            config: Arc::clone(&config),
            dialer: Arc::clone(&dialer),
            events: events.clone(),
            family: family.clone(),
        };
        let (ready_within, causes) = (config.policy.ready_within, events.listen());
        let task = runtime.spawn(lifecycle::live(life)).abort_handle();
        let handle = Handle {
            shared,
            config,
            dialer,
            events,
            family,
            orphans: Orphans::default(),
            runtime,
            task,
        };
        let connector = Self { handle: Arc::new(handle) };
        match timeout(ready_within, connector.handle.shared.connected()).await {
            Ok(connected) => connected.map(|()| connector),
            Err(_elapsed) => Err(last_cause(causes)),
        }
    }

    /// Sends one command, lent or given, and answers its reply; the server's error reply comes as
    /// [`Error::Server`].
    ///
    /// Fails with [`Error::Misuse`], before anything is sent, for a command that would block or
    /// change the shared session; with [`Error::Disconnected`], [`Error::Timeout`],
    /// [`Error::Overloaded`], [`Error::Closed`] or [`Error::VersionFence`] as their docs say.
    pub async fn command<'a>(&self, command: impl Borrow<Command<'a>>) -> Result<Reply, Error> {
        let command = command.borrow();
        if let Some(refusal) = Traits::of(command).refusal() {
            return Err(refusal.into());
        }
        let Handle { shared, config, .. } = &*self.handle;
        let mut seen = Call::begin(|| What::command(command.name()));
        let sent = shared.call(&config.policy, 1, |out| command.encode_to(out));
        match sent.await.inspect_err(|error| seen.failed(error))? {
            Outcome::One(reply) => {
                seen.answered(&reply);
                Ok(reply.into_result()?)
            }
            Outcome::Many(replies) => Ok(replies.into_iter().next().unwrap_or_default()),
            Outcome::Failed(error) => Err(error),
        }
    }

    /// Sends N commands in one flush and answers N replies in order. A server's error reply is a
    /// value in its slot; the commands behind it have run all the same. Not atomic: commands of
    /// other callers do not come in between on this connection, those of other clients may.
    ///
    /// An empty pipeline answers no replies and sends nothing. Fails as [`command`](Self::command)
    /// does, as a whole; then [`Error::maybe_executed`] speaks of any command in it.
    pub async fn pipeline(&self, pipeline: &Pipeline) -> Result<Replies, Error> {
        if let Some(refusal) = pipeline.refusal() {
            return Err(refusal.into());
        }
        let forms = pipeline.forms(false);
        let encode = |out: &mut Outbox| pipeline.encode_in(forms, out);
        let mut seen = Call::begin(|| What::pipeline(pipeline.len()));
        let batch = self.batch(pipeline, forms, pipeline.len(), encode);
        let (replies, sent) = batch.await.inspect_err(|error| seen.failed(error))?;
        seen.done();
        if forms == Forms::Hashes {
            self.shared().look_for_missed(pipeline, &replies, sent);
        }
        Ok(replies.into())
    }

    /// Runs the commands between MULTI and EXEC: all of them, with nobody's in between, or none.
    ///
    /// Without WATCH a conflict cannot come about, but a server may answer one all the same
    /// (a proxy, a changed cluster): it is its own outcome. Errors of single commands inside are
    /// values in their slots; a command that could not even be queued aborts the whole, and comes
    /// as [`Transaction::Aborted`] with the reasons. Fails as [`pipeline`](Self::pipeline) does.
    pub async fn transaction(&self, pipeline: &Pipeline) -> Result<Transaction, Error> {
        if let Some(refusal) = pipeline.refusal() {
            return Err(refusal.into());
        }
        let forms = pipeline.forms(true);
        let encode = |out: &mut Outbox| Transaction::encode(pipeline, forms, out);
        let replies = pipeline.len().saturating_add(2);
        let mut seen = Call::begin(|| What::transaction(pipeline.len()));
        let batch = self.batch(pipeline, forms, replies, encode);
        let (replies, sent) = batch.await.inspect_err(|error| seen.failed(error))?;
        seen.done();
        let ended = Transaction::from_replies(pipeline, replies)?;
        if let (Forms::Hashes, Transaction::Done(replies)) = (forms, &ended) {
            self.shared().look_for_missed(pipeline, replies, sent);
        }
        Ok(ended)
    }

    /// Runs a call of a script, lent or given, and answers its reply; the server's error reply comes
    /// as [`Error::Server`], and is the same whether or not the script was loaded before.
    ///
    /// It is sent by its hash (EVALSHA). A server that does not have the script says so, and then it
    /// has not run: after another client's SCRIPT FLUSH, a restart, a failover. So the script is
    /// loaded and the call sent again, in one flight, and that costs one more round trip. Of the
    /// callers who meet this at once, one sends the SCRIPT LOAD for all. Should the script be gone
    /// again by then, or may this user not load it, the source itself is sent (EVAL), which needs
    /// nothing loaded: **no NOSCRIPT is answered**, and nothing runs twice. Each of these round trips
    /// has [`Policy::response_timeout`].
    ///
    /// The scripts that were called on it are loaded on each new connection after its fence has
    /// passed and before any caller's command: 64 of them at most, and 128 KiB.
    ///
    /// Fails as [`command`](Self::command) does, but for a refusal: a script cannot change the
    /// session. Dropped, it may have run once, or not at all.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use echo_wire::connector::{Config, Connector, Script};
    /// # use tokio::io::{AsyncReadExt, AsyncWriteExt};
    /// # let server = || async {
    /// #     let (ours, mut theirs) = tokio::io::duplex(4096);
    /// #     tokio::spawn(async move {
    /// #         let mut read = [0; 4096];
    /// #         for answer in [
    /// #             "%1\r\n+role\r\n+master\r\n+OK\r\n+OK\r\n_\r\n$12\r\nechomq:2.0.0\r\n",
    /// #             "-NOSCRIPT No matching script.\r\n",
    /// #             "$40\r\n0123456789012345678901234567890123456789\r\n:3\r\n",
    /// #         ] {
    /// #             theirs.read(&mut read).await.unwrap();
    /// #             theirs.write_all(answer.as_bytes()).await.unwrap();
    /// #         }
    /// #         theirs.read(&mut read).await.unwrap();
    /// #     });
    /// #     Ok(ours)
    /// # };
    /// /// Adds to a counter, but never beyond a limit.
    /// static ADD: Script = Script::new(
    ///     "local sum = tonumber(redis.call('GET', KEYS[1]) or 0) + ARGV[1]
    ///      if sum > tonumber(ARGV[2]) then return redis.error_reply('LIMIT reached') end
    ///      redis.call('SET', KEYS[1], sum)
    ///      return sum",
    /// );
    /// # let connector = Connector::over(server, Config::tcp("localhost", 6379)).await?;
    /// let sum = connector.eval(ADD.call().key("sum").arg(3).arg(10)).await?;
    /// assert_eq!(sum.to::<i64>()?, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn eval<'a>(&self, call: impl Borrow<ScriptCall<'a>>) -> Result<Reply, Error> {
        let mut seen = Call::begin(What::script);
        let called = self.shared().eval(self.policy(), call.borrow());
        let reply = called.await.inspect_err(|error| seen.failed(error))?;
        seen.answered(&reply);
        Ok(reply.into_result()?)
    }
}

impl Connector {
    async fn batch(
        &self,
        pipeline: &Pipeline,
        forms: Forms,
        replies: usize,
        encode: impl Fn(&mut Outbox),
    ) -> Result<(Vec<Reply>, Turn), Error> {
        let Handle { shared, config, .. } = &*self.handle;
        let count = u32::try_from(replies)
            .map_err(|_too_many| Error::Misuse("a pipeline holds 2^32 commands at most".into()))?;
        let (outcome, sent) = match count {
            0 => return Ok(Default::default()),
            count => shared.batch(&config.policy, count, pipeline, forms, encode).await?,
        };
        match outcome {
            Outcome::One(reply) => Ok((vec![reply], sent)),
            Outcome::Many(replies) => Ok((replies, sent)),
            Outcome::Failed(error) => Err(error),
        }
    }

    pub(super) fn handle(&self) -> &Handle {
        &self.handle
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.handle.shared
    }

    pub(super) fn policy(&self) -> &Policy {
        &self.handle.config.policy
    }

    /// The counters so far.
    pub fn stats(&self) -> Stats {
        self.handle.shared.stats()
    }

    /// What happens to the connection from now on.
    pub fn events(&self) -> Events {
        self.handle.events.listen()
    }

    /// Resolves when a connection is there: at once while one is, after the next fence otherwise.
    /// Fails with the reason why there will never be one again. Cancel safe.
    pub async fn ready(&self) -> Result<(), Error> {
        self.handle.shared.ready().await
    }

    /// Takes no more commands, waits at most [`Policy::drain_within`](super::Policy::drain_within)
    /// for the replies in flight, then closes the socket. Every call that waits or comes later gets
    /// an answer: its reply, [`Error::Closed`] if it was not sent, or [`Error::Disconnected`] if
    /// the wait was not long enough. Closes for every clone of this handle, and what waits on a
    /// [`Dedicated`](super::Dedicated) connection of it is ended too: an element that was popped for
    /// it still comes to its caller. Cancel safe: a dropped `close` goes on draining.
    pub async fn close(&self) {
        self.handle.shared.drain(Error::Closed);
        let drain_within = self.handle.config.policy.drain_within;
        let drained = async {
            self.handle.shared.stopped().await;
            self.handle.shared.unheld().await;
        };
        drop(timeout(drain_within, drained).await);
        self.handle.shared.stop(Error::Closed);
        self.handle.shared.gone().await;
    }
}

/// What the attempts so far met; the deadline itself if none has come to an end.
fn last_cause(mut causes: Events) -> Error {
    let deadline = Error::NotReady { step: Step::Dial, cause: Cause::Deadline };
    std::iter::from_fn(|| causes.try_next())
        .filter_map(|event| match event {
            Event::Reconnecting { cause, .. } => Some(cause),
            _ => None,
        })
        .last()
        .unwrap_or(deadline)
}
