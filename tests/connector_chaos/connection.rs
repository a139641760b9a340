//! One connection of the server, until it has had enough of it.

use std::time::Duration;

use echo_wire::resp::{Decoder, Limits};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream},
    time::sleep,
};

use crate::{
    caller::PUSH,
    noise,
    plan::seconds,
    support::{Random, VERSION_KEY, WIRE},
    world::World,
};

pub struct Connection {
    world: World,
    number: u64,
    random: Random,
    is_resp3: bool,
    fence: Fence,
    /// Another wire was answered to a heartbeat, which was the last.
    has_told_of_another: bool,
    /// HELLO was refused, and the rest of its flight goes for nothing.
    is_refused_flight: bool,
    is_subscribed: bool,
    /// Messages sent on it.
    messages: u64,
    /// Between MULTI and EXEC: what is queued, and whether one of it was refused.
    multi: Option<(Vec<u64>, bool)>,
}

/// What it has answered to the fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fence {
    NotAsked,
    /// The answer is not written yet: nothing may come behind the question.
    Answering,
    Passed,
    Refused,
}

const ANOTHER: &str = "acme:1";

impl Connection {
    pub fn new(world: World, number: u64, random: Random) -> Self {
        Self {
            world,
            number,
            random,
            is_resp3: false,
            fence: Fence::NotAsked,
            has_told_of_another: false,
            is_refused_flight: false,
            is_subscribed: false,
            messages: 0,
            multi: None,
        }
    }

    pub async fn serve(mut self, stream: DuplexStream) {
        self.world.note(&format!("{} comes", self.number));
        self.live(stream).await;
        self.world.note(&format!("{} goes", self.number));
    }

    async fn live(&mut self, mut stream: DuplexStream) {
        if self.random.below(12) == 0 {
            drop(stream.write_all(b"-ERR max number of clients reached\r\n").await);
            return;
        }
        // As in a restart, it may have lost what was never on a disk.
        if self.random.below(4) == 0 {
            self.world.state().has_script = false;
            self.world.lose_the_key();
        }
        let mut decoder = Decoder::new(Limits::default());
        // Some hang up soon, some in the midst of work, some never.
        let mut bytes_left = match self.random.below(4) {
            0 => self.random.below(400),
            1 | 2 => self.random.below(4_000),
            _ => u64::MAX,
        };
        let mut scrap = vec![0; 1 + self.random.below(300) as usize];
        loop {
            let Ok(read @ 1..) = stream.read(&mut scrap).await else { return };
            decoder.feed(&scrap[..read]);
            if self.random.below(150) == 0 {
                // Read, and never run.
                return;
            }
            let mut out = Vec::new();
            while let Some(command) = decoder.next().unwrap() {
                let words: Vec<String> = command.to().unwrap();
                self.answer(&mut out, &words.iter().map(String::as_str).collect::<Vec<_>>());
            }
            self.tell_news(&mut out);
            let is_rude = self.world.plan.is_rude && self.random.below(100) == 0 && !out.is_empty();
            if is_rude {
                self.world.state().garbage += 1;
                out.extend_from_slice(noise::garbage(&mut self.random).as_bytes());
            }
            self.dawdle(out.is_empty()).await;
            if !self.write(&mut stream, &out, &mut bytes_left).await || is_rude {
                return;
            }
            bytes_left = bytes_left.saturating_sub(read as u64);
            if bytes_left == 0 {
                return;
            }
            if self.fence == Fence::Answering {
                self.fence = Fence::Passed;
            }
        }
    }

    /// Longer than any patience, or just late.
    async fn dawdle(&mut self, has_nothing_to_say: bool) {
        match self.random.below(200) {
            _ if has_nothing_to_say => {}
            0 => sleep(seconds(60)).await,
            1..=8 => sleep(Duration::from_millis(self.random.below(6_000))).await,
            _ => {}
        }
    }

    /// `false`: it hung up, at this byte of all.
    async fn write(&mut self, stream: &mut DuplexStream, out: &[u8], left: &mut u64) -> bool {
        let mut rest = out;
        while !rest.is_empty() {
            let now = rest.len().min(1 + self.random.below(200) as usize);
            if *left < now as u64 {
                drop(stream.write_all(&rest[..*left as usize]).await);
                return false;
            }
            *left -= now as u64;
            if stream.write_all(&rest[..now]).await.is_err() {
                return false;
            }
            if self.random.below(40) == 0 {
                sleep(Duration::from_millis(1 + self.random.below(500))).await;
            }
            rest = &rest[now..];
        }
        true
    }

    fn noise(&self) -> u64 {
        if self.is_resp3 { self.world.plan.noise } else { 0 }
    }

    /// Its reply, with whatever may stand around it.
    fn answer(&mut self, out: &mut Vec<u8>, words: &[&str]) {
        self.world.note(&format!("{}: {}", self.number, words.join(" ")));
        self.watch_over(words);
        let percent = self.noise();
        noise::between(out, percent, &mut self.random);
        noise::before(out, percent, &mut self.random);
        let counts = words != ["GET", VERSION_KEY] || !std::mem::take(&mut self.is_refused_flight);
        let wants_error = self.random.below(100) < self.world.plan.errors;
        let reply = match wants_error.then(|| self.error(words)).flatten() {
            Some(error) => error,
            None => self.run(words, counts),
        };
        out.extend_from_slice(&reply);
    }

    /// Nothing comes before the fence was passed but what may.
    fn watch_over(&mut self, words: &[&str]) {
        let is_boot = matches!(
            words,
            ["HELLO", ..] | ["CLIENT", "SETINFO" | "SETNAME" | "ID", ..] | ["ROLE" | "INFO", ..]
        ) || matches!(
            words,
            ["CONFIG", "GET", ..] | ["GET" | "SET", VERSION_KEY, ..]
        );
        if !is_boot && self.fence != Fence::Passed {
            let wrong = format!("{}, fence {:?}: {}", self.number, self.fence, words.join(" "));
            self.world.state().wrongs.push(wrong);
        }
    }

    /// An error instead of running it, for commands of which it says nothing final.
    fn error(&mut self, words: &[&str]) -> Option<Vec<u8>> {
        let passing = ["LOADING wait", "BUSY wait", "MASTERDOWN wait"];
        let any = ["BUSY wait", "OOM full", "ERR as I like", "LOADING wait", "READONLY go"];
        let line = match words {
            ["GET", VERSION_KEY] => passing[self.random.below(3) as usize],
            ["CLIENT" | "CONFIG" | "ROLE", ..] => "NOPERM no",
            ["SUBSCRIBE", ..] => passing[self.random.below(2) as usize],
            ["RPUSH" | "EVALSHA" | "EVAL" | "ECHO", ..] => any[self.random.below(5) as usize],
            _ => return None,
        };
        if let Some((_, is_refused)) = &mut self.multi {
            *is_refused = true;
        }
        let is_bulk = self.is_resp3 && self.random.below(2) == 0;
        Some(if is_bulk {
            format!("!{}\r\n{line}\r\n", line.len()).into()
        } else {
            format!("-{line}\r\n").into()
        })
    }

    fn run(&mut self, words: &[&str], counts: bool) -> Vec<u8> {
        match words {
            ["HELLO", ..] if self.world.plan.is_old => {
                self.is_refused_flight = true;
                "-ERR unknown command\r\n".into()
            }
            ["HELLO", ..] => {
                self.is_resp3 = true;
                "%2\r\n$5\r\nproto\r\n:3\r\n$4\r\nrole\r\n$6\r\nmaster\r\n".into()
            }
            ["ROLE"] => "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n".into(),
            ["CONFIG", ..] if self.is_resp3 => "%1\r\n+maxmemory-policy\r\n+noeviction\r\n".into(),
            ["CONFIG", ..] => "*2\r\n+maxmemory-policy\r\n+noeviction\r\n".into(),
            ["GET", VERSION_KEY] => self.version(counts),
            ["SET", VERSION_KEY, _, "NX"] => self.claim(),
            ["ECHO", word] => bulk(word),
            ["FAIL"] => "-ERR as you like\r\n".into(),
            ["MULTI"] => {
                self.multi = Some((Vec::new(), false));
                "+OK\r\n".into()
            }
            ["RPUSH", _, id] => match &mut self.multi {
                Some((queued, _)) => {
                    queued.push(id.parse().unwrap());
                    "+QUEUED\r\n".into()
                }
                None => format!(":{}\r\n", self.push(id.parse().unwrap())).into(),
            },
            ["EXEC"] => self.exec(),
            ["EVALSHA", _, _, _, id] if self.world.state().has_script => {
                format!(":{}\r\n", self.push(id.parse().unwrap())).into()
            }
            ["EVALSHA", ..] => "-NOSCRIPT No matching script.\r\n".into(),
            ["EVAL", _, _, _, id] => {
                self.world.state().has_script = true;
                format!(":{}\r\n", self.push(id.parse().unwrap())).into()
            }
            ["SCRIPT", "LOAD", _] => {
                self.world.state().has_script = true;
                bulk(PUSH.sha1())
            }
            ["SUBSCRIBE", name] => {
                self.is_subscribed = true;
                format!(">3\r\n+subscribe\r\n+{name}\r\n:1\r\n").into()
            }
            ["UNSUBSCRIBE", name] => {
                self.is_subscribed = false;
                format!(">3\r\n+unsubscribe\r\n+{name}\r\n:0\r\n").into()
            }
            _ => "+OK\r\n".into(),
        }
    }

    fn null(&self) -> Vec<u8> {
        if self.is_resp3 { "_\r\n".into() } else { "$-1\r\n".into() }
    }

    /// The store is claimed, also on a connection that had passed: nothing may come behind it until it
    /// was told who holds the store.
    fn claim(&mut self) -> Vec<u8> {
        if self.fence == Fence::Passed {
            self.fence = Fence::NotAsked;
        }
        if self.world.is_usurped() || self.world.state().is_claimed {
            return self.null();
        }
        self.world.state().is_claimed = true;
        "+OK\r\n".into()
    }

    /// What the client is to believe, unless it comes behind a refused HELLO.
    fn version(&mut self, counts: bool) -> Vec<u8> {
        let is_usurped = self.world.is_usurped();
        if self.fence == Fence::Passed && !is_usurped && self.random.below(4) == 0 {
            self.world.lose_the_key();
        }
        let mut state = self.world.state();
        if is_usurped {
            state.refused += 1;
            if self.fence == Fence::Passed && std::mem::replace(&mut self.has_told_of_another, true)
            {
                state.wrongs.push(format!("{} goes on in a store of another wire", self.number));
            }
            if counts && self.fence != Fence::Passed {
                self.fence = Fence::Refused;
            }
            return bulk(ANOTHER);
        }
        if !state.is_claimed {
            return self.null();
        }
        if counts && self.fence != Fence::Passed {
            self.fence = Fence::Answering;
        }
        bulk(WIRE)
    }

    /// Its place in the list.
    fn push(&self, id: u64) -> u64 {
        let mut state = self.world.state();
        state.list.push(id);
        state.ran += 1;
        if self.fence == Fence::Refused {
            state.wrongs.push(format!("{id:x} was written past a refusal"));
        }
        state.list.len() as u64
    }

    fn exec(&mut self) -> Vec<u8> {
        let (queued, is_refused) = self.multi.take().unwrap_or_default();
        if is_refused {
            return b"-EXECABORT Transaction discarded\r\n".into();
        }
        let mut out: Vec<u8> = format!("*{}\r\n", queued.len()).into();
        for id in queued {
            let percent = self.noise();
            noise::before(&mut out, percent, &mut self.random);
            out.extend_from_slice(format!(":{}\r\n", self.push(id)).as_bytes());
        }
        out
    }

    fn tell_news(&mut self, out: &mut Vec<u8>) {
        while self.is_subscribed && self.random.below(3) == 0 {
            self.messages += 1;
            let text = format!("{}:{}", self.number, self.messages);
            noise::between(out, self.noise(), &mut self.random);
            noise::before(out, self.noise(), &mut self.random);
            let len = text.len();
            let news = format!(">3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n${len}\r\n{text}\r\n");
            out.extend_from_slice(news.as_bytes());
        }
    }
}

fn bulk(text: &str) -> Vec<u8> {
    format!("${}\r\n{text}\r\n", text.len()).into()
}
