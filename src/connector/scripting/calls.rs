//! The calls of scripts in a pipeline: where they stand, and in which form each is sent.
//!
//! A command that is sent behind others cannot be held back when one of those fails. So a call that
//! has to be there with its script is sent with the source, unless the same transaction has sent it
//! before.

use super::{Form, Script, ScriptCall, call::encode_head, is_missing};
use crate::resp::{Reply, Sink};

#[derive(Debug, Clone, Default)]
pub(in crate::connector) struct Calls {
    calls: Vec<Placed>,
    firsts: Vec<First>,
    /// The firsts from here on still hold: no command behind them has emptied the server's cache.
    since: usize,
}

/// A call. What follows its form was encoded when it came.
#[derive(Debug, Clone)]
struct Placed {
    /// Where the form goes in the pipeline's text: rising.
    at: usize,
    /// Its place among the pipeline's commands: rising.
    place: usize,
    /// The number of its command's arguments.
    args: usize,
    /// Its script's place in `firsts`.
    first: usize,
}

/// The first call of a script.
#[derive(Debug, Clone)]
struct First {
    script: Script,
    place: usize,
}

/// In which forms the calls of a pipeline are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::connector) enum Forms {
    /// Each with the source: it runs whatever happens before it.
    Apart,
    /// The first of each script with the source, the others by hash: nobody can come in between.
    Atomic,
    /// All by hash: somebody has to load the scripts before.
    Hashes,
}

impl Calls {
    /// `at`: where the form goes in the text; `place`: among the commands.
    pub(in crate::connector) fn push(&mut self, call: &ScriptCall<'_>, at: usize, place: usize) {
        let script = call.script();
        let same = |first: &First| {
            first.script.is(script) && first.script.is_read_only() == script.is_read_only()
        };
        let known = self.firsts.iter().skip(self.since).position(same);
        let first = known.map(|known| self.since.saturating_add(known)).unwrap_or_else(|| {
            self.firsts.push(First { script: script.clone(), place });
            self.firsts.len().saturating_sub(1)
        });
        self.calls.push(Placed { at, place, args: call.command_args(), first });
    }

    /// A command came that may empty the server's cache.
    pub(in crate::connector) fn forget(&mut self) {
        self.since = self.firsts.len();
    }

    pub(in crate::connector) fn clear(&mut self) {
        self.calls.clear();
        self.firsts.clear();
        self.since = 0;
    }

    pub(in crate::connector) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// How many calls go by hash, and how many with the source.
    pub(in crate::connector) fn count(&self, forms: Forms) -> (usize, usize) {
        let (all, firsts) = (self.calls.len(), self.firsts.len());
        match forms {
            Forms::Apart => (0, all),
            Forms::Atomic => (all.saturating_sub(firsts), firsts),
            Forms::Hashes => (all, 0),
        }
    }

    /// The scripts, each once or a few times.
    pub(in crate::connector) fn scripts(&self) -> impl Iterator<Item = &Script> {
        self.firsts.iter().map(|first| &first.script)
    }

    /// The form of each call, ready to be encoded, and where it goes in the text.
    pub(in crate::connector) fn heads(
        &self,
        forms: Forms,
    ) -> impl Iterator<Item = (usize, Head<'_>)> {
        self.calls.iter().filter_map(move |call| {
            let first = self.firsts.get(call.first)?;
            let form = match forms {
                Forms::Apart => Form::Source,
                Forms::Atomic if first.place == call.place => Form::Source,
                Forms::Atomic | Forms::Hashes => Form::Hash,
            };
            Some((call.at, Head { script: &first.script, form, args: call.args }))
        })
    }

    /// The script of each call that did not run for want of it.
    pub(in crate::connector) fn missing(&self, replies: &[Reply]) -> impl Iterator<Item = &Script> {
        self.calls.iter().filter_map(|call| {
            replies.get(call.place).filter(|reply| found_none(reply))?;
            self.firsts.get(call.first).map(|first| &first.script)
        })
    }

    /// Gives the calls of a source that cannot be compiled one answer, sent as [`Forms::Atomic`]:
    /// those behind the first found no script, for the reason that the first was told.
    pub(in crate::connector) fn settle(&self, replies: &mut [Reply]) {
        for call in &self.calls {
            let first = self.firsts.get(call.first).and_then(|first| replies.get(first.place));
            let Some(reason) = first.filter(|first| first.is_error()).cloned() else { continue };
            if let Some(reply) = replies.get_mut(call.place).filter(|reply| found_none(reply)) {
                *reply = reason;
            }
        }
    }
}

fn found_none(reply: &Reply) -> bool {
    reply.as_error().is_some_and(|error| is_missing(&error))
}

/// What a call begins with, up to and with the script.
#[derive(Debug, Clone, Copy)]
pub(in crate::connector) struct Head<'c> {
    script: &'c Script,
    form: Form,
    args: usize,
}

impl Head<'_> {
    pub(in crate::connector) fn encode<S: Sink>(self, sink: &mut S) {
        encode_head(self.script, self.form, self.args, sink);
    }

    /// How many bytes it encodes to.
    pub(in crate::connector) fn encoded_len(self) -> usize {
        let Self { script, form, args } = self;
        let script_len = match form {
            Form::Hash => script.hash().len(),
            Form::Source => script.source().len(),
        };
        let name = form.command(script.is_read_only());
        [1, digits(args.saturating_add(1)), bulk(name.len()), bulk(script_len)]
            .into_iter()
            .fold(0, usize::saturating_add)
    }
}

/// The length of a bulk string of this length, with what separates it from the one before.
fn bulk(len: usize) -> usize {
    digits(len).saturating_add(len).saturating_add(b"\r\n$\r\n".len())
}

fn digits(number: usize) -> usize {
    number.checked_ilog10().map_or(1, |more| more.saturating_add(1) as usize)
}
