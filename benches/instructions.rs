//! One piece of work, so many times and nothing else, for callgrind to count: `./run instructions`.
//!
//! `instructions <work> <times>`; without arguments, the names of the pieces.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a bench stops at what it did not expect"
)]

use std::hint::black_box;

use bytes::BytesMut;
use echo_wire::{
    connector::Pipeline,
    resp::{Command, Decoder, Limits, Reply},
};
use tokio::runtime::Builder;

mod memory;

type Work = (&'static str, fn(usize));

const WORKS: [Work; 12] = [
    ("decode-ok", |times| decode(b"+OK\r\n", 1, times)),
    ("decode-integer", |times| decode(b":12345\r\n", 1, times)),
    ("decode-bulk16", |times| decode(b"$16\r\n0123456789abcdef\r\n", 1, times)),
    ("decode-three", |times| {
        decode(b"*3\r\n$5\r\nfield\r\n$5\r\nvalue\r\n:42\r\n", 1, times);
    }),
    ("decode-element-of-1000", |times| {
        let array = format!("*1000\r\n{}", "$4\r\nabcd\r\n".repeat(1000));
        decode(array.as_bytes(), 1000, times);
    }),
    ("decode-element-read-in-pieces", |times| {
        let array = format!("*10000\r\n{}", "$4\r\nabcd\r\n".repeat(10_000));
        pieces(array.as_bytes(), times / 10_000);
    }),
    ("encode-set", |times| encode(|| Command::new("SET").arg(memory::KEY).arg("value"), times)),
    ("encode-evalsha-3-8", |times| {
        encode(|| Command::new("EVALSHA").arg(SHA).arg(3).args([memory::KEY; 11]), times);
    }),
    ("link-one-task", |times| link(times, 1)),
    ("link-64-tasks", |times| link(times, 64)),
    ("link-pipeline-1000", |times| pipelines(times, false)),
    ("link-pipeline-1000-built-anew", |times| pipelines(times, true)),
];

const SHA: &str = "6b1bf486c81ceb7edf3c093f4a48d12d9b0a1c3e";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [name, times] = &words[..] else {
        // cargo bench passes a word of its own: not for this one.
        if words.is_empty() {
            WORKS.iter().for_each(|(name, _)| println!("{name}"));
        }
        return;
    };
    let (_, work) = WORKS.iter().find(|(known, _)| known == name).expect("a known piece of work");
    work(times.parse().expect("a number"));
}

fn decode(reply: &[u8], each: usize, times: usize) {
    let stream = reply.repeat(100);
    let mut decoder = Decoder::new(Limits::default());
    let mut slot = Reply::default();
    for _ in 0..times / 100 / each {
        decoder.feed(black_box(&stream));
        while decoder.next_into(&mut slot).unwrap() {
            black_box(&slot);
        }
    }
}

/// As a socket gives a large reply.
fn pieces(reply: &[u8], times: usize) {
    let mut decoder = Decoder::new(Limits::default());
    let mut slot = Reply::default();
    for _ in 0..times {
        for piece in black_box(reply).chunks(16 * 1024) {
            decoder.feed(piece);
            while decoder.next_into(&mut slot).unwrap() {
                black_box(&slot);
            }
        }
    }
}

fn encode<'a>(command: impl Fn() -> Command<'a>, times: usize) {
    let mut out = BytesMut::with_capacity(1 << 16);
    for _ in 0..times {
        black_box(command()).encode(&mut out);
        black_box(&out);
        out.clear();
    }
}

fn link(times: usize, tasks: usize) {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let connector = memory::connect().await;
        let work = || {
            let connector = connector.clone();
            tokio::spawn(async move {
                for _ in 0..times / tasks {
                    black_box(connector.command(memory::get()).await.unwrap());
                }
            })
        };
        for task in (0..tasks).map(|_| work()).collect::<Vec<_>>() {
            task.await.unwrap();
        }
    });
}

fn pipelines(times: usize, anew: bool) {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let connector = memory::connect().await;
        let build = |pipeline: &mut Pipeline| {
            pipeline.clear();
            (0..1000).for_each(|_| pipeline.push(memory::get()));
        };
        let mut pipeline = Pipeline::new();
        build(&mut pipeline);
        for _ in 0..times / 1000 {
            if anew {
                build(&mut pipeline);
            }
            drop(black_box(connector.pipeline(&pipeline).await.unwrap()));
        }
    });
}
