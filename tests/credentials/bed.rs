//! What these tests share: users, who one is, a vault whose content changes.

use std::{
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use echo_wire::{
    connector::{Config, Connector, Credentials, Error, Event, Events, Policy},
    resp::Command,
};

use crate::support::{Server, bounded};

/// Quick to come back, patient with everything else.
pub fn policy() -> Policy {
    Policy {
        ready_within: Duration::from_secs(30),
        backoff_base: Duration::from_millis(4),
        backoff_cap: Duration::from_millis(40),
        ..Policy::default()
    }
}

/// A user who may do everything, with these passwords and no others.
pub fn user(server: &Server, name: &str, rules: &[&str]) {
    let all = ["ACL", "SETUSER", name, "reset", "on", "~*", "&*", "+@all"];
    server.cli(&[&all[..], rules].concat());
}

/// Ends every connection but the one that says so.
pub fn kill(server: &Server) {
    let mut raw = server.raw();
    raw.text(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
    // Those that have subscribed are another type.
    raw.text(&["CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes"]);
    raw.quit();
}

pub async fn whoami(connector: &Connector) -> String {
    let who = connector.command(Command::new("ACL").arg("WHOAMI")).await.unwrap();
    who.to::<String>().unwrap()
}

/// A place where tokens are kept: it gives what it holds, or says that it is locked.
#[derive(Clone, Default)]
pub struct Vault(Arc<Mutex<Content>>);

#[derive(Default)]
struct Content {
    token: Option<String>,
    asked: usize,
}

impl Vault {
    pub fn holding(token: &str) -> Self {
        let vault = Self::default();
        vault.put(token);
        vault
    }

    pub fn put(&self, token: &str) {
        self.0.lock().unwrap().token = Some(token.into());
    }

    pub fn lock(&self) {
        self.0.lock().unwrap().token = None;
    }

    /// How often somebody asked.
    pub fn asked(&self) -> usize {
        self.0.lock().unwrap().asked
    }

    /// Makes it the provider of `app`'s credentials.
    pub fn provides(&self, config: Config) -> Config {
        let vault = self.clone();
        config.credentials_from(move || {
            let vault = vault.clone();
            async move {
                let mut content = vault.0.lock().unwrap();
                content.asked += 1;
                let token = content.token.clone();
                let token = token.ok_or_else(|| io::Error::other("the vault is locked"))?;
                Ok::<_, io::Error>(Credentials::user_and_password("app", token))
            }
        })
    }
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

pub async fn fenced(events: &mut Events) {
    event(events, |event| matches!(event, Event::Fenced(_)).then_some(())).await;
}

/// What the next attempt that fails meets.
pub async fn failed(events: &mut Events) -> Error {
    event(events, |event| match event {
        Event::Reconnecting { cause: cause @ Error::NotReady { .. }, .. } => Some(cause),
        Event::Fatal(why) => Some(why),
        _ => None,
    })
    .await
}
