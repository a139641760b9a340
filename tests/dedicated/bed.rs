//! What these tests have in common.

use std::{io, sync::Mutex, time::Duration};

use echo_wire::{
    connector::{Config, Connector, Dedicated, Error, Policy},
    resp::{Command, Reply},
};
use tokio::select;

use crate::support::{MemoryStream, Script, Server, WIRE, until};

pub async fn dedicated(config: Config) -> (Connector, Dedicated) {
    let connector = Connector::connect(config).await.unwrap();
    let dedicated = connector.dedicated().await.unwrap();
    (connector, dedicated)
}

/// A pop from `q`; zero seconds are for ever.
pub fn blpop(seconds: u32) -> Command<'static> {
    Command::new("BLPOP").arg("q").arg(seconds)
}

/// The element in a reply to it.
pub fn popped(reply: &Reply) -> String {
    let (key, element): (String, String) = reply.to().unwrap();
    assert_eq!(key, "q");
    element
}

/// How many clients the server holds back.
pub fn blocked(server: &Server) -> usize {
    let is_blocked = |line: &&String| {
        let flags = line.split(' ').find_map(|field| field.strip_prefix("flags="));
        flags.is_some_and(|flags| flags.contains('b'))
    };
    server.clients().iter().filter(is_blocked).count()
}

/// Starts the call, waits until the server holds it, and drops it.
pub async fn give_up<T: std::fmt::Debug>(server: &Server, call: impl Future<Output = T>) {
    select! {
        reply = call => panic!("{reply:?} came"),
        () = until("the command waits on the server", || blocked(server) == 1) => {}
    }
}

pub async fn push(connector: &Connector, element: &str) {
    connector.command(Command::new("RPUSH").arg("q").arg(element)).await.unwrap();
}

pub async fn queue(connector: &Connector) -> Vec<String> {
    let range = Command::new("LRANGE").arg("q").arg(0).arg(-1);
    connector.command(range).await.unwrap().to().unwrap()
}

/// Waits until what was given up has come to its end.
pub async fn rescued(dedicated: &mut Dedicated) {
    dedicated.command(Command::new("PING")).await.unwrap();
}

/// A connector over scripts: its own link, which has passed, and what is dialled after it.
pub async fn scripted<const MORE: usize>(policy: Policy) -> (Connector, Script, [Script; MORE]) {
    let (streams, mut scripts): (Vec<MemoryStream>, Vec<Script>) =
        (0..=MORE).map(|_| Script::memory()).unzip();
    let streams = Mutex::new(streams.into_iter());
    let dial = move || {
        let stream = streams.lock().unwrap().next();
        async move { stream.ok_or_else(|| io::Error::from(io::ErrorKind::ConnectionRefused)) }
    };
    let more = scripts.split_off(1);
    let mut first = scripts.pop().unwrap();
    let policy = Policy { heartbeat: Duration::from_secs(3600), ..policy };
    let config = Config::tcp("memory", 1).policy(policy);
    let (connector, _) = tokio::join!(Connector::over(dial, config), first.pass(WIRE));
    (connector.unwrap(), first, more.try_into().unwrap())
}

pub fn is_lost<T>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::Disconnected { maybe_executed: true }))
}
