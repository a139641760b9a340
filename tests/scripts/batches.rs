//! Calls among other commands, in pipelines and in transactions: the order is kept, each runs once,
//! and no NOSCRIPT is answered.

use std::collections::BTreeMap;

use echo_wire::{
    connector::{Config, Pipeline, Pool, Replies, Script, Transaction},
    resp::{Command, ServerError},
};

use crate::{counted, everywhere, script_commands, support::Server};

/// Two scripts that leave their name and an argument behind.
static A: Script = Script::new("return redis.call('RPUSH', KEYS[1], 'a' .. ARGV[1])");
static B: Script = Script::new("return redis.call('RPUSH', KEYS[1], 'b' .. ARGV[1])");

/// Commands and calls of both scripts, in turns; each leaves a line in the list.
fn batch() -> Pipeline {
    let mut batch = Pipeline::new();
    for n in 0..6 {
        batch.push(Command::new("RPUSH").arg("log").arg(&format!("c{n}")));
        batch.push_eval(A.call().key("log").arg(n));
        batch.push_eval(B.call().key("log").arg(n));
    }
    batch
}

/// Each command and call ran once, in order, behind `before` earlier ones.
fn ran_in_order(server: &Server, replies: &Replies, before: usize) {
    let lengths: Vec<usize> = replies.iter().map(|reply| reply.to().unwrap()).collect();
    assert_eq!(lengths, (before + 1..=before + 18).collect::<Vec<_>>());
    let log = server.cli(&["LRANGE", "log", &before.to_string(), "-1"]);
    let written: Vec<_> =
        (0..6).flat_map(|n| ["c", "a", "b"].map(|who| format!("{who}{n}"))).collect();
    assert_eq!(log.split_whitespace().collect::<Vec<_>>(), written);
}

#[test]
fn a_pipeline_keeps_its_order_and_runs_each_call_once_cold_and_warm() {
    everywhere(async |server, connector| {
        for round in 0..4 {
            if round % 2 == 0 {
                server.cli(&["SCRIPT", "FLUSH"]);
            }
            let replies = batch().run(&connector).await.unwrap();
            ran_in_order(server, &replies, round * 18);
        }
        assert_eq!(script_commands(server), counted(&connector));
    });
}

#[test]
fn a_transaction_with_two_scripts_that_the_server_does_not_know_runs_whole() {
    everywhere(async |server, connector| {
        for round in 0..4 {
            if round % 2 == 0 {
                server.cli(&["SCRIPT", "FLUSH"]);
            }
            match batch().run_as_transaction(&connector).await.unwrap() {
                Transaction::Done(replies) => ran_in_order(server, &replies, round * 18),
                other => panic!("{other:?}"),
            }
        }
        // Of the twelve calls in each, two went with their source.
        let sent = BTreeMap::from([("eval".to_owned(), 4 * 2), ("evalsha".to_owned(), 4 * 10)]);
        assert_eq!((script_commands(server), counted(&connector)), (sent.clone(), sent));
    });
}

#[test]
fn by_hash_the_loads_go_ahead_of_the_batch_and_once_a_connection() {
    everywhere(async |server, connector| {
        for round in 0..4 {
            let replies = batch().by_hash().run(&connector).await.unwrap();
            ran_in_order(server, &replies, round * 18);
        }
        assert_eq!((connector.stats().script_loads, connector.stats().eval_calls), (2, 0));
        assert_eq!(script_commands(server), counted(&connector));

        // What the caller chose: a call that finds no script says so, and the next batch loads it.
        server.cli(&["SCRIPT", "FLUSH"]);
        let replies = batch().by_hash().run(&connector).await.unwrap();
        let missed = |reply: &echo_wire::resp::Reply| {
            reply.as_error().is_some_and(|error| error.code() == "NOSCRIPT")
        };
        assert_eq!(replies.iter().filter(|reply| missed(reply)).count(), 12);
        assert_eq!(server.cli(&["LLEN", "log"]), (4 * 18 + 6).to_string());
        let replies = batch().by_hash().run(&connector).await.unwrap();
        ran_in_order(server, &replies, 4 * 18 + 6);
        assert_eq!(connector.stats().script_loads, 4);
    });
}

#[test]
fn a_flush_inside_the_batch_itself_takes_no_script_away() {
    everywhere(async |server, connector| {
        let flushes = || {
            Pipeline::new()
                .eval(A.call().key("log").arg(1))
                .command(Command::new("SCRIPT").arg("FLUSH"))
                .eval(A.call().key("log").arg(2))
                .eval(A.call().key("log").arg(3))
        };
        let replies = flushes().run(&connector).await.unwrap();
        assert_eq!(replies.to::<(i64, (), i64, i64)>().unwrap(), (1, (), 2, 3));
        let ended = flushes().run_as_transaction(&connector).await.unwrap();
        let replies = ended.done().unwrap();
        assert_eq!(replies.to::<(i64, (), i64, i64)>().unwrap(), (4, (), 5, 6));
        assert_eq!(server.cli(&["LLEN", "log"]), "6");
    });
}

#[test]
fn a_call_that_fails_in_a_batch_shifts_nothing() {
    everywhere(async |server, connector| {
        let fails =
            Script::new("redis.call('RPUSH', KEYS[1], 'f'); return redis.error_reply('NO more')");
        let batch = || {
            Pipeline::new()
                .eval(A.call().key("log").arg(1))
                .eval(fails.call().key("log"))
                .command(Command::new("LPUSH").arg("log"))
                .eval(B.call().key("log").arg(2))
        };
        type Read = (i64, Result<(), ServerError>, Result<(), ServerError>, i64);
        let (a, failed, short, b): Read = batch().run(&connector).await.unwrap().to().unwrap();
        assert_eq!((a, failed.unwrap_err().to_string().as_str(), b), (1, "NO more", 3));
        assert_eq!(short.unwrap_err().code(), "ERR");

        // A command that cannot be queued: nothing of it runs, the calls neither.
        match batch().run_as_transaction(&connector).await.unwrap() {
            Transaction::Aborted { reason, refused } => {
                assert_eq!((reason.code(), refused.len(), refused[0].0), ("EXECABORT", 1, 2));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(server.cli(&["LLEN", "log"]), "3");
    });
}

#[test]
fn batches_with_calls_run_alike_on_a_connector_a_pool_and_a_dedicated_connection() {
    everywhere(async |server, connector| {
        let config = Config::from_url(&server.url()).unwrap().protocol(connector_protocol(server));
        let pool = Pool::connect(config, 2).await.unwrap();
        let mut dedicated = connector.dedicated().await.unwrap();
        let mut before = 0;
        for is_transaction in [false, true, false, true] {
            server.cli(&["SCRIPT", "FLUSH"]);
            let whole = |ended: Transaction| ended.done().unwrap();
            let ran = match is_transaction {
                false => [
                    batch().run(&connector).await.unwrap(),
                    batch().run(&pool).await.unwrap(),
                    batch().run(&mut dedicated).await.unwrap(),
                ],
                true => [
                    whole(batch().run_as_transaction(&connector).await.unwrap()),
                    whole(batch().run_as_transaction(&pool).await.unwrap()),
                    whole(batch().run_as_transaction(&mut dedicated).await.unwrap()),
                ],
            };
            for replies in ran {
                assert_eq!(replies[17].to::<usize>().unwrap(), before + 18);
                before += 18;
            }
        }
        assert!(batch().run_without_replies(&connector).await.unwrap());
        server.cli(&["SCRIPT", "FLUSH"]);
        assert!(batch().run_without_replies(&mut dedicated).await.unwrap());
        assert_eq!(server.cli(&["LLEN", "log"]), (before + 36).to_string());
    });
}

/// The generation of the protocol that the first client of the server speaks.
fn connector_protocol(server: &Server) -> echo_wire::resp::Protocol {
    match server.clients().iter().any(|client| client.contains("resp=3")) {
        true => echo_wire::resp::Protocol::Resp3,
        false => echo_wire::resp::Protocol::Resp2,
    }
}

#[test]
fn a_call_under_watch_is_all_or_none() {
    everywhere(async |server, connector| {
        let mut dedicated = connector.dedicated().await.unwrap();
        for is_changed in [false, true, false] {
            server.cli(&["SCRIPT", "FLUSH"]);
            server.cli(&["DEL", "log"]);
            let watch = dedicated.watch(["log"]).await.unwrap();
            if is_changed {
                server.cli(&["RPUSH", "log", "another's"]);
            }
            let ended = watch.exec(&batch()).await.unwrap();
            match (is_changed, ended) {
                (false, Transaction::Done(replies)) => ran_in_order(server, &replies, 0),
                (true, Transaction::Conflict) => assert_eq!(server.cli(&["LLEN", "log"]), "1"),
                (_, other) => panic!("{other:?}"),
            }
        }
    });
}
