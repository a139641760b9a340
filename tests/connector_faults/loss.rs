//! The connection goes away: cut by the server, by a restart, by the path, with commands half
//! written and replies half read. Each caller learns the truth about its own command, and the
//! handle comes back by itself.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use bytes::Bytes;
use echo_wire::{
    connector::{Connector, Error, Event, Pipeline, Policy, WhenAway},
    resp::{Command, Protocol, Reply},
};
use tokio::task::JoinSet;

use crate::{
    bed::{
        HOUR, config, disconnected, echo, event, everywhere, fenced, is_not_sent, is_unknown,
        on_each_runtime, on_each_server, over_scripts, policy, ready,
    },
    load::Load,
    support::{Cut, Listener, Proxy, WIRE, Way, bounded, bulk, until},
};

#[test]
fn connections_killed_by_the_server_under_load_come_back_and_mix_nothing_up() {
    everywhere(async |server| {
        for (url, protocol) in
            [(server.url(), Protocol::Resp3), (server.unix_url(), Protocol::Resp2)]
        {
            let config = config(&url, policy()).protocol(protocol);
            let connector = Connector::connect(config).await.unwrap();
            let mut events = connector.events();
            let load = Load::start(&connector, 32);
            let mut raw = server.raw();
            for kill in 1..=20 {
                load.goes_on(50).await;
                raw.text(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
                fenced(&mut events).await;
                assert_eq!(connector.stats().reconnects, kill);
            }
            load.goes_on(50).await;
            let tally = load.finish().await;
            assert!(tally.unknown > 0, "{tally:?}");
            until("the last replies come", || connector.stats().pending == 0).await;
            assert_eq!(connector.stats().protocol_errors, 0);
        }
    });
}

#[test]
fn a_server_that_restarts_under_load_is_fenced_anew_each_time() {
    everywhere(async |server| {
        let connector = Connector::connect(config(&server.url(), policy())).await.unwrap();
        let mut events = connector.events();
        let load = Load::start(&connector, 32);
        for restart in 1..=3 {
            load.goes_on(200).await;
            server.restart();
            // It comes back empty.
            event(&mut events, |event| matches!(event, Event::FenceVanished).then_some(())).await;
            assert_eq!(server.cli(&["GET", "{emq}:version"]), WIRE);
            assert_eq!(connector.stats().fences_vanished, restart);
        }
        load.goes_on(200).await;
        load.finish().await;
    });
}

#[test]
fn a_path_that_breaks_anywhere_breaks_nothing_else() {
    everywhere(async |server| {
        let proxy = Proxy::start(server.address());
        let connector = Connector::connect(config(&proxy.url(), policy())).await.unwrap();
        let load = Load::start(&connector, 32);
        for n in 0..40 {
            load.goes_on(20).await;
            let (way, cut) = ([Way::Up, Way::Down][n % 2], [Cut::Close, Cut::Reset][n / 2 % 2]);
            let connections = proxy.connections();
            proxy.cut_after(way, 1 + 37 * n as u64, cut);
            proxy.connections_reach(connections + 1).await;
        }
        load.goes_on(20).await;
        let tally = load.finish().await;
        assert!(tally.unknown > 0, "{tally:?}");
    });
}

#[test]
fn whoever_waits_for_a_reply_is_told_when_the_server_goes_and_the_same_handle_works_again() {
    on_each_runtime(async || {
        let mut listener = Listener::open();
        let connect = Connector::connect(config(&listener.url(), policy()));
        let (connector, mut peer) = tokio::join!(connect, async {
            let mut peer = listener.accept().await;
            peer.pass(WIRE).await;
            peer
        });
        let connector = connector.unwrap();
        let mut events = connector.events();
        let mut calls = JoinSet::new();
        for n in 0..100 {
            let connector = connector.clone();
            calls.spawn(async move { echo(&connector, &n.to_string()).await });
        }
        for _ in 0..100 {
            peer.command().await;
        }
        listener.close();
        peer.close();
        while let Some(result) = bounded("a call is told", calls.join_next()).await {
            let error = result.unwrap().unwrap_err();
            assert!(is_unknown(&error), "{error:?}");
        }
        disconnected(&mut events).await;
        let error = echo(&connector, "away").await.unwrap_err();
        assert!(is_not_sent(&error), "{error:?}");
        listener.reopen();
        let mut peer = listener.accept().await;
        peer.pass(WIRE).await;
        ready(&connector).await;
        let (reply, ()) = tokio::join!(echo(&connector, "back"), async {
            peer.expect_command(&["ECHO", "back"]).await;
            peer.send(bulk("back")).await;
        });
        assert_eq!(reply.unwrap(), "back");
    });
}

#[test]
fn what_may_have_run_is_never_sent_again() {
    on_each_runtime(async || {
        let waits = Policy { when_away: WhenAway::WaitAtMost(HOUR), ..policy() };
        let (connector, mut first, mut scripts) = over_scripts(waits, 1 << 16).await;
        let incr = tokio::spawn({
            let connector = connector.clone();
            async move { connector.command(Command::new("INCR").arg("n")).await }
        });
        first.expect_command(&["INCR", "n"]).await;
        first.close();
        let error = bounded("it is told", incr).await.unwrap().unwrap_err();
        assert!(is_unknown(&error) && error.maybe_executed(), "{error:?}");
        // A call that comes while there is no connection goes out once there is one, and alone.
        let next = tokio::spawn({
            let connector = connector.clone();
            async move { connector.command(Command::new("INCR").arg("m")).await }
        });
        let mut second = scripts.passed().await;
        second.expect_command(&["INCR", "m"]).await;
        second.send(":1\r\n").await;
        assert_eq!(bounded("it is answered", next).await.unwrap().unwrap().to::<u64>().unwrap(), 1);
        drop(connector);
        second.expect_close().await;
    });
}

#[test]
fn a_command_whose_reply_is_lost_on_the_way_has_run_and_its_caller_is_told_that_it_may_have() {
    everywhere(async |server| {
        let proxy = Proxy::start(server.address());
        let connector = Connector::connect(config(&proxy.url(), policy())).await.unwrap();
        for n in 1..=20_u64 {
            ready(&connector).await;
            // Nothing of the reply passes, or all of it but its last byte.
            let passes = if n % 2 == 0 { 0 } else { format!(":{n}\r\n").len() as u64 - 1 };
            proxy.cut_after(Way::Down, passes, Cut::Close);
            let result = connector.command(Command::new("INCR").arg("n")).await;
            assert!(is_unknown(result.as_ref().unwrap_err()), "{result:?}");
            assert_eq!(server.cli(&["GET", "n"]), n.to_string());
        }
    });
}

#[test]
fn a_command_cut_on_its_way_out_has_not_run_and_those_behind_it_are_known_not_to_have_left() {
    on_each_runtime(async || {
        // The peer's end holds 64 KiB: of the large value a part leaves, of what follows nothing.
        let (connector, mut peer, mut scripts) = over_scripts(policy(), 1 << 16).await;
        let call = |words: &'static [&'static str]| {
            let connector = connector.clone();
            tokio::spawn(async move {
                connector.command(Command::new(words[0]).args(&words[1..])).await
            })
        };
        let before = call(&["ECHO", "before"]);
        peer.expect_command(&["ECHO", "before"]).await;
        let cut = tokio::spawn(set_large(connector.clone()));
        peer.expect("*3\r\n$3\r\nSET\r\n$5\r\nlarge\r\n$1048576\r\nxxxx").await;
        let behind: Vec<_> = (0..5).map(|_| call(&["INCR", "n"])).collect();
        until("all are taken", || connector.stats().commands == 7).await;
        peer.send(bulk("before")).await;
        peer.close();
        assert_eq!(
            bounded("answered", before).await.unwrap().unwrap().to::<String>().unwrap(),
            "before",
        );
        let error = bounded("told", cut).await.unwrap().unwrap_err();
        assert!(is_unknown(&error), "{error:?}");
        for call in behind {
            let error = bounded("told", call).await.unwrap().unwrap_err();
            assert!(is_not_sent(&error), "{error:?}");
        }
        // On the next connection nothing of it appears.
        let mut next = scripts.passed().await;
        ready(&connector).await;
        let (reply, ()) = tokio::join!(echo(&connector, "fresh"), async {
            next.expect_command(&["ECHO", "fresh"]).await;
            next.send(bulk("fresh")).await;
        });
        assert_eq!(reply.unwrap(), "fresh");
    });
}

#[test]
fn replies_that_arrived_before_the_end_reach_their_callers() {
    on_each_runtime(async || {
        // In the same read as the end of the stream, and in many reads before a write that fails.
        for is_write_pending in [false, true] {
            let (connector, mut peer, _scripts) = over_scripts(policy(), 1 << 18).await;
            let mut events = connector.events();
            let mut calls = JoinSet::new();
            for n in 0..3 {
                let connector = connector.clone();
                calls.spawn(async move {
                    let reply = connector.command(Command::new("GET").arg(n)).await;
                    reply.map(|reply| (n, reply.to::<String>().unwrap().len()))
                });
                peer.command().await;
            }
            let write = is_write_pending.then(|| tokio::spawn(set_large(connector.clone())));
            if is_write_pending {
                peer.expect("*3\r\n$3\r\nSET\r\n").await;
            }
            let replies: Vec<u8> = (0..3).flat_map(|_| bulk("y".repeat(80_000))).collect();
            peer.send(replies).await;
            peer.close();
            while let Some(result) = bounded("a call is answered", calls.join_next()).await {
                assert_eq!(result.unwrap().unwrap().1, 80_000);
            }
            if let Some(write) = write {
                assert!(is_unknown(&bounded("told", write).await.unwrap().unwrap_err()));
            }
            disconnected(&mut events).await;
        }
    });
}

#[test]
fn an_error_line_before_a_close_is_the_reason_of_the_close() {
    on_each_runtime(async || {
        let (connector, mut peer, mut scripts) = over_scripts(policy(), 1 << 16).await;
        let mut events = connector.events();
        peer.send("-ERR max number of clients reached\r\n").await;
        peer.close();
        let why = disconnected(&mut events).await;
        assert!(matches!(why, Error::NotReady { .. }), "{why:?}");
        assert!(why.to_string().contains("max number of clients"), "{why}");
        let _next = scripts.passed().await;
        ready(&connector).await;
        assert_eq!(connector.stats().protocol_errors, 0);
    });
}

#[test]
fn a_reply_to_a_command_that_has_not_left_is_taken_for_nobodys() {
    on_each_runtime(async || {
        let (connector, mut peer, _scripts) = over_scripts(policy(), 1 << 16).await;
        let mut events = connector.events();
        // In one wave; of the second command the peer has not seen a byte, and answers all the same.
        let calls = tokio::spawn({
            let connector = connector.clone();
            async move { tokio::join!(set_large(connector.clone()), echo(&connector, "behind")) }
        });
        peer.expect("*3\r\n$3\r\nSET\r\n").await;
        peer.send("+OK\r\n$5\r\nother\r\n").await;
        let (set, echo) = bounded("told", calls).await.unwrap();
        assert!(set.is_ok(), "{set:?}");
        assert!(is_not_sent(echo.as_ref().unwrap_err()), "{echo:?}");
        let why = disconnected(&mut events).await;
        assert!(matches!(why, Error::Protocol { .. }), "{why:?}");
    });
}

#[test]
fn a_close_that_races_a_loss_is_final() {
    on_each_server(async |flavor| {
        let server = flavor.server().start();
        let told = Arc::new(AtomicUsize::new(0));
        for n in 0..40 {
            let connector = Connector::connect(config(&server.url(), policy())).await.unwrap();
            let load = Load::start(&connector, 8);
            load.goes_on(10).await;
            let mut raw = server.raw();
            let kill = ["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"];
            if n % 2 == 0 {
                raw.send(&kill).unwrap();
                connector.close().await;
            } else {
                let closing = tokio::spawn({
                    let connector = connector.clone();
                    async move { connector.close().await }
                });
                tokio::task::yield_now().await;
                raw.send(&kill).unwrap();
                bounded("it closes", closing).await.unwrap();
            }
            let error = echo(&connector, "after the close").await.unwrap_err();
            assert!(matches!(error, Error::Closed), "{error:?}");
            let tally = load.ends().await;
            assert!(tally.ended.iter().all(|error| matches!(error, Error::Closed)), "{tally:?}");
            told.fetch_add(tally.ended.len(), SeqCst);
        }
        assert_eq!(told.load(SeqCst), 40 * 8, "every caller is told");
    });
}

/// A megabyte, far more than a scripted peer holds unread.
async fn set_large(connector: Connector) -> Result<Reply, Error> {
    let large = Bytes::from(vec![b'x'; 1 << 20]);
    connector.command(Command::new("SET").arg("large").arg(&large)).await
}

#[test]
fn pipelines_are_told_as_a_whole() {
    on_each_runtime(async || {
        let (connector, mut peer, _scripts) = over_scripts(policy(), 1 << 16).await;
        let pipeline = Pipeline::new()
            .command(Command::new("INCR").arg("a"))
            .command(Command::new("INCR").arg("b"))
            .command(Command::new("INCR").arg("c"));
        let call = tokio::spawn({
            let connector = connector.clone();
            async move { connector.pipeline(&pipeline).await }
        });
        for _ in 0..3 {
            peer.command().await;
        }
        peer.send(":1\r\n:1\r\n").await;
        peer.close();
        let error = bounded("told", call).await.unwrap().unwrap_err();
        assert!(is_unknown(&error), "{error:?}");
    });
}
