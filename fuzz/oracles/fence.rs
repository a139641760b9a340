//! Any answers to the connect sequence, in any pieces: it comes to an end, nobody passes who was not
//! shown our identity, and nothing is written but `SET … NX` of our wire, once a round.
//!
//! The input's first byte chooses the config, its second the size of the pieces; the rest is what
//! the server says, with a byte FE before that which it says to the next flight.

use std::{
    cell::RefCell,
    io,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    vec,
};

use echo_wire::{
    connector::{Config, Connection, Error, Found, Passage, WIRE_VERSION},
    resp::{Decoder, Limits, Protocol},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    runtime::{Builder, Runtime},
};

thread_local! {
    static RUNTIME: RefCell<Runtime> =
        RefCell::new(Builder::new_current_thread().enable_time().build().unwrap());
}

/// In an input: what follows is said to the next flight.
const NEXT_FLIGHT: u8 = 0xFE;

pub(crate) fn check(input: &[u8]) {
    let [choice, piece, says @ ..] = input else { return };
    let may_claim = choice & 4 == 0;
    let written = Arc::new(Mutex::new(Vec::new()));
    let flights: Vec<Vec<u8>> =
        says.split(|byte| *byte == NEXT_FLIGHT).map(<[u8]>::to_vec).collect();
    let server = Server {
        flights: flights.into_iter(),
        saying: Vec::new().into_iter(),
        piece: usize::from(*piece).max(1),
        is_asked: false,
        silences: 0,
        written: Arc::clone(&written),
    };
    let result =
        RUNTIME.with_borrow(|runtime| runtime.block_on(Connection::over(server, &config(*choice))));

    let claims = claims(&written.lock().unwrap());
    assert!(claims <= if may_claim { 3 } else { 0 });
    match result {
        Ok(connection) => {
            let shown =
                says.windows(WIRE_VERSION.len()).any(|said| said == WIRE_VERSION.as_bytes());
            assert!(shown || says.contains(&b';'), "a streamed string may come in pieces");
            assert!(connection.passage() == Passage::Verified || claims > 0);
        }
        Err(error) => {
            assert!(!error.maybe_executed());
            if let Error::VersionFence { got: Found::Value(got) } = &error {
                assert_ne!(got, WIRE_VERSION);
            }
            if let Error::VersionFence { got: Found::Absent } = &error {
                assert_eq!(claims, 3);
            }
        }
    }
}

fn config(choice: u8) -> Config {
    let mut config = Config::tcp("unused", 1).look_for_eviction(choice & 8 == 0);
    if let Some(protocol) =
        [None, Some(Protocol::Resp2), Some(Protocol::Resp3)][usize::from(choice % 4) % 3]
    {
        config = config.protocol(protocol);
    }
    if choice & 16 != 0 {
        config = config.password("pw");
    }
    if choice & 32 != 0 {
        config = config.database(7);
    }
    config.read_from_replica(choice & 4 != 0)
}

/// How many claims were written; anything else must be of the connect sequence, and only look.
fn claims(written: &[u8]) -> usize {
    let mut decoder = Decoder::new(Limits::default());
    decoder.feed(written);
    let mut claims = 0;
    while let Some(command) = decoder.next().unwrap() {
        let words: Vec<String> = command.to().unwrap();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words[..] {
            ["SET", "{emq}:version", WIRE_VERSION, "NX"] => claims += 1,
            ["HELLO", "3", ..] | ["AUTH", ..] | ["SELECT", "7"] | ["CLIENT", "SETINFO", ..] => {}
            ["ROLE"] | ["CONFIG", "GET", "maxmemory-policy"] | ["GET", "{emq}:version"] => {}
            _ => panic!("{words:?}"),
        }
    }
    claims
}

/// Reads in vain, without a word in between, until the server closes.
const PATIENCE: u8 = 8;

/// Answers each flight in pieces. Once it has nothing to say and is asked nothing, it closes.
struct Server {
    flights: vec::IntoIter<Vec<u8>>,
    /// What it has still to say to this flight.
    saying: vec::IntoIter<u8>,
    piece: usize,
    /// Whether anything was written since it last had something to say.
    is_asked: bool,
    /// How often it was read from in vain since then.
    silences: u8,
    written: Arc<Mutex<Vec<u8>>>,
}

impl AsyncRead for Server {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.saying.len() == 0 && std::mem::take(&mut self.is_asked) {
            self.saying = self.flights.next().unwrap_or_default().into_iter();
        }
        if self.saying.len() == 0 && self.silences < PATIENCE {
            self.silences += 1;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let len = self.piece.min(buf.remaining());
        buf.put_slice(&self.saying.by_ref().take(len).collect::<Vec<u8>>());
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Server {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        (self.is_asked, self.silences) = (true, 0);
        self.written.lock().unwrap().extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
