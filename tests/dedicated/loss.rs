//! A dedicated connection that is lost, on a server that died, was demoted, or speaks another wire.

use std::time::Duration;

use echo_wire::{
    connector::{Config, Connector, Dedicated, Error, Event, Found, Passage, Policy},
    keyspace::VERSION_KEY,
    resp::{Command, Reply},
};

use crate::{
    bed::{blocked, blpop, dedicated, is_lost, popped, push},
    support::{Server, bounded, everywhere, until},
};

/// What comes of a pop that waits when this is done to its server.
async fn pop_while(
    server: &Server,
    dedicated: &mut Dedicated,
    act: impl AsyncFnOnce(),
) -> Result<Reply, Error> {
    let then = async {
        until("the pop waits", || blocked(server) == 1).await;
        act().await;
    };
    let (result, ()) = tokio::join!(bounded("the pop ends", dedicated.command(blpop(0))), then);
    result
}

/// Kills the client that waits.
fn kill_blocked(server: &Server) {
    let clients = server.clients();
    let id = |line: &String| line.split(' ').next().unwrap().replace("id=", "");
    let waits = clients.iter().find(|line| line.contains("cmd=blpop")).map(id).unwrap();
    server.cli(&["CLIENT", "KILL", "ID", &waits]);
}

fn is_fence(error: &Error) -> bool {
    matches!(error, Error::VersionFence { got: Found::Value(got) } if got == "acme:1")
}

#[test]
fn a_pop_whose_connection_is_killed_may_have_run_and_the_next_has_a_new_one() {
    everywhere(async |server, config| {
        let (connector, mut dedicated) = dedicated(config).await;
        for _ in 0..3 {
            let result = pop_while(server, &mut dedicated, async || kill_blocked(server)).await;
            assert!(is_lost(&result), "{result:?}");
        }
        push(&connector, "x").await;
        assert_eq!(popped(&dedicated.command(blpop(0)).await.unwrap()), "x");
        assert_eq!(connector.stats().reconnects, 0, "the shared link lives");
    });
}

#[test]
fn a_connection_that_the_server_closed_while_it_was_idle_is_no_fault_of_the_next_call() {
    everywhere(async |server, config| {
        let (connector, mut dedicated) = dedicated(config).await;
        assert!(dedicated.command(Command::new("LPOP").arg("q")).await.unwrap().is_null());
        let idle = server.clients().iter().find(|line| line.contains("cmd=lpop")).unwrap().clone();
        server.cli(&["CLIENT", "KILL", "ID", &idle.split(' ').next().unwrap().replace("id=", "")]);
        until("the server has let it go", || server.clients().len() == 1).await;
        // While its reply is awaited the runtime learns what else has happened to its sockets.
        push(&connector, "x").await;
        assert_eq!(popped(&dedicated.command(blpop(0)).await.unwrap()), "x");
    });
}

#[test]
fn a_server_that_is_killed_and_started_again_is_found_by_the_same_handle() {
    everywhere(async |server, config| {
        let policy = Policy { ready_within: Duration::from_secs(60), ..Policy::default() };
        let (connector, mut dedicated) = dedicated(config.policy(policy)).await;
        let result = pop_while(server, &mut dedicated, async || server.kill()).await;
        assert!(is_lost(&result), "{result:?}");
        server.restart();
        let (reply, ()) = tokio::join!(dedicated.command(blpop(0)), async {
            until("the pop waits", || blocked(server) == 1).await;
            server.cli(&["RPUSH", "q", "x"]);
        });
        assert_eq!(popped(&reply.unwrap()), "x");
        connector.ready().await.unwrap();
    });
}

#[test]
fn a_demotion_ends_a_pop_with_a_clear_error_that_time_heals() {
    everywhere(async |server, config| {
        let policy = Policy { ready_within: Duration::from_secs(60), ..Policy::default() };
        let (_connector, mut dedicated) = dedicated(config.policy(policy)).await;
        let demote = async || drop(server.cli(&["REPLICAOF", "127.0.0.1", "1"]));
        let error = pop_while(server, &mut dedicated, demote).await.unwrap_err();
        let Error::Server(words) = &error else { panic!("{error:?}") };
        assert_eq!(words.code(), "UNBLOCKED");
        assert!(!error.maybe_executed() && !error.is_fatal());
        // The next call does not take a replica; it waits for a primary.
        let promote = async {
            let dialled = || server.cli(&["INFO", "stats"]).contains("total_connections_received");
            until("the server answers", dialled).await;
            server.cli(&["REPLICAOF", "NO", "ONE"]);
            server.cli(&["RPUSH", "q", "x"]);
        };
        let (reply, ()) = tokio::join!(dedicated.command(blpop(0)), promote);
        assert_eq!(popped(&reply.unwrap()), "x");
    });
}

#[test]
fn a_server_that_turned_into_a_replica_is_left_after_it_said_so() {
    everywhere(async |server, config| {
        let policy = Policy { ready_within: Duration::from_millis(300), ..Policy::default() };
        let (_connector, mut dedicated) = dedicated(config.policy(policy)).await;
        server.cli(&["REPLICAOF", "127.0.0.1", "1"]);
        let push = Command::new("RPUSH").arg("q").arg("x");
        let error = dedicated.command(&push).await.unwrap_err();
        assert!(matches!(&error, Error::Server(words) if words.code() == "READONLY"), "{error:?}");
        let error = dedicated.command(&push).await.unwrap_err();
        assert!(matches!(error, Error::NotReady { .. }), "{error:?}");
        server.cli(&["REPLICAOF", "NO", "ONE"]);
        dedicated.command(&push).await.unwrap();
    });
}

#[test]
fn another_wire_met_on_the_way_back_stops_the_whole_family() {
    everywhere(async |server, config| {
        let policy = Policy { heartbeat: Duration::from_secs(3600), ..Policy::default() };
        let (connector, mut met) = dedicated(config.policy(policy)).await;
        let mut other = connector.dedicated().await.unwrap();
        let mut events = connector.events();
        server.cli(&["SET", VERSION_KEY, "acme:1"]);
        let result = pop_while(server, &mut met, async || kill_blocked(server)).await;
        assert!(is_lost(&result), "{result:?}");
        for _ in 0..2 {
            assert!(is_fence(&met.command(blpop(0)).await.unwrap_err()));
        }
        assert!(is_fence(&other.command(blpop(0)).await.unwrap_err()));
        assert!(is_fence(&connector.command(Command::new("PING")).await.unwrap_err()));
        assert!(is_fence(&connector.dedicated().await.unwrap_err()));
        let fatal = async {
            loop {
                if let Event::Fatal(why) = events.next().await.unwrap() {
                    return why;
                }
            }
        };
        assert!(is_fence(&bounded("the end is told", fatal).await));
        assert_eq!(server.cli(&["GET", VERSION_KEY]), "acme:1");
    });
}

#[test]
fn another_wire_met_by_the_heartbeat_ends_what_waits() {
    everywhere(async |server, config| {
        let policy = Policy { heartbeat: Duration::from_millis(20), ..Policy::default() };
        let (_connector, mut dedicated) = dedicated(config.policy(policy)).await;
        let change = async || drop(server.cli(&["SET", VERSION_KEY, "acme:1"]));
        let result = pop_while(server, &mut dedicated, change).await;
        assert!(is_lost(&result), "{result:?}");
        assert!(is_fence(&dedicated.command(blpop(0)).await.unwrap_err()));
        assert_eq!(blocked(server), 0);
    });
}

#[test]
fn a_store_that_was_emptied_is_claimed_again_and_that_is_told() {
    everywhere(async |server, config| {
        let policy = Policy { heartbeat: Duration::from_secs(3600), ..Policy::default() };
        let (connector, mut dedicated) = dedicated(config.policy(policy)).await;
        assert_eq!(connector.stats().fences_vanished, 0);
        let empty = async || {
            server.cli(&["FLUSHALL"]);
            kill_blocked(server);
        };
        let result = pop_while(server, &mut dedicated, empty).await;
        assert!(is_lost(&result), "{result:?}");
        dedicated.command(Command::new("PING")).await.unwrap();
        assert_eq!(dedicated.passage(), Passage::Claimed);
        assert_eq!(connector.stats().fences_vanished, 1);
        assert_eq!(server.cli(&["GET", VERSION_KEY]), crate::support::WIRE);
    });
}

#[test]
fn a_password_that_was_changed_is_refused_and_not_tried_again() {
    everywhere(async |server, config| {
        let may = ["ACL", "SETUSER", "app", "reset", "on", ">pw", "~*", "&*", "+@all"];
        server.cli(&may);
        let (_connector, mut dedicated) = dedicated(config.user_and_password("app", "pw")).await;
        let change = async || {
            server.cli(&["ACL", "SETUSER", "app", "<pw", ">other"]);
            kill_blocked(server);
        };
        let result = pop_while(server, &mut dedicated, change).await;
        assert!(is_lost(&result), "{result:?}");
        let error = dedicated.command(blpop(0)).await.unwrap_err();
        assert!(matches!(error, Error::AuthRefused { .. }), "{error:?}");
    });
}

#[test]
fn many_consumers_survive_kills_and_every_job_is_taken_once_or_accounted_for() {
    everywhere(async |server, config| {
        let connector = Connector::connect(config).await.unwrap();
        let jobs = 400;
        let consumers: Vec<_> = (0..4)
            .map(|_| {
                let connector = connector.clone();
                tokio::spawn(async move { consume(&connector).await })
            })
            .collect();
        for job in 0..jobs {
            push(&connector, &job.to_string()).await;
            if job % 20 == 0 && blocked(server) > 0 {
                kill_blocked(server);
            }
        }
        until("the queue is empty", || server.cli(&["LLEN", "q"]) == "0").await;
        for _ in &consumers {
            push(&connector, "end").await;
        }
        let mut taken = Vec::new();
        let mut unknown = 0;
        for consumer in consumers {
            let (mine, lost) = consumer.await.unwrap();
            taken.extend(mine);
            unknown += lost;
        }
        let count = taken.len();
        taken.sort_unstable();
        taken.dedup();
        assert_eq!(taken.len(), count, "no job was handed out twice");
        assert!(jobs - count <= unknown, "{count} of {jobs} came, {unknown} calls were lost");
        assert!(unknown > 0, "connections were killed");
    });
}

/// Pops until it is told to end; what came, and how many calls were lost.
async fn consume(connector: &Connector) -> (Vec<u32>, usize) {
    let mut dedicated = connector.dedicated().await.unwrap();
    let (mut taken, mut lost) = (Vec::new(), 0);
    loop {
        match dedicated.command(blpop(0)).await {
            Ok(reply) => match popped(&reply).parse() {
                Ok(job) => taken.push(job),
                Err(_end) => return (taken, lost),
            },
            Err(Error::Disconnected { maybe_executed: true }) => lost += 1,
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_refused_config_is_told_at_once() {
    everywhere(async |server, config| {
        let connector = Connector::connect(config).await.unwrap();
        server.cli(&["SET", VERSION_KEY, "acme:1"]);
        let refused = connector.dedicated().await;
        assert!(is_fence(&refused.unwrap_err()));
        let other = Config::from_url(&server.url()).unwrap().wire("acme:1").unwrap();
        Connector::connect(other).await.unwrap().dedicated().await.unwrap();
    });
}
