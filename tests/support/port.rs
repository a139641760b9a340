//! A loopback port number that stays ours while its server is down.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    process,
    sync::atomic::{AtomicU32, Ordering},
};

use socket2::{Domain, Socket, Type};

/// A claim on a TCP port of 127.0.0.1, until dropped.
///
/// The claim is a UDP socket on the same number: tests in this and in other processes see it, a
/// server still can listen there over TCP, and the kernel frees it however the process ends.
/// The numbers lie below the range the kernel hands to outgoing connections. There a client
/// that redials a dead port can be given that very port and so connect to itself.
#[derive(Debug)]
pub struct Port {
    number: u16,
    _claim: UdpSocket,
}

impl Port {
    /// Claims a port on which nothing listens. Its number plus 10,000 (a cluster's bus) is
    /// outside the claimed range too.
    pub fn claim() -> Self {
        static TURN: AtomicU32 = AtomicU32::new(0);
        for _ in 0..SPAN {
            // Processes begin apart, so they rarely try the same number.
            let turn = TURN.fetch_add(1, Ordering::Relaxed);
            let place = process::id().wrapping_mul(97).wrapping_add(turn) % SPAN;
            let number = FIRST + u16::try_from(place).unwrap();
            let Ok(claim) = UdpSocket::bind((Ipv4Addr::LOCALHOST, number)) else { continue };
            if is_free(number) {
                return Self { number, _claim: claim };
            }
        }
        panic!("no free port from {FIRST} on");
    }

    pub fn number(&self) -> u16 {
        self.number
    }
}

/// Whether one could listen on this port. To find out, this does not listen itself: a child that
/// is just being spawned holds all our sockets for a moment longer than we do.
fn is_free(number: u16) -> bool {
    let bind = || -> io::Result<()> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        socket.set_reuse_address(true)?;
        socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, number)).into())
    };
    bind().is_ok()
}

const FIRST: u16 = 10_000;
const SPAN: u32 = 10_000;
