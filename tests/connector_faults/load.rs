//! Tasks that use a connector without a pause, and check every reply against its request.

use std::{collections::BTreeMap, sync::Arc};

use echo_wire::{
    connector::{Connector, Error, Pipeline},
    resp::{Command, Reply, ServerError},
};
use tokio::{sync::watch, task::JoinHandle};

use crate::support::bounded;

/// Running tasks; dropped, they end by themselves.
pub struct Load {
    tasks: Vec<JoinHandle<()>>,
    tally: Arc<watch::Sender<Tally>>,
}

/// What became of the calls.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    pub answered: u64,
    pub not_sent: u64,
    pub unknown: u64,
    pub timeouts: u64,
    /// Error replies that no task had asked for, by their code.
    pub refused: BTreeMap<String, u64>,
    /// What tasks ended with that were turned away for good.
    pub ended: Vec<Error>,
    is_over: bool,
}

impl Load {
    /// `tasks` tasks, each with a key of its own.
    pub fn start(connector: &Connector, tasks: u64) -> Self {
        let tally = Arc::new(watch::Sender::new(Tally::default()));
        let tasks = (0..tasks).map(|task| {
            let user = User { task, connector: connector.clone(), tally: Arc::clone(&tally) };
            tokio::spawn(user.work())
        });
        Self { tasks: tasks.collect(), tally }
    }

    pub fn tally(&self) -> Tally {
        self.tally.borrow().clone()
    }

    /// Waits until the tally so far satisfies `holds`.
    pub async fn reaches(&self, what: &str, holds: impl FnMut(&Tally) -> bool) {
        bounded(what, self.tally.subscribe().wait_for(holds)).await.unwrap();
    }

    /// Waits until `more` calls more were answered.
    pub async fn goes_on(&self, more: u64) {
        let enough = self.tally().answered + more;
        self.reaches("calls are answered", |tally| tally.answered >= enough).await;
    }

    /// Ends the tasks, each after the call it is in. A reply that was not its own fails here.
    pub async fn finish(self) -> Tally {
        self.tally.send_modify(|tally| tally.is_over = true);
        self.ends().await
    }

    /// Waits until all tasks were turned away for good.
    pub async fn ends(self) -> Tally {
        for task in self.tasks {
            bounded("a task ends", task).await.unwrap();
        }
        self.tally.borrow().clone()
    }
}

struct User {
    task: u64,
    connector: Connector,
    tally: Arc<watch::Sender<Tally>>,
}

impl User {
    async fn work(self) {
        let mut turn = 0;
        while !self.tally.borrow().is_over {
            turn += 1;
            let tag = format!("{}:{turn}", self.task);
            let result = match turn % 5 {
                0 => self.echo(&tag).await,
                1 => self.set_and_get(&tag).await,
                2 => self.failing_pipeline(&tag).await,
                3 => self.transaction(&tag).await,
                _ => self.set(&tag).await,
            };
            if self.ends_with(result).await {
                return;
            }
        }
    }

    async fn ends_with(&self, result: Result<(), Error>) -> bool {
        let error = match result {
            Ok(()) => {
                self.tally.send_modify(|tally| tally.answered += 1);
                return false;
            }
            Err(error) => error,
        };
        if let Error::Server(words) = &error {
            self.refused(words);
        }
        let ends = error.is_fatal() || matches!(error, Error::Closed);
        self.tally.send_modify(|tally| match &error {
            Error::Disconnected { maybe_executed: true } => tally.unknown += 1,
            Error::Timeout { maybe_executed: true } => tally.timeouts += 1,
            Error::Server(_) => {}
            _ if ends => tally.ended.push(error.clone()),
            _ => {
                assert!(!error.maybe_executed(), "{error:?}");
                tally.not_sent += 1;
            }
        });
        if ends {
            return true;
        }
        // Whoever was told that there is no connection waits for one; a reason to stop comes with
        // the next call.
        drop(self.connector.ready().await);
        tokio::task::yield_now().await;
        false
    }

    fn refused(&self, words: &ServerError) {
        let code = words.code().to_owned();
        self.tally.send_modify(|tally| *tally.refused.entry(code).or_default() += 1);
    }

    async fn echo(&self, tag: &str) -> Result<(), Error> {
        let reply = self.connector.command(Command::new("ECHO").arg(tag)).await?;
        assert_eq!(text(&reply), tag);
        Ok(())
    }

    async fn set(&self, tag: &str) -> Result<(), Error> {
        let reply = self.connector.command(Command::new("SET").arg(&self.key()).arg(tag)).await?;
        assert_eq!(text(&reply), "OK");
        Ok(())
    }

    async fn set_and_get(&self, tag: &str) -> Result<(), Error> {
        let pipeline = Pipeline::new()
            .command(Command::new("SET").arg(&self.key()).arg(tag))
            .command(Command::new("GET").arg(&self.key()));
        let replies = self.connector.pipeline(&pipeline).await?;
        assert_eq!(replies.len(), 2);
        // A replica refuses the write, and an earlier value is read.
        if let Some(words) = replies[0].as_error() {
            self.refused(&words);
        }
        let value = text(&replies[1]);
        assert!(replies[0].is_error() || value == tag, "{tag}: {replies:?}");
        let own = value.split(':').next() == Some(&self.task.to_string());
        assert!(own || replies[1].is_null() || replies[1].is_error(), "{tag}: {replies:?}");
        Ok(())
    }

    async fn failing_pipeline(&self, tag: &str) -> Result<(), Error> {
        let pipeline = Pipeline::new()
            .command(Command::new("ECHO").arg(tag))
            .command(Command::new("ECHO").arg(tag).arg("too many"))
            .command(Command::new("ECHO").arg(tag));
        let replies = self.connector.pipeline(&pipeline).await?;
        assert!(replies.len() == 3 && replies[1].is_error(), "{tag}: {replies:?}");
        assert_eq!((text(&replies[0]), text(&replies[2])), (tag.into(), tag.into()));
        Ok(())
    }

    async fn transaction(&self, tag: &str) -> Result<(), Error> {
        let pipeline = Pipeline::new()
            .command(Command::new("ECHO").arg(tag))
            .command(Command::new("ECHO").arg(&format!("{tag}!")));
        let done = self.connector.transaction(&pipeline).await?.done().expect("nothing aborts it");
        assert_eq!(done.iter().map(text).collect::<Vec<_>>(), [tag.into(), format!("{tag}!")]);
        Ok(())
    }

    fn key(&self) -> String {
        format!("load:{}", self.task)
    }
}

fn text(reply: &Reply) -> String {
    reply.to::<Option<String>>().unwrap_or_default().unwrap_or_default()
}
