//! A fenced socket between two calls.

use tokio::io::AsyncWriteExt;

use super::super::{
    inbox::Inbox,
    passage::Passage,
    sync::{Lost, settle},
    transport::Transport,
};
use crate::resp::Protocol;

/// No reply is owed on it, and nothing of a transaction or a watch is left on it.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) sock: Transport,
    pub(super) inbox: Box<Inbox>,
    pub(super) known: Known,
}

/// What is known of a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) passage: Passage,
    pub(super) protocol: Protocol,
    /// What the server calls it, if it said so.
    pub(super) client_id: Option<u64>,
    /// Whether CLIENT UNBLOCK can do no harm there.
    pub(super) unblocks_safely: bool,
    /// Which of the shared link's sockets was there when this one was made; `None` where that
    /// changed meanwhile. As long as it is still there, both lead to the same server.
    pub(super) beside: Option<u64>,
}

impl Line {
    /// The line, if it can still be used: a peer that has closed it, or said what nobody asked
    /// for, is found out here, before anything is sent.
    pub(super) async fn settled(self) -> Result<Self, Lost> {
        let Self { sock, inbox, known } = self;
        let (sock, inbox) = settle(sock, inbox).await?;
        Ok(Self { sock, inbox, known })
    }

    /// Closes it in order.
    pub(super) async fn close(mut self) {
        // What a peer that is gone says to this changes nothing.
        drop(self.sock.shutdown().await);
    }
}
