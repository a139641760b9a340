//! Closing a TCP connection with a reset.

use std::time::Duration;

use tokio::net::TcpStream;

/// Drops the connection so that the peer meets a reset, not an end of stream.
pub(super) fn reset(stream: TcpStream) {
    #[allow(deprecated, reason = "only a non-zero linger blocks, and its replacement is too new")]
    stream.set_linger(Some(Duration::ZERO)).unwrap();
}
