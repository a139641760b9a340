//! A batch is built command by command and runs as it is, as a transaction, or without replies, on
//! whatever carries it; its replies are read as types.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail"
)]

mod support;

use echo_wire::{
    connector::{Carrier, Connector, Error, Pipeline, Pool, Transaction},
    resp::{Command, ServerError},
};
use support::everywhere;

/// Two commands that succeed with one between them that cannot.
fn batch() -> Pipeline {
    Pipeline::new()
        .command(Command::new("INCR").arg("n"))
        .command(Command::new("LPUSH").arg("n").arg("x"))
        .command(Command::new("HGETALL").arg("nothing"))
}

type Read = (u64, Result<u64, ServerError>, Vec<(String, String)>);

async fn in_each_way<C: Carrier>(mut on: impl FnMut() -> C) {
    let replies = batch().run(on()).await.unwrap();
    let (count, pushed, nothing): Read = replies.to().unwrap();
    assert_eq!((count, pushed.unwrap_err().code(), nothing.len()), (1, "WRONGTYPE", 0));
    let error = replies.to::<(u64, u64, Vec<(String, String)>)>().unwrap_err();
    assert_eq!((error.path(), error.server_error().unwrap().code()), (vec![1], "WRONGTYPE"));
    assert!(matches!(Error::from(error), Error::Convert(_)));

    let Transaction::Done(replies) = batch().run_as_transaction(on()).await.unwrap() else {
        panic!("it was not done")
    };
    let (count, pushed, _): Read = replies.to().unwrap();
    assert_eq!((count, pushed.unwrap_err().code()), (2, "WRONGTYPE"));

    assert!(batch().run_without_replies(on()).await.unwrap());
    let count = Pipeline::new().command(Command::new("GETDEL").arg("n"));
    assert_eq!(count.run(on()).await.unwrap().to::<(u64,)>().unwrap(), (3,));

    // An abort tells what could not be queued, and the connection stays in step.
    let aborted = batch().command(Command::new("GET")).run_as_transaction(on()).await.unwrap();
    let Transaction::Aborted { reason, refused } = aborted else { panic!("{aborted:?}") };
    assert_eq!((reason.code(), refused.len(), refused[0].0), ("EXECABORT", 1, 3));
    assert!(matches!(
        Pipeline::new().run_as_transaction(on()).await.unwrap(),
        Transaction::Done(replies) if replies.is_empty()
    ));
    let exists = Pipeline::new().command(Command::new("EXISTS").arg("n"));
    assert_eq!(exists.run(on()).await.unwrap().to::<Vec<u8>>().unwrap(), [0]);
}

#[test]
fn a_batch_runs_alike_on_a_connector_a_pool_and_a_dedicated_connection() {
    everywhere(async |_server, config| {
        let connector = Connector::connect(config.clone()).await.unwrap();
        in_each_way(|| &connector).await;
        let pool = Pool::connect(config, 3).await.unwrap();
        in_each_way(|| &pool).await;
        let mut dedicated = connector.dedicated().await.unwrap();
        let replies = batch().run(&mut dedicated).await.unwrap();
        assert_eq!(replies.to::<Read>().unwrap().0, 1);
        let done = batch().run_as_transaction(&mut dedicated).await.unwrap().done();
        assert_eq!(done.unwrap().to::<Read>().unwrap().0, 2);
        assert!(batch().run_without_replies(&mut dedicated).await.unwrap());
        let count = dedicated.command(Command::new("GET").arg("n")).await.unwrap();
        assert_eq!(count.to::<u64>().unwrap(), 3);
    });
}

#[test]
fn futures_of_batches_can_be_spawned() {
    everywhere(async |_server, config| {
        let connector = Connector::connect(config).await.unwrap();
        let mut dedicated = connector.dedicated().await.unwrap();
        let tasks = [
            tokio::spawn({
                let connector = connector.clone();
                async move { batch().run(&connector).await.unwrap().len() }
            }),
            tokio::spawn(async move { batch().run(&mut dedicated).await.unwrap().len() }),
        ];
        for task in tasks {
            assert_eq!(task.await.unwrap(), 3);
        }
    });
}

#[test]
fn commands_are_lent_or_given_and_can_be_temporaries() {
    everywhere(async |_server, config| {
        let connector = Connector::connect(config.clone()).await.unwrap();
        let pool = Pool::connect(config, 2).await.unwrap();
        let key = String::from("n");
        let get = Command::new("GET").arg(&key);
        let (set, incr, a, b) = tokio::join!(
            connector.command(Command::new("SET").arg(&key).arg(1)),
            pool.command(Command::new("INCR").arg("m")),
            connector.command(&get),
            pool.command(&get),
        );
        for reply in [set, incr, a, b] {
            reply.unwrap();
        }
        let mut lent = Pipeline::new().command(&get);
        lent.push(&get);
        lent.push(get);
        let mut dedicated = connector.dedicated().await.unwrap();
        assert_eq!(dedicated.pipeline(&lent).await.unwrap().to::<Vec<u8>>().unwrap(), [1, 1, 1]);
    });
}
