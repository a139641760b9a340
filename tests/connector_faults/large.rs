//! Large values in both directions at once: reading goes on while a write waits, and writing while
//! a read waits, whatever lies between the two ends.

use bytes::Bytes;
use echo_wire::{
    connector::{Config, Connector, Error, Pipeline, Policy, WhenFull},
    resp::{Command, Limits},
};
use tokio::task::JoinSet;

use crate::{
    bed::{
        config, disconnected, echo, everywhere, on_each_runtime, over_scripts, policy, ready,
        scripted,
    },
    support::{Listener, Proxy, Random, Script, WIRE, bounded, bulk},
};

const MIB: usize = 1 << 20;

/// Letters of which no two places look alike.
fn noise(len: usize) -> Bytes {
    let mut random = Random::new(len as u64);
    let block: Vec<u8> = (0..65_521).map(|_| b'a' + random.below(26) as u8).collect();
    block.iter().copied().cycle().take(len).collect()
}

async fn set(connector: &Connector, key: &str, value: &Bytes) {
    let reply = connector.command(Command::new("SET").arg(key).arg(value)).await.unwrap();
    assert_eq!(reply.to::<String>().unwrap(), "OK");
}

async fn get(connector: &Connector, key: &str) -> Bytes {
    connector.command(Command::new("GET").arg(key)).await.unwrap().to().unwrap()
}

#[test]
fn large_values_cross_each_other_on_one_connection_directly_and_through_a_proxy() {
    let value = noise(32 * MIB);
    everywhere(async |server| {
        let proxy = Proxy::start(server.address());
        for url in [server.url(), proxy.url()] {
            // Two such values fill the buffer; whoever comes then waits for room.
            let policy = Policy { when_full: WhenFull::Wait, ..policy() };
            let connector = Connector::connect(config(&url, policy)).await.unwrap();
            set(&connector, "v", &value).await;
            let mut callers = JoinSet::new();
            for n in 0..2 {
                let (reader, writer, value) = (connector.clone(), connector.clone(), value.clone());
                let same = value.clone();
                callers.spawn(async move { assert!(get(&reader, "v").await == same) });
                callers.spawn(async move { set(&writer, &format!("w{n}"), &value).await });
            }
            while let Some(done) = bounded("they pass", callers.join_next()).await {
                done.unwrap();
            }
            let pipeline = Pipeline::new()
                .command(Command::new("GET").arg("v"))
                .command(Command::new("SET").arg("w").arg(&value))
                .command(Command::new("GET").arg("w"));
            let replies = bounded("they pass", connector.pipeline(&pipeline)).await.unwrap();
            let (first, (), last): (Bytes, (), Bytes) = replies.to().unwrap();
            assert!(first == value && last == value);
            assert_eq!(echo(&connector, "on").await.unwrap(), "on");
        }
    });
}

/// Reads nothing of the SET before the whole reply to the GET was taken. What was SET.
async fn stubborn(mut peer: Script, reply: Vec<u8>) -> String {
    peer.expect_command(&["GET", "v"]).await;
    bounded("the client reads while it writes", peer.send(reply)).await;
    let mut set = peer.command().await;
    assert_eq!(set[..2], ["SET", "w"]);
    peer.send("+OK\r\n").await;
    peer.taken().await;
    set.remove(2)
}

async fn crossing(connector: Connector, value: Bytes, is_pipeline: bool) -> Bytes {
    let read = Command::new("GET").arg("v");
    let write = Command::new("SET").arg("w").arg(&value);
    if is_pipeline {
        let pipeline = Pipeline::new().command(read).command(write);
        let (got, ()): (Bytes, ()) = connector.pipeline(&pipeline).await.unwrap().to().unwrap();
        return got;
    }
    let (got, put) = tokio::join!(connector.command(read), connector.command(write));
    put.unwrap().to::<()>().unwrap();
    got.unwrap().to().unwrap()
}

#[test]
fn a_peer_that_reads_nothing_until_its_reply_is_taken_cannot_lock_the_connection() {
    let value = noise(32 * MIB);
    on_each_runtime(async || {
        for is_pipeline in [false, true] {
            // In memory, with room for two KiB each way.
            let (connector, peer, _scripts) = over_scripts(policy(), 2048).await;
            let peer = tokio::spawn(stubborn(peer, bulk(&value)));
            let call = tokio::spawn(crossing(connector.clone(), value.clone(), is_pipeline));
            assert!(bounded("the peer is done", peer).await.unwrap().as_bytes() == value);
            assert!(bounded("the call is done", call).await.unwrap() == value);

            // Over TCP, with a small receive buffer on the other side.
            let listener = Listener::with_receive_buffer(4096);
            let connect = Connector::connect(config(&listener.url(), policy()));
            let (connector, peer) = tokio::join!(connect, async {
                let mut peer = listener.accept().await;
                peer.pass(WIRE).await;
                peer
            });
            let connector = connector.unwrap();
            let peer = tokio::spawn(stubborn(peer, bulk(&value)));
            let call = tokio::spawn(crossing(connector.clone(), value.clone(), is_pipeline));
            assert!(bounded("the peer is done", peer).await.unwrap().as_bytes() == value);
            assert!(bounded("the call is done", call).await.unwrap() == value);
        }
    });
}

#[test]
fn small_calls_pass_while_a_large_value_is_on_its_way_in_the_other_direction() {
    on_each_runtime(async || {
        let (connector, mut peer, _scripts) = over_scripts(policy(), 1 << 16).await;
        let large = tokio::spawn({
            let connector = connector.clone();
            async move { get(&connector, "v").await.len() }
        });
        peer.expect_command(&["GET", "v"]).await;
        peer.send(format!("${}\r\n", 8 * MIB)).await;
        // Half of it is here: what callers send meanwhile leaves all the same.
        peer.send(vec![b'x'; 4 * MIB]).await;
        let small = tokio::spawn({
            let connector = connector.clone();
            async move { echo(&connector, "small").await }
        });
        peer.expect_command(&["ECHO", "small"]).await;
        peer.send(vec![b'x'; 4 * MIB]).await;
        peer.send([b"\r\n".to_vec(), bulk("small")].concat()).await;
        assert_eq!(bounded("it is whole", large).await.unwrap(), 8 * MIB);
        assert_eq!(bounded("it is answered", small).await.unwrap().unwrap(), "small");
    });
}

#[test]
fn a_reply_beyond_the_limits_ends_the_connection_and_is_told() {
    on_each_runtime(async || {
        let (dial, mut scripts) = scripted(1 << 16);
        let limits = Limits::default().bulk(MIB as u64);
        let config = Config::tcp("script", 1).policy(policy()).limits(limits);
        let (connector, mut peer) = tokio::join!(Connector::over(dial, config), scripts.passed());
        let connector = connector.unwrap();
        let mut events = connector.events();
        let call = tokio::spawn({
            let connector = connector.clone();
            async move { connector.command(Command::new("GET").arg("v")).await }
        });
        peer.expect_command(&["GET", "v"]).await;
        peer.send(format!("${}\r\n", MIB + 1)).await;
        let error = bounded("it is told", call).await.unwrap().unwrap_err();
        assert!(error.maybe_executed(), "{error:?}");
        let why = disconnected(&mut events).await;
        assert!(matches!(why, Error::Protocol { .. }), "{why:?}");
        let _next = scripts.passed().await;
        ready(&connector).await;
        assert_eq!(connector.stats().protocol_errors, 1);
    });
}
