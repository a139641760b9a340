//! Commands that go out together and are answered in order.

use std::{borrow::Borrow, fmt};

use bytes::{Bytes, BytesMut};

use super::{
    command_table::{Refusal, Traits},
    patience::Waiting,
    scripting::{Calls, Forms, ScriptCall},
};
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
///     .command(Command::new("SET").arg("a").arg(1))
///     .command(Command::new("GET").arg("a"));
/// assert_eq!(pipeline.len(), 2);
///
/// pipeline.clear();
/// for id in 0..1000 {
///     pipeline.push(Command::new("HGET").arg("jobs").arg(id));
/// }
/// assert_eq!(pipeline.len(), 1000);
/// ```
#[derive(Clone, Default)]
pub struct Pipeline {
    text: BytesMut,
    /// Large arguments and the place in `text` before which each goes: rising, at most
    /// `text.len()`.
    shared: Vec<(usize, Bytes)>,
    len: usize,
    /// Whether some command in it is not marked read-only.
    writes: bool,
    refusal: Option<Refusal>,
    refusal_dedicated: Option<Refusal>,
    refusal_alone: Option<Refusal>,
    /// The commands in it that may wait on the server.
    waiting: Vec<Waiting>,
    calls: Calls,
    by_hash: bool,
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

    /// Adds a command, lent or given, and gives the pipeline back, to be chained.
    #[must_use = "the pipeline is taken and given back"]
    pub fn command<'a>(mut self, command: impl Borrow<Command<'a>>) -> Self {
        self.push(command);
        self
    }

    /// Adds a command, lent or given, in place.
    pub fn push<'a>(&mut self, command: impl Borrow<Command<'a>>) {
        self.add(command.borrow());
    }

    fn add(&mut self, command: &Command<'_>) {
        let traits = Traits::of(command);
        self.writes |= !traits.is_read_only();
        if let Some(refusal) = traits.refusal() {
            self.refusal.get_or_insert(refusal);
            if refusal.holds_alone() {
                self.refusal_alone.get_or_insert(refusal);
            }
            if let Some(refusal) = traits.refusal_dedicated() {
                self.refusal_dedicated.get_or_insert(refusal);
            }
            self.waiting.extend(Waiting::of(command, &traits, self.len));
        }
        if !self.calls.is_empty() && command.name().eq_ignore_ascii_case("SCRIPT") {
            self.calls.forget();
        }
        self.len = self.len.saturating_add(1);
        command.encode_to(self);
    }

    /// Adds a call of a script, lent or given, and gives the pipeline back, to be chained.
    ///
    /// # What goes to the server
    ///
    /// A server runs the commands behind a call whether or not it has the call's script, and it may
    /// lose its scripts at any moment: another client's SCRIPT FLUSH is enough. A hash would then be
    /// answered with NOSCRIPT, when it is too late to send the call again in its place. So each call
    /// goes out with its source (EVAL), which runs whatever happened before: no NOSCRIPT is answered,
    /// the order is kept, nothing runs twice. In a transaction, where nobody comes in between, the
    /// first call of each script has the source, and the others have the hash.
    ///
    /// That costs the source's bytes, and the server some 1.3 µs for each KiB of them. Many calls of
    /// a long script are cheaper as a transaction; and see [`by_hash`](Self::by_hash).
    ///
    /// ```
    /// use echo_wire::{connector::{Pipeline, Script}, resp::Command};
    ///
    /// static ADD: Script = Script::new("return redis.call('RPUSH', KEYS[1], ARGV[1])");
    ///
    /// let pipeline = Pipeline::new()
    ///     .command(Command::new("SET").arg("job:17").arg("{}"))
    ///     .eval(ADD.call().key("wait").arg(17));
    /// assert_eq!(pipeline.len(), 2);
    /// ```
    #[must_use = "the pipeline is taken and given back"]
    pub fn eval<'a>(mut self, call: impl Borrow<ScriptCall<'a>>) -> Self {
        self.push_eval(call);
        self
    }

    /// Adds a call of a script, lent or given, in place. See [`eval`](Self::eval).
    pub fn push_eval<'a>(&mut self, call: impl Borrow<ScriptCall<'a>>) {
        let call = call.borrow();
        self.writes |= !call.script().is_read_only();
        self.calls.push(call, self.text.len(), self.len);
        self.len = self.len.saturating_add(1);
        call.encode_tail(self);
    }

    /// Has a [`Connector`](super::Connector) send the calls of scripts by hash (EVALSHA), with a
    /// SCRIPT LOAD ahead of the batch for each script that this connection has not loaded yet. Its
    /// reply is not among the batch's.
    ///
    /// No source travels with the batch then, and nothing repairs it: where another client has
    /// emptied the server's cache since, a call is answered with NOSCRIPT in its slot. It did not
    /// run, and the commands behind it did. The next batch loads the script again. This is for long
    /// scripts on a server where nobody does that.
    ///
    /// On other connections it changes nothing.
    ///
    /// ```
    /// use echo_wire::connector::{Pipeline, Script};
    ///
    /// static ADD: Script = Script::new("return redis.call('RPUSH', KEYS[1], ARGV[1])");
    ///
    /// let mut pipeline = Pipeline::new().by_hash();
    /// for id in 0..1000 {
    ///     pipeline.push_eval(ADD.call().key("wait").arg(id));
    /// }
    /// assert_eq!(pipeline.len(), 1000);
    /// ```
    #[must_use = "the pipeline is taken and given back"]
    pub fn by_hash(mut self) -> Self {
        self.by_hash = true;
        self
    }

    /// The number of commands, which is the number of replies.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no command in it.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many bytes it sends, as a pipeline, each call of a script with its source.
    pub fn encoded_len(&self) -> usize {
        let shared = self.shared.iter().map(|(_, bytes)| bytes.len());
        let heads = self.calls.heads(Forms::Apart).map(|(_, head)| head.encoded_len());
        shared.chain(heads).fold(self.text.len(), usize::saturating_add)
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
    ///     .command(Command::new("GET").arg("a"))
    ///     .command(Command::new("blpop").arg("queue").arg(0));
    /// let refusal = pipeline.refusal().expect("it blocks");
    /// assert_eq!(refusal.command(), "BLPOP");
    /// ```
    pub fn refusal(&self) -> Option<Refusal> {
        self.refusal
    }

    /// The first command in it that a [dedicated](super::Dedicated) connection cannot take, and why.
    pub fn refusal_dedicated(&self) -> Option<Refusal> {
        self.refusal_dedicated
    }

    /// The commands in it that may wait on the server.
    pub(super) fn waiting(&self) -> &[Waiting] {
        &self.waiting
    }

    /// The first command in it that even a connection of one's own cannot take, and why.
    pub fn refusal_alone(&self) -> Option<Refusal> {
        self.refusal_alone
    }

    /// The calls of scripts in it.
    pub(super) fn calls(&self) -> &Calls {
        &self.calls
    }

    /// In which forms a connector sends them, as a pipeline or, `atomic`, as a transaction.
    pub(super) fn forms(&self, atomic: bool) -> Forms {
        match (self.by_hash, atomic) {
            (true, _) => Forms::Hashes,
            (false, true) => Forms::Atomic,
            (false, false) => Forms::Apart,
        }
    }

    /// Empties it and keeps its memory, and [`by_hash`](Self::by_hash), for the next use.
    pub fn clear(&mut self) {
        self.text.clear();
        self.shared.clear();
        self.len = 0;
        self.writes = false;
        self.refusal = None;
        self.refusal_dedicated = None;
        self.refusal_alone = None;
        self.waiting.clear();
        self.calls.clear();
    }

    /// Appends all commands to `out`, each call of a script with its source.
    pub fn encode(&self, out: &mut BytesMut) {
        self.encode_to(out);
    }

    /// Appends all commands to `sink`, which may take large arguments without a copy.
    pub(crate) fn encode_to<S: Sink>(&self, sink: &mut S) {
        self.encode_in(Forms::Apart, sink);
    }

    /// As [`encode_to`](Self::encode_to), with the calls of scripts in these forms.
    pub(super) fn encode_in<S: Sink>(&self, forms: Forms, sink: &mut S) {
        let mut rest = Rest { text: &self.text, from: 0, shared: &self.shared };
        for (at, head) in self.calls.heads(forms) {
            rest.encode_before(at, sink);
            head.encode(sink);
        }
        rest.encode_before(self.text.len(), sink);
    }
}

/// What is still to be encoded: the text from `from` on, and the large arguments that lie there.
struct Rest<'p> {
    text: &'p [u8],
    from: usize,
    shared: &'p [(usize, Bytes)],
}

impl Rest<'_> {
    fn encode_before<S: Sink>(&mut self, end: usize, sink: &mut S) {
        while let Some(((at, bytes), rest)) =
            self.shared.split_first().filter(|((at, _), _)| *at <= end)
        {
            sink.bytes().extend_from_slice(self.text.get(self.from..*at).unwrap_or_default());
            sink.put_shared(bytes);
            (self.from, self.shared) = (*at, rest);
        }
        sink.bytes().extend_from_slice(self.text.get(self.from..end).unwrap_or_default());
        self.from = end;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connector::Reason;

    fn encoded(pipeline: &Pipeline) -> BytesMut {
        let mut out = BytesMut::new();
        pipeline.encode(&mut out);
        out
    }

    #[test]
    fn it_sends_what_its_commands_send_one_after_another() {
        let large = Bytes::from(vec![b'l'; 20_000]);
        let commands = [
            Command::new("SET").arg("a").arg(&large),
            Command::new("PING"),
            Command::new("MSET").arg("b").arg(&large).arg("c").arg(&large),
            Command::new("GET").arg("a"),
        ];
        let mut one_by_one = BytesMut::new();
        commands.iter().for_each(|command| command.encode(&mut one_by_one));

        let mut pipeline = Pipeline::new();
        pipeline.extend(&commands);
        assert_eq!(pipeline.len(), 4);
        assert_eq!(pipeline.encoded_len(), one_by_one.len());
        assert_eq!(encoded(&pipeline), one_by_one);
        assert_eq!(encoded(&pipeline.clone()), one_by_one, "it can be sent again");

        let mut into_another = Pipeline::new().command(Command::new("PING"));
        pipeline.encode_to(&mut into_another);
        assert_eq!(encoded(&into_another)[14..], one_by_one);
    }

    #[test]
    fn the_first_command_that_cannot_be_shared_is_remembered() {
        let mut pipeline = Pipeline::new().command(Command::new("GET").arg("a"));
        assert_eq!(pipeline.refusal(), None);
        pipeline.push(Command::new("client").arg("reply").arg("off"));
        pipeline.push(Command::new("BLPOP").arg("q").arg(0));
        let refusal = pipeline.refusal().unwrap();
        assert_eq!((refusal.command(), refusal.reason()), ("CLIENT REPLY", Reason::Replies));
    }

    #[test]
    fn one_command_that_may_write_makes_it_no_longer_read_only() {
        let reads = Pipeline::new().command(Command::new("GET").arg("a"));
        assert!(reads.is_read_only());
        assert!(!reads.command(Command::new("DEL").arg("a")).is_read_only());
    }

    #[test]
    fn cleared_it_is_as_new_and_keeps_its_memory() {
        let large = Bytes::from(vec![b'l'; 20_000]);
        let mut pipeline = Pipeline::new();
        for id in 0..100 {
            pipeline.push(Command::new("SET").arg(id).arg("x"));
        }
        pipeline.push(Command::new("SET").arg("a").arg(&large));
        pipeline.push(Command::new("MULTI"));
        let kept = pipeline.text.capacity();

        pipeline.clear();
        assert!(pipeline.is_empty() && pipeline.is_read_only() && pipeline.refusal().is_none());
        assert_eq!((pipeline.encoded_len(), encoded(&pipeline).len()), (0, 0));
        assert_eq!(pipeline.text.capacity(), kept);
    }
}
