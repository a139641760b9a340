//! Commands that go out together and are answered in order.

use std::fmt;

use bytes::{Bytes, BytesMut};

use super::command_table::{Refusal, Traits};
use crate::resp::{Command, Sink};

/// Commands for one flush: N commands, N replies in order.
///
/// Each command is encoded when it is added, so a pipeline owns its bytes, borrows nothing, can be
/// kept, and can be sent more than once. [`clear`](Self::clear) empties it and keeps the memory.
///
/// ```
/// use echo_wire::{connector::Pipeline, resp::Command};
///
/// let mut pipeline = Pipeline::new()
///     .command(&Command::new("SET").arg("a").arg(1))
///     .command(&Command::new("GET").arg("a"));
/// assert_eq!(pipeline.len(), 2);
///
/// pipeline.clear();
/// for id in 0..1000 {
///     pipeline.push(&Command::new("HGET").arg("jobs").arg(id));
/// }
/// assert_eq!(pipeline.len(), 1000);
/// ```
#[derive(Clone, Default)]
pub struct Pipeline {
    text: BytesMut,
    /// Large shared arguments and the place in `text` before which each goes: rising, at most
    /// `text.len()`.
    shared: Vec<(usize, Bytes)>,
    len: usize,
    /// Whether some command in it is not marked read-only.
    writes: bool,
    refusal: Option<Refusal>,
}

impl Pipeline {
    /// An empty pipeline, which owns no memory yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty pipeline with room for `bytes` encoded bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { text: BytesMut::with_capacity(bytes), ..Self::default() }
    }

    /// Adds a command and gives the pipeline back, to be chained.
    #[must_use = "the pipeline is taken and given back"]
    pub fn command(mut self, command: &Command<'_>) -> Self {
        self.push(command);
        self
    }

    /// Adds a command in place.
    pub fn push(&mut self, command: &Command<'_>) {
        let traits = Traits::of(command);
        self.writes |= !traits.is_read_only();
        if self.refusal.is_none() {
            self.refusal = traits.refusal();
        }
        self.len = self.len.saturating_add(1);
        command.encode_to(self);
    }

    /// The number of commands, which is the number of replies.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no command in it.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many bytes it sends.
    pub fn encoded_len(&self) -> usize {
        self.shared.iter().fold(self.text.len(), |sum, (_, bytes)| sum.saturating_add(bytes.len()))
    }

    /// Whether every command in it only reads.
    pub fn is_read_only(&self) -> bool {
        !self.writes
    }

    /// The first command in it that a shared connection cannot take, and why.
    ///
    /// ```
    /// use echo_wire::{connector::Pipeline, resp::Command};
    ///
    /// let pipeline = Pipeline::new()
    ///     .command(&Command::new("GET").arg("a"))
    ///     .command(&Command::new("blpop").arg("queue").arg(0));
    /// let refusal = pipeline.refusal().expect("it blocks");
    /// assert_eq!(refusal.command(), "BLPOP");
    /// ```
    pub fn refusal(&self) -> Option<Refusal> {
        self.refusal
    }

    /// Empties it and keeps its memory for the next use.
    pub fn clear(&mut self) {
        self.text.clear();
        self.shared.clear();
        self.len = 0;
        self.writes = false;
        self.refusal = None;
    }

    /// Appends all commands to `out`.
    pub fn encode(&self, out: &mut BytesMut) {
        self.encode_to(out);
    }

    /// Appends all commands to `sink`, which may take large shared arguments without a copy.
    pub(crate) fn encode_to<S: Sink>(&self, sink: &mut S) {
        let mut from = 0;
        for (at, bytes) in &self.shared {
            sink.bytes().extend_from_slice(self.text.get(from..*at).unwrap_or_default());
            sink.put_shared(bytes);
            from = *at;
        }
        sink.bytes().extend_from_slice(self.text.get(from..).unwrap_or_default());
    }
}

impl Sink for Pipeline {
    #[inline]
    fn bytes(&mut self) -> &mut BytesMut {
        &mut self.text
    }

    fn put_shared(&mut self, bytes: &Bytes) {
        self.shared.push((self.text.len(), bytes.clone()));
    }
}

impl<'c, 'a: 'c> Extend<&'c Command<'a>> for Pipeline {
    fn extend<I: IntoIterator<Item = &'c Command<'a>>>(&mut self, commands: I) {
        commands.into_iter().for_each(|command| self.push(command));
    }
}

/// The number of commands only: arguments may be passwords or other people's data.
impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipeline").field("len", &self.len).finish_non_exhaustive()
    }
}
