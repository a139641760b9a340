//! The server is there and will not have us, for now or for good: it loads, it is busy, it was
//! demoted, it is full, it changed its password. What time heals is waited for, the rest is final.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use echo_wire::{
    connector::{Addresses, Cause, Config, Connector, Error, Event, Pipeline, Policy, Resolve},
    keyspace::VERSION_KEY,
    resp::{Command, ServerError},
};
use tokio::runtime::Handle;

use crate::{
    bed::{
        config, disconnected, echo, event, everywhere, fatal, fenced, millis, on_each_runtime,
        over_scripts, policy, ready,
    },
    load::Load,
    support::{Cut, Proxy, Raw, Server, WIRE, bounded, bulk, until},
    witness::Witness,
};

/// The server's words that an attempt to come back met.
fn attempt_met(event: Event) -> Option<ServerError> {
    match event {
        Event::Reconnecting {
            cause: Error::NotReady { cause: Cause::Reply(words), .. }, ..
        } => Some(words),
        _ => None,
    }
}

#[test]
fn a_server_that_still_loads_is_waited_for() {
    everywhere(async |server| {
        let connector = Connector::connect(config(&server.url(), policy())).await.unwrap();
        let mut events = connector.events();
        let load = Load::start(&connector, 8);
        load.goes_on(50).await;
        server.cli(&["DEBUG", "POPULATE", "20000"]);
        server.cli(&["SAVE"]);
        server.add_args(&[
            "--key-load-delay",
            "20",
            "--loading-process-events-interval-bytes",
            "1024",
        ]);
        server.restart_loading();
        let words = event(&mut events, attempt_met).await;
        assert_eq!(words.code(), "LOADING");
        server.cli(&["CONFIG", "SET", "key-load-delay", "0"]);
        fenced(&mut events).await;
        load.goes_on(50).await;
        load.finish().await;
        assert_eq!(server.cli(&["EXISTS", "key:19999"]), "1", "what it loaded is there");
        assert_eq!(connector.stats().fences_vanished, 0, "the fence was in the dump");
    });
}

#[test]
fn a_server_busy_with_a_script_is_waited_for_and_a_live_connection_to_it_is_kept() {
    everywhere(async |server| {
        let proxy = Proxy::start(server.address());
        let policy = Policy { heartbeat: millis(20), ..policy() };
        let connector = Connector::connect(config(&proxy.url(), policy)).await.unwrap();
        let mut events = connector.events();
        server.cli(&["CONFIG", "SET", "busy-reply-threshold", "1"]);
        let mut script = server.raw();
        let endless = ["EVAL", "while true do end", "0"];
        script.send(&endless).unwrap();
        // On the live connection callers are told, heartbeats too, and it is kept.
        loop {
            match echo(&connector, "busy?").await {
                Err(Error::Server(words)) if words.code() == "BUSY" => break,
                result => assert_eq!(result.unwrap(), "busy?"),
            }
        }
        let beats = connector.stats().replies;
        until("heartbeats are answered", || connector.stats().replies > beats + 3).await;
        assert_eq!(connector.stats().connects, 1);
        // A new one meets it in the connect sequence.
        proxy.cut(Cut::Reset);
        let words = event(&mut events, attempt_met).await;
        assert_eq!(words.code(), "BUSY");
        server.cli(&["SCRIPT", "KILL"]);
        fenced(&mut events).await;
        assert_eq!(echo(&connector, "again").await.unwrap(), "again");
    });
}

/// Says where the name leads, and how often it was asked.
#[derive(Debug, Clone)]
struct Registry {
    address: Arc<Mutex<SocketAddr>>,
    asked: Arc<AtomicUsize>,
}

impl Registry {
    fn of(server: &Server) -> Self {
        let address = server.address().parse().unwrap();
        Self { address: Arc::new(Mutex::new(address)), asked: Arc::default() }
    }

    fn move_to(&self, server: &Server) {
        *self.address.lock().unwrap() = server.address().parse().unwrap();
    }
}

impl Resolve for Registry {
    fn resolve<'a>(&'a self, _host: &'a str, _port: u16) -> Addresses<'a> {
        self.asked.fetch_add(1, SeqCst);
        let address = *self.address.lock().unwrap();
        Box::pin(async move { Ok(vec![address]) })
    }
}

#[test]
fn a_demoted_server_is_left_in_order_and_the_name_resolved_again() {
    everywhere(async |server| {
        let registry = Registry::of(&server);
        let config = Config::tcp("jobs.internal", 1).policy(policy()).resolver(registry.clone());
        let connector = Connector::connect(config).await.unwrap();
        let mut events = connector.events();
        let load = Load::start(&connector, 16);
        load.goes_on(100).await;
        let next = server.flavor().server().start();
        let mut witness = Witness::of(&server);
        server.cli(&["REPLICAOF", "127.0.0.1", "1"]);
        // Callers are told of refused writes; the connection is left, and a replica not taken.
        load.reaches("a write is refused", |tally| tally.refused.contains_key("READONLY")).await;
        let why = disconnected(&mut events).await;
        assert!(matches!(why, Error::NotReady { cause: Cause::Replica, .. }), "{why:?}");
        until("a replica is not taken", || connector.stats().failed_connects > 0).await;
        registry.move_to(&next);
        fenced(&mut events).await;
        load.goes_on(100).await;
        let tally = load.finish().await;
        assert_eq!(tally.unknown, 0, "what was in flight was answered before it left: {tally:?}");
        assert!(registry.asked.load(SeqCst) >= 3, "once, at the replica, at the new primary");
        assert_eq!(next.cli(&["GET", VERSION_KEY]), WIRE);
        // The replica saw no claim of the fence.
        let seen = witness.seen(&server);
        assert!(!seen.iter().any(|command| command.contains("\"NX\"")), "{seen:#?}");
    });
}

#[test]
fn replies_around_a_refused_write_are_kept_whatever_a_proxy_made_of_its_words() {
    on_each_runtime(async || {
        for words in ["-READONLY You can't write against a read only replica.", "-ERR READONLY no"]
        {
            let (connector, mut old, mut scripts) = over_scripts(policy(), 1 << 16).await;
            let calls = tokio::spawn({
                let connector = connector.clone();
                async move {
                    tokio::join!(
                        echo(&connector, "before"),
                        connector.command(Command::new("SET").arg("k").arg("v")),
                        echo(&connector, "same read"),
                        echo(&connector, "later read"),
                    )
                }
            });
            for _ in 0..4 {
                old.command().await;
            }
            old.send([&bulk("before"), words.as_bytes(), b"\r\n", &bulk("same read")].concat())
                .await;
            until("they are read", || connector.stats().replies == 3).await;
            // The link takes nothing new, and waits for what is owed.
            let error = echo(&connector, "late").await.unwrap_err();
            assert!(matches!(error, Error::Disconnected { maybe_executed: false }), "{error:?}");
            old.send(bulk("later read")).await;
            let (before, refused, same, later) = bounded("all are told", calls).await.unwrap();
            assert_eq!(before.unwrap(), "before");
            assert!(matches!(&refused, Err(Error::Server(it)) if it.code() == "READONLY"));
            assert!(!refused.unwrap_err().maybe_executed());
            assert_eq!((same.unwrap(), later.unwrap()), ("same read".into(), "later read".into()));
            old.expect_close().await;
            let _next = scripts.passed().await;
            ready(&connector).await;
        }
    });
}

#[test]
fn a_full_server_turns_us_away_with_its_own_words_until_there_is_room() {
    everywhere(async |server| {
        let proxy = Proxy::start(server.address());
        let connector = Connector::connect(config(&proxy.url(), policy())).await.unwrap();
        let mut events = connector.events();
        let mut admin = server.raw();
        proxy.refuse();
        proxy.cut(Cut::Close);
        disconnected(&mut events).await;
        until("it is gone", || admin.text(&["CLIENT", "LIST"]).lines().count() == 1).await;
        admin.text(&["CONFIG", "SET", "maxclients", "1"]);
        proxy.listen();
        for _ in 0..3 {
            let words = event(&mut events, attempt_met).await;
            assert!(words.to_string().contains("max number of clients"), "{words}");
        }
        admin.text(&["CONFIG", "SET", "maxclients", "100"]);
        fenced(&mut events).await;
        assert_eq!(echo(&connector, "in").await.unwrap(), "in");
        assert_eq!(connector.stats().protocol_errors, 0);
    });
}

/// The first connection is given up, `change` is made, and then the server can be reached again.
/// Answers why that was final.
async fn changed_while_away(
    server: &Server,
    config: Config,
    change: &[&str],
    raw: &mut Raw,
) -> Error {
    let proxy = Proxy::start(server.address());
    let connector = Connector::connect(by_way_of(config, proxy.port())).await.unwrap();
    let mut events = connector.events();
    proxy.refuse();
    proxy.cut(Cut::Close);
    disconnected(&mut events).await;
    raw.text(change);
    proxy.listen();
    let why = fatal(&mut events).await;
    let connections = proxy.connections();
    let error = connector.ready().await.unwrap_err();
    assert_eq!(error.to_string(), why.to_string());
    for _ in 0..3 {
        let error = echo(&connector, "later").await.unwrap_err();
        assert_eq!(error.to_string(), why.to_string());
    }
    until("its task ends", || Handle::current().metrics().num_alive_tasks() == 0).await;
    assert_eq!(proxy.connections(), connections, "who was refused does not try again");
    why
}

/// Whatever name the config has, it leads to this port.
fn by_way_of(config: Config, port: u16) -> Config {
    #[derive(Debug)]
    struct There(SocketAddr);
    impl Resolve for There {
        fn resolve<'a>(&'a self, _host: &'a str, _port: u16) -> Addresses<'a> {
            Box::pin(async { Ok(vec![self.0]) })
        }
    }
    config.resolver(There(([127, 0, 0, 1], port).into()))
}

#[test]
fn a_password_changed_while_we_were_away_is_final() {
    everywhere(async |server| {
        // Stays in, whatever becomes of the password.
        let mut raw = server.raw();
        raw.text(&["ACL", "SETUSER", "default", "resetpass", ">old"]);
        let config = Config::tcp("server", 1).policy(policy()).password("old");
        let change = ["ACL", "SETUSER", "default", "resetpass", ">new"];
        let why = changed_while_away(&server, config, &change, &mut raw).await;
        assert!(matches!(&why, Error::AuthRefused { reply, .. } if reply.code() == "WRONGPASS"));
    });
}

#[test]
fn a_right_taken_from_our_user_is_final_at_the_fence_and_its_callers_matter_elsewhere() {
    everywhere(async |server| {
        let mut raw = server.raw();
        raw.text(&["ACL", "SETUSER", "app", "on", ">pw", "~*", "+@all", "-flushall"]);
        let config = Config::tcp("server", 1).policy(policy()).user_and_password("app", "pw");
        let connector = Connector::connect(by_way_of(config.clone(), server.port())).await.unwrap();
        let error = connector.command(Command::new("FLUSHALL")).await.unwrap_err();
        assert!(matches!(&error, Error::Server(words) if words.code() == "NOPERM"), "{error:?}");
        let pipeline = Pipeline::new()
            .command(Command::new("FLUSHALL"))
            .command(Command::new("ECHO").arg("next"));
        let replies = connector.pipeline(&pipeline).await.unwrap();
        assert!(replies[0].is_error() && replies[1].to::<String>().unwrap() == "next");
        assert_eq!(connector.stats().connects, 1);
        connector.close().await;

        let change = ["ACL", "SETUSER", "app", "-get"];
        let why = changed_while_away(&server, config, &change, &mut raw).await;
        assert!(matches!(&why, Error::BootRefused { reply, .. } if reply.code() == "NOPERM"));
    });
}
