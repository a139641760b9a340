//! One row of the table: a command as the servers describe it.

/// A command (`GET`) or a subcommand (`CLIENT REPLY`), in upper case.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) name: &'static str,
    /// `READS | BLOCKS | PUBSUB | CONTAINER`.
    pub(super) flags: u8,
    pub(super) keys: Keys,
}

/// The server's `readonly`.
pub(super) const READS: u8 = 1;
/// The server's `blocking`.
pub(super) const BLOCKS: u8 = 1 << 1;
/// The server's `pubsub`.
pub(super) const PUBSUB: u8 = 1 << 2;
/// It has subcommands, which have rows of their own.
pub(super) const CONTAINER: u8 = 1 << 3;

/// Where the first key stands. Positions count from the command's name, which is 0, as the
/// server's do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keys {
    /// Nowhere.
    No,
    /// At this position.
    At(u8),
    /// After the number of keys, which is at this position; nowhere if it is zero.
    Counted(u8),
    /// After the word STREAMS, which comes at this position or later.
    Streams(u8),
}

pub(super) const fn row(name: &'static str, flags: u8, keys: Keys) -> Row {
    Row { name, flags, keys }
}
