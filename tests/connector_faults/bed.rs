//! What these tests share: runtimes, policies that do not wait long, events, scripted sockets.

use std::{future::Future, io, pin::Pin, time::Duration};

use echo_wire::{
    connector::{Config, Connector, Error, Event, Events, Policy},
    resp::Command,
};
use tokio::{
    runtime::{Builder, Runtime},
    sync::mpsc,
};

use crate::support::{Flavor, MemoryStream, Script, Server, WIRE, bounded, flavors};

pub const fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

pub const HOUR: Duration = Duration::from_secs(3600);

/// Quick to come back, patient with everything else.
pub fn policy() -> Policy {
    Policy {
        response_timeout: HOUR,
        heartbeat: HOUR,
        watchdog: HOUR,
        ready_within: Duration::from_secs(30),
        drain_within: Duration::from_secs(30),
        backoff_base: millis(4),
        backoff_cap: millis(40),
        backoff_reset: Duration::ZERO,
        ..Policy::default()
    }
}

pub fn config(url: &str, policy: Policy) -> Config {
    Config::from_url(url).unwrap().policy(policy)
}

/// One thread that runs everything, and two that share the work.
pub fn runtimes() -> [Runtime; 2] {
    [
        Builder::new_current_thread().enable_all().build().unwrap(),
        Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap(),
    ]
}

/// A test that needs no server, on each kind of runtime.
pub fn on_each_runtime(test: impl AsyncFn()) {
    runtimes().into_iter().for_each(|runtime| runtime.block_on(test()));
}

/// A test on each server and each kind of runtime; the server is a new one every time.
pub fn everywhere(test: impl AsyncFn(Server)) {
    for runtime in runtimes() {
        for flavor in flavors() {
            runtime.block_on(test(flavor.server().start()));
        }
    }
}

/// A test on each server, where the runtime cannot make a difference.
pub fn on_each_server(test: impl AsyncFn(Flavor)) {
    let [runtime, _] = runtimes();
    flavors().into_iter().for_each(|flavor| runtime.block_on(test(flavor)));
}

/// The next event for which `pick` has an answer.
pub async fn event<T>(events: &mut Events, pick: impl Fn(Event) -> Option<T>) -> T {
    bounded("the event comes", async {
        loop {
            let event = events.next().await.expect("the connector lives");
            if let Some(picked) = pick(event) {
                return picked;
            }
        }
    })
    .await
}

pub async fn disconnected(events: &mut Events) -> Error {
    event(events, |event| match event {
        Event::Disconnected(why) => Some(why),
        _ => None,
    })
    .await
}

pub async fn fenced(events: &mut Events) {
    event(events, |event| matches!(event, Event::Fenced(_)).then_some(())).await;
}

pub async fn fatal(events: &mut Events) -> Error {
    event(events, |event| match event {
        Event::Fatal(why) => Some(why),
        _ => None,
    })
    .await
}

pub async fn echo(connector: &Connector, word: &str) -> Result<String, Error> {
    let reply = connector.command(Command::new("ECHO").arg(word)).await?;
    Ok(reply.to::<String>()?)
}

pub async fn ready(connector: &Connector) {
    bounded("the connector is ready", connector.ready()).await.unwrap();
}

/// The error, if it is the transport's word that nothing was sent.
pub fn is_not_sent(error: &Error) -> bool {
    matches!(error, Error::Disconnected { maybe_executed: false })
}

pub fn is_unknown(error: &Error) -> bool {
    matches!(error, Error::Disconnected { maybe_executed: true })
}

/// Sockets whose other ends are scripts, handed out in the order in which they are dialled.
pub struct Scripts {
    scripts: mpsc::UnboundedReceiver<Script>,
}

type Dialling = Pin<Box<dyn Future<Output = io::Result<MemoryStream>> + Send>>;

/// A dialler of connections in memory that hold `capacity` bytes each way, and their other ends.
pub fn scripted(capacity: usize) -> (impl Fn() -> Dialling + Send + Sync + 'static, Scripts) {
    let (hand_out, scripts) = mpsc::unbounded_channel();
    let dial = move || -> Dialling {
        let (stream, script) = Script::memory_of(capacity);
        let taken = hand_out.send(script);
        Box::pin(async move {
            taken.map_err(|_gone| io::Error::from(io::ErrorKind::ConnectionRefused))?;
            Ok(stream)
        })
    };
    (dial, Scripts { scripts })
}

impl Scripts {
    /// The next connection, before anything was said on it.
    pub async fn dialled(&mut self) -> Script {
        bounded("it is dialled", self.scripts.recv()).await.expect("the dialler lives")
    }

    /// The next connection, past its fence.
    pub async fn passed(&mut self) -> Script {
        let mut script = self.dialled().await;
        script.pass(WIRE).await;
        script
    }
}

/// A connector over scripts, and the first of them.
pub async fn over_scripts(policy: Policy, capacity: usize) -> (Connector, Script, Scripts) {
    let (dial, mut scripts) = scripted(capacity);
    let connect = Connector::over(dial, Config::tcp("script", 1).policy(policy));
    let (connector, script) = tokio::join!(connect, scripts.passed());
    (connector.unwrap(), script, scripts)
}
