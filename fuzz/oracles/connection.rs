//! Whole connections: any answers, in any pieces, to boot, the fence, and callers with commands. It
//! comes to an end, no caller gets what was said to another's command, none is sent twice, and no
//! byte of theirs leaves before the fence on that connection has been shown our identity.
//!
//! The input's first byte chooses config and callers, its second the size of the pieces; the rest is
//! what the server says, with a byte FE before that which it says to the next flight, and FD before
//! that which it says on the next connection.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use echo_wire::{
    connector::{Config, Connection, Connector, Error, Pipeline, Policy, WhenAway},
    resp::{Command, Protocol, Reply},
};
use tokio::{runtime::Builder, task::yield_now, time::timeout};

use crate::{
    scripted::{Log, Server},
    tree::{self, Tree},
};

/// In an input: what follows is said on the next connection.
const NEXT_CONNECTION: u8 = 0xFD;

/// Longer than all patience of all policies together; the clock is paused.
const FOR_EVER: Duration = Duration::from_secs(3600);

pub(crate) fn check(input: &[u8]) {
    let [choice, piece, says @ ..] = input else { return };
    let logs = Logs::default();
    let mut servers: Vec<Server> = Vec::new();
    for says in says.split(|byte| *byte == NEXT_CONNECTION).take(4) {
        let log = Arc::new(Mutex::new(Log::default()));
        logs.lock().unwrap().push(Arc::clone(&log));
        servers.push(Server::new(says, usize::from(*piece) + 1, choice & 64 != 0, log));
    }
    servers.reverse();
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let told = runtime.block_on(async {
        let story = async {
            if choice & 1 == 0 {
                one_owner(servers.pop().unwrap(), *choice).await
            } else {
                many(servers, *choice).await
            }
        };
        let told = timeout(FOR_EVER, story).await.expect("every caller is told");
        for _ in 0..100 {
            yield_now().await;
        }
        told
    });
    assert_eq!(runtime.metrics().num_alive_tasks(), 0, "nothing goes on behind their backs");
    for log in logs.lock().unwrap().iter() {
        log.lock().unwrap().assert_fenced();
    }
    told.iter().for_each(|(id, outcome)| held_against(&logs, id, outcome));
}

type Logs = Arc<Mutex<Vec<Arc<Mutex<Log>>>>>;

/// What a caller was told of the command with this argument. `None`: it did not stay to hear.
type Told = (String, Option<Result<Reply, Error>>);

/// The outcome of a command agrees with what went over the wires.
fn held_against(logs: &Logs, id: &str, outcome: &Option<Result<Reply, Error>>) {
    let mut found = Vec::new();
    for log in logs.lock().unwrap().iter() {
        found.extend(log.lock().unwrap().answers_to(id));
    }
    assert!(found.len() <= 1, "{id} was sent twice");
    let answer = found.first().and_then(Option::as_ref);
    match outcome {
        Some(Ok(reply)) => assert_eq!(Some(&tree::of(reply.as_ref())), answer, "{id}"),
        Some(Err(Error::Server(error))) => {
            let mut answer = answer.expect("it was answered");
            while let Tree::Attribute(_, inner) = answer {
                answer = inner;
            }
            let (Tree::Error(text) | Tree::BulkError(text)) = answer else { panic!("{answer:?}") };
            assert_eq!(error.as_bytes(), text, "{id}");
        }
        Some(Err(error)) if !error.maybe_executed() => {
            assert!(found.is_empty(), "{id} was sent: {error:?}");
        }
        Some(Err(_)) | None => {}
    }
}

fn config(choice: u8) -> Config {
    let policy = Policy { when_away: WhenAway::WaitAtMost(seconds(1)), ..Policy::default() };
    let mut config = Config::tcp("unused", 1).policy(policy);
    let protocols = [None, Some(Protocol::Resp2), Some(Protocol::Resp3), None];
    if let Some(protocol) = protocols[usize::from(choice >> 1) % 4] {
        config = config.protocol(protocol);
    }
    if choice & 8 != 0 {
        config = config.password("pw").database(7);
    }
    config.read_from_replica(choice & 16 != 0).look_for_eviction(choice & 32 == 0)
}

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn echo(id: &str) -> Command<'_> {
    Command::new("ECHO").arg(id)
}

/// The replies of a batch, each to its command.
fn each(ids: &[&str], result: Result<Vec<Reply>, Error>) -> Vec<Told> {
    if let Ok(replies) = &result {
        assert_eq!(replies.len(), ids.len());
    }
    let outcome = |index: usize| match &result {
        Ok(replies) => Ok(replies[index].clone()),
        Err(error) => Err(error.clone()),
    };
    ids.iter().enumerate().map(|(at, id)| ((*id).to_owned(), Some(outcome(at)))).collect()
}

async fn one_owner(server: Server, choice: u8) -> Vec<Told> {
    let config = config(choice).response_timeout(seconds(9)).unwrap();
    let Ok(mut connection) = Connection::over(server, &config).await else { return Vec::new() };
    let mut told = vec![("one-a".to_owned(), Some(connection.command(echo("one-a")).await))];
    let ids = ["one-b", "one-c", "one-d"];
    let batch = ids.iter().fold(Pipeline::new(), |batch, id| batch.command(echo(id)));
    told.extend(each(&ids, connection.pipeline(&batch).await.map(|replies| replies.into_vec())));
    drop(timeout(seconds(3), connection.next_push()).await);
    // Given up while it waits: the connection is gone, and says so.
    if timeout(Duration::from_millis(1), connection.command(echo("one-e"))).await.is_err() {
        told.push(("one-e".to_owned(), None));
        let error = connection.command(echo("one-f")).await.expect_err("it was taken along");
        told.push(("one-f".to_owned(), Some(Err(error))));
    }
    told
}

async fn many(servers: Vec<Server>, choice: u8) -> Vec<Told> {
    let servers = Mutex::new(servers);
    let dial = move || {
        let server = servers.lock().unwrap().pop();
        async move { server.ok_or_else(|| std::io::ErrorKind::ConnectionRefused.into()) }
    };
    let Ok(connector) = Connector::over(dial, config(choice)).await else { return Vec::new() };
    let mut callers = Vec::new();
    for number in 0..3_u64 {
        callers.push(tokio::spawn(caller(connector.clone(), number)));
    }
    let mut told = Vec::new();
    for caller in callers {
        told.extend(caller.await.unwrap());
    }
    connector.close().await;
    let stats = connector.stats();
    assert_eq!(stats.pending, 0, "{stats:?}");
    told
}

async fn caller(connector: Connector, number: u64) -> Vec<Told> {
    let ids: Vec<String> = (0..6).map(|call| format!("many-{number}-{call}")).collect();
    let [a, b, c, d, e, f] = &ids[..] else { unreachable!() };
    let mut told = vec![(a.clone(), Some(connector.command(echo(a)).await))];
    let batch = Pipeline::new().command(echo(b)).command(echo(c));
    let ids = [b.as_str(), c.as_str()];
    told.extend(each(&ids, connector.pipeline(&batch).await.map(|replies| replies.into_vec())));
    // Given up, mostly while it waits.
    let given_up = timeout(Duration::from_millis(number), connector.command(echo(d))).await;
    told.push((d.clone(), given_up.ok()));
    told.push((e.clone(), Some(connector.command(echo(e)).await)));
    // Behind a heartbeat or two, or a reconnect.
    tokio::time::sleep(seconds(7 * number)).await;
    told.push((f.clone(), Some(connector.command(echo(f)).await)));
    told
}
