//! The floor: a socket, a request made before, and a count of the replies that come. One task only.

use std::sync::Arc;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpStream, UnixStream},
    sync::Mutex,
};

use super::{
    peer::Peer,
    place::{PORT, Place, Way},
};

#[derive(Clone)]
pub struct Raw(Arc<Mutex<Loop>>);

struct Loop {
    stream: Stream,
    request: Vec<u8>,
    asks: usize,
    read: Vec<u8>,
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Loop {
    /// Sends `count` GETs and reads until as many replies came.
    async fn gets(&mut self, key: &str, count: usize) -> usize {
        if self.asks != count {
            let get = format!("*2\r\n$3\r\nGET\r\n${}\r\n{key}\r\n", key.len());
            (self.request, self.asks) = (get.repeat(count).into_bytes(), count);
        }
        match &mut self.stream {
            Stream::Tcp(stream) => stream.write_all(&self.request).await,
            Stream::Unix(stream) => stream.write_all(&self.request).await,
        }
        .expect("a socket that takes it");
        let (mut counted, mut filled, mut sum) = (0, 0, 0);
        while counted < count {
            let room = &mut self.read[filled..];
            filled += match &mut self.stream {
                Stream::Tcp(stream) => stream.read(room).await,
                Stream::Unix(stream) => stream.read(room).await,
            }
            .expect("a reply");
            let mut rest = &self.read[..filled];
            while let Some((len, behind)) = bulk(rest) {
                (counted, sum, rest) = (counted + 1, sum + len, behind);
            }
            let (from, left) = (filled - rest.len(), rest.len());
            self.read.copy_within(from..filled, 0);
            filled = left;
        }
        sum
    }
}

/// The length of the bulk string at the head, and what is behind it.
fn bulk(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let line = memchr::memchr(b'\n', bytes)?;
    let digits = &bytes[1..line - 1];
    let len = digits.iter().fold(0, |len, digit| len * 10 + usize::from(digit - b'0'));
    Some((len, bytes.get(line + 1 + len + 2..)?))
}

impl Peer for Raw {
    const NAME: &'static str = "raw loop (floor)";

    async fn connect(place: &Place) -> Self {
        let stream = match place.way {
            Way::Tcp => {
                let stream = TcpStream::connect(("127.0.0.1", PORT)).await.expect("a server");
                stream.set_nodelay(true).expect("a TCP socket");
                Stream::Tcp(stream)
            }
            Way::Unix => Stream::Unix(UnixStream::connect(&place.socket).await.expect("a server")),
        };
        let read = vec![0; 64 * 1024];
        Self(Arc::new(Mutex::new(Loop { stream, request: Vec::new(), asks: 0, read })))
    }

    async fn get(&self, key: &str) -> usize {
        self.0.lock().await.gets(key, 1).await
    }

    async fn set(&self, _key: &str, _value: &[u8]) {
        unreachable!("it only reads")
    }

    async fn gets(&self, key: &str, count: usize) -> usize {
        self.0.lock().await.gets(key, count).await
    }

    async fn call(&self, _keys: &[&str; 3], _args: &[&str; 8]) -> i64 {
        unreachable!("it only reads")
    }
}
