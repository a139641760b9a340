//! Dialling: the name anew each time, each of its addresses, over TCP as it should be set.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail")]

mod support;

use std::{
    collections::VecDeque,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Mutex,
    time::Duration,
};

use echo_wire::{
    connector::{Addresses, Cause, Config, Connection, Error, Resolve, Step},
    resp::Command,
};
use support::{Listener, Port, flavors};

/// Answers a list a time, the last one for ever.
#[derive(Debug)]
struct Registry(Mutex<VecDeque<Vec<SocketAddr>>>);

impl Registry {
    fn new(answers: impl IntoIterator<Item = Vec<SocketAddr>>) -> Self {
        Self(Mutex::new(answers.into_iter().collect()))
    }
}

impl Resolve for Registry {
    fn resolve<'a>(&'a self, host: &'a str, _port: u16) -> Addresses<'a> {
        assert_eq!(host, "jobs.internal");
        let mut answers = self.0.lock().unwrap();
        let answer = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        Box::pin(async move { Ok(answer.unwrap()) })
    }
}

fn v4(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

#[tokio::test]
async fn an_address_that_moved_is_found_at_the_next_dial() {
    for flavor in flavors() {
        let (old, new) = (flavor.server().start(), flavor.server().start());
        let registry = Registry::new([vec![v4(old.port())], vec![v4(new.port())]]);
        let config = Config::tcp("jobs.internal", 1).resolver(registry);
        let port = async |connection: &mut Connection| {
            let get = Command::new("CONFIG").arg("GET").arg("port");
            let reply = connection.command(&get).await.unwrap();
            reply.to::<Vec<(String, u16)>>().unwrap()[0].1
        };
        let mut connection = Connection::connect(&config).await.unwrap();
        assert_eq!(port(&mut connection).await, old.port());
        old.kill();
        let mut connection = Connection::connect(&config).await.unwrap();
        assert_eq!(port(&mut connection).await, new.port());
    }
}

#[tokio::test]
async fn every_address_is_tried_in_its_turn() {
    let listener = Listener::open();
    let closed = Port::claim();
    let addresses = vec![
        (Ipv6Addr::LOCALHOST, closed.number()).into(),
        v4(closed.number()),
        v4(listener.port()),
    ];
    let config = Config::tcp("jobs.internal", 1).resolver(Registry::new([addresses]));
    let peer = async {
        let mut peer = listener.accept().await;
        peer.pass("echomq:2.0.0").await;
        peer
    };
    let (connection, _peer) = tokio::join!(Connection::connect(&config), peer);
    connection.unwrap();

    let nobody = vec![v4(closed.number()); 3];
    let config = Config::tcp("jobs.internal", 1).resolver(Registry::new([nobody]));
    let error = Connection::connect(&config).await.unwrap_err();
    let Error::NotReady { step: Step::Dial, cause: Cause::Io(io) } = error else {
        panic!("{error:?}")
    };
    assert_eq!(io.kind(), std::io::ErrorKind::ConnectionRefused);
}

#[tokio::test]
async fn an_address_that_swallows_packets_leaves_time_for_the_next() {
    // A full backlog is what a blackhole looks like on loopback: connects neither succeed nor fail.
    let full = std::net::TcpListener::bind(v4(0)).unwrap();
    let full_at = full.local_addr().unwrap();
    socket2::SockRef::from(&full).listen(0).unwrap();
    let mut fill = Vec::new();
    while let Ok(stream) =
        std::net::TcpStream::connect_timeout(&full_at, Duration::from_millis(100))
    {
        fill.push(stream);
    }
    let listener = Listener::open();
    let registry = Registry::new([vec![full_at, v4(listener.port())]]);
    let config = Config::tcp("jobs.internal", 1)
        .resolver(registry)
        .connect_timeout(Duration::from_secs(2))
        .unwrap();
    let peer = async {
        let mut peer = listener.accept().await;
        peer.pass("echomq:2.0.0").await;
        peer
    };
    let (connection, _peer) = tokio::join!(Connection::connect(&config), peer);
    connection.unwrap();
}

#[tokio::test]
async fn a_unix_socket_that_is_not_there_is_not_ready() {
    let error = Connection::connect(&Config::unix("/nowhere/socket")).await.unwrap_err();
    assert!(
        matches!(error, Error::NotReady { step: Step::Dial, cause: Cause::Io(_) }),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_paused_server_that_still_accepts_is_given_up_at_the_deadline() {
    for flavor in flavors() {
        let server = flavor.server().start();
        server.pause();
        let config = Config::from_url(&server.url())
            .unwrap()
            .connect_timeout(Duration::from_millis(300))
            .unwrap();
        let error = Connection::connect(&config).await.unwrap_err();
        assert!(
            matches!(error, Error::NotReady { step: Step::Hello, cause: Cause::Deadline }),
            "{error:?}"
        );
        server.resume();
        Connection::connect(&config.connect_timeout(Duration::from_secs(60)).unwrap())
            .await
            .unwrap();
    }
}
