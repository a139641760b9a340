//! The proxy, between a client and real servers.

use std::io;

use crate::support::{Answer, Cut, Proxy, Raw, Way, encoded, flavors, until};

const INCR: [&str; 2] = ["INCR", "n"];

fn through(proxy: &Proxy) -> Raw {
    Raw::tcp(&proxy.address()).unwrap()
}

#[tokio::test]
async fn it_passes_and_counts_bytes_and_connections() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let proxy = Proxy::start(server.address());
        let mut client = through(&proxy);
        let large = "x".repeat(3_000_000);
        assert_eq!(client.text(&["SET", "large", &large]), "OK");
        assert_eq!(client.text(&["GET", "large"]), large);
        let up = encoded(&["SET", "large", &large]).len() + encoded(&["GET", "large"]).len();
        let down = "+OK\r\n$3000000\r\n\r\n".len() + large.len();
        proxy.bytes_reach(Way::Down, down.try_into().unwrap()).await;
        assert_eq!(proxy.bytes(Way::Up), u64::try_from(up).unwrap());
        assert_eq!(proxy.bytes(Way::Down), u64::try_from(down).unwrap());
        let other = through(&proxy);
        proxy.open_becomes(2).await;
        client.quit();
        drop(other);
        proxy.open_becomes(0).await;
        assert_eq!(proxy.connections(), 2);
        until("the server sees them go", || server.clients().is_empty()).await;
    }
}

#[tokio::test]
async fn a_reply_is_cut_after_each_of_its_bytes_and_only_once() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let proxy = Proxy::start(server.address());
        for (bytes, cut) in (0..=7).flat_map(|bytes| [(bytes, Cut::Close), (bytes, Cut::Reset)]) {
            proxy.cut_after(Way::Down, bytes, cut);
            let mut client = through(&proxy);
            client.send(&["PING"]).unwrap();
            let mut came = Vec::new();
            let end = client.read_what_comes(&mut came);
            assert_eq!(came, b"+PONG\r\n"[..usize::try_from(bytes).unwrap()]);
            match cut {
                Cut::Close => end.unwrap(),
                Cut::Reset => assert_eq!(end.unwrap_err().kind(), io::ErrorKind::ConnectionReset),
            }
            assert!(!proxy.keep(Way::Down));
            assert_eq!(through(&proxy).text(&["PING"]), "PONG");
        }
    }
}

#[tokio::test]
async fn a_command_cut_before_its_end_does_not_run_and_a_whole_one_runs_unanswered() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let proxy = Proxy::start(server.address());
        let whole = u64::try_from(encoded(&INCR).len()).unwrap();
        for bytes in 0..=whole {
            proxy.cut_after(Way::Up, bytes, Cut::Close);
            let mut client = through(&proxy);
            client.send(&INCR).unwrap();
            assert_eq!(client.read_to_close().unwrap(), b"");
            until("the server sees it go", || server.clients().is_empty()).await;
            let ran = if bytes == whole { "1" } else { "" };
            assert_eq!(server.cli(&["GET", "n"]), ran, "{bytes} of {whole}");
        }
    }
}

#[tokio::test]
async fn a_stall_holds_bytes_back_and_an_end_too_until_it_is_over() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let proxy = Proxy::start(server.address());
        let mut client = through(&proxy);
        client.text(&INCR);
        proxy.stall(Way::Down);
        client.send(&INCR).unwrap();
        until("the server runs it", || server.cli(&["GET", "n"]) == "2").await;
        assert_eq!(proxy.bytes(Way::Down), 4);
        proxy.stall(Way::Up);
        client.send(&INCR).unwrap();
        server.kill();
        proxy.resume();
        assert_eq!(client.read().unwrap(), Answer::Integer(2));
        assert!(matches!(client.read_to_close(), Ok(rest) if rest.is_empty()));
    }
}

#[tokio::test]
async fn what_is_stalled_can_be_cut() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let proxy = Proxy::start(server.address());
        proxy.stall(Way::Down);
        let mut client = through(&proxy);
        client.send(&["PING"]).unwrap();
        proxy.connections_reach(1).await;
        proxy.cut(Cut::Reset);
        assert_eq!(client.read_to_close().unwrap_err().kind(), io::ErrorKind::ConnectionReset);
        proxy.resume();
        assert_eq!(through(&proxy).text(&["PING"]), "PONG");
        assert_eq!(proxy.connections(), 2);
    }
}

#[tokio::test]
async fn a_new_target_is_for_new_connections() {
    for flavor in flavors() {
        let (here, there) = (flavor.server().start(), flavor.server().start());
        here.cli(&["SET", "at", "here"]);
        there.cli(&["SET", "at", "there"]);
        let proxy = Proxy::start(here.address());
        let mut early = through(&proxy);
        assert_eq!(early.text(&["GET", "at"]), "here");
        proxy.switch_target(there.address());
        assert_eq!(early.text(&["GET", "at"]), "here");
        assert_eq!(through(&proxy).text(&["GET", "at"]), "there");
    }
}

#[tokio::test]
async fn refused_connections_leave_open_ones_alone() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let proxy = Proxy::start(server.address());
        let mut client = through(&proxy);
        client.text(&["PING"]);
        proxy.refuse();
        let refused = Raw::tcp(&proxy.address()).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        assert_eq!(client.text(&["PING"]), "PONG");
        proxy.listen();
        assert_eq!(through(&proxy).text(&["PING"]), "PONG");
        assert_eq!(proxy.connections(), 2);
    }
}
