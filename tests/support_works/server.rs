//! Real servers: started, looked into, killed, paused, met while they load.

use std::{
    env, fs,
    io::{BufRead, BufReader, Read, stdin},
    panic,
    path::Path,
    process::{Command, Stdio},
    thread,
};

use crate::support::{Answer, Flavor, Raw, flavors};

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
        assert_eq!(info.contains("valkey_version"), flavor == Flavor::Valkey);
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
        client.text(&["CLIENT", "SETNAME", "me"]);
        let clients = server.clients();
        assert!(clients.len() == 1 && clients[0].contains(" name=me "), "{clients:?}");
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
        assert_eq!(server.clients(), [""; 0]);
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
        .map(|f| thread::spawn(move || f.server().start()))
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

#[test]
fn a_killed_test_process_leaves_no_server() {
    let setpriv = Command::new("setpriv").args(["--pdeathsig", "KILL", "true"]).status();
    if !setpriv.is_ok_and(|status| status.success()) {
        return; // Nothing here can do it without unsafe code.
    }
    let mut doomed = Command::new(env::current_exe().unwrap())
        .args(["--exact", "server::holds_a_server", "--ignored", "--nocapture"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let said = BufReader::new(doomed.stdout.take().unwrap()).lines();
    let said = said
        .map(Result::unwrap)
        .find_map(|line| line.split_once("it runs: ").map(|(_, at)| at.to_owned()));
    let said = said.expect("it starts a server");
    let (pid, dir) = said.split_once(' ').unwrap();
    let stat = format!("/proc/{pid}/stat");
    assert!(fs::read_to_string(&stat).unwrap().contains("server"));
    doomed.kill().unwrap();
    doomed.wait().unwrap();
    // Gone, or dead and not yet reaped by whoever inherits it.
    while fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
        thread::yield_now();
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
#[ignore = "run, and killed, by another test"]
fn holds_a_server() {
    let server = flavors()[0].server().start();
    println!("it runs: {} {}", server.pid(), server.dir().display());
    let _ = stdin().read(&mut [0]);
}
