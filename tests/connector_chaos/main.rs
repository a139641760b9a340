//! A server in memory that does whatever a server and a path can do to a client, by the roll of a
//! die: it reads and writes in scraps, late or never, puts pushes and attributes wherever they may
//! stand, answers errors instead of running, forgets scripts, breaks the protocol, lets another wire
//! take the store, and hangs up at any byte. On the paused clock, so that hours pass in a moment.
//!
//! The server knows what it has run, so what callers are told is held against that. A seed makes the
//! story, to the last poll:
//!
//! ```console
//! $ ECHO_WIRE_SEED=17 cargo test --test connector_chaos -- --nocapture   # one story again, told aloud
//! $ ECHO_WIRE_SOAK=5 cargo test --test connector_chaos                   # five times as many
//! ```
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    unreachable_pub,
    reason = "a test stops where it fails, and is nobody's library"
)]

#[path = "../support/mod.rs"]
mod support;

mod book;
mod caller;
mod connection;
mod noise;
mod plan;
mod reader;
mod restless;
mod story;
mod world;

use std::{
    env,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    thread,
};

use allocation_counter::measure;
use tokio::runtime::Builder;

use self::{book::Seen, story::story, world::Transcript};

const STORIES: u64 = 2_000;
const TELLERS: u64 = 2;

/// What a story may take at its height: some times what its callers have in flight.
const MEMORY: u64 = 3 << 20;

/// Tells one story from its beginning to its end, when nothing of it may be left.
fn tell(seed: u64, transcript: Transcript) -> (Seen, u64) {
    let mut told = None;
    let memory = measure(|| {
        let runtime =
            Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        told = Some(runtime.block_on(story(seed, transcript)));
    });
    assert!(memory.bytes_max < MEMORY, "{} bytes at the height of it", memory.bytes_max);
    (told.unwrap(), memory.bytes_max)
}

fn tell_or_say_which(seed: u64) -> (Seen, u64) {
    catch_unwind(AssertUnwindSafe(|| tell(seed, Transcript::Silent))).unwrap_or_else(|_panic| {
        panic!("ECHO_WIRE_SEED={seed} cargo test --test connector_chaos -- --nocapture");
    })
}

#[test]
fn whatever_a_server_and_a_path_do_every_caller_is_told_the_truth_in_time() {
    if let Ok(seed) = env::var("ECHO_WIRE_SEED") {
        println!("{:?}", tell(seed.parse().expect("a number"), Transcript::Aloud).0);
        return;
    }
    let times = env::var("ECHO_WIRE_SOAK").map_or(1, |times| times.parse().expect("a number"));
    let (stories, next) = (STORIES * times, AtomicU64::new(0));
    let teller = || {
        let (mut seen, mut memory) = (Seen::default(), 0);
        loop {
            let seed = next.fetch_add(1, Relaxed);
            if seed >= stories {
                return (seen, memory);
            }
            let (story, height) = tell_or_say_which(seed);
            seen += story;
            memory = memory.max(height);
        }
    };
    let tellers = thread::scope(|scope| {
        let tellers: Vec<_> = (0..TELLERS).map(|_| scope.spawn(teller)).collect();
        tellers.into_iter().map(|teller| teller.join()).collect::<Vec<_>>()
    });
    let (mut seen, mut memory) = (Seen::default(), 0);
    for teller in tellers {
        let (part, height) = teller.expect("a story went wrong: see above for its seed");
        seen += part;
        memory = memory.max(height);
    }
    println!("{stories} stories, {memory} bytes at most: {seen:?}");
    seen.assert_enough(stories);
}

#[test]
fn a_seed_tells_the_same_story_again() {
    for seed in 0..40 {
        let once = tell(seed, Transcript::Silent).0;
        assert_eq!(once, tell(seed, Transcript::Silent).0, "seed {seed}");
    }
}
