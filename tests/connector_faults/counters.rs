//! The counters tell what happened, to the byte.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    task::{Context, Poll, ready},
};

use echo_wire::{
    connector::{Config, Connector, Pipeline, Policy, Stats, Transaction},
    resp::Command,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    task::JoinSet,
};

use crate::{
    bed::{
        config, disconnected, echo, everywhere, millis, on_each_server, policy, ready as is_ready,
    },
    support::{Cut, Proxy, Way, bounded, until},
};

/// Counts what passes.
struct Counted {
    stream: TcpStream,
    read: Arc<AtomicU64>,
    written: Arc<AtomicU64>,
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        self.read.fetch_add((buf.filled().len() - before) as u64, SeqCst);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Counted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let count = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))?;
        self.written.fetch_add(count as u64, SeqCst);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// The difference of a counter before and after.
fn rise(before: &Stats, after: &Stats, counter: fn(&Stats) -> u64) -> u64 {
    counter(after) - counter(before)
}

#[test]
fn every_command_pipeline_reply_and_byte_is_counted_once() {
    everywhere(async |server| {
        let (read, written) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (address, counts) = (server.address(), (Arc::clone(&read), Arc::clone(&written)));
        let dial = move || {
            let (address, (read, written)) = (address.clone(), counts.clone());
            async move {
                let stream = TcpStream::connect(address).await?;
                Ok(Counted { stream, read, written })
            }
        };
        let config = Config::tcp("counted", 1).policy(policy());
        let connector = Connector::over(dial, config).await.unwrap();
        let bytes = || (read.load(SeqCst), written.load(SeqCst));
        let boot = bytes();
        let before = connector.stats();
        let mut callers = JoinSet::new();
        for caller in 0..20 {
            let connector = connector.clone();
            callers.spawn(async move {
                let pipeline = Pipeline::new()
                    .command(Command::new("ECHO").arg("a"))
                    .command(Command::new("ECHO"))
                    .command(Command::new("ECHO").arg(caller));
                for _ in 0..10 {
                    echo(&connector, "one").await.unwrap();
                    // One of the three is an error in both.
                    let replies = connector.pipeline(&pipeline).await.unwrap();
                    assert!(replies[1].is_error());
                    let ended = connector.transaction(&pipeline).await.unwrap();
                    assert!(matches!(ended, Transaction::Aborted { .. }), "{ended:?}");
                }
            });
        }
        while let Some(done) = bounded("a caller ends", callers.join_next()).await {
            done.unwrap();
        }
        let after = connector.stats();
        let commands = 20 * 10 * (1 + 3 + 5);
        assert_eq!(rise(&before, &after, |it| it.commands), commands);
        assert_eq!(rise(&before, &after, |it| it.replies), commands);
        assert_eq!(rise(&before, &after, |it| it.pipelines), 20 * 10 * 2);
        let all = bytes();
        assert_eq!(rise(&before, &after, |it| it.bytes_in), all.0 - boot.0);
        assert_eq!(rise(&before, &after, |it| it.bytes_out), all.1 - boot.1);
        assert_eq!(after.pending, 0);
    });
}

#[test]
fn what_is_refused_is_not_counted_as_sent_and_what_is_owed_is_counted_as_pending() {
    everywhere(async |server| {
        let proxy = Proxy::start(server.address());
        let policy = Policy { max_pending: 10, ..policy() };
        let connector = Connector::connect(config(&proxy.url(), policy)).await.unwrap();
        let mut events = connector.events();
        proxy.stall(Way::Down);
        let calls: Vec<_> = (0..10)
            .map(|_| {
                let connector = connector.clone();
                tokio::spawn(async move { echo(&connector, "x").await })
            })
            .collect();
        until("all are taken", || connector.stats().pending == 10).await;
        for _ in 0..5 {
            echo(&connector, "too many").await.unwrap_err();
        }
        connector.command(Command::new("SELECT").arg(1)).await.unwrap_err();
        let stats = connector.stats();
        assert_eq!((stats.commands, stats.replies, stats.overloads), (10, 0, 5));
        proxy.refuse();
        proxy.cut(Cut::Close);
        disconnected(&mut events).await;
        for call in calls {
            bounded("it is told", call).await.unwrap().unwrap_err();
        }
        for _ in 0..5 {
            echo(&connector, "away").await.unwrap_err();
        }
        let stats = connector.stats();
        assert_eq!((stats.commands, stats.pending, stats.reconnects), (10, 0, 0));
        proxy.resume();
        until("attempts fail", || connector.stats().failed_connects > 2).await;
        proxy.listen();
        is_ready(&connector).await;
        assert_eq!((connector.stats().connects, connector.stats().reconnects), (2, 1));
    });
}

#[test]
fn heartbeats_are_counted_apart_from_callers_commands() {
    on_each_server(async |flavor| {
        let server = flavor.server().start();
        let policy = Policy { heartbeat: millis(10), ..policy() };
        let connector = Connector::connect(config(&server.url(), policy)).await.unwrap();
        until("the heart beats", || connector.stats().heartbeats >= 5).await;
        let stats = connector.stats();
        assert_eq!(stats.commands, 0, "nobody has called");
        assert!(stats.replies >= stats.heartbeats, "{stats:?}");
    });
}
