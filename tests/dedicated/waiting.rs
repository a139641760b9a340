//! Commands that wait have a connection of their own, and hold up nobody.

use echo_wire::{
    connector::{Connector, Error, Pipeline, Reason},
    resp::{Command, Reply},
};

use crate::{
    bed::{blocked, blpop, dedicated, popped, push},
    support::{everywhere, until},
};

#[test]
fn a_pop_waits_on_a_connection_of_its_own_and_holds_up_nobody() {
    everywhere(async |server, config| {
        let (connector, mut dedicated) = dedicated(config).await;
        let feed = async {
            until("the pop waits", || blocked(server) == 1).await;
            push(&connector, "x").await;
        };
        let (reply, ()) = tokio::join!(dedicated.command(blpop(0)), feed);
        assert_eq!(popped(&reply.unwrap()), "x");
        // A time that is up is a reply like any other.
        let reply = dedicated.command(Command::new("BLPOP").arg("q").arg(0.01)).await.unwrap();
        assert!(reply.is_null());
        assert_eq!(connector.stats().dedicated, 1);
        dedicated.close().await;
        until("it is gone from the server", || server.clients().len() == 1).await;
    });
}

#[test]
fn every_command_that_waits_is_taken_and_the_shared_connection_says_where() {
    everywhere(async |_server, config| {
        let (connector, mut dedicated) = dedicated(config).await;
        dedicated
            .command(Command::new("XADD").arg("s").arg("1-1").arg("f").arg("v"))
            .await
            .unwrap();
        let group = ["GROUP", "CREATE", "s", "g", "$"];
        dedicated.command(Command::new("XGROUP").args(&group[1..])).await.unwrap();
        for words in [
            &["BLPOP", "q", "0.01"][..],
            &["brpop", "q", "0.01"],
            &["BLMOVE", "a", "b", "LEFT", "LEFT", "0.01"],
            &["BRPOPLPUSH", "a", "b", "0.01"],
            &["BLMPOP", "0.01", "1", "a", "LEFT"],
            &["BZPOPMIN", "z", "0.01"],
            &["BZPOPMAX", "z", "0.01"],
            &["BZMPOP", "0.01", "1", "z", "MIN"],
            &["XREAD", "BLOCK", "10", "STREAMS", "s", "$"],
            &["XREADGROUP", "GROUP", "g", "c", "BLOCK", "10", "STREAMS", "s", ">"],
        ] {
            let command = Command::new(words[0]).args(&words[1..]);
            assert!(dedicated.command(&command).await.unwrap().is_null(), "{words:?}");
            let refused = connector.command(&command).await.unwrap_err();
            let Error::Refused(why) = &refused else { panic!("{refused:?}") };
            assert_eq!(why.reason(), Reason::Blocks, "{words:?}");
            assert!(refused.to_string().contains("dedicated"), "{refused}");
        }
        let wait = Command::new("WAIT").arg(1).arg(10);
        assert_eq!(dedicated.command(wait).await.unwrap().to::<u64>().unwrap(), 0);
    });
}

#[test]
fn waits_in_a_pipeline_come_one_after_another() {
    everywhere(async |server, config| {
        let (connector, mut dedicated) = dedicated(config).await;
        let batch = Pipeline::new()
            .command(blpop(0))
            .command(Command::new("INCR").arg("n"))
            .command(blpop(0));
        let feed = async {
            for element in ["a", "b"] {
                until("a pop waits", || blocked(server) == 1).await;
                push(&connector, element).await;
            }
        };
        let (replies, ()) = tokio::join!(dedicated.pipeline(&batch), feed);
        let (a, n, b): (Reply, u64, Reply) = replies.unwrap().to().unwrap();
        assert_eq!((popped(&a), n, popped(&b)), ("a".into(), 1, "b".into()));
        // In a transaction nothing waits.
        let ended = dedicated.transaction(&batch).await.unwrap();
        assert!(ended.done().unwrap()[0].is_null());
    });
}

#[test]
fn what_would_change_the_session_for_later_calls_is_refused_and_nothing_is_sent() {
    everywhere(async |server, config| {
        let (_connector, mut dedicated) = dedicated(config).await;
        for (words, reason) in [
            (&["MULTI"][..], Reason::Transaction),
            (&["watch", "k"], Reason::Transaction),
            (&["UNWATCH"], Reason::Transaction),
            (&["EXEC"], Reason::Transaction),
            (&["SELECT", "1"], Reason::Boot),
            (&["SUBSCRIBE", "c"], Reason::Subscription),
            (&["CLIENT", "REPLY", "OFF"], Reason::Replies),
            (&["CLIENT", "NO-TOUCH", "ON"], Reason::Mode),
            (&["MONITOR"], Reason::Stream),
            (&["QUIT"], Reason::End),
        ] {
            let command = Command::new(words[0]).args(&words[1..]);
            let Err(Error::Refused(why)) = dedicated.command(&command).await else {
                panic!("{words:?} was taken")
            };
            assert_eq!(why.reason(), reason, "{words:?}");
            let batch = Pipeline::new().command(blpop(0)).command(&command);
            assert!(matches!(dedicated.pipeline(&batch).await, Err(Error::Refused(_))));
            assert!(matches!(dedicated.transaction(&batch).await, Err(Error::Refused(_))));
        }
        assert_eq!(blocked(server), 0);
        assert!(dedicated.pipeline(&Pipeline::new()).await.unwrap().is_empty());
        let echo = dedicated.command(Command::new("ECHO").arg("x")).await.unwrap();
        assert_eq!(echo.to::<String>().unwrap(), "x");
    });
}

#[test]
fn errors_of_the_server_leave_the_connection_in_step() {
    everywhere(async |server, config| {
        let (_connector, mut dedicated) = dedicated(config).await;
        server.cli(&["SET", "q", "text"]);
        for _ in 0..3 {
            let error = dedicated.command(blpop(0)).await.unwrap_err();
            assert!(matches!(&error, Error::Server(why) if why.code() == "WRONGTYPE"), "{error}");
            let error = dedicated.command(Command::new("BLPOP").arg("q").arg("soon")).await;
            assert!(matches!(error, Err(Error::Server(_))));
            let echo = dedicated.command(Command::new("ECHO").arg("x")).await.unwrap();
            assert_eq!(echo.to::<String>().unwrap(), "x");
        }
    });
}

#[test]
fn large_values_cross_each_other() {
    everywhere(async |_server, config| {
        let (_connector, mut dedicated) = dedicated(config).await;
        let large = vec![b'l'; 3 << 20];
        let mut batch = Pipeline::new();
        for _ in 0..4 {
            batch.push(Command::new("SET").arg("v").arg(&large));
            batch.push(Command::new("GET").arg("v"));
        }
        let replies = dedicated.pipeline(&batch).await.unwrap();
        assert!(replies.iter().skip(1).step_by(2).all(|value| value.to_bytes().unwrap() == large));
    });
}

#[test]
fn the_connector_lives_as_long_as_a_dedicated_connection_of_it() {
    everywhere(async |server, config| {
        let connector = Connector::connect(config).await.unwrap();
        let mut dedicated = connector.dedicated().await.unwrap();
        drop(connector);
        let reply = dedicated.command(Command::new("BLPOP").arg("q").arg(0.01)).await.unwrap();
        assert!(reply.is_null());
        drop(dedicated);
        until("all is gone from the server", || server.clients().is_empty()).await;
    });
}
