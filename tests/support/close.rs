//! The ways a TCP socket ends: in order, with a reset, at once.
//!
//! A child that is just being spawned (a server, by a test in parallel) holds all our sockets
//! until it has become its program, and what it holds is not closed yet. So an end that must be
//! seen at once is said, not left to the drop.

use std::{net::Shutdown, time::Duration};

use socket2::SockRef;
use tokio::net::{TcpListener, TcpStream};

/// Closes so that the peer meets an end of stream: with bytes unread it would be a reset.
pub(super) fn close(stream: TcpStream) {
    let _ = SockRef::from(&stream).shutdown(Shutdown::Write);
    let mut unread = [0; 4096];
    while stream.try_read(&mut unread).is_ok_and(|read| read > 0) {}
}

/// Closes so that the peer meets a reset.
pub(super) fn reset(stream: TcpStream) {
    SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
}

/// Closes: when this returns, connections are refused.
pub(super) fn stop_listening(listener: TcpListener) {
    // The system may say that it was not connected; it stops all the same.
    let _ = SockRef::from(&listener).shutdown(Shutdown::Both);
}
