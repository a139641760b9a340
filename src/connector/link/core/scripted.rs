//! Calls of scripts on their way in: by hash, behind a load, or with the source.

use super::{Answer, Core, Owner, Refusal, Submitted, Turn, count};
use crate::connector::{
    Pipeline,
    scripting::{Form, Forms, Script, ScriptCall},
};

/// One try of a call. Each follows where the one before met a server without the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::connector::link) enum Try {
    /// By hash.
    Hash,
    /// By hash, behind a load: one for all callers who need it.
    Loaded,
    /// With the source: it runs whatever became of the load.
    Source,
}

impl Try {
    pub(in crate::connector::link) const ALL: [Self; 3] = [Self::Hash, Self::Loaded, Self::Source];
}

impl Core {
    /// Queues a call. `sent` says when: see [`missed`](Self::missed).
    pub(in crate::connector::link) fn submit_call(
        &mut self,
        call: &ScriptCall<'_>,
        how: Try,
        sent: &mut Turn,
    ) -> Result<Submitted, Refusal> {
        let answer = Answer::Replies(1);
        self.admits(answer)?;
        match how {
            Try::Hash => self.scripts.used(call.script()),
            Try::Loaded => self.load(call.script()),
            Try::Source => {}
        }
        let (form, counter) = match how {
            Try::Hash | Try::Loaded => (Form::Hash, &mut self.stats.evalsha_calls),
            Try::Source => (Form::Source, &mut self.stats.eval_calls),
        };
        count(counter, 1);
        *sent = self.scripts.turn();
        self.enter(answer, |out| call.encode(form, out))
    }

    /// Queues a batch in which scripts are called; behind their loads, if they go by hash.
    pub(in crate::connector::link) fn submit_batch(
        &mut self,
        replies: u32,
        pipeline: &Pipeline,
        forms: Forms,
        encode: impl FnOnce(&mut super::Outbox),
        sent: &mut Turn,
    ) -> Result<Submitted, Refusal> {
        let answer = Answer::Replies(replies);
        self.admits(answer)?;
        if forms == Forms::Hashes {
            pipeline.calls().scripts().for_each(|script| self.load(script));
        }
        count(&mut self.stats.pipelines, 1);
        let (hashes, sources) = pipeline.calls().count(forms);
        count(&mut self.stats.evalsha_calls, hashes as u64);
        count(&mut self.stats.eval_calls, sources as u64);
        *sent = self.scripts.turn();
        self.enter(answer, encode)
    }

    /// A call that was sent at `sent` found no script.
    pub(in crate::connector::link) fn missed(&mut self, script: &Script, sent: Turn) {
        count(&mut self.stats.noscripts, 1);
        self.scripts.missed(script, sent);
    }

    /// Queues the loads of a new connection.
    pub(in crate::connector::link) fn load_again(&mut self) {
        self.scripts.again().iter().for_each(|script| self.load(script));
    }

    /// Queues SCRIPT LOAD, if this connection has not loaded the script.
    fn load(&mut self, script: &Script) {
        if let Some(turn) = self.scripts.load(script) {
            self.gather(Owner::Load(turn), 1, None, |out| script.encode_load(out));
            self.loading = self.loading.saturating_add(1);
            count(&mut self.stats.script_loads, 1);
        }
    }
}
