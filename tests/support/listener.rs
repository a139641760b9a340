//! A fake server: a listening socket whose connections are scripts.

use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::{TcpListener, TcpSocket};

use super::{close::stop_listening, port::Port, script::Script, wait::bounded};

/// Listens on a port of its own, which it keeps while it is closed.
#[derive(Debug)]
pub struct Listener {
    port: Port,
    listener: Option<TcpListener>,
    receive_buffer: Option<u32>,
}

impl Listener {
    /// Begins to listen. Needs a tokio runtime, as all here does.
    pub fn open() -> Self {
        let mut listener = Self { port: Port::claim(), listener: None, receive_buffer: None };
        listener.reopen();
        listener
    }

    /// As `open`, with a receive buffer of about so many bytes: a client soon cannot write on.
    pub fn with_receive_buffer(bytes: u32) -> Self {
        let mut listener =
            Self { port: Port::claim(), listener: None, receive_buffer: Some(bytes) };
        listener.reopen();
        listener
    }

    pub fn port(&self) -> u16 {
        self.port.number()
    }

    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port())
    }

    /// `redis://127.0.0.1:port`
    pub fn url(&self) -> String {
        format!("redis://{}", self.address())
    }

    /// The next connection. A client's connect succeeds before this, as with any server.
    pub async fn accept(&self) -> Script {
        let listener = self.listener.as_ref().expect("it listens");
        let (stream, _) = bounded("a client connects", listener.accept()).await.unwrap();
        Script::tcp(stream)
    }

    /// From now on connections are refused; accepted ones stay.
    pub fn close(&mut self) {
        self.listener.take().into_iter().for_each(stop_listening);
    }

    /// Listens again, on the same port.
    pub fn reopen(&mut self) {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        if let Some(bytes) = self.receive_buffer {
            // Accepted sockets inherit it.
            socket.set_recv_buffer_size(bytes).unwrap();
        }
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port()));
        socket.bind(address).expect("the claimed port is free");
        self.listener = Some(socket.listen(1024).unwrap());
    }
}
