//! A stretch of a dedicated connection in which keys are watched.
//!
//! Source: Valkey's pages "Transactions" ("Optimistic locking using check-and-set") and "WATCH".

use std::borrow::Borrow;

use super::{
    super::{Error, Pipeline, Replies, ScriptCall, Transaction},
    dedicated::{Dedicated, OnLoss, batch, single},
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
#[derive(Debug)]
pub struct Watch<'d> {
    dedicated: &'d mut Dedicated,
}

impl<'d> Watch<'d> {
    pub(super) fn new(dedicated: &'d mut Dedicated) -> Self {
        Self { dedicated }
    }

    /// Sends one command, at once: a read as a rule. As [`Dedicated::command`].
    pub async fn command<'a>(&mut self, command: impl Borrow<Command<'a>>) -> Result<Reply, Error> {
        let job = single(command.borrow())?;
        self.dedicated.one(job, OnLoss::Fail).await
    }

    /// Sends N commands, at once: reads as a rule. As [`Dedicated::pipeline`].
    pub async fn pipeline(&mut self, pipeline: &Pipeline) -> Result<Replies, Error> {
        let job = batch(pipeline)?;
        Ok(self.dedicated.run(job, OnLoss::Fail).await?.into())
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
