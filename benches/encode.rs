//! Encoding of commands, beside the encoder one would write by hand.
//!
//! `by_hand` takes ready slices and appends head, length and bytes one after another. `encode` is
//! ours on a command already built; `build_and_encode` is what a caller pays in all.
#![allow(clippy::unwrap_used, missing_docs, reason = "a bench may stop, and is no API")]

use std::hint::black_box;

use bytes::{BufMut, BytesMut};
use criterion::{Criterion, criterion_group, criterion_main};
use echo_wire::{
    connector::{Pipeline, Traits},
    resp::Command,
};

const KEY: &str = "emq:{mail}:job:12345";
const VALUE: [u8; 64] = [b'v'; 64];
const SHA: &str = "6b1bf486c81ceb7edf3c093f4a48d12d9b0a1c3e";
const KEYS: [&str; 3] = ["emq:{mail}:pending", "emq:{mail}:active", "emq:{mail}:events"];
const ARGS: [&str; 8] = [
    "USR0KHTOWnGLuC",
    "1735689600000",
    "30000",
    "worker-17",
    r#"{"to":"a@example.org","n":[1,2,3]}"#,
    "5",
    "0",
    "some-longer-argument-here",
];

fn by_hand(out: &mut BytesMut, parts: &[&[u8]]) {
    let mut digits = itoa::Buffer::new();
    out.put_u8(b'*');
    out.put_slice(digits.format(parts.len()).as_bytes());
    out.put_slice(b"\r\n");
    for part in parts {
        out.put_u8(b'$');
        out.put_slice(digits.format(part.len()).as_bytes());
        out.put_slice(b"\r\n");
        out.put_slice(part);
        out.put_slice(b"\r\n");
    }
}

fn set_command<'a>(key: &'a str, value: &'a [u8]) -> Command<'a> {
    Command::new("SET").arg(key).arg(value)
}

/// As the script verb does it: in place, argument by argument.
fn evalsha_command<'a>(keys: &'a [&'a str], args: &'a [&'a str]) -> Command<'a> {
    let mut command = Command::new("EVALSHA");
    command.push(SHA);
    command.push(keys.len());
    keys.iter().chain(args).for_each(|arg| command.push(arg));
    command
}

fn set(c: &mut Criterion) {
    let mut group = c.benchmark_group("SET 20 B/64 B");
    let mut out = BytesMut::with_capacity(1 << 16);
    let parts: [&[u8]; 3] = [b"SET", KEY.as_bytes(), &VALUE];
    group.bench_function("by_hand", |b| {
        b.iter(|| {
            out.clear();
            by_hand(&mut out, black_box(&parts));
        });
    });
    let command = set_command(KEY, &VALUE);
    group.bench_function("encode", |b| {
        b.iter(|| {
            out.clear();
            black_box(&command).encode(&mut out);
        });
    });
    group.bench_function("build_and_encode", |b| {
        b.iter(|| {
            out.clear();
            set_command(black_box(KEY), black_box(&VALUE)).encode(&mut out);
        });
    });
    let mut pipeline = Pipeline::with_capacity(1 << 16);
    group.bench_function("push_to_pipeline", |b| {
        b.iter(|| {
            pipeline.clear();
            pipeline.push(black_box(&command));
        });
    });
    group.finish();
}

fn evalsha(c: &mut Criterion) {
    let mut group = c.benchmark_group("EVALSHA 3 keys 8 args");
    let mut out = BytesMut::with_capacity(1 << 16);
    let mut parts: Vec<&[u8]> = vec![b"EVALSHA", SHA.as_bytes(), b"3"];
    parts.extend(KEYS.iter().chain(&ARGS).map(|part| part.as_bytes()));
    group.bench_function("by_hand", |b| {
        b.iter(|| {
            out.clear();
            by_hand(&mut out, black_box(&parts));
        });
    });
    let command = evalsha_command(&KEYS, &ARGS);
    group.bench_function("encode", |b| {
        b.iter(|| {
            out.clear();
            black_box(&command).encode(&mut out);
        });
    });
    group.bench_function("build_and_encode", |b| {
        b.iter(|| {
            out.clear();
            evalsha_command(black_box(&KEYS), black_box(&ARGS)).encode(&mut out);
        });
    });
    group.finish();
}

fn look_up(c: &mut Criterion) {
    let set = set_command(KEY, &VALUE);
    let evalsha = evalsha_command(&KEYS, &ARGS);
    let mut group = c.benchmark_group("look up");
    group.bench_function("SET", |b| b.iter(|| Traits::of(black_box(&set)).refusal()));
    group.bench_function("EVALSHA", |b| b.iter(|| Traits::of(black_box(&evalsha)).refusal()));
    group.bench_function("EVALSHA's slot", |b| {
        b.iter(|| Traits::of(black_box(&evalsha)).slot(&evalsha));
    });
    group.finish();
}

criterion_group!(benches, set, evalsha, look_up);
criterion_main!(benches);
