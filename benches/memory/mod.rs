//! A server in memory, and a connector to it: what a link costs without the kernel's part.

use std::{sync::LazyLock, time::Duration};

use echo_wire::{
    connector::{Config, Connector, Policy},
    resp::Command,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

pub(crate) const KEY: &str = "emq:{mail}:job:12345";
const REPLY: &str = "$64\r\nvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv\r\n";
/// HELLO, the client's name and library, and the fence's GET, in one flight.
const BOOTED: &str = "%1\r\n+role\r\n+master\r\n+OK\r\n+OK\r\n_\r\n$12\r\nechomq:2.0.0\r\n";
const ROOM: usize = 1 << 20;

/// The one command that this server knows.
pub(crate) fn get() -> Command<'static> {
    Command::new("GET").arg(KEY)
}

static REPLIES: LazyLock<String> = LazyLock::new(|| REPLY.repeat(4096));

pub(crate) async fn connect() -> Connector {
    let dial = || async {
        let (ours, theirs) = tokio::io::duplex(ROOM);
        tokio::spawn(serve(theirs));
        Ok(ours)
    };
    // No heartbeat while it runs, however slow it is made by who counts: this server knows one command.
    let policy = Policy { heartbeat: Duration::from_secs(86_400), ..Policy::default() };
    let config = Config::tcp("in.memory", 6379).policy(policy);
    Connector::over(dial, config).await.expect("a passed fence")
}

/// Answers each GET, which it knows by its length alone.
async fn serve(mut socket: impl AsyncRead + AsyncWrite + Unpin) {
    let mut encoded = bytes::BytesMut::new();
    get().encode(&mut encoded);
    let mut read = vec![0; ROOM];
    let mut came = socket.read(&mut read).await.unwrap_or(0);
    let mut answers = socket.write_all(BOOTED.as_bytes()).await;
    let mut left = 0;
    while came > 0 && answers.is_ok() {
        came = socket.read(&mut read).await.unwrap_or(0);
        left += came;
        let whole = left / encoded.len();
        left %= encoded.len();
        answers = socket.write_all(&REPLIES.as_bytes()[..whole * REPLY.len()]).await;
    }
}
