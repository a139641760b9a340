//! A pipeline that is not answered.
//!
//! ```text
//!  sent                    a server that is silent      one that refuses CLIENT REPLY
//!  CLIENT REPLY OFF                                     -NOPERM …
//!  N commands                                           N replies
//!  CLIENT REPLY ON         +OK                          -NOPERM …
//! ```
//!
//! Source: Valkey's page "CLIENT REPLY".

use bytes::BytesMut;
use tokio::time::{Instant, timeout_at};

use super::{
    super::{Connector, Error, Pipeline, deadline::after, inbox::End, lifecycle::unless_stopped},
    dial::dial,
    exchange::Exchange,
};
use crate::resp::{Command, Reply};

impl Connector {
    /// Runs a pipeline whose replies the server keeps to itself, between CLIENT REPLY OFF and ON,
    /// on a connection that is made for it and closed after it: nobody else's replies can be
    /// touched. For many commands whose replies nobody wants. An error of one of them is never
    /// seen.
    ///
    /// `true`: every command was received and run, in order; the server's `+OK` to ON says so, or,
    /// where it refused CLIENT REPLY, all replies of all commands, which were read and dropped.
    /// `false`: that could not be known within
    /// [`Policy::response_timeout`](super::super::Policy::response_timeout), and the connection was
    /// closed; any of them may have run.
    ///
    /// Fails with [`Error::Refused`] for what a shared connection cannot take, as
    /// [`dedicated`](Self::dedicated) does while it connects (nothing was sent then), and with
    /// [`Error::Disconnected`] or [`Error::Protocol`] when the connection is lost. A dropped future
    /// closes it; any of the commands may have run.
    pub async fn noreply_pipeline(&self, pipeline: &Pipeline) -> Result<bool, Error> {
        if let Some(refusal) = pipeline.refusal() {
            return Err(refusal.into());
        }
        if pipeline.is_empty() {
            return Ok(true);
        }
        let line = dial(self).await?;
        let _entered = self.handle().shared.hold();
        let mut exchange = Exchange::new(line, encoded(pipeline), 1);
        let deadline = after(Instant::now(), self.policy().response_timeout);
        let heard = hear(&mut exchange, pipeline.len(), deadline);
        let end = unless_stopped(&self.handle().shared, timeout_at(deadline, heard)).await;
        let maybe_executed = exchange.has_sent();
        match end {
            Ok(Ok(Ok(()))) => Ok(all_ran(exchange.replies(), pipeline.len())),
            Ok(Ok(Err(End::Violation(violation)))) => {
                Err(Error::Protocol { violation, maybe_executed })
            }
            Ok(Ok(Err(End::Closed(_) | End::Failed(_)))) => {
                Err(Error::Disconnected { maybe_executed })
            }
            Ok(Err(_elapsed)) => Ok(false),
            Err(_why) if maybe_executed => Err(Error::Disconnected { maybe_executed }),
            Err(why) => Err(why),
        }
    }
}

fn encoded(pipeline: &Pipeline) -> BytesMut {
    let reply = || Command::new("CLIENT").arg("REPLY");
    let mut out = BytesMut::with_capacity(pipeline.encoded_len().saturating_add(96));
    reply().arg("OFF").encode(&mut out);
    pipeline.encode(&mut out);
    reply().arg("ON").encode(&mut out);
    out
}

/// Reads all that comes back.
async fn hear(exchange: &mut Exchange, commands: usize, deadline: Instant) -> Result<(), End> {
    exchange.done().await?;
    let refused = exchange.replies().first().is_some_and(Reply::is_error);
    exchange.expect(commands.saturating_add(1));
    if refused {
        return exchange.done().await;
    }
    // The answer to ON, or so it seems: a peer that said OK to OFF as well goes on answering. What
    // it has to say comes before its end.
    exchange.end_sending().await;
    drop(timeout_at(deadline, exchange.done()).await);
    Ok(())
}

/// Whether these are all the replies there can be: one, to ON, of a server that kept the others to
/// itself, or every one.
fn all_ran(replies: &[Reply], commands: usize) -> bool {
    match replies {
        [on] => !on.is_error() && on.value().text() == Some(b"OK"),
        all => all.len() == commands.saturating_add(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resp::{Decoder, Limits};

    #[test]
    fn one_ok_or_every_reply_is_all_and_nothing_else_is() {
        let replies = |wire: &str| -> Vec<Reply> {
            let mut decoder = Decoder::new(Limits::default());
            decoder.feed(wire.as_bytes());
            std::iter::from_fn(|| decoder.next().unwrap()).collect()
        };
        assert!(all_ran(&replies("+OK\r\n"), 2));
        assert!(all_ran(&replies("-NOPERM no\r\n:1\r\n-ERR x\r\n-NOPERM no\r\n"), 2));
        assert!(all_ran(&replies("+OK\r\n:1\r\n:2\r\n+OK\r\n"), 2), "OFF was not meant");
        for some in
            ["", "-ERR no\r\n", ":1\r\n", "+QUEUED\r\n", "+OK\r\n:1\r\n", "+OK\r\n:1\r\n:2\r\n"]
        {
            assert!(!all_ran(&replies(some), 2), "{some:?}");
        }
    }
}
