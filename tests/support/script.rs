//! A scripted peer: one connection whose server side the test plays, word by word.
//!
//! Every step panics when the dialogue goes another way, so run it in a task that is awaited:
//!
//! ```ignore
//! let (stream, mut peer) = Script::memory();
//! let script = tokio::spawn(async move {
//!     peer.pass(WIRE_VERSION).await;
//!     peer.expect_command(&["GET", "k"]).await;
//!     peer.send_split("$5\r\nhello\r\n", &[1, 7]).await;
//!     peer // or peer.close(), peer.reset()
//! });
//! let connection = Connection::over(stream, &config).await?;
//! …
//! script.await.unwrap();
//! ```

use std::{fs, future::pending, io, net::SocketAddr};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
};

use super::{
    close::{close, reset},
    dialogue::{boot_answer, command_at_head, encoded},
    memory::{MemoryPeer, MemoryStream, memory},
    wait::{bounded, until},
};

/// The server's side of one connection. It reads only when a step asks for bytes.
#[derive(Debug)]
pub struct Script {
    stream: Stream,
    sent: u64,
    /// All that was read, …
    received: Vec<u8>,
    /// … of which this much has been looked at by a step.
    /// 0 <= used <= received.len()
    used: usize,
}

#[derive(Debug)]
enum Stream {
    Tcp(TcpStream),
    Memory(MemoryPeer),
}

impl Script {
    /// A connection in memory: the stream for the client, and the script of its server.
    pub fn memory() -> (MemoryStream, Self) {
        Self::memory_of(1 << 16)
    }

    /// As `memory`, with at most `capacity` unread bytes in each direction. With 1 the client
    /// reads every byte alone.
    pub fn memory_of(capacity: usize) -> (MemoryStream, Self) {
        let (stream, peer) = memory(capacity);
        (stream, Self::new(Stream::Memory(peer)))
    }

    pub(super) fn tcp(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        Self::new(Stream::Tcp(stream))
    }

    fn new(stream: Stream) -> Self {
        Self { stream, sent: 0, received: Vec::new(), used: 0 }
    }

    /// The next bytes must be these; differing ones panic as soon as they are there.
    pub async fn expect(&mut self, bytes: impl AsRef<[u8]>) {
        let wanted = bytes.as_ref();
        loop {
            let came = &self.received[self.used..];
            let known = came.len().min(wanted.len());
            assert!(
                came[..known] == wanted[..known],
                "expected {}, received {}",
                wanted.escape_ascii(),
                came.escape_ascii()
            );
            if known == wanted.len() {
                self.used += known;
                return;
            }
            let more = self.read("the bytes expected").await;
            assert!(more, "closed before {} came", wanted[known..].escape_ascii());
        }
    }

    /// The next command must be this, encoded as an array of bulk strings.
    pub async fn expect_command<A: AsRef<[u8]>>(&mut self, words: &[A]) {
        self.expect(encoded(words)).await;
    }

    /// The next command, whatever it is; bytes that are no UTF-8 are replaced.
    pub async fn command(&mut self) -> Vec<String> {
        self.command_or_close().await.expect("a command before the close")
    }

    /// The next command; `None` once the client has closed (or reset) between two commands.
    pub async fn command_or_close(&mut self) -> Option<Vec<String>> {
        loop {
            if let Some((words, len)) = command_at_head(&self.received[self.used..]) {
                self.used += len;
                return Some(words);
            }
            if !self.read("a command").await {
                let rest = &self.received[self.used..];
                assert!(rest.is_empty(), "closed within a command: {}", rest.escape_ascii());
                return None;
            }
        }
    }

    /// Answers the connect sequence as a primary would, up to and with the fence's GET, for which
    /// it has `version`. The commands that came.
    pub async fn pass(&mut self, version: &str) -> Vec<Vec<String>> {
        let mut commands = Vec::<Vec<String>>::new();
        while commands.last().is_none_or(|last| last[0] != "GET") {
            commands.push(self.command().await);
            let (first, last) = (&commands[0], &commands[commands.len() - 1]);
            self.send(boot_answer(last, first[0] == "HELLO", version)).await;
        }
        commands
    }

    /// Sends bytes as they are. A client that has closed is no fault of the script's.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        let stream = self.stream.both();
        let written = bounded("the client reads", async {
            stream.write_all(bytes).await?;
            stream.flush().await
        });
        if written.await.is_ok() {
            self.sent += u64::try_from(bytes.len()).unwrap();
        }
    }

    /// Sends bytes in pieces that end at these offsets; the client has read one before the next
    /// is sent.
    pub async fn send_split(&mut self, bytes: impl AsRef<[u8]>, cuts: &[usize]) {
        let bytes = bytes.as_ref();
        let mut start = 0;
        for &cut in cuts {
            self.send(&bytes[start..cut]).await;
            self.taken().await;
            start = cut;
        }
        self.send(&bytes[start..]).await;
    }

    /// Waits until the client has read all that was sent (or is gone). Over TCP the kernel is
    /// asked, where it can be.
    pub async fn taken(&mut self) {
        match &mut self.stream {
            Stream::Memory(peer) => {
                let sent = self.sent;
                let all_read = peer.bytes_read.wait_for(|read| *read >= sent);
                let _ = bounded("the client reads what was sent", all_read).await;
            }
            Stream::Tcp(stream) => {
                let (Ok(ours), Ok(theirs)) = (stream.local_addr(), stream.peer_addr()) else {
                    return;
                };
                until("the client reads what was sent", || unread_by(theirs, ours) == 0).await;
            }
        }
    }

    /// All bytes that were read so far, from the first on.
    pub fn received(&self) -> &[u8] {
        &self.received
    }

    /// Reads until the client closes or resets; what came that no step has looked at.
    pub async fn read_to_close(&mut self) -> Vec<u8> {
        while self.read("the client's close").await {}
        self.received[std::mem::replace(&mut self.used, self.received.len())..].to_vec()
    }

    /// The client must close, and send nothing before that.
    pub async fn expect_close(&mut self) {
        let rest = self.read_to_close().await;
        assert!(rest.is_empty(), "before its close the client sent {}", rest.escape_ascii());
    }

    /// Holds the connection, reads nothing and says nothing, for ever: abort the task to end it.
    pub async fn stall(self) {
        pending::<()>().await;
    }

    /// Says that nothing more comes, and can go on reading.
    pub async fn finish(&mut self) {
        let _ = self.stream.both().shutdown().await;
    }

    /// Closes in order, whatever the client has sent: it meets the end of the stream.
    pub fn close(self) {
        match self.stream {
            Stream::Tcp(stream) => close(stream),
            Stream::Memory(peer) => drop(peer),
        }
    }

    /// Closes with a reset.
    pub fn reset(self) {
        match self.stream {
            Stream::Tcp(stream) => reset(stream),
            Stream::Memory(peer) => peer.reset(),
        }
    }

    /// Reads some bytes; `false` once the client has closed or reset.
    async fn read(&mut self, what: &str) -> bool {
        let read = self.stream.both().read_buf(&mut self.received);
        match bounded(what, read).await {
            Ok(read) => read > 0,
            Err(error) => {
                let gone = [io::ErrorKind::ConnectionReset, io::ErrorKind::BrokenPipe];
                assert!(gone.contains(&error.kind()), "{what}: {error}");
                false
            }
        }
    }
}

trait ReadWrite: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> ReadWrite for S {}

impl Stream {
    fn both(&mut self) -> &mut dyn ReadWrite {
        match self {
            Self::Tcp(stream) => stream,
            Self::Memory(peer) => &mut peer.stream,
        }
    }
}

/// How many bytes lie in the receive buffer of the socket at `reader`, connected to `writer`.
fn unread_by(reader: SocketAddr, writer: SocketAddr) -> u64 {
    let (SocketAddr::V4(reader), SocketAddr::V4(writer)) = (reader, writer) else { return 0 };
    let [reader, writer] = [reader, writer]
        .map(|at| format!("{:08X}:{:04X}", u32::from_ne_bytes(at.ip().octets()), at.port()));
    // One socket a line: number, local address, remote address, state, sending:unread, …
    let sockets = fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let mut sockets = sockets.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let queues = sockets
        .find(|line| line.get(1) == Some(&&*reader) && line.get(2) == Some(&&*writer))
        .and_then(|line| line.get(4).map(ToString::to_string));
    let unread = queues.as_deref().and_then(|queues| queues.split_once(':'));
    unread.and_then(|(_, unread)| u64::from_str_radix(unread, 16).ok()).unwrap_or(0)
}
