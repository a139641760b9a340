//! What a server says to a whole connection of the crate, as the inputs of the targets `fence` and
//! `connection` are written.

use std::{
    fs, io,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, ready},
};

use echo_wire::{
    connector::{Config, Connection, Pipeline, WIRE_VERSION},
    resp::{Command, Protocol},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    runtime::Builder,
};

use crate::{fuzz, name, start, support::Flavor};

/// In an input: what follows is said to the next flight.
const NEXT_FLIGHT: u8 = 0xFE;

/// In how the inputs begin: bits of the choice of a config.
const DATABASE: u8 = 32;
const PASSWORD: u8 = 16;

/// Writes the seeds: an empty store, ours, another wire's, and one with a password.
pub(crate) fn capture(flavor: Flavor) {
    for protocol in [Protocol::Resp2, Protocol::Resp3] {
        let generation = if protocol == Protocol::Resp2 { 1 } else { 2 };
        let server = start(flavor);
        let config = Config::from_url(&server.url()).unwrap().protocol(protocol);
        let address = server.address();
        let write = |story: &str, config: &Config, for_fence: u8, for_connection: u8| {
            let said = connect(&address, config);
            let file = name(flavor, protocol, story);
            let seed = |head: [u8; 2]| [&head[..], &said].concat();
            fs::write(fuzz("corpus/fence").join(&file), seed([generation | for_fence, 64]))
                .unwrap();
            let choice = generation << 1 | for_connection;
            fs::write(fuzz("corpus/connection").join(&file), seed([choice, 63])).unwrap();
        };
        server.cli(&["DEL", "{emq}:version"]);
        write("claimed", &config, 0, 0);
        server.cli(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]);
        write("ours", &config, 0, 0);
        server.cli(&["SET", "{emq}:version", "echomq:1.0.0"]);
        write("anothers", &config, 0, 0);
        server.cli(&["SET", "{emq}:version", WIRE_VERSION]);
        server.cli(&["CONFIG", "SET", "requirepass", "pw"]);
        write("no-password", &config, 0, 0);
        write("password", &config.password("pw").database(7), PASSWORD | DATABASE, 8);
    }
}

/// Connects, and calls as the oracle of `connection` does. What was said, flight by flight.
fn connect(address: &str, config: &Config) -> Vec<u8> {
    let said = Arc::new(Mutex::new(Vec::new()));
    Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let stream = TcpStream::connect(address).await.unwrap();
        let recorder = Recorder { stream, has_said: false, said: Arc::clone(&said) };
        let Ok(mut connection) = Connection::over(recorder, config).await else { return };
        let echo = |id: &'static str| Command::new("ECHO").arg(id);
        connection.command(echo("one-a")).await.unwrap();
        let ids = ["one-b", "one-c", "one-d"];
        let batch = ids.into_iter().fold(Pipeline::new(), |batch, id| batch.command(echo(id)));
        drop(connection.pipeline(&batch).await.unwrap().into_vec());
        connection.command(echo("one-e")).await.unwrap();
    });
    let said = said.lock().unwrap().clone();
    assert!(!said.contains(&0xFD), "it would be the mark of the next connection");
    said
}

/// Keeps what is read, with a mark where something was written in between.
struct Recorder {
    stream: TcpStream,
    /// Whether anything was read since the last flight.
    has_said: bool,
    said: Arc<Mutex<Vec<u8>>>,
}

impl AsyncRead for Recorder {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        self.said.lock().unwrap().extend_from_slice(&buf.filled()[before..]);
        self.has_said |= buf.filled().len() > before;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Recorder {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))?;
        if std::mem::take(&mut self.has_said) {
            self.said.lock().unwrap().push(NEXT_FLIGHT);
        }
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
