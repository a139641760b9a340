//! A stretch of a dedicated connection in which keys are watched.
//!
//! Source: Valkey's pages "Transactions" ("Optimistic locking using check-and-set") and "WATCH".

use std::borrow::Borrow;

use super::{
    super::{Error, Pipeline, Replies, ScriptCall, Transaction},
    dedicated::{Dedicated, OnLoss},
    job::{Job, Leaves},
};
use crate::resp::{Arg, Command, Reply};

/// Keys are watched: read them, then [`exec`](Self::exec) what follows from it. If somebody else
/// changes one of them in between, nothing runs, and the outcome is [`Transaction::Conflict`].
///
/// From [`Dedicated::watch`]. Dropped in any state, by a cancel or a panic as well, it leaves no
/// watch and no open transaction behind: UNWATCH is sent and its answer checked, or the connection
/// is closed. The next call waits for that.
///
/// A connection that is lost takes the watch with it. Then every call here fails with
/// [`Error::Disconnected`], not executed: begin again with [`Dedicated::watch`].
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use echo_wire::{connector::{Config, Connector, Pipeline, Transaction}, resp::Command};
/// # use tokio::io::{AsyncReadExt, AsyncWriteExt};
/// # let server = || async {
/// #     let (ours, mut theirs) = tokio::io::duplex(4096);
/// #     tokio::spawn(async move {
/// #         let mut read = [0; 4096];
/// #         while let Ok(n @ 1..) = theirs.read(&mut read).await {
/// #             let command = String::from_utf8_lossy(&read[..n]);
/// #             let answer = match () {
/// #                 () if command.contains("HELLO") => "%1\r\n+role\r\n+master\r\n+OK\r\n+OK\r\n_\r\n$12\r\nechomq:2.0.0\r\n",
/// #                 () if command.contains("MULTI") => "+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n",
/// #                 () if command.contains("GET") => "$1\r\n7\r\n",
/// #                 () => "+OK\r\n",
/// #             };
/// #             theirs.write_all(answer.as_bytes()).await.unwrap();
/// #         }
/// #     });
/// #     Ok(ours)
/// # };
/// # let connector = Connector::over(server, Config::tcp("localhost", 6379)).await?;
/// # let mut dedicated = connector.dedicated().await?;
/// // Doubles a number that others change as well.
/// loop {
///     let mut watch = dedicated.watch(["stock"]).await?;
///     let stock: u64 = watch.command(Command::new("GET").arg("stock")).await?.to()?;
///     let doubled = Pipeline::new().command(Command::new("SET").arg("stock").arg(stock * 2));
///     match watch.exec(&doubled).await? {
///         Transaction::Done(_replies) => break,
///         Transaction::Conflict => continue,
///         other => panic!("{other:?}"),
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "dropped, it watches nothing any more"]
pub struct Watch<'d> {
    dedicated: &'d mut Dedicated,
}

impl<'d> Watch<'d> {
    pub(super) fn new(dedicated: &'d mut Dedicated) -> Self {
        Self { dedicated }
    }

    /// Sends one command, at once: a read as a rule. As [`Dedicated::command`].
    pub async fn command<'a>(&mut self, command: impl Borrow<Command<'a>>) -> Result<Reply, Error> {
        self.dedicated.single(command.borrow(), OnLoss::Fail).await
    }

    /// Sends N commands, at once: reads as a rule. As [`Dedicated::pipeline`].
    pub async fn pipeline(&mut self, pipeline: &Pipeline) -> Result<Replies, Error> {
        self.dedicated.batch(pipeline, OnLoss::Fail).await
    }

    /// Runs a call of a script, at once: one that reads as a rule. As [`Dedicated::eval`].
    pub async fn eval<'a>(&mut self, call: impl Borrow<ScriptCall<'a>>) -> Result<Reply, Error> {
        self.dedicated.call(call.borrow(), OnLoss::Fail).await
    }

    /// Watches more keys, beside those that are watched already.
    pub async fn also<'a, K>(&mut self, keys: K) -> Result<(), Error>
    where
        K: IntoIterator<Item: Into<Arg<'a>>>,
    {
        // Given up half-way it leaves no more to undo than there is already.
        let job = Job { leaves: Leaves::Nothing, ..Job::watch(&Command::new("WATCH").args(keys)) };
        self.dedicated.one(job, OnLoss::Fail).await.map(drop)
    }

    /// Runs the commands between MULTI and EXEC, all or none, if no watched key was changed.
    ///
    /// Fails as [`Dedicated::transaction`] does. A dropped future leaves the outcome unknown: it
    /// may have run, or not.
    pub async fn exec(self, pipeline: &Pipeline) -> Result<Transaction, Error> {
        self.dedicated.exec(pipeline, OnLoss::Fail).await
    }

    /// Stops watching, with the server's word for it. Dropping does the same behind the scenes.
    pub async fn unwatch(self) -> Result<(), Error> {
        self.dedicated.one(Job::unwatch(), OnLoss::Fail).await?;
        self.dedicated.forget_watch();
        Ok(())
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.dedicated.unwatch();
    }
}
