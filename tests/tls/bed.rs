//! What these tests share: a server that speaks TLS, and how to reach it.

use std::{fs, path::PathBuf, time::Duration};

use echo_wire::{
    connector::{Config, Connection, Connector, Error, Event, Events, Policy, Tls, TlsError},
    resp::{Command, Protocol},
};

use crate::{
    authority::{Authority, Signed},
    support::{Flavor, Port, Server, bounded, flavors},
};

pub const PROTOCOLS: [Protocol; 2] = [Protocol::Resp2, Protocol::Resp3];

/// A Redis that speaks TLS at one port and plainly at another, and the authority behind it.
pub struct Bed {
    pub server: Server,
    pub authority: Authority,
    port: Port,
    _files: Files,
}

/// Whether it wants to know its clients.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Clients {
    Any,
    Known,
}

/// `None`: Redis is left out. The Valkey that we have was built without TLS.
pub fn bed() -> Option<Bed> {
    bed_of(Clients::Any, |authority| authority.sign(&["localhost", "127.0.0.1"]))
}

pub fn bed_of(clients: Clients, sign: impl Fn(&Authority) -> Signed) -> Option<Bed> {
    flavors().contains(&Flavor::Redis).then(|| Bed::new(clients, sign))
}

impl Bed {
    fn new(clients: Clients, sign: impl Fn(&Authority) -> Signed) -> Self {
        let authority = Authority::new("ours");
        let signed = sign(&authority);
        let port = Port::claim();
        let files = Files::new(port.number());
        let certificate = files.write("server.crt", &signed.pem);
        let key = files.write("server.key", &signed.key.serialize_pem());
        let roots = files.write("roots.crt", &authority.pem());
        let known = if clients == Clients::Known { "yes" } else { "no" };
        let server = Server::redis()
            .args(["--tls-port", &port.number().to_string(), "--tls-auth-clients", known])
            .args(["--tls-cert-file", &certificate, "--tls-key-file", &key])
            .args(["--tls-ca-cert-file", &roots])
            .start();
        Self { server, authority, port, _files: files }
    }

    pub fn port(&self) -> u16 {
        self.port.number()
    }

    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port())
    }

    /// Trusts the authority.
    pub fn tls(&self) -> Tls {
        Tls::new().roots_pem(self.authority.pem()).unwrap()
    }

    /// At this host, over TLS.
    pub fn at(&self, host: &str) -> Config {
        Config::tcp(host, self.port()).tls(self.tls()).unwrap()
    }

    pub fn config(&self) -> Config {
        self.at("127.0.0.1").policy(policy())
    }
}

/// Quick to come back, patient with everything else.
pub fn policy() -> Policy {
    Policy {
        ready_within: Duration::from_secs(30),
        backoff_base: Duration::from_millis(4),
        backoff_cap: Duration::from_millis(40),
        ..Policy::default()
    }
}

/// One command's round trip.
pub async fn echo(connection: &mut Connection) {
    let reply = connection.command(Command::new("ECHO").arg("hello")).await.unwrap();
    assert_eq!(reply.to::<String>().unwrap(), "hello");
}

/// Why TLS is refused, by a connection and by a connector, which does not try again.
pub async fn refused(config: &Config) -> TlsError {
    let error = Connection::connect(config).await.unwrap_err();
    assert!(error.is_fatal() && !error.maybe_executed(), "{error:?}");
    let Error::TlsRefused(why) = error else { panic!("{error:?}") };
    let error = bounded("it gives up", Connector::connect(config.clone())).await.unwrap_err();
    let Error::TlsRefused(again) = error else { panic!("{error:?}") };
    assert_eq!(again, why);
    why
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

/// A folder that goes with the test.
pub struct Files(PathBuf);

impl Files {
    /// `number` is nobody else's.
    pub fn new(number: u16) -> Self {
        let dir =
            std::env::temp_dir().join(format!("echo_wire-tls-{}-{number}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    pub fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
