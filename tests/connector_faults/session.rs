//! What a connection was told at the start holds for every later one: database, name, protocol.
//! Nothing of a caller's goes out before the last word of the fence.

use echo_wire::{
    connector::{Config, Connector, Error, Policy, WhenAway},
    keyspace::VERSION_KEY,
    resp::{Command, Protocol},
};

use crate::{
    bed::{
        HOUR, config, disconnected, echo, everywhere, fatal, fenced, on_each_runtime, policy,
        scripted,
    },
    load::Load,
    support::{Cut, Proxy, WIRE, Way, bounded, bulk, until},
};

#[test]
fn database_name_and_protocol_are_those_of_the_first_connection_after_every_loss() {
    everywhere(async |server| {
        for (protocol, shown) in [(Protocol::Resp3, "resp=3"), (Protocol::Resp2, "resp=2")] {
            let config = config(&server.url(), policy()).database(5).protocol(protocol);
            let config = config.client_name("mailer-7").unwrap();
            let connector = Connector::connect(config).await.unwrap();
            let mut events = connector.events();
            let load = Load::start(&connector, 32);
            let mut raw = server.raw();
            for _ in 0..20 {
                load.goes_on(30).await;
                raw.text(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
                fenced(&mut events).await;
                let ours = server.clients().into_iter().find(|line| !line.contains("/socket"));
                let ours = ours.expect("it is connected");
                assert!(ours.contains("name=mailer-7") && ours.contains(" db=5 "), "{ours}");
                assert!(ours.contains(shown) || !ours.contains("resp="), "{ours}");
            }
            load.finish().await;
            connector.close().await;
            let keyspace = raw.text(&["INFO", "keyspace"]);
            assert!(keyspace.contains("db5:") && !keyspace.contains("db0:"), "{keyspace}");
            assert_eq!(raw.text(&["EXISTS", VERSION_KEY]), "0", "the fence is db 5's own");
        }
    });
}

#[test]
fn nothing_of_a_callers_precedes_the_fence_on_a_new_connection_however_many_wait() {
    on_each_runtime(async || {
        for protocol in [Protocol::Resp3, Protocol::Resp2] {
            let (dial, mut scripts) = scripted(1 << 16);
            let waits = Policy { when_away: WhenAway::WaitAtMost(HOUR), ..policy() };
            let config = Config::tcp("script", 1).policy(waits).database(5).protocol(protocol);
            let connect = Connector::over(dial, config);
            let (connector, first) = tokio::join!(connect, scripts.passed());
            let connector = connector.unwrap();
            let mut events = connector.events();
            first.close();
            disconnected(&mut events).await;
            let calls: Vec<_> = (0..100)
                .map(|n| {
                    let connector = connector.clone();
                    tokio::spawn(async move { echo(&connector, &n.to_string()).await })
                })
                .collect();
            let mut second = scripts.dialled().await;
            let mut boot = Vec::new();
            // Answered one by one, the fence last: whatever comes before that answer is a leak.
            while boot.last().is_none_or(|last: &Vec<String>| last[0] != "GET") {
                boot.push(second.command().await);
            }
            let own = ["HELLO", "SELECT", "CLIENT", "ROLE", "CONFIG", "GET"];
            assert!(boot.iter().all(|command| own.contains(&command[0].as_str())), "{boot:?}");
            assert!(boot.contains(&vec!["SELECT".into(), "5".into()]), "{boot:?}");
            for command in &boot[..boot.len() - 1] {
                second.send(boot_answer(command)).await;
                second.taken().await;
                tokio::task::yield_now().await;
            }
            let unasked = second.received().len();
            second.send(bulk(WIRE)).await;
            let mut echoed = 0;
            while echoed < 100 {
                let command = second.command().await;
                assert_eq!(command[0], "ECHO");
                second.send(bulk(&command[1])).await;
                echoed += 1;
            }
            assert!(second.received().len() > unasked);
            for (n, call) in calls.into_iter().enumerate() {
                let word = bounded("it is answered", call).await.unwrap().unwrap();
                assert_eq!(word, n.to_string());
            }
        }
    });
}

fn boot_answer(command: &[String]) -> Vec<u8> {
    match command[0].as_str() {
        "HELLO" => b"%2\r\n$5\r\nproto\r\n:3\r\n$4\r\nrole\r\n$6\r\nmaster\r\n".to_vec(),
        "ROLE" => b"*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n".to_vec(),
        "CONFIG" => b"*0\r\n".to_vec(),
        _ => b"+OK\r\n".to_vec(),
    }
}

#[test]
fn a_database_refused_on_a_later_connection_runs_nothing_and_is_final() {
    on_each_runtime(async || {
        let (dial, mut scripts) = scripted(1 << 16);
        let waits = Policy { when_away: WhenAway::WaitAtMost(HOUR), ..policy() };
        let config = Config::tcp("script", 1).policy(waits).database(5);
        let (connector, first) = tokio::join!(Connector::over(dial, config), scripts.passed());
        let connector = connector.unwrap();
        let mut events = connector.events();
        first.close();
        disconnected(&mut events).await;
        let waiting = tokio::spawn({
            let connector = connector.clone();
            async move { connector.command(Command::new("INCR").arg("n")).await }
        });
        let mut second = scripts.dialled().await;
        loop {
            let command = second.command().await;
            match command[0].as_str() {
                "SELECT" => second.send("-ERR DB index is out of range\r\n").await,
                "GET" => break second.send(bulk(WIRE)).await,
                _ => second.send(boot_answer(&command)).await,
            }
        }
        let why = fatal(&mut events).await;
        assert!(matches!(&why, Error::BootRefused { .. }), "{why:?}");
        second.expect_close().await;
        let error = bounded("it is told", waiting).await.unwrap().unwrap_err();
        assert_eq!(error.to_string(), why.to_string());
        assert!(!error.maybe_executed());
    });
}

#[test]
fn one_cut_in_the_midst_of_hello_does_not_cost_the_protocol() {
    everywhere(async |server| {
        let proxy = Proxy::start(server.address());
        let connector = Connector::connect(config(&proxy.url(), policy())).await.unwrap();
        let mut events = connector.events();
        let mut raw = server.raw();
        for n in 0..5 {
            // The next connection breaks before a byte of HELLO's reply has come.
            let connections = proxy.connections();
            proxy.stall(Way::Down);
            raw.text(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
            proxy.cut(Cut::Close);
            proxy.connections_reach(connections + 1).await;
            proxy.cut(Cut::Close);
            proxy.resume();
            fenced(&mut events).await;
            let mut ours = String::new();
            until("it is connected", || {
                let clients = server.clients();
                ours =
                    clients.into_iter().find(|line| !line.contains("/socket")).unwrap_or_default();
                !ours.is_empty()
            })
            .await;
            assert!(ours.contains("resp=3") || !ours.contains("resp="), "{n}: {ours}");
        }
    });
}
