//! From a config to a fenced socket: dial, TLS, credentials, boot, fence, under one deadline.

use tokio::time::{Instant, timeout_at};

use super::{
    Config,
    boot::{Failure, Fenced, boot},
    cause::Cause,
    deadline::after,
    dialect::{Auth, Dialect},
    dialer::Dialer,
    error::Error,
    observe,
    step::Step,
    tongue,
    transport::Transport,
};
use crate::resp::Protocol;

const RESP2: Dialect = Dialect::Resp2(Auth::UserAndPassword);

/// Dials and takes the socket through boot and the fence.
///
/// A peer that hangs up on HELLO is dialled once more and spoken to in RESP2, within the same
/// deadline; unless it has answered HELLO before.
pub(super) async fn establish(
    config: &Config,
    dialer: &Dialer,
) -> Result<Fenced<Transport>, Error> {
    observe::connect(config, dial_and_come_in(config, dialer)).await
}

async fn dial_and_come_in(config: &Config, dialer: &Dialer) -> Result<Fenced<Transport>, Error> {
    let deadline = deadline(config);
    let dialect = match config.hello.hangs_up(Instant::now()) {
        true if config.protocol.is_none() => RESP2,
        _ => first_dialect(config),
    };
    let fenced = match attempt(config, dialer, dialect, deadline).await {
        Err(Failure::HungUpOnHello(_)) if config.hello.may_not_know() => {
            let fenced = attempt(config, dialer, RESP2, deadline).await;
            if fenced.is_ok() {
                config.hello.hung_up(Instant::now());
            }
            fenced
        }
        result => result,
    };
    match fenced {
        Ok(fenced) => {
            config.hello.met();
            if fenced.protocol() == Protocol::Resp3 {
                config.hello.answered();
            }
            Ok(fenced)
        }
        Err(failure) => Err(tongue::explained(failure.into(), config, dialer, deadline).await),
    }
}

/// Takes a stream of the caller's own through TLS, boot and the fence.
pub(super) async fn establish_over(
    stream: Transport,
    config: &Config,
) -> Result<Fenced<Transport>, Error> {
    let deadline = deadline(config);
    let attempt = async {
        let sock = tongue::secure(stream, config, None, deadline).await?;
        Ok(come_in(sock, config, first_dialect(config), deadline).await?)
    };
    observe::connect(config, attempt).await
}

async fn attempt(
    config: &Config,
    dialer: &Dialer,
    dialect: Dialect,
    deadline: Instant,
) -> Result<Fenced<Transport>, Failure> {
    let step = Step::Dial;
    let sock = match timeout_at(deadline, dialer.dial(config, deadline)).await {
        Ok(Ok(sock)) => sock,
        Ok(Err(error)) => return Err(Error::NotReady { step, cause: error.into() }.into()),
        Err(_elapsed) => return Err(Error::NotReady { step, cause: Cause::Deadline }.into()),
    };
    observe::step(step);
    let sock = tongue::secure(sock, config, Some(dialer), deadline).await?;
    come_in(sock, config, dialect, deadline).await
}

/// Finds out who we are and boots the socket as that.
async fn come_in(
    sock: Transport,
    config: &Config,
    dialect: Dialect,
    deadline: Instant,
) -> Result<Fenced<Transport>, Failure> {
    let not_ready = |cause| Error::NotReady { step: Step::Credentials, cause };
    let credentials = match timeout_at(deadline, config.identity.ask()).await {
        Ok(Ok(credentials)) => credentials,
        Ok(Err(error)) => return Err(not_ready(Cause::Provider(error)).into()),
        Err(_elapsed) => return Err(not_ready(Cause::Deadline).into()),
    };
    if credentials.is_some() {
        observe::step(Step::Credentials);
    }
    match boot(sock, config, credentials, dialect, deadline).await {
        // What a provider gave may have been of yesterday: the next may be right.
        Err(Failure::Verdict(Error::AuthRefused { step, reply }))
            if config.identity.is_provided() =>
        {
            Err(Error::NotReady { step, cause: Cause::Reply(reply) }.into())
        }
        ended => ended,
    }
}

fn first_dialect(config: &Config) -> Dialect {
    if config.protocol == Some(Protocol::Resp2) { RESP2 } else { Dialect::Hello }
}

fn deadline(config: &Config) -> Instant {
    after(Instant::now(), config.connect_timeout)
}
