//! One connector to a server in memory, by one task, by many, and in pipelines: what the link itself
//! costs, and the runtime's turns, without a kernel.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a bench stops at what it did not expect"
)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use echo_wire::connector::{Connector, Pipeline};
use tokio::runtime::{Builder, Runtime};

mod memory;

criterion_group!(benches, one_task, many_tasks, pipelines);
criterion_main!(benches);

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn one_task(c: &mut Criterion) {
    let runtime = runtime();
    let connector = runtime.block_on(memory::connect());
    c.bench_function("link: one task, one GET", |b| {
        b.iter(|| runtime.block_on(connector.command(memory::get())).unwrap());
    });
}

fn many_tasks(c: &mut Criterion) {
    for tasks in [64_u64, 256] {
        let runtime = runtime();
        let connector = runtime.block_on(memory::connect());
        let mut group = c.benchmark_group("link");
        group.throughput(Throughput::Elements(tasks * EACH));
        group.bench_function(format!("{tasks} tasks, {EACH} GETs each"), |b| {
            b.iter(|| runtime.block_on(all(&connector, tasks)));
        });
    }
}

/// So many that spawning the task does not weigh.
const EACH: u64 = 100;

async fn all(connector: &Connector, tasks: u64) {
    let work = |connector: Connector| async move {
        for _ in 0..EACH {
            connector.command(memory::get()).await.unwrap();
        }
    };
    let tasks: Vec<_> = (0..tasks).map(|_| tokio::spawn(work(connector.clone()))).collect();
    for task in tasks {
        task.await.unwrap();
    }
}

fn pipelines(c: &mut Criterion) {
    for commands in [100_u64, 1000] {
        let runtime = runtime();
        let connector = runtime.block_on(memory::connect());
        let mut pipeline = Pipeline::new();
        (0..commands).for_each(|_| pipeline.push(memory::get()));
        let mut group = c.benchmark_group("link");
        group.throughput(Throughput::Elements(commands));
        group.bench_function(format!("a pipeline of {commands}, built before"), |b| {
            b.iter(|| runtime.block_on(connector.pipeline(&pipeline)).unwrap().len());
        });
    }
}
