//! The scripted peer, over TCP and in memory, against plain sockets and the crate's own client.

use std::io;

use echo_wire::{
    connector::{Config, Connection, WIRE_VERSION},
    resp::Command,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
};

use crate::support::{Listener, Script, encoded};

trait Client: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Client for S {}

/// A connection of each kind: the client's stream, and its script.
async fn connections() -> Vec<(Box<dyn Client>, Script)> {
    let (memory, script) = Script::memory();
    let listener = Listener::open();
    let tcp = TcpStream::connect(listener.address()).await.unwrap();
    vec![(Box::new(memory), script), (Box::new(tcp), listener.accept().await)]
}

#[tokio::test]
async fn it_hears_exact_bytes_and_commands_and_keeps_a_record() {
    for (mut client, mut script) in connections().await {
        client.write_all(b"raw*2\r\n$3\r\nGET\r\n$1\r\nk\r\n").await.unwrap();
        client.write_all(&encoded(&["PING"])).await.unwrap();
        client.write_all(b"*1\r\n$0\r\n").await.unwrap();
        script.expect("raw").await;
        script.expect_command(&["GET", "k"]).await;
        assert_eq!(script.command().await, ["PING"]);
        client.write_all(b"\r\n").await.unwrap();
        assert_eq!(script.command_or_close().await.unwrap(), [""]);
        drop(client);
        assert_eq!(script.command_or_close().await, None);
        script.expect_close().await;
        assert!(script.received().starts_with(b"raw*2\r\n"));
        assert!(script.received().ends_with(b"PING\r\n*1\r\n$0\r\n\r\n"));
    }
}

#[tokio::test]
async fn other_bytes_than_expected_fail_the_script_at_once() {
    for (mut client, mut script) in connections().await {
        client.write_all(b"+PI").await.unwrap();
        let failed = tokio::spawn(async move { script.expect("+PONG\r\n").await }).await;
        let panic = failed.unwrap_err().into_panic();
        let said = panic.downcast_ref::<String>().unwrap();
        assert_eq!(said, r"expected +PONG\r\n, received +PI");
    }
}

#[tokio::test]
async fn a_close_before_the_expected_bytes_fails_the_script() {
    for (mut client, mut script) in connections().await {
        client.write_all(b"+PO").await.unwrap();
        drop(client);
        let failed = tokio::spawn(async move { script.expect("+PONG\r\n").await }).await;
        let panic = failed.unwrap_err().into_panic();
        assert_eq!(panic.downcast_ref::<String>().unwrap(), r"closed before NG\r\n came");
    }
}

#[tokio::test]
async fn a_split_reply_is_read_in_its_pieces() {
    for (mut client, mut script) in connections().await {
        let script = tokio::spawn(async move {
            script.send_split("$5\r\nhello\r\n", &[1, 2, 7]).await;
            script.close();
        });
        let mut pieces = Vec::new();
        loop {
            let mut piece = vec![0; 64];
            let read = client.read(&mut piece).await.unwrap();
            if read == 0 {
                break;
            }
            piece.truncate(read);
            pieces.push(String::from_utf8(piece).unwrap());
        }
        assert_eq!(pieces, ["$", "5", "\r\nhel", "lo\r\n"]);
        script.await.unwrap();
    }
}

#[tokio::test]
async fn a_memory_of_one_byte_gives_every_byte_alone() {
    let (mut client, mut script) = Script::memory_of(1);
    let script = tokio::spawn(async move { script.send("+OK\r\n").await });
    for byte in *b"+OK\r\n" {
        let mut came = [0; 16];
        assert_eq!(client.read(&mut came).await.unwrap(), 1);
        assert_eq!(came[0], byte);
    }
    script.await.unwrap();
}

#[tokio::test]
async fn a_close_is_an_end_of_stream_even_with_bytes_unread() {
    for (mut client, script) in connections().await {
        client.write_all(b"never read").await.unwrap();
        script.close();
        assert_eq!(client.read(&mut [0; 16]).await.unwrap(), 0);
    }
}

#[tokio::test]
async fn a_reset_comes_after_what_was_sent() {
    for (mut client, mut script) in connections().await {
        let script = tokio::spawn(async move {
            script.send("+O").await;
            script.taken().await;
            script.reset();
        });
        let mut came = Vec::new();
        let end = client.read_to_end(&mut came).await.unwrap_err();
        assert_eq!(end.kind(), io::ErrorKind::ConnectionReset);
        assert_eq!(came, b"+O");
        script.await.unwrap();
    }
}

#[tokio::test]
async fn half_a_close_leaves_the_other_way_open() {
    for (mut client, mut script) in connections().await {
        script.finish().await;
        assert_eq!(client.read(&mut [0; 16]).await.unwrap(), 0);
        client.write_all(b"still").await.unwrap();
        script.expect("still").await;
        client.shutdown().await.unwrap();
        assert_eq!(script.read_to_close().await, b"");
    }
}

#[tokio::test]
async fn a_stalled_peer_with_a_small_buffer_takes_only_so_much() {
    let listener = Listener::with_receive_buffer(4096);
    let client = TcpStream::connect(listener.address()).await.unwrap();
    let stalled = tokio::spawn(listener.accept().await.stall());
    client.writable().await.unwrap();
    let mut taken = 0;
    let full = loop {
        match client.try_write(&[0; 1 << 16]) {
            Ok(written) => taken += written,
            Err(error) => break error,
        }
        assert!(taken < 64 << 20);
    };
    assert_eq!(full.kind(), io::ErrorKind::WouldBlock);
    assert!(!stalled.is_finished());
    stalled.abort();
}

#[tokio::test]
async fn a_closed_listener_refuses_and_comes_back_on_its_port() {
    let mut listener = Listener::open();
    let mut client = TcpStream::connect(listener.address()).await.unwrap();
    let mut script = listener.accept().await;
    listener.close();
    let refused = TcpStream::connect(listener.address()).await.unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
    script.send("x").await;
    assert_eq!(client.read_u8().await.unwrap(), b'x');
    listener.reopen();
    let (_client, _script) =
        (TcpStream::connect(listener.address()).await.unwrap(), listener.accept().await);
}

#[tokio::test(start_paused = true)]
async fn waiting_for_the_client_moves_no_paused_clock() {
    let start = tokio::time::Instant::now();
    let listener = Listener::open();
    // A client whose bytes come from outside the runtime.
    let address = listener.address();
    let client = std::thread::spawn(move || {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        // Long enough for the script to wait first; if not, nothing fails.
        std::thread::sleep(std::time::Duration::from_millis(20));
        io::Write::write_all(&mut stream, b"late").unwrap();
        stream
    });
    listener.accept().await.expect("late").await;
    client.join().unwrap();
    assert_eq!(start.elapsed(), std::time::Duration::ZERO);
}

#[tokio::test]
async fn the_crates_connection_passes_and_talks() {
    let (stream, mut script) = Script::memory();
    let script = tokio::spawn(async move {
        let boot = script.pass(WIRE_VERSION).await;
        assert_eq!(boot[0][..2], ["HELLO", "3"]);
        script.expect_command(&["GET", "k"]).await;
        script.send_split("$5\r\nhello\r\n", &[6]).await;
        script.expect_close().await;
    });
    let config = Config::tcp("in.memory", 0);
    let mut connection = Connection::over(stream, &config).await.unwrap();
    let reply = connection.command(&Command::new("GET").arg("k")).await.unwrap();
    assert_eq!(reply.to::<String>().unwrap(), "hello");
    connection.close().await;
    script.await.unwrap();
}

#[tokio::test]
async fn the_crates_connection_dials_a_listener_too() {
    let listener = Listener::open();
    let config = Config::from_url(&listener.url()).unwrap();
    let script = tokio::spawn(async move {
        let mut script = listener.accept().await;
        script.pass(WIRE_VERSION).await;
        script.expect_command(&["PING"]).await;
        script.send("+PONG\r\n").await;
        script.expect_close().await;
    });
    let mut connection = Connection::connect(&config).await.unwrap();
    let reply = connection.command(&Command::new("PING")).await.unwrap();
    assert_eq!(reply.to::<String>().unwrap(), "PONG");
    drop(connection);
    script.await.unwrap();
}
