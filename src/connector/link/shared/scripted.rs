//! Calls of scripts, by themselves or in a batch, until each has run or failed for good.

use super::{
    super::{core::Try, outbox::Outbox, scripts::Turn, slots::Outcome},
    Core, Shared,
};
use crate::{
    connector::{
        Error, Pipeline, Policy,
        scripting::{Forms, ScriptCall, is_missing},
    },
    resp::Reply,
};

impl Shared {
    /// Sends a call until a server that has the script has answered it.
    pub(in crate::connector) async fn eval(
        &self,
        policy: &Policy,
        call: &ScriptCall<'_>,
    ) -> Result<Reply, Error> {
        let mut reply = Reply::default();
        for how in Try::ALL {
            let mut sent = Turn::default();
            let submit = |core: &mut Core| core.submit_call(call, how, &mut sent);
            reply = self.send(policy, submit).await?.into_reply()?;
            // What a call with its source answers comes from the script itself.
            let missing = reply.as_error().is_some_and(|error| is_missing(&error));
            if how == Try::Source || !missing {
                break;
            }
            self.core().missed(call.script(), sent);
        }
        Ok(reply)
    }

    /// Sends a batch in which scripts are called.
    pub(in crate::connector) async fn batch(
        &self,
        policy: &Policy,
        replies: u32,
        pipeline: &Pipeline,
        forms: Forms,
        encode: impl Fn(&mut Outbox),
    ) -> Result<(Outcome, Turn), Error> {
        let mut sent = Turn::default();
        let submit =
            |core: &mut Core| core.submit_batch(replies, pipeline, forms, &encode, &mut sent);
        let outcome = self.send(policy, submit).await?;
        Ok((outcome, sent))
    }

    /// Calls of this batch, sent at `sent`, may have found no script: the next batch loads it.
    pub(in crate::connector) fn look_for_missed(
        &self,
        pipeline: &Pipeline,
        replies: &[Reply],
        sent: Turn,
    ) {
        for script in pipeline.calls().missing(replies) {
            self.core().missed(script, sent);
        }
    }
}
