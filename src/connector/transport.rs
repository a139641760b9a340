//! The socket itself: dialled over TCP or a Unix socket, or brought along.

use std::{
    fmt, io,
    net::SocketAddr,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use socket2::{SockRef, TcpKeepalive};
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Instant, timeout},
};

use super::{Config, endpoint::Endpoint};

/// A socket that is not fenced yet, or the one inside a connection that is.
pub(super) enum Transport {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
    /// A stream of the caller's own, or TLS on one of these.
    Own(Box<dyn Duplex>),
}

/// What a stream of one's own has to be.
pub(super) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Duplex for S {}

impl Transport {
    /// Resolves the name, tries each of its addresses in turn, and gives the first that answers.
    /// Ends by itself soon after `deadline`, which the caller enforces to the point.
    pub(super) async fn dial(config: &Config, deadline: Instant) -> io::Result<Self> {
        match &config.endpoint {
            Endpoint::Tcp { host, port } => {
                let addresses = config.resolver.resolve(host, *port).await?;
                let stream = dial_any(&addresses, deadline).await?;
                tune(&stream, config.tcp_timeout)?;
                Ok(Self::Tcp(stream))
            }
            #[cfg(unix)]
            Endpoint::Unix(path) => Ok(Self::Unix(UnixStream::connect(path).await?)),
            #[cfg(not(unix))]
            Endpoint::Unix(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

/// Each address gets its share of the time that is left, so that one which swallows packets cannot
/// use up the turn of the next.
async fn dial_any(addresses: &[SocketAddr], deadline: Instant) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for (tried, address) in addresses.iter().enumerate() {
        let left = u32::try_from(addresses.len().saturating_sub(tried)).unwrap_or(u32::MAX);
        let share = deadline.saturating_duration_since(Instant::now()).checked_div(left);
        match timeout(share.unwrap_or_default(), TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = error,
            Err(_elapsed) => last = io::ErrorKind::TimedOut.into(),
        }
    }
    Err(last)
}

/// No waiting for more to send, and a dead path is found out: an idle one by keepalive, one with
/// data on its way by `TCP_USER_TIMEOUT`, where the platform has it.
fn tune(stream: &TcpStream, within: Option<Duration>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let Some(within) = within else { return Ok(()) };
    let socket = SockRef::from(stream);
    // Half the time in silence, then probes over the other half; the system counts in seconds.
    let pause = Duration::from_secs((within.as_secs() / 2).max(1));
    let keepalive = TcpKeepalive::new().with_time(pause);
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple", windows))]
    let keepalive = keepalive.with_interval(Duration::from_secs((pause.as_secs() / 3).max(1)));
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    let keepalive = keepalive.with_retries(3);
    socket.set_tcp_keepalive(&keepalive)?;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    socket.set_tcp_user_timeout(Some(within))?;
    Ok(())
}

impl AsyncRead for Transport {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(cx, buf),
            #[cfg(unix)]
            Self::Unix(stream) => Pin::new(stream).poll_read(cx, buf),
            Self::Own(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Transport {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write(cx, bytes),
            #[cfg(unix)]
            Self::Unix(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Own(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            #[cfg(unix)]
            Self::Unix(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            Self::Own(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Tcp(stream) => stream.is_write_vectored(),
            #[cfg(unix)]
            Self::Unix(stream) => stream.is_write_vectored(),
            Self::Own(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_flush(cx),
            #[cfg(unix)]
            Self::Unix(stream) => Pin::new(stream).poll_flush(cx),
            Self::Own(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            #[cfg(unix)]
            Self::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Own(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tcp(_) => "Transport(TCP)",
            #[cfg(unix)]
            Self::Unix(_) => "Transport(Unix)",
            Self::Own(_) => "Transport(own)",
        })
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn a_dialled_socket_does_not_wait_for_more_and_finds_out_a_dead_peer() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        for within in [Some(Duration::from_secs(12)), None] {
            let config = Config::tcp("127.0.0.1", port).tcp_timeout(within).unwrap();
            let deadline = Instant::now() + Duration::from_secs(60);
            let Ok(Transport::Tcp(stream)) = Transport::dial(&config, deadline).await else {
                panic!("nobody listens at {port}")
            };
            assert!(stream.nodelay().unwrap());
            let socket = SockRef::from(&stream);
            assert_eq!(socket.keepalive().unwrap(), within.is_some());
            #[cfg(any(target_os = "linux", target_os = "android"))]
            {
                assert_eq!(socket.tcp_user_timeout().unwrap(), within);
                if within.is_some() {
                    assert_eq!(socket.tcp_keepalive_time().unwrap(), Duration::from_secs(6));
                    assert_eq!(socket.tcp_keepalive_interval().unwrap(), Duration::from_secs(2));
                    assert_eq!(socket.tcp_keepalive_retries().unwrap(), 3);
                }
            }
        }
    }
}
