//! Transactions on watched keys: a conflict is an outcome, and however a watch ends, it leaves
//! neither WATCH nor MULTI behind.

use std::{panic::AssertUnwindSafe, time::Duration};

use echo_wire::{
    connector::{Config, Connector, Dedicated, Error, Pipeline, Policy, Reason, Transaction},
    resp::Command,
};
use tokio::{select, task::yield_now};

use crate::{
    bed::dedicated,
    support::{Cut, Proxy, Server, Way, everywhere, until},
};

fn set(key: &str, value: u64) -> Pipeline {
    Pipeline::new().command(Command::new("SET").arg(key).arg(value))
}

fn get(key: &str) -> Command<'_> {
    Command::new("GET").arg(key)
}

/// A watch that were left on `k` would make this a conflict, an open MULTI would queue its read.
async fn assert_clean(dedicated: &mut Dedicated, server: &Server) {
    let read = dedicated.command(Command::new("TYPE").arg("k")).await.unwrap();
    assert_ne!(read.to::<String>().unwrap(), "QUEUED");
    server.cli(&["SET", "k", "touched"]);
    let ended = dedicated.transaction(&set("clean", 1)).await.unwrap();
    assert!(matches!(ended, Transaction::Done(_)), "{ended:?}");
}

#[test]
fn what_was_read_under_a_watch_is_written_only_if_it_still_holds() {
    everywhere(async |server, config| {
        let (_connector, mut dedicated) = dedicated(config).await;
        server.cli(&["SET", "k", "1"]);
        let mut watch = dedicated.watch(["k", "other"]).await.unwrap();
        let value: u64 = watch.command(get("k")).await.unwrap().to().unwrap();
        let replies = watch.exec(&set("k", value + 1)).await.unwrap().done().unwrap();
        replies.to::<((),)>().unwrap();
        assert_eq!(server.cli(&["GET", "k"]), "2");

        let mut watch = dedicated.watch(["k", "other"]).await.unwrap();
        watch.command(get("k")).await.unwrap();
        server.cli(&["SET", "other", "changed"]);
        let ended = watch.exec(&set("k", 99)).await.unwrap();
        assert!(matches!(ended, Transaction::Conflict), "{ended:?}");
        assert_eq!(server.cli(&["GET", "k"]), "2");
        assert_clean(&mut dedicated, server).await;
    });
}

#[test]
fn counters_raised_under_watches_by_many_lose_no_count() {
    everywhere(async |server, config| {
        let connector = Connector::connect(config).await.unwrap();
        let tasks: Vec<_> = (0..4)
            .map(|_| {
                let connector = connector.clone();
                tokio::spawn(async move {
                    let mut dedicated = connector.dedicated().await.unwrap();
                    let (mut done, mut conflicts) = (0, 0);
                    while done < 50 {
                        let mut watch = dedicated.watch(["n"]).await.unwrap();
                        let read = watch.command(get("n")).await.unwrap();
                        let value = read.to::<Option<u64>>().unwrap().unwrap_or(0);
                        match watch.exec(&set("n", value + 1)).await.unwrap() {
                            Transaction::Done(_) => done += 1,
                            Transaction::Conflict => conflicts += 1,
                            other => panic!("{other:?}"),
                        }
                    }
                    conflicts
                })
            })
            .collect();
        let mut conflicts = 0;
        for task in tasks {
            conflicts += task.await.unwrap();
        }
        assert_eq!(server.cli(&["GET", "n"]), "200");
        assert!(conflicts > 0, "they met");
    });
}

#[test]
fn more_keys_can_be_watched_as_they_become_known() {
    everywhere(async |server, config| {
        let (_connector, mut dedicated) = dedicated(config).await;
        server.cli(&["SET", "head", "k"]);
        let mut watch = dedicated.watch(["head"]).await.unwrap();
        let next: String = watch.command(get("head")).await.unwrap().to().unwrap();
        watch.also([&next]).await.unwrap();
        server.cli(&["SET", &next, "changed"]);
        let ended = watch.exec(&set("x", 1)).await.unwrap();
        assert!(matches!(ended, Transaction::Conflict), "{ended:?}");
    });
}

#[test]
fn a_watch_that_is_dropped_or_ended_is_off_on_the_same_connection() {
    everywhere(async |server, config| {
        let (_connector, mut dedicated) = dedicated(config).await;
        let id = dedicated.client_id();
        drop(dedicated.watch(["k"]).await.unwrap());
        assert_clean(&mut dedicated, server).await;

        dedicated.watch(["k"]).await.unwrap().unwatch().await.unwrap();
        assert_clean(&mut dedicated, server).await;

        // Forgotten, not dropped.
        std::mem::forget(dedicated.watch(["k"]).await.unwrap());
        assert_clean(&mut dedicated, server).await;

        let mut watch = dedicated.watch(["k"]).await.unwrap();
        let refused = watch.command(Command::new("MULTI")).await;
        assert!(matches!(refused, Err(Error::Refused(why)) if why.reason() == Reason::Transaction));
        let batch = Pipeline::new().command(Command::new("SELECT").arg(1));
        assert!(matches!(watch.exec(&batch).await, Err(Error::Refused(_))));
        assert_clean(&mut dedicated, server).await;
        assert_eq!(dedicated.client_id(), id);
    });
}

#[test]
fn a_watch_ends_with_a_panic_too() {
    everywhere(async |server, config| {
        let (_connector, mut dedicated) = dedicated(config).await;
        let watch = dedicated.watch(["k"]).await.unwrap();
        let panics = std::panic::catch_unwind(AssertUnwindSafe(move || {
            let _watch = watch;
            std::panic::resume_unwind(Box::new(()));
        }));
        assert!(panics.is_err());
        assert_clean(&mut dedicated, server).await;
    });
}

#[test]
fn a_call_dropped_at_any_moment_leaves_no_watch_and_no_transaction() {
    everywhere(async |server, config| {
        let (_connector, mut dedicated) = dedicated(config).await;
        let after = async |turns: u32| {
            for _ in 0..turns {
                yield_now().await;
            }
        };
        for turns in 0..40 {
            // In WATCH, in a read, in EXEC, or not at all.
            let life = async {
                let mut watch = dedicated.watch(["k"]).await.unwrap();
                watch.command(get("k")).await.unwrap();
                drop(watch.exec(&set("x", 1)).await.unwrap());
            };
            select! {
                biased;
                () = life => {}
                () = after(turns) => {}
            }
            assert_clean(&mut dedicated, server).await;

            let alone = async { drop(dedicated.transaction(&set("x", 1)).await.unwrap()) };
            select! {
                biased;
                () = alone => {}
                () = after(turns) => {}
            }
            assert_clean(&mut dedicated, server).await;
        }
    });
}

#[test]
fn a_read_dropped_under_a_watch_does_not_end_it() {
    everywhere(async |server, config| {
        let (_connector, mut dedicated) = dedicated(config).await;
        let mut watch = dedicated.watch(["k"]).await.unwrap();
        select! {
            biased;
            reply = watch.command(get("k")) => panic!("{reply:?} came at once"),
            () = std::future::ready(()) => {}
        }
        assert!(watch.command(get("k")).await.unwrap().is_null());
        server.cli(&["SET", "k", "changed"]);
        let ended = watch.exec(&set("x", 1)).await.unwrap();
        assert!(matches!(ended, Transaction::Conflict), "{ended:?}");
    });
}

#[test]
fn a_watch_does_not_outlive_its_connection() {
    everywhere(async |server, config| {
        let (connector, mut dedicated) = dedicated(config).await;
        let id = dedicated.client_id().unwrap().to_string();
        let watch = dedicated.watch(["k"]).await.unwrap();
        server.cli(&["CLIENT", "KILL", "ID", &id]);
        until("the server has let it go", || server.clients().len() == 1).await;
        // While its reply is awaited the runtime learns what else has happened to its sockets.
        connector.command(Command::new("PING")).await.unwrap();
        // On a new connection nothing would be watched: it must not run there.
        let ended = watch.exec(&set("x", 1)).await;
        let not_run = matches!(ended, Err(Error::Disconnected { maybe_executed: false }));
        assert!(not_run, "{ended:?}");
        assert_eq!(server.cli(&["EXISTS", "x"]), "0");
        assert_clean(&mut dedicated, server).await;
        assert_ne!(dedicated.client_id().unwrap().to_string(), id);
    });
}

#[test]
fn errors_inside_are_told_one_by_one_and_the_connection_stays_in_step() {
    everywhere(async |server, config| {
        let (_connector, mut dedicated) = dedicated(config).await;
        let watch = dedicated.watch(["k"]).await.unwrap();
        let batch = set("s", 7)
            .command(Command::new("LPUSH").arg("s").arg("x"))
            .command(Command::new("EVAL").arg("return redis.error_reply('MINE no')").arg(0))
            .command(get("s"));
        let replies = watch.exec(&batch).await.unwrap().done().unwrap();
        let codes = replies.iter().map(|it| it.as_error().map(|error| error.code().to_owned()));
        let codes: Vec<_> = codes.collect();
        assert_eq!(codes, [None, Some("WRONGTYPE".into()), Some("MINE".into()), None]);
        assert_clean(&mut dedicated, server).await;

        let watch = dedicated.watch(["k"]).await.unwrap();
        let batch = set("t", 1).command(Command::new("GET"));
        let ended = watch.exec(&batch).await.unwrap();
        let Transaction::Aborted { reason, refused } = ended else { panic!("{ended:?}") };
        assert_eq!((reason.code(), refused.len(), refused[0].0), ("EXECABORT", 1, 1));
        assert_eq!(server.cli(&["EXISTS", "t"]), "0");
        assert_clean(&mut dedicated, server).await;
    });
}

#[test]
fn where_multi_or_exec_or_unwatch_is_refused_nothing_is_left_either() {
    everywhere(async |server, config| {
        for denied in ["-multi", "-exec", "-unwatch"] {
            let user = ["ACL", "SETUSER", "app", "reset", "on", ">pw", "~*", "&*", "+@all"];
            server.cli(&user);
            server.cli(&["ACL", "SETUSER", "app", denied]);
            let config = config.clone().user_and_password("app", "pw");
            let (_connector, mut dedicated) = dedicated(config).await;
            let watch = dedicated.watch(["k"]).await.unwrap();
            let ended = watch.exec(&set("x", 1)).await.unwrap();
            match denied {
                "-multi" => assert!(matches!(ended, Transaction::NotAtomic { .. }), "{ended:?}"),
                "-exec" => assert!(matches!(ended, Transaction::Aborted { .. }), "{ended:?}"),
                _ => assert!(matches!(ended, Transaction::Done(_)), "{ended:?}"),
            }
            drop(dedicated.watch(["k"]).await.unwrap());
            server.cli(&["ACL", "SETUSER", "app", "+@all"]);
            assert_clean(&mut dedicated, server).await;
        }
    });
}

#[test]
fn an_exec_whose_answer_is_lost_may_have_run() {
    everywhere(async |server, _config| {
        let proxy = Proxy::start(server.address());
        let through = Config::from_url(&proxy.url()).unwrap();
        let (_connector, mut dedicated) = dedicated(through).await;
        let watch = dedicated.watch(["k"]).await.unwrap();
        // The last byte of EXEC passes, nothing comes back.
        let flight = set("x", 1).encoded_len() as u64 + "*1\r\n$5\r\nMULTI\r\n".len() as u64;
        let flight = flight + "*1\r\n$4\r\nEXEC\r\n".len() as u64;
        proxy.cut_after(Way::Up, flight, Cut::Reset);
        let ended = watch.exec(&set("x", 1)).await;
        let lost = matches!(ended, Err(Error::Disconnected { maybe_executed: true }));
        assert!(lost, "{ended:?}");
        until("it ran", || server.cli(&["EXISTS", "x"]) == "1").await;
        assert_clean(&mut dedicated, server).await;
    });
}

#[test]
fn a_handle_dropped_under_a_watch_is_gone() {
    everywhere(async |server, config| {
        let within = Policy { ready_within: Duration::from_secs(60), ..Policy::default() };
        let (_connector, mut dedicated) = dedicated(config.policy(within)).await;
        std::mem::forget(dedicated.watch(["k"]).await.unwrap());
        drop(dedicated);
        until("only the shared link is left", || server.clients().len() == 1).await;
    });
}
