//! `echo-wire fence`: one connection through the fence, and how it went.

mod history;
mod tap;
mod told;

use std::{future::Future, io, time::Duration};

use echo_wire::connector::{Cause, Config, Connection, Endpoint, Error, Step};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::timeout,
};

use self::{
    tap::{Notes, Tap},
    told::Told,
};
use crate::{
    arguments::Fence,
    exit::{Exit, Stop},
    paint::Paint,
};

/// For the dial, where the command line names no time.
const DIAL: Duration = Duration::from_secs(5);

pub(crate) async fn run(asked: &Fence, json: bool, paint: Paint) -> Result<Exit, Stop> {
    let config = if asked.dry_run { asked.place.looking()? } else { asked.place.config()? };
    let notes = Notes::default();
    let (result, heard) = pass(asked, &config, &notes).await;
    let steps = history::steps(notes.take());
    let told = Told::new(asked, &config, result, heard, steps);
    let mut out = io::stdout().lock();
    match json {
        true => told.json(&mut out)?,
        false => told.text(&mut out, paint)?,
    }
    Ok(told.exit())
}

/// Over a stream that is dialled here, so that it can be listened to. What cannot be (TLS), or has
/// to be dialled again in RESP2, is the crate's own connect, without a history.
async fn pass(asked: &Fence, config: &Config, notes: &Notes) -> (Result<Connection, Error>, Heard) {
    let unheard = async || (Connection::connect(config).await, Heard::InPart);
    let scheme = asked.place.url.split(':').next().unwrap_or_default().to_ascii_lowercase();
    let within = asked.place.timeout.unwrap_or(DIAL);
    let result = match config.endpoint() {
        _ if scheme == "rediss" || scheme == "valkeys" => return unheard().await,
        Endpoint::Tcp { host, port } => {
            let dial = tokio::net::TcpStream::connect((host.as_str(), *port));
            over(dial, within, config, notes).await
        }
        #[cfg(unix)]
        Endpoint::Unix(path) => {
            over(tokio::net::UnixStream::connect(path), within, config, notes).await
        }
        _ => return unheard().await,
    };
    match result {
        Err(Error::NotReady { step: Step::Hello, cause: Cause::Closed | Cause::Io(_) }) => {
            unheard().await
        }
        result => (result, Heard::Whole),
    }
}

/// How much of what passed is in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heard {
    Whole,
    InPart,
}

async fn over<S>(
    dial: impl Future<Output = io::Result<S>>,
    within: Duration,
    config: &Config,
    notes: &Notes,
) -> Result<Connection, Error>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let step = Step::Dial;
    let stream = match timeout(within, dial).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return Err(Error::NotReady { step, cause: error.into() }),
        Err(_elapsed) => return Err(Error::NotReady { step, cause: Cause::Deadline }),
    };
    Connection::over(Tap::new(stream, notes.clone()), config).await
}
