//! Decoding beside a walk over the same frames by hand: the ratio of two lines of one run is what
//! counts. `walk` finds where each element ends and adds up what it says, and keeps nothing;
//! `borrowed` reads each reply where it lies; `owned` puts each into its slot.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "a bench stops at what it did not expect"
)]

use std::hint::black_box;

use bytes::BytesMut;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use echo_wire::resp::{Decoder, Limits, Reply, ReplyRef, Value};

criterion_group!(benches, tiny, aggregates, chunked, large_bulk);
criterion_main!(benches);

const TINY: usize = 10_000;
const READ: usize = 16 * 1024;

fn tiny(c: &mut Criterion) {
    for (name, frame) in [
        ("ok", &b"+OK\r\n"[..]),
        ("integer", b":12345\r\n"),
        ("bulk16", b"$16\r\n0123456789abcdef\r\n"),
        ("bulk64", b"$64\r\n0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\r\n"),
        ("null", b"$-1\r\n"),
        ("three", b"*3\r\n$5\r\nfield\r\n$5\r\nvalue\r\n:42\r\n"),
    ] {
        let stream = frame.repeat(TINY);
        let mut group = c.benchmark_group(format!("10000 {name}"));
        group.throughput(Throughput::Elements(TINY as u64));
        group.bench_function("walk", |b| b.iter(|| walk(black_box(&stream))));
        group.bench_function("borrowed", |b| {
            let mut decoder = Decoder::new(Limits::default());
            b.iter(|| {
                let mut sum = 0;
                for read in stream.chunks(64 * 1024) {
                    decoder.feed(read);
                    while let Some(reply) = decoder.next_ref().unwrap() {
                        sum += say_tiny(reply);
                    }
                }
                assert!(decoder.is_idle());
                sum
            });
        });
        group.bench_function("owned", |b| {
            let mut decoder = Decoder::new(Limits::default());
            let mut slots = vec![Reply::default(); TINY];
            b.iter(|| {
                let mut filled = 0;
                for read in stream.chunks(64 * 1024) {
                    decoder.feed(read);
                    while filled < TINY && decoder.next_into(&mut slots[filled]).unwrap() {
                        filled += 1;
                    }
                }
                assert!(filled == TINY && decoder.is_idle());
            });
        });
    }
}

fn aggregates(c: &mut Criterion) {
    for (name, stream) in [
        ("array 10000x32", array(10_000, 32)),
        ("xreadgroup 1000x4", stream_entries(1000)),
        ("nested maps 8^4", nested_maps(4)),
        ("integers 10000", [b"*10000\r\n".to_vec(), b":12345\r\n".repeat(10_000)].concat()),
    ] {
        let elements = walk(&stream).0;
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Elements(elements));
        group.bench_function("walk", |b| b.iter(|| walk(black_box(&stream))));
        group.bench_function("borrowed", |b| {
            let decoder = || fed(&stream);
            b.iter_batched_ref(
                decoder,
                |decoder| black_box(decoder.next_ref().unwrap().unwrap().is_null()),
                BatchSize::LargeInput,
            );
        });
        let mut slot = Reply::default();
        group.bench_function("owned", |b| {
            b.iter_batched_ref(
                || fed(&stream),
                |decoder| assert!(decoder.next_into(&mut slot).unwrap()),
                BatchSize::LargeInput,
            );
        });
        group.bench_function("owned, then read", |b| {
            b.iter_batched_ref(
                || fed(&stream),
                |decoder| {
                    assert!(decoder.next_into(&mut slot).unwrap());
                    say(slot.as_ref())
                },
                BatchSize::LargeInput,
            );
        });
    }
}

fn chunked(c: &mut Criterion) {
    let stream = array(100_000, 32);
    let mut group = c.benchmark_group("array 100000x32");
    group.throughput(Throughput::Elements(100_000));
    group.bench_function("walk", |b| b.iter(|| walk(black_box(&stream))));
    for (name, read) in [("owned, whole", stream.len()), ("owned, in 16 KiB reads", READ)] {
        let mut slot = Reply::default();
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut decoder = Decoder::new(Limits::default());
                for read in stream.chunks(read) {
                    decoder.feed(read);
                    black_box(decoder.next_into(&mut slot).unwrap());
                }
                assert!(decoder.is_idle());
            });
        });
    }
}

fn large_bulk(c: &mut Criterion) {
    let len = 8 << 20;
    let stream = [format!("${len}\r\n").into_bytes(), vec![b'x'; len], b"\r\n".to_vec()].concat();
    let mut group = c.benchmark_group("bulk 8 MiB in 16 KiB reads");
    group.throughput(Throughput::Bytes(stream.len() as u64));
    group.bench_function("append", |b| {
        b.iter(|| {
            let mut buffer = BytesMut::with_capacity(stream.len());
            stream.chunks(READ).for_each(|read| buffer.extend_from_slice(read));
            buffer.freeze()
        });
    });
    group.bench_function("owned", |b| {
        b.iter(|| {
            let mut decoder = Decoder::new(Limits::default());
            let mut slot = Reply::default();
            for read in stream.chunks(READ) {
                decoder.feed(read);
                black_box(decoder.next_into(&mut slot).unwrap());
            }
            slot
        });
    });
}

/// The floor: where each element ends and what it says, by hand. Counts and adds.
fn walk(mut rest: &[u8]) -> (u64, i64) {
    let (mut count, mut sum) = (0, 0);
    while let [kind, tail @ ..] = rest {
        count += 1;
        let (number, used) = number(tail);
        rest = match kind {
            b'$' if number >= 0 => {
                let text = &tail[used..used + number as usize];
                sum += text.len() as i64;
                &tail[used + number as usize + 2..]
            }
            b'+' => {
                let end = memchr::memchr(b'\r', tail).unwrap();
                sum += end as i64;
                &tail[end + 2..]
            }
            _ => {
                sum += number;
                &tail[used..]
            }
        };
    }
    (count, sum)
}

/// A line's number and length with CRLF; a line that holds none ends at once.
fn number(line: &[u8]) -> (i64, usize) {
    let negative = line[0] == b'-';
    let mut at = usize::from(negative);
    let mut number = 0;
    while line[at].is_ascii_digit() {
        number = number * 10 + i64::from(line[at] - b'0');
        at += 1;
    }
    (if negative { -number } else { number }, at + 2)
}

/// What a reply without children says.
fn say_tiny(reply: ReplyRef<'_>) -> i64 {
    match reply.value() {
        Value::Integer(value) => value,
        Value::Null(_) => -1,
        value => value.text().map_or(0, |text| text.len() as i64),
    }
}

/// Adds up what a reply says, children and all.
fn say(reply: ReplyRef<'_>) -> i64 {
    match reply.value() {
        Value::Integer(value) => value,
        Value::Null(_) => -1,
        Value::Array(items) | Value::Set(items) | Value::Push(items) => items.iter().map(say).sum(),
        Value::Map(pairs) => pairs.flat().iter().map(say).sum(),
        value => value.text().map_or(0, |text| text.len() as i64),
    }
}

fn fed(stream: &[u8]) -> Decoder {
    let mut decoder = Decoder::new(Limits::default());
    decoder.feed(stream);
    decoder
}

fn bulk(text: &str) -> String {
    format!("${}\r\n{text}\r\n", text.len())
}

fn array(count: usize, len: usize) -> Vec<u8> {
    format!("*{count}\r\n{}", bulk(&"x".repeat(len)).repeat(count)).into_bytes()
}

/// What XREADGROUP answers: a stream of entries with four fields each.
fn stream_entries(count: usize) -> Vec<u8> {
    let pair = bulk("field") + &bulk("a value of some length");
    let entry = format!("*2\r\n{}*8\r\n{}", bulk("1700000000000-0"), pair.repeat(4));
    format!("*1\r\n*2\r\n{}*{count}\r\n{}", bulk("jobs"), entry.repeat(count)).into_bytes()
}

/// Maps of eight entries, nested so deep.
fn nested_maps(depth: usize) -> Vec<u8> {
    let value = if depth == 0 { b":1\r\n".to_vec() } else { nested_maps(depth - 1) };
    let entry = [bulk("key").as_bytes(), &value].concat();
    [&b"%8\r\n"[..], &entry.repeat(8)].concat()
}
