//! A server in memory, for what is about time: it speaks over `tokio::io::duplex`, so that a test
//! on the paused clock is exact, and it misbehaves on demand.

use std::{
    collections::HashMap,
    future::Future,
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
};

use echo_wire::resp::{Decoder, Limits, Reply};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
    sync::watch,
};

pub const VERSION_KEY: &str = "{emq}:version";
pub const WIRE: &str = "echomq:2.0.0";

/// Clones are the same server.
#[derive(Clone)]
pub struct MemoryStore {
    state: Arc<Mutex<State>>,
    mode: watch::Sender<Mode>,
}

#[derive(Default)]
struct State {
    strings: HashMap<String, String>,
    log: Vec<String>,
    dials: usize,
    /// Replies given instead of the ordinary ones, by command name.
    canned: HashMap<String, String>,
}

#[derive(Clone, Copy, PartialEq)]
struct Mode {
    /// Commands are read and run, and not answered until this is over.
    silent: bool,
    /// Dials are refused.
    away: bool,
    /// A change of this number cuts every connection.
    cuts: u64,
}

impl MemoryStore {
    /// A store that speaks our wire.
    pub fn new() -> Self {
        let server = Self::empty();
        server.set(VERSION_KEY, WIRE);
        server
    }

    pub fn empty() -> Self {
        let mode = Mode { silent: false, away: false, cuts: 0 };
        Self { state: Arc::default(), mode: watch::Sender::new(mode) }
    }

    /// What makes a connector's sockets.
    pub fn dialer(
        &self,
    ) -> impl Fn() -> Pin<Box<dyn Future<Output = io::Result<DuplexStream>> + Send>>
    + Send
    + Sync
    + 'static {
        let server = self.clone();
        move || {
            let server = server.clone();
            Box::pin(async move {
                server.state().dials += 1;
                if server.mode.borrow().away {
                    return Err(io::ErrorKind::ConnectionRefused.into());
                }
                let (ours, theirs) = duplex(1 << 20);
                tokio::spawn(server.serve(theirs));
                Ok(ours)
            })
        }
    }

    pub fn set(&self, key: &str, value: &str) {
        self.state().strings.insert(key.into(), value.into());
    }

    pub fn get(&self, key: &str) -> Option<String> {
        self.state().strings.get(key).cloned()
    }

    pub fn del(&self, key: &str) {
        self.state().strings.remove(key);
    }

    /// Answers this command with these bytes from now on.
    pub fn answer(&self, name: &str, reply: &str) {
        self.state().canned.insert(name.into(), reply.into());
    }

    pub fn answer_as_usual(&self, name: &str) {
        self.state().canned.remove(name);
    }

    pub fn silent(&self, silent: bool) {
        self.mode.send_modify(|mode| mode.silent = silent);
    }

    pub fn away(&self, away: bool) {
        self.mode.send_modify(|mode| mode.away = away);
    }

    /// Closes every connection.
    pub fn cut(&self) {
        self.mode.send_modify(|mode| mode.cuts += 1);
    }

    /// How often somebody dialled.
    pub fn dials(&self) -> usize {
        self.state().dials
    }

    /// The commands that came, words joined by spaces.
    pub fn log(&self) -> Vec<String> {
        self.state().log.clone()
    }

    /// Commands that are not the connect sequence's.
    pub fn callers_log(&self) -> Vec<String> {
        let own = ["HELLO", "CLIENT", "SELECT", "CONFIG", "GET {emq}", "SET {emq}"];
        self.log().into_iter().filter(|line| !own.iter().any(|o| line.starts_with(o))).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    async fn serve(self, mut socket: DuplexStream) {
        let mut mode = self.mode.subscribe();
        let cuts = mode.borrow().cuts;
        let mut decoder = Decoder::new(Limits::default());
        loop {
            tokio::select! {
                _ = mode.wait_for(|mode| mode.cuts != cuts) => return,
                read = socket.read_buf(decoder.read_buf()) => {
                    if !matches!(read, Ok(1..)) {
                        return;
                    }
                }
            }
            while let Some(command) = decoder.next().unwrap() {
                let reply = self.run(&command);
                let loud = mode.wait_for(|mode| !mode.silent || mode.cuts != cuts);
                if loud.await.unwrap().cuts != cuts {
                    return;
                }
                if reply == "CLOSE" || socket.write_all(reply.as_bytes()).await.is_err() {
                    return;
                }
            }
        }
    }

    fn run(&self, command: &Reply) -> String {
        let words: Vec<String> = command.to().unwrap();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut state = self.state();
        state.log.push(words.join(" "));
        if let Some(canned) = state.canned.get(words[0]) {
            return canned.clone();
        }
        let bulk = |value: &str| format!("${}\r\n{value}\r\n", value.len());
        match words[..] {
            ["HELLO", ..] => "%3\r\n$5\r\nproto\r\n:3\r\n$2\r\nid\r\n:7\r\n\
                              $4\r\nrole\r\n$6\r\nmaster\r\n"
                .into(),
            ["GET", key] => {
                state.strings.get(key).map_or_else(|| "_\r\n".into(), |value| bulk(value))
            }
            ["SET", key, _, "NX"] if state.strings.contains_key(key) => "_\r\n".into(),
            ["SET", key, value, ..] => {
                state.strings.insert(key.into(), value.into());
                "+OK\r\n".into()
            }
            ["INCR", key] => {
                let n = state.strings.get(key).map_or(0, |n| n.parse::<u64>().unwrap()) + 1;
                state.strings.insert(key.into(), n.to_string());
                format!(":{n}\r\n")
            }
            ["ECHO", word] => bulk(word),
            ["MULTI"] => "+OK\r\n".into(),
            ["EXEC"] => "*0\r\n".into(),
            _ => "+OK\r\n".into(),
        }
    }
}
