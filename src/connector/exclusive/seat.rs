//! Where a dedicated connection's line is.

use tokio::{runtime::Handle as Runtime, sync::oneshot};

use super::line::Line;

#[derive(Debug)]
pub(super) enum Seat {
    Here(Line),
    /// A task has it, and brings it back or lets the sender go.
    Away(oneshot::Receiver<Line>),
    /// Lost.
    Empty,
}

impl Seat {
    /// Gives the line to a task, which brings it back through the sender.
    pub(super) fn lend<T>(runtime: &Runtime, task: impl FnOnce(oneshot::Sender<Line>) -> T) -> Self
    where
        T: Future<Output = ()> + Send + 'static,
    {
        let (back, line) = oneshot::channel();
        runtime.spawn(task(back));
        Self::Away(line)
    }

    /// The line, once a task that has it has brought it back, if it can still be used. Cancel safe:
    /// until then it stays where it is.
    pub(super) async fn take(&mut self) -> Option<Line> {
        self.wait().await;
        match std::mem::replace(self, Self::Empty) {
            Self::Here(line) => line.settled().await.ok(),
            Self::Away(_) | Self::Empty => None,
        }
    }

    /// Waits until no task has it. Cancel safe.
    pub(super) async fn wait(&mut self) {
        if let Self::Away(line) = self {
            let line = line.await;
            *self = line.map_or(Self::Empty, Self::Here);
        }
    }
}
