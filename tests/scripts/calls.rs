//! Calls by themselves.

use echo_wire::{
    connector::{Config, Connection, Connector, Error, Event, Script},
    resp::Command,
};

use crate::{
    counted, everywhere, script_commands,
    support::{bounded, flavors},
};

static INCR: Script = Script::new("return redis.call('INCR', KEYS[1])");

/// A hundred callers at once, each of whom runs once: they are answered the numbers up to `last`.
async fn a_hundred(connector: &Connector, last: i64) {
    let call = |_| {
        let connector = connector.clone();
        tokio::spawn(async move { connector.eval(INCR.call().key("n")).await.unwrap() })
    };
    let mut ran = Vec::<i64>::new();
    for caller in (0..100).map(call).collect::<Vec<_>>() {
        ran.push(caller.await.unwrap().to().unwrap());
    }
    ran.sort_unstable();
    assert_eq!(ran, (last - 99..=last).collect::<Vec<_>>());
}

#[test]
fn a_hundred_callers_at_once_load_a_script_once_and_once_again_after_a_flush() {
    everywhere(async |server, connector| {
        for round in 1..=3_u32 {
            a_hundred(&connector, i64::from(round) * 200 - 100).await;
            a_hundred(&connector, i64::from(round) * 200).await;
            assert_eq!(script_commands(server), counted(&connector));
            let (stats, rounds) = (connector.stats(), u64::from(round));
            assert_eq!((stats.script_loads, stats.eval_calls), (rounds, 0));
            assert_eq!(stats.evalsha_calls, 200 * rounds + stats.noscripts);
            assert!((rounds..=100 * rounds).contains(&stats.noscripts), "{}", stats.noscripts);
            server.cli(&["SCRIPT", "FLUSH"]);
        }
    });
}

#[test]
fn each_script_is_loaded_by_itself() {
    everywhere(async |server, connector| {
        let scripts: Vec<_> = (0..5).map(|n| Script::from_source(format!("return {n}"))).collect();
        for _ in 0..3 {
            for (n, script) in scripts.iter().enumerate() {
                let reply = connector.eval(script.call()).await.unwrap();
                assert_eq!(reply.to::<usize>().unwrap(), n);
            }
        }
        assert_eq!(script_commands(server), counted(&connector));
        assert_eq!((connector.stats().script_loads, connector.stats().noscripts), (5, 5));
    });
}

#[test]
fn a_script_that_another_client_loaded_is_not_loaded_again() {
    everywhere(async |server, connector| {
        let sha1 = server.cli(&["SCRIPT", "LOAD", "return redis.call('INCR', KEYS[1])"]);
        assert_eq!(sha1, INCR.sha1(), "both say the same hash");
        a_hundred(&connector, 100).await;
        assert_eq!((connector.stats().script_loads, connector.stats().evalsha_calls), (0, 100));
    });
}

#[test]
fn a_server_that_started_anew_has_the_scripts_before_the_first_call() {
    everywhere(async |server, connector| {
        let other = Script::new("return ARGV[1]");
        for script in [&INCR, &other] {
            connector.eval(script.call().key("n").arg("x")).await.unwrap();
        }
        let (before, mut events) = (connector.stats(), connector.events());
        server.restart();
        let back = async { while !matches!(events.next().await.unwrap(), Event::Connected) {} };
        bounded("the connector is back", back).await;
        a_hundred(&connector, 100).await;
        connector.eval(other.call().arg("x")).await.unwrap();
        let ran = script_commands(server);
        assert_eq!((ran["script|load"], ran["evalsha"], ran.get("eval")), (2, 101, None));
        let stats = connector.stats();
        assert_eq!(stats.script_loads, before.script_loads + 2);
        assert_eq!(stats.noscripts, before.noscripts);
    });
}

#[test]
fn a_user_who_may_not_load_scripts_can_call_them() {
    everywhere(async |server, connector| {
        server.cli(&["ACL", "SETUSER", "app", "on", ">pw", "~*", "+@all", "-script|load"]);
        let config = Config::from_url(&server.url()).unwrap().user_and_password("app", "pw");
        let app = Connector::connect(config).await.unwrap();
        a_hundred(&app, 100).await;
        let stats = app.stats();
        assert!(stats.eval_calls > 0, "{stats:?}");
        a_hundred(&app, 200).await;
        assert_eq!(app.stats().eval_calls, stats.eval_calls, "EVAL had loaded it");
        drop(connector);
    });
}

#[test]
fn a_user_who_may_call_loaded_scripts_only_is_told_so() {
    everywhere(async |server, _| {
        server.cli(&["ACL", "SETUSER", "app", "on", ">pw", "~*", "+@all", "-eval", "-script|load"]);
        let config = Config::from_url(&server.url()).unwrap().user_and_password("app", "pw");
        let app = Connector::connect(config).await.unwrap();
        let refused = app.eval(INCR.call().key("n")).await;
        assert!(matches!(&refused, Err(Error::Server(e)) if e.code() == "NOPERM"), "{refused:?}");
        server.cli(&["SCRIPT", "LOAD", "return redis.call('INCR', KEYS[1])"]);
        a_hundred(&app, 100).await;
    });
}

#[test]
fn a_connection_of_ones_own_calls_scripts_by_hash_and_misses_none() {
    everywhere(async |server, connector| {
        let mut dedicated = connector.dedicated().await.unwrap();
        let config = Config::from_url(&server.url()).unwrap();
        let mut connection = Connection::connect(&config).await.unwrap();
        for round in 0..3 {
            for n in 1..=3 {
                let call = INCR.call().key("n");
                let reply = dedicated.eval(&call).await.unwrap();
                assert_eq!(reply.to::<i64>().unwrap(), round * 9 + n * 2 - 1);
                let reply = connection.eval(&call).await.unwrap();
                assert_eq!(reply.to::<i64>().unwrap(), round * 9 + n * 2);
            }
            let mut watch = dedicated.watch(["n"]).await.unwrap();
            for n in 7..=9 {
                server.cli(&["SCRIPT", "FLUSH"]);
                let reply = watch.eval(INCR.call().key("n")).await.unwrap();
                assert_eq!(reply.to::<i64>().unwrap(), round * 9 + n);
            }
        }
        let ran = script_commands(server);
        assert!(ran["evalsha"] > ran["eval"], "{ran:?}");
    });
}

/// Commands of others on the same connection stay in step, whatever calls are sent again.
#[test]
fn calls_that_are_sent_again_shift_nothing() {
    everywhere(async |server, connector| {
        let mut work = Vec::new();
        for n in 0..200 {
            if n % 50 == 0 {
                server.cli(&["SCRIPT", "FLUSH"]);
            }
            let (connector, word) = (connector.clone(), format!("word {n}"));
            work.push(tokio::spawn(async move {
                let said = match n % 2 {
                    0 => connector.command(Command::new("ECHO").arg(&word)).await,
                    _ => connector.eval(Script::new("return ARGV[1]").call().arg(&word)).await,
                };
                assert_eq!(said.unwrap().to::<String>().unwrap(), word);
            }));
        }
        for task in work {
            task.await.unwrap();
        }
        assert_eq!(connector.stats().pending, 0);
    });
}

#[test]
fn a_hash_sent_as_a_plain_command_is_answered_as_the_server_answers_it() {
    everywhere(async |_, connector| {
        let wrong = "0".repeat(40);
        let reply = connector.command(Command::new("EVALSHA").arg(&wrong).arg(0)).await;
        assert!(matches!(&reply, Err(Error::Server(e)) if e.code() == "NOSCRIPT"), "{reply:?}");
        assert!(!reply.unwrap_err().maybe_executed());
        assert_eq!(connector.stats().evalsha_calls, 0, "no call of a script of ours");
    });
    assert!(!flavors().is_empty());
}
