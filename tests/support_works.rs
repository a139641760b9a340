//! The test bed itself, on real servers.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod support;

use std::{fs, panic, path::Path};

use support::{Answer, Raw, flavors};

#[test]
fn a_server_runs_answers_and_is_looked_into() {
    for flavor in flavors() {
        let server = flavor.server().start();
        assert_eq!(server.cli(&["SET", "a", "1"]), "OK");
        let mut tcp = Raw::tcp(&server.address()).unwrap();
        assert_eq!(tcp.call(&["GET", "a"]), Answer::Text(b"1".into()));
        assert_eq!(tcp.call(&["GET", "b"]), Answer::Null);
        assert!(matches!(tcp.call(&["INCR"]), Answer::Error(line) if line.starts_with("ERR ")));
        assert_eq!(server.cli(&["INCR", "a"]), "2");
        assert_eq!(server.cli(&["CONFIG", "GET", "appendonly"]), "appendonly\nno");
        let info = server.cli(&["INFO", "server"]);
        assert!(info.contains(&format!("process_id:{}", server.pid())), "{info}");
        assert!(info.contains(&format!("tcp_port:{}", server.port())), "{info}");
        assert_eq!(info.contains("valkey_version"), flavor == support::Flavor::Valkey);
    }
}

#[test]
fn replies_of_resp3_are_read_too() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let mut raw = server.raw();
        let Answer::List(hello) = raw.call(&["HELLO", "3"]) else { panic!("no map") };
        assert!(hello.contains(&Answer::Text(b"proto".into())));
        for (kind, answer) in [
            ("null", Answer::Null),
            ("double", Answer::Text(b"3.141".into())),
            ("verbatim", Answer::Text(b"This is a verbatim\nstring".into())),
            ("true", Answer::Text(b"t".into())),
        ] {
            assert_eq!(raw.call(&["DEBUG", "PROTOCOL", kind]), answer, "{kind}");
        }
    }
}

#[test]
fn a_killed_server_closes_its_clients_and_comes_back_on_its_port() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let (port, pid) = (server.port(), server.pid());
        let mut client = Raw::tcp(&server.address()).unwrap();
        client.text(&["PING"]);
        server.kill();
        assert!(!server.is_running());
        assert_eq!(client.read_to_close().unwrap(), b"");
        assert!(Raw::tcp(&server.address()).is_err());
        server.restart();
        assert_eq!(server.port(), port);
        assert_ne!(server.pid(), pid);
        assert_eq!(server.cli(&["DBSIZE"]), "0");
        assert!(server.shutdown().success());
        server.restart();
        assert_eq!(server.cli(&["PING"]), "PONG");
    }
}

#[test]
fn a_restart_finds_the_dump_and_can_be_met_while_it_loads() {
    for flavor in flavors() {
        let server = flavor.server().start();
        server.cli(&["DEBUG", "POPULATE", "20000", "key", "100"]);
        server.cli(&["SAVE"]);
        server.add_args(&[
            "--key-load-delay",
            "1000",
            "--loading-process-events-interval-bytes",
            "1024",
        ]);
        server.restart_loading();
        assert!(
            matches!(server.raw().call(&["GET", "a"]), Answer::Error(line) if line.starts_with("LOADING "))
        );
        assert_eq!(
            server.raw().call(&["CONFIG", "SET", "key-load-delay", "0"]),
            Answer::Text(b"OK".into())
        );
    }
}

#[test]
fn a_password_is_known_to_the_inspection() {
    for flavor in flavors() {
        let server = flavor.server().arg("--requirepass").arg("se cret").start();
        assert_eq!(server.cli(&["PING"]), "PONG");
        let mut stranger = Raw::unix(&server.unix_path()).unwrap();
        assert!(
            matches!(stranger.call(&["PING"]), Answer::Error(line) if line.starts_with("NOAUTH "))
        );
    }
}

#[test]
fn starting_and_looking_leaves_no_client_behind() {
    for flavor in flavors() {
        let server = flavor.server().arg("--maxclients").arg("1").start();
        for _ in 0..20 {
            assert_eq!(server.cli(&["PING"]), "PONG");
        }
        let mut only = Raw::tcp(&server.address()).unwrap();
        assert_eq!(only.text(&["PING"]), "PONG");
    }
}

#[test]
fn a_paused_server_takes_bytes_and_answers_after_it_resumes() {
    for flavor in flavors() {
        let server = flavor.server().start();
        let mut client = Raw::tcp(&server.address()).unwrap();
        server.pause();
        client.send(&["PING"]).unwrap();
        let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
        assert!(status.contains("State:\tT"), "{status}");
        server.resume();
        assert_eq!(client.read().unwrap(), Answer::Text(b"PONG".into()));
    }
}

#[test]
fn a_panic_ends_the_server_and_removes_its_directory() {
    for flavor in flavors() {
        let (pid, dir) = {
            let server = flavor.server().start();
            let seen = (server.pid(), server.dir().to_owned());
            let caught = panic::catch_unwind(panic::AssertUnwindSafe(move || {
                server.pause();
                panic!("a test fails with {server:?}")
            }));
            assert!(caught.is_err());
            seen
        };
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
        assert!(!dir.exists());
    }
}

#[test]
fn many_servers_start_at_once_on_ports_of_their_own() {
    let starts: Vec<_> = flavors()
        .into_iter()
        .cycle()
        .take(8)
        .map(|f| std::thread::spawn(move || f.server().start()))
        .collect();
    // The threads that started them are gone; the servers are not.
    let servers: Vec<_> = starts.into_iter().map(|start| start.join().unwrap()).collect();
    let mut ports: Vec<_> = servers.iter().map(|server| server.port()).collect();
    ports.sort_unstable();
    ports.dedup();
    assert_eq!(ports.len(), servers.len());
    for server in &servers {
        assert_eq!(server.cli(&["PING"]), "PONG");
    }
}
