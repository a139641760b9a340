//! Several connectors as one.

use std::{
    borrow::Borrow,
    future::Future,
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    task::JoinSet,
};

use super::{
    Config, Connector, Dedicated, Error, Events, Orphan, Pipeline, Replies, ScriptCall, Stats,
    Transaction, dialer::Dialer, event::Announcer, family::Family,
};
use crate::resp::{Command, Reply};

/// N connectors to one store, taken in turn: the same verbs as [`Connector`], on N connections.
///
/// One connection carries the commands of thousands of tasks; more of them help where replies are
/// so large, or the tasks' threads so many, that one I/O task cannot keep up. Commands of one task
/// that do not wait for each other may run in another order than they were sent in: they travel on
/// different connections.
///
/// The choice is lock-free. A member that has no connection is passed over while another has one.
/// All of them are one family: another wire in the store, met by any, stops them all with the same
/// [`Error::VersionFence`].
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use echo_wire::{connector::{Config, Pool}, resp::Command};
/// # use tokio::io::{AsyncReadExt, AsyncWriteExt};
/// # let server = || async {
/// #     let (ours, mut theirs) = tokio::io::duplex(4096);
/// #     tokio::spawn(async move {
/// #         let mut read = [0; 4096];
/// #         for answer in ["%1\r\n+role\r\n+master\r\n+OK\r\n+OK\r\n_\r\n$12\r\nechomq:2.0.0\r\n", "+PONG\r\n", "+PONG\r\n"] {
/// #             theirs.read(&mut read).await.unwrap();
/// #             theirs.write_all(answer.as_bytes()).await.unwrap();
/// #         }
/// #         theirs.read(&mut read).await.unwrap();
/// #     });
/// #     Ok(ours)
/// # };
/// let config = Config::from_url("valkey://localhost:6379")?;
/// # let pool = Pool::over(server, config, 3).await?;
/// # if false {
/// # let config = Config::tcp("localhost", 6379);
/// let pool = Pool::connect(config, 3).await?;
/// # }
/// for _ in 0..6 {
///     pool.command(Command::new("PING")).await?;
/// }
/// let each: Vec<u64> = pool.connectors().iter().map(|it| it.stats().commands).collect();
/// assert_eq!((each, pool.stats().commands), (vec![2, 2, 2], 6));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Pool {
    members: Arc<Members>,
}

#[derive(Debug)]
struct Members {
    first: Connector,
    /// The first one and all others.
    connectors: Box<[Connector]>,
    /// Whose turn it is, counted round and round.
    turn: AtomicUsize,
    events: Announcer,
}

impl Pool {
    /// Connects `size` connectors with one config; returns when all have passed the fence, or with
    /// the first failure. Fails as [`Connector::connect`] does, and with [`Error::Misuse`] for a
    /// size of zero. Cancel safe.
    pub async fn connect(config: Config, size: usize) -> Result<Self, Error> {
        Self::spawn(Dialer::Endpoint, config, size).await
    }

    /// As [`connect`](Self::connect), over streams that `dial` makes: see [`Connector::over`].
    pub async fn over<F, D, S>(dial: F, config: Config, size: usize) -> Result<Self, Error>
    where
        F: Fn() -> D + Send + Sync + 'static,
        D: Future<Output = io::Result<S>> + Send + 'static,
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        Self::spawn(Dialer::own(dial), config, size).await
    }

    async fn spawn(dialer: Dialer, config: Config, size: usize) -> Result<Self, Error> {
        if size == 0 {
            return Err(Error::Misuse("a pool has one connection at least".into()));
        }
        let events = Announcer::new(&config);
        let (dialer, family) = (Arc::new(dialer), Family::default());
        let connect = || {
            let dialer = Arc::clone(&dialer);
            Connector::spawn(config.clone(), dialer, family.clone(), events.clone())
        };
        // The first one alone, so that an empty store is claimed and a bad config met once.
        let first = connect().await?;
        let mut connectors = vec![first.clone()];
        let mut others: JoinSet<_> = (1..size).map(|_| connect()).collect();
        while let Some(joined) = others.join_next().await {
            // A task of ours neither panics nor is aborted: the runtime goes.
            connectors.push(joined.map_err(|_gone| Error::Closed)??);
        }
        let (connectors, turn) = (connectors.into(), AtomicUsize::new(0));
        Ok(Self { members: Arc::new(Members { first, connectors, turn, events }) })
    }

    /// The connectors, for what has to stay on one connection.
    pub fn connectors(&self) -> &[Connector] {
        &self.members.connectors
    }

    /// The next connector in turn, of those that have a connection.
    pub fn connector(&self) -> &Connector {
        let Members { first, connectors, turn, .. } = &*self.members;
        let place = turn.fetch_add(1, Relaxed).checked_rem(connectors.len()).unwrap_or(0);
        let (before, from) = connectors.split_at_checked(place).unwrap_or_default();
        let serves = |connector: &&Connector| connector.shared().is_serving();
        let mut in_turn = from.iter().chain(before);
        in_turn.clone().find(serves).or_else(|| in_turn.next()).unwrap_or(first)
    }

    /// As [`Connector::command`].
    pub async fn command<'a>(&self, command: impl Borrow<Command<'a>>) -> Result<Reply, Error> {
        self.connector().command(command).await
    }

    /// As [`Connector::pipeline`]: all of it on one connection.
    pub async fn pipeline(&self, pipeline: &Pipeline) -> Result<Replies, Error> {
        self.connector().pipeline(pipeline).await
    }

    /// As [`Connector::transaction`].
    pub async fn transaction(&self, pipeline: &Pipeline) -> Result<Transaction, Error> {
        self.connector().transaction(pipeline).await
    }

    /// As [`Connector::eval`].
    pub async fn eval<'a>(&self, call: impl Borrow<ScriptCall<'a>>) -> Result<Reply, Error> {
        self.connector().eval(call).await
    }

    /// As [`Connector::noreply_pipeline`].
    pub async fn noreply_pipeline(&self, pipeline: &Pipeline) -> Result<bool, Error> {
        self.connector().noreply_pipeline(pipeline).await
    }

    /// As [`Connector::dedicated`].
    pub async fn dedicated(&self) -> Result<Dedicated, Error> {
        self.connector().dedicated().await
    }

    /// As [`Connector::take_orphans`], of all connectors.
    #[must_use = "the store no longer has what is in them, and they are given out once"]
    pub fn take_orphans(&self) -> Vec<Orphan> {
        self.connectors().iter().flat_map(Connector::take_orphans).collect()
    }

    /// The counters of all connectors, summed.
    pub fn stats(&self) -> Stats {
        self.connectors().iter().map(Connector::stats).sum()
    }

    /// What happens to any of the connections from now on.
    pub fn events(&self) -> Events {
        self.members.events.listen()
    }

    /// Resolves when every connector has a connection; fails with the reason why one of them will
    /// never have one again. Cancel safe.
    pub async fn ready(&self) -> Result<(), Error> {
        for connector in self.connectors() {
            connector.ready().await?;
        }
        Ok(())
    }

    /// As [`Connector::close`], of all at once.
    pub async fn close(&self) {
        // All of them before the first await, so that a dropped `close` goes on draining.
        self.connectors().iter().for_each(|connector| connector.shared().drain(Error::Closed));
        let close = |connector: &Connector| {
            let connector = connector.clone();
            async move { connector.close().await }
        };
        let closing: JoinSet<()> = self.connectors().iter().map(close).collect();
        closing.join_all().await;
    }
}
