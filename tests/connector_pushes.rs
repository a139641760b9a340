//! Pushes and attributes among the replies of a shared connection, cut at every byte: none takes a
//! reply's place, whatever its kind.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops where it fails"
)]

mod support;

use std::{io, sync::Mutex};

use echo_wire::{
    connector::{Config, Connector, Delivery},
    resp::Command,
};
use support::{MemoryStream, Script, WIRE};

async fn connect(stream: MemoryStream) -> Connector {
    let stream = Mutex::new(Some(stream));
    let dial = move || {
        let stream = stream.lock().unwrap().take();
        async { stream.ok_or_else(|| io::ErrorKind::ConnectionRefused.into()) }
    };
    Connector::over(dial, Config::tcp("memory", 1)).await.unwrap()
}

const DIALOGUE: &str = concat!(
    ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n",
    "$1\r\na\r\n",
    ">3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n",
    ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$2\r\nhi\r\n",
    ">1\r\n+no such kind\r\n",
    "|1\r\n+ttl\r\n:9\r\n>3\r\n$9\r\nsubscribe\r\n$1\r\nd\r\n:2\r\n",
    "|1\r\n+popularity\r\n,0.5\r\n$1\r\nb\r\n",
    ">3\r\n$12\r\nsunsubscribe\r\n$1\r\nz\r\n:0\r\n",
    "-ERR no\r\n",
    ">0\r\n",
    ":7\r\n",
);

#[tokio::test]
async fn pushes_and_attributes_anywhere_cut_at_every_byte_shift_nothing() {
    for cut in 0..=DIALOGUE.len() {
        let (stream, mut script) = Script::memory();
        let server = tokio::spawn(async move {
            script.pass(WIRE).await;
            for _ in 0..5 {
                script.command().await;
            }
            script.send_split(DIALOGUE, &[cut]).await;
            script
        });
        let connector = connect(stream).await;
        let (a, b) = (Command::new("ECHO").arg("a"), Command::new("ECHO").arg("b"));
        let (a, subscription, b, error, seven) = tokio::join!(
            connector.command(&a),
            connector.subscribe(["c", "d"]),
            connector.command(&b),
            connector.command(Command::new("NOPE")),
            connector.command(Command::new("INCR").arg("n")),
        );
        assert_eq!(a.unwrap().to::<String>().unwrap(), "a", "cut {cut}");
        assert_eq!(b.unwrap().to::<String>().unwrap(), "b", "cut {cut}");
        assert_eq!(error.unwrap_err().to_string(), "ERR no", "cut {cut}");
        assert_eq!(seven.unwrap().to::<i64>().unwrap(), 7, "cut {cut}");
        let Some(Delivery::Message(hi)) = subscription.unwrap().next().await else { panic!() };
        assert_eq!(hi.payload(), b"hi", "cut {cut}");
        let stats = connector.stats();
        assert_eq!((stats.pushes, stats.replies, stats.protocol_errors), (7, 4, 0), "cut {cut}");
        drop(server.await.unwrap());
    }
}
