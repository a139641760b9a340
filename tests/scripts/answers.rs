//! What a script answers is the same whether or not the server had it before.

use echo_wire::{
    connector::{Connector, Error, Pipeline, Script, Transaction},
    resp::{Command, ServerError},
};

use crate::{everywhere, support::Server};

/// Scripts that fail, each in its own way, and how the server's words about it begin.
static FAILING: [(Script, &str); 6] = [
    (Script::new("return redis.error_reply('LIMIT reached')"), "LIMIT reached"),
    (
        Script::new("redis.call('SET', 'text', 'x'); return redis.call('LPUSH', 'text', 'y')"),
        "WRONGTYPE",
    ),
    (Script::new("return redis.pcall('LPUSH', 'text')"), "ERR Wrong number of args calling"),
    (Script::new("error('in the middle')"), "ERR "),
    (Script::new("this is no Lua"), "ERR Error compiling script"),
    // Its code is NOSCRIPT, and it has run: so it is not sent again.
    (
        Script::new("redis.call('INCR', 'runs'); return redis.error_reply('NOSCRIPT of the play')"),
        "NOSCRIPT of the play",
    ),
];

async fn alone(connector: &Connector, script: &Script) -> ServerError {
    match connector.eval(script.call()).await {
        Err(Error::Server(error)) => error,
        other => panic!("{other:?}"),
    }
}

/// Between two commands that answer; the second one runs whatever the script does.
fn batch(script: &Script) -> Pipeline {
    Pipeline::new()
        .command(Command::new("ECHO").arg("before"))
        .eval(script.call())
        .eval(script.call())
        .command(Command::new("ECHO").arg("behind"))
}

async fn in_a_pipeline(connector: &Connector, script: &Script) -> ServerError {
    let replies = batch(script).run(connector).await.unwrap();
    read(replies.to().unwrap())
}

async fn in_a_transaction(connector: &Connector, script: &Script) -> ServerError {
    match batch(script).run_as_transaction(connector).await.unwrap() {
        Transaction::Done(replies) => read(replies.to().unwrap()),
        other => panic!("{other:?}"),
    }
}

type Read = (String, Result<(), ServerError>, Result<(), ServerError>, String);

fn read((before, first, second, behind): Read) -> ServerError {
    assert_eq!((before.as_str(), behind.as_str()), ("before", "behind"));
    let (first, second) = (first.unwrap_err(), second.unwrap_err());
    assert_eq!(first, second, "the second call meets what the first met");
    first
}

async fn in_every_way(server: &Server, connector: &Connector, script: &Script) -> Vec<ServerError> {
    let mut said = Vec::new();
    for is_cold in [true, false, true] {
        let flush = || is_cold.then(|| server.cli(&["SCRIPT", "FLUSH"]));
        flush();
        said.push(alone(connector, script).await);
        flush();
        said.push(in_a_pipeline(connector, script).await);
        flush();
        said.push(in_a_transaction(connector, script).await);
    }
    said
}

#[test]
fn an_error_is_the_same_cold_and_warm_alone_and_in_batches() {
    everywhere(async |server, connector| {
        for (script, words) in &FAILING {
            let said = in_every_way(server, &connector, script).await;
            assert!(said[0].to_string().starts_with(words), "{}: {said:?}", script.sha1());
            assert!(said.iter().all(|error| *error == said[0]), "{said:?}");
        }
        // Three times alone, and twice in each batch: none was sent again.
        assert_eq!(server.cli(&["GET", "runs"]), (3 + 3 * 2 + 3 * 2).to_string());
    });
}

#[test]
fn values_of_every_kind_are_the_same_cold_and_warm() {
    everywhere(async |server, connector| {
        let script = Script::new(
            "return {1, 'two', {3, false}, redis.status_reply('FOUR'), KEYS[1], ARGV[1]}",
        );
        let call = script.call().key("k\r\n").arg(b"\xff\0");
        let cold = connector.eval(&call).await.unwrap();
        let warm = connector.eval(&call).await.unwrap();
        server.cli(&["SCRIPT", "FLUSH"]);
        let batch = Pipeline::new().eval(&call).eval(&call);
        let batched = batch.run(&connector).await.unwrap();
        for reply in [&warm, &batched[0], &batched[1]] {
            assert_eq!(reply.value(), cold.value());
        }
        type Answer = (i64, String, (i64, Option<i64>), String, Vec<u8>, Vec<u8>);
        let (one, two, three, four, key, arg): Answer = cold.to().unwrap();
        assert_eq!((one, two.as_str(), three, four.as_str()), (1, "two", (3, None), "FOUR"));
        assert_eq!((&key[..], &arg[..]), (&b"k\r\n"[..], &b"\xff\0"[..]));
    });
}

#[test]
fn a_read_only_script_that_writes_is_refused_each_time() {
    everywhere(async |server, connector| {
        let writes = Script::new("return redis.call('SET', 'a', 'b')").read_only();
        let said = in_every_way(server, &connector, &writes).await;
        assert!(said.iter().all(|error| *error == said[0]), "{said:?}");
        assert_eq!(server.cli(&["EXISTS", "a"]), "0");
    });
}
