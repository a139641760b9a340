//! Where a batch can run.

use std::future::Future;

use super::{Connector, Dedicated, Error, Pipeline, Pool, Replies, ScriptCall, Transaction};
use crate::resp::Reply;

/// Where a [`Pipeline`] or a [`ScriptCall`] can run: a `&Connector`, a `&Pool`, a `&mut Dedicated`.
///
/// For code that does not care which. Implemented here only. Errors and what a dropped future does
/// are told at each of the three.
///
/// ```
/// use echo_wire::{connector::{Carrier, Error, Pipeline}, resp::Command};
///
/// /// Counts a job and dates it.
/// async fn count(on: impl Carrier, queue: &str, now: u64) -> Result<u64, Error> {
///     let batch = Pipeline::new()
///         .command(Command::new("HINCRBY").arg(queue).arg("jobs").arg(1))
///         .command(Command::new("HSET").arg(queue).arg("latest").arg(now));
///     let (jobs, _new) = batch.run(on).await?.to::<(u64, u64)>()?;
///     Ok(jobs)
/// }
/// ```
pub trait Carrier: sealed::Sealed + Sized {
    /// Sends all commands in one flush and answers their replies in order.
    fn pipeline(self, pipeline: &Pipeline) -> impl Future<Output = Result<Replies, Error>> + Send;

    /// Runs all commands between MULTI and EXEC.
    fn transaction(
        self,
        pipeline: &Pipeline,
    ) -> impl Future<Output = Result<Transaction, Error>> + Send;

    /// Runs a call of a script.
    fn eval(self, call: &ScriptCall<'_>) -> impl Future<Output = Result<Reply, Error>> + Send;

    /// Runs all commands and has no reply sent back; on a connection of its own in any case. See
    /// [`Connector::noreply_pipeline`].
    fn noreply_pipeline(
        self,
        pipeline: &Pipeline,
    ) -> impl Future<Output = Result<bool, Error>> + Send;
}

mod sealed {
    #[expect(unnameable_types, reason = "that is what seals")]
    pub trait Sealed {}
}

macro_rules! carriers {
    ($($name:ident: $carrier:ty)*) => {$(
        impl sealed::Sealed for $carrier {}

        impl Carrier for $carrier {
            async fn pipeline(self, pipeline: &Pipeline) -> Result<Replies, Error> {
                $name::pipeline(self, pipeline).await
            }

            async fn transaction(self, pipeline: &Pipeline) -> Result<Transaction, Error> {
                $name::transaction(self, pipeline).await
            }

            async fn eval(self, call: &ScriptCall<'_>) -> Result<Reply, Error> {
                $name::eval(self, call).await
            }

            async fn noreply_pipeline(self, pipeline: &Pipeline) -> Result<bool, Error> {
                $name::noreply_pipeline(self, pipeline).await
            }
        }
    )*};
}

carriers! {
    Connector: &Connector
    Pool: &Pool
    Dedicated: &mut Dedicated
}

impl Pipeline {
    /// Runs it as it is: one flush, one reply for each command.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use echo_wire::{connector::{Config, Connector, Pipeline}, resp::Command};
    /// # use tokio::io::{AsyncReadExt, AsyncWriteExt};
    /// # let server = || async {
    /// #     let (ours, mut theirs) = tokio::io::duplex(4096);
    /// #     tokio::spawn(async move {
    /// #         let mut read = [0; 4096];
    /// #         for answer in [
    /// #             "%1\r\n+role\r\n+master\r\n+OK\r\n+OK\r\n_\r\n$12\r\nechomq:2.0.0\r\n",
    /// #             ":1\r\n$5\r\nhello\r\n",
    /// #             "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n:2\r\n$5\r\nhello\r\n",
    /// #         ] {
    /// #             theirs.read(&mut read).await.unwrap();
    /// #             theirs.write_all(answer.as_bytes()).await.unwrap();
    /// #         }
    /// #         theirs.read(&mut read).await.unwrap();
    /// #     });
    /// #     Ok(ours)
    /// # };
    /// # let connector = Connector::over(server, Config::tcp("localhost", 6379)).await?;
    /// let batch = Pipeline::new()
    ///     .command(Command::new("LPUSH").arg("mail").arg("hello"))
    ///     .command(Command::new("LINDEX").arg("mail").arg(0));
    ///
    /// let (length, first) = batch.run(&connector).await?.to::<(u64, String)>()?;
    /// assert_eq!((length, first.as_str()), (1, "hello"));
    ///
    /// // The same, with nobody's commands in between.
    /// let replies = batch.run_as_transaction(&connector).await?.done().expect("nothing is watched");
    /// assert_eq!(replies.to::<(u64, String)>()?.0, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn run(&self, on: impl Carrier) -> Result<Replies, Error> {
        on.pipeline(self).await
    }

    /// Runs it between MULTI and EXEC: all of it, with nobody's commands in between, or nothing.
    pub async fn run_as_transaction(&self, on: impl Carrier) -> Result<Transaction, Error> {
        on.transaction(self).await
    }

    /// Runs it and has no reply sent back. `true`: every command was received and run, in order.
    /// See [`Connector::noreply_pipeline`].
    pub async fn run_without_replies(&self, on: impl Carrier) -> Result<bool, Error> {
        on.noreply_pipeline(self).await
    }
}
