//! Where a connector's sockets come from: the config's endpoint, or streams of one's own.

use std::{fmt, future::Future, io, pin::Pin};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::Instant,
};

use super::{Config, transport::Transport};

pub(super) enum Dialer {
    Endpoint,
    Own(Box<dyn Fn() -> Dialling + Send + Sync>),
}

type Dialling = Pin<Box<dyn Future<Output = io::Result<Transport>> + Send>>;

impl Dialer {
    /// Streams that `dial` makes, a new one for every attempt to connect.
    pub(super) fn own<F, D, S>(dial: F) -> Self
    where
        F: Fn() -> D + Send + Sync + 'static,
        D: Future<Output = io::Result<S>> + Send + 'static,
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        Self::Own(Box::new(move || {
            let dialling = dial();
            Box::pin(async move { Ok(Transport::Own(Box::new(dialling.await?))) })
        }))
    }

    /// A new socket. Ends by itself soon after `deadline`, which the caller enforces.
    pub(super) async fn dial(&self, config: &Config, deadline: Instant) -> io::Result<Transport> {
        match self {
            Self::Endpoint => Transport::dial(config, deadline).await,
            Self::Own(dial) => dial().await,
        }
    }
}

impl fmt::Debug for Dialer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Endpoint => "Dialer(endpoint)",
            Self::Own(_) => "Dialer(own)",
        })
    }
}
