//! A server in memory that does whatever a server and a path can do to a client, by the roll of a
//! die: reads and writes in scraps, late, never, with pushes in between, and hangs up anywhere. On
//! the paused clock, so that hours pass in a moment. A seed makes the story, but for the jitter of the
//! reconnects. `ECHO_WIRE_SOAK=n` tells n thousand of them.
//!
//! The server knows what it has run, so what callers are told is held against that.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "a test stops where it fails"
)]

mod support;

use std::{
    collections::HashMap,
    env, io,
    sync::{Arc, Mutex},
    time::Duration,
};

use echo_wire::{
    connector::{Config, Connector, Error, Pipeline, Policy, Replies, WhenAway, WhenFull},
    resp::{Command, Decoder, Limits},
};
use support::{Random, VERSION_KEY, WIRE, at_most};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
    runtime::Builder,
    time::{sleep, timeout},
};

const CALLERS: u64 = 12;
const CALLS: u64 = 40;

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// What the server has run: each id's place in the one list.
#[derive(Default)]
struct Store {
    list: Vec<u64>,
    claimed: bool,
    connections: u64,
}

type Shared = Arc<Mutex<Store>>;

impl Store {
    fn run(&mut self, words: &[String]) -> String {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let bulk = |text: &str| format!("${}\r\n{text}\r\n", text.len());
        match words[..] {
            ["HELLO", ..] => "%2\r\n$5\r\nproto\r\n:3\r\n$4\r\nrole\r\n$6\r\nmaster\r\n".into(),
            ["GET", VERSION_KEY] if self.claimed => bulk(WIRE),
            ["GET", _] => "_\r\n".into(),
            ["SET", VERSION_KEY, ..] => {
                self.claimed = true;
                "+OK\r\n".into()
            }
            ["RPUSH", _, id] => {
                self.list.push(id.parse().unwrap());
                format!(":{}\r\n", self.list.len())
            }
            ["ECHO", word] => bulk(word),
            ["FAIL"] => "-ERR as you like\r\n".into(),
            _ => "+OK\r\n".into(),
        }
    }
}

/// One connection, until it has had enough of it.
async fn serve(mut stream: DuplexStream, store: Shared, mut random: Random) {
    if random.below(12) == 0 {
        drop(stream.write_all(b"-ERR max number of clients reached\r\n").await);
        return;
    }
    let mut decoder = Decoder::new(Limits::default());
    // Some hang up soon, some in the midst of work, some never.
    let mut bytes_left = match random.below(4) {
        0 => random.below(400),
        1 | 2 => random.below(6_000),
        _ => u64::MAX,
    };
    let mut scrap = vec![0; 1 + random.below(300) as usize];
    loop {
        let Ok(read @ 1..) = stream.read(&mut scrap).await else { return };
        decoder.feed(&scrap[..read]);
        let mut out = Vec::new();
        while let Some(command) = decoder.next().unwrap() {
            let words: Vec<String> = command.to().unwrap();
            out.extend_from_slice(store.lock().unwrap().run(&words).as_bytes());
            if random.below(30) == 0 {
                out.extend_from_slice(b">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n");
            }
        }
        // Longer than any patience, or just late.
        match random.below(200) {
            _ if out.is_empty() => {}
            0 => sleep(seconds(60)).await,
            1..=8 => sleep(Duration::from_millis(random.below(6_000))).await,
            _ => {}
        }
        let mut rest = &out[..];
        while !rest.is_empty() {
            let now = rest.len().min(1 + random.below(200) as usize);
            if bytes_left < now as u64 {
                drop(stream.write_all(&rest[..bytes_left as usize]).await);
                return;
            }
            bytes_left -= now as u64;
            if stream.write_all(&rest[..now]).await.is_err() {
                return;
            }
            rest = &rest[now..];
        }
        bytes_left = bytes_left.saturating_sub(read as u64);
        if bytes_left == 0 {
            return;
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Answered { place: u64 },
    NotSent,
    Unknown,
}

type Book = HashMap<u64, Told>;

async fn caller(connector: Connector, number: u64, mut random: Random) -> Book {
    let mut book = Book::new();
    for call in 0..CALLS {
        let (id, also) = ((number << 32) | (2 * call), (number << 32) | (2 * call + 1));
        let patience = [1, 2, 1 << random.below(7), u64::MAX, u64::MAX, u64::MAX];
        let patience = patience[random.below(6) as usize];
        let push = |id: u64| Command::new("RPUSH").arg("list").arg(id);
        let longest = if random.below(8) == 0 { 900 } else { 30 };
        let word = "w".repeat(random.below(longest) as usize) + &id.to_string();
        let pipeline = Pipeline::new()
            .command(push(id))
            .command(Command::new("FAIL"))
            .command(Command::new("ECHO").arg(&word))
            .command(push(also));
        let both = [id, also];
        let (ids, result) = match random.below(3) {
            0 => {
                let echo = connector.command(Command::new("ECHO").arg(&word));
                let result = at_most(patience, echo).await;
                let check = |reply: echo_wire::resp::Reply| {
                    assert_eq!(reply.to::<String>().unwrap(), word);
                    vec![]
                };
                (&both[..0], result.map(|it| it.map(check)))
            }
            1 => {
                let result = at_most(patience, connector.command(push(id))).await;
                let place = |reply: echo_wire::resp::Reply| vec![reply.to::<u64>().unwrap()];
                (&both[..1], result.map(|it| it.map(place)))
            }
            _ => {
                let result = at_most(patience, connector.pipeline(&pipeline)).await;
                let places = |replies: Replies| {
                    assert!(replies.len() == 4 && replies[1].is_error());
                    assert_eq!(replies[2].to::<String>().unwrap(), word);
                    vec![replies[0].to::<u64>().unwrap(), replies[3].to::<u64>().unwrap()]
                };
                (&both[..], result.map(|it| it.map(places)))
            }
        };
        let told: Vec<Told> = match result {
            Some(Ok(places)) => places.into_iter().map(|place| Told::Answered { place }).collect(),
            Some(Err(error)) => {
                let not_sent = matches!(
                    error,
                    Error::Disconnected { maybe_executed: false } | Error::Overloaded
                );
                let unknown = matches!(
                    error,
                    Error::Disconnected { maybe_executed: true }
                        | Error::Timeout { maybe_executed: true }
                );
                assert!(not_sent || unknown, "{error:?}");
                assert_eq!(error.maybe_executed(), unknown);
                vec![if unknown { Told::Unknown } else { Told::NotSent }; ids.len()]
            }
            None => vec![Told::Unknown; ids.len()],
        };
        book.extend(ids.iter().copied().zip(told));
        if random.below(4) == 0 {
            sleep(Duration::from_millis(random.below(3_000))).await;
        }
    }
    book
}

/// Answers how often each outcome was seen: answered, not sent, unknown.
async fn story(seed: u64) -> [u64; 3] {
    let store = Shared::default();
    let mut random = Random::new(seed);
    let capacity = [1, 30, 200, 1000, 4096][random.below(5) as usize];
    let policy = Policy {
        max_pending: [4, 64, 65_536][random.below(3) as usize],
        when_full: [WhenFull::Fail, WhenFull::Wait][random.below(2) as usize],
        when_away: [WhenAway::Fail, WhenAway::WaitAtMost(seconds(20))][random.below(2) as usize],
        response_timeout: seconds(5),
        heartbeat: seconds(2),
        watchdog: seconds(8),
        ready_within: seconds(3600),
        ..Policy::default()
    };
    let dial = {
        let store = Arc::clone(&store);
        move || {
            let connection = {
                let mut store = store.lock().unwrap();
                store.connections += 1;
                store.connections
            };
            let (ours, theirs) = duplex(capacity);
            let random = Random::new(seed * 1_000_003 + connection);
            tokio::spawn(serve(theirs, Arc::clone(&store), random));
            async move { Ok::<_, io::Error>(ours) }
        }
    };
    let config = Config::tcp("chaos", 1).policy(policy).connect_timeout(seconds(3)).unwrap();
    let connector = Connector::over(dial, config).await.unwrap();
    let callers: Vec<_> = (1..=CALLERS)
        .map(|number| {
            let random = Random::new(seed * 7_919 + number);
            tokio::spawn(caller(connector.clone(), number, random))
        })
        .collect();
    let mut book = Book::new();
    for caller in callers {
        book.extend(timeout(seconds(100_000), caller).await.expect("no caller hangs").unwrap());
    }
    let quiet = async {
        while connector.stats().pending > 0 {
            sleep(seconds(1)).await;
        }
    };
    timeout(seconds(1_000), quiet).await.expect("nothing is owed for ever");
    connector.close().await;
    let stats = connector.stats();
    assert_eq!(stats.protocol_errors, 0, "{stats:?}");
    assert_eq!(stats.connects, stats.reconnects + 1);
    drop(connector);
    // What was on its way arrives, or is cut.
    sleep(seconds(3_600)).await;
    assert_eq!(tokio::runtime::Handle::current().metrics().num_alive_tasks(), 0);

    let places: HashMap<u64, u64> =
        (1..).zip(&store.lock().unwrap().list).map(|(place, id)| (*id, place)).collect();
    assert_eq!(places.len(), store.lock().unwrap().list.len(), "an id is there twice");
    let mut seen = [0; 3];
    for (id, told) in book {
        let there = places.get(&id).copied();
        match told {
            Told::Answered { place } => assert_eq!(there, Some(place), "{id:x}"),
            Told::NotSent => assert_eq!(there, None, "{id:x} was not sent"),
            Told::Unknown => {}
        }
        seen[match told {
            Told::Answered { .. } => 0,
            Told::NotSent => 1,
            Told::Unknown => 2,
        }] += 1;
    }
    seen
}

#[test]
fn whatever_a_server_and_a_path_do_every_caller_is_told_the_truth_in_time() {
    let stories = match env::var("ECHO_WIRE_SOAK") {
        Ok(times) => 1_000 * times.parse::<u64>().expect("a number"),
        Err(_) => 100,
    };
    let mut seen = [0; 3];
    for seed in 0..stories {
        let runtime = Builder::new_current_thread().enable_all().start_paused(true).build();
        let story = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            runtime.unwrap().block_on(story(seed))
        }));
        let story = story.unwrap_or_else(|_panic| panic!("in the story of seed {seed}"));
        seen.iter_mut().zip(story).for_each(|(sum, n)| *sum += n);
    }
    assert!(seen.iter().all(|n| *n > 1_000), "answered, not sent, unknown: {seen:?}");
}
