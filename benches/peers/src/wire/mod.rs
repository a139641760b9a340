//! One connection to a real Valkey, by each driver in turn.

mod contender;
mod echo;
mod fred;
mod load;
pub mod memory;
mod peer;
pub mod place;
mod raw;
mod redis_rs;
mod rustis;
mod syscalls;

use self::{
    contender::connected,
    echo::Echo,
    fred::Fred,
    load::VALUE,
    peer::Peer,
    place::{Place, Server, Way},
    raw::Raw,
    redis_rs::RedisRs,
    rustis::Rustis,
};
pub use self::{
    contender::{Contender, Threads},
    load::Load,
};
use crate::rounds::{Row, Turn, compare};

pub const LOADS: [Load; 6] = [
    Load::One,
    Load::Mix { tasks: 64, len: VALUE },
    Load::Mix { tasks: 256, len: VALUE },
    Load::Pipelines(100),
    Load::Pipelines(1000),
    Load::Calls { tasks: 64 },
];

/// What was measured of one load: for each command.
pub struct Table {
    pub load: Load,
    pub threads: Threads,
    pub way: Way,
    /// A row and, where they could be counted, its syscalls.
    pub rows: Vec<(Row, Option<f64>)>,
}

/// How much is done.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    pub rounds: usize,
    /// Commands in a turn; of the single task fewer, which waits for each.
    pub commands: usize,
}

/// Every load, each driver in turn.
pub fn run(server: &Server, threads: Threads, way: Way, effort: Effort) -> Vec<Table> {
    let runtime = threads.runtime();
    let place = server.place(way);
    let contenders = everybody(&runtime, &place);
    let table = |load: &Load| {
        let commands = match load {
            Load::One => effort.commands / 10,
            _ => effort.commands,
        };
        let mut turns = Vec::new();
        for contender in contenders.iter().filter(|c| c.name() != Raw::NAME || load.has_floor()) {
            let turn = || contender.run(&runtime, *load, commands);
            turns.push((contender.name(), Box::new(turn) as Turn<'_>));
        }
        let rows = compare(effort.rounds, &mut turns);
        let syscalls = |row: Row| {
            let counted =
                syscalls::for_each_command(row.name, *load, threads, &place, commands / 2);
            (row, counted)
        };
        Table { load: *load, threads, way, rows: rows.into_iter().map(syscalls).collect() }
    };
    LOADS.iter().map(table).collect()
}

fn everybody(runtime: &tokio::runtime::Runtime, place: &Place) -> Vec<Box<dyn Contender>> {
    vec![
        connected::<Echo>(runtime, place),
        connected::<RedisRs>(runtime, place),
        connected::<Fred>(runtime, place),
        connected::<Rustis>(runtime, place),
        connected::<Raw>(runtime, place),
    ]
}

/// One driver and one load, on the server that runs already: what `perf stat` looks at.
pub fn alone(name: &str, load: usize, threads: &str, way: &str, commands: usize, socket: &str) {
    let way = if way == "Tcp" { Way::Tcp } else { Way::Unix };
    let place = Place { way, socket: socket.into() };
    let threads = if threads == "One" { Threads::One } else { Threads::Two };
    let runtime = threads.runtime();
    let contender = match name {
        Echo::NAME => connected::<Echo>(&runtime, &place),
        RedisRs::NAME => connected::<RedisRs>(&runtime, &place),
        Fred::NAME => connected::<Fred>(&runtime, &place),
        Rustis::NAME => connected::<Rustis>(&runtime, &place),
        _ => connected::<Raw>(&runtime, &place),
    };
    contender.run(&runtime, LOADS[load], commands);
}

/// What more tasks, or larger values, cost.
pub struct Growth {
    /// Tasks, or bytes.
    pub at: usize,
    pub rows: Vec<Row>,
}

pub const TASKS: [usize; 5] = [1, 8, 64, 512, 4096];
pub const SIZES: [usize; 5] = [16, 256, 4096, 64 << 10, 1 << 20];

pub fn grow_tasks(server: &Server, effort: Effort) -> Vec<Growth> {
    let commands = |tasks: usize| if tasks < 8 { effort.commands / 10 } else { effort.commands };
    let load = |tasks| Load::Mix { tasks, len: VALUE };
    TASKS.map(|tasks| grow(server, effort.rounds, tasks, load(tasks), commands(tasks))).into()
}

pub fn grow_values(server: &Server, effort: Effort) -> Vec<Growth> {
    // As many bytes in a turn, but for the small values.
    let commands = |len: usize| (effort.commands * 1024 / len.max(1024)).max(256);
    let load = |len| Load::Mix { tasks: 64, len };
    SIZES.map(|len| grow(server, effort.rounds, len, load(len), commands(len))).into()
}

fn grow(server: &Server, rounds: usize, at: usize, load: Load, commands: usize) -> Growth {
    let runtime = Threads::One.runtime();
    let contenders = everybody(&runtime, &server.place(Way::Tcp));
    let mut turns = Vec::new();
    for contender in contenders.iter().filter(|contender| contender.name() != Raw::NAME) {
        let turn = || contender.run(&runtime, load, commands);
        turns.push((contender.name(), Box::new(turn) as Turn<'_>));
    }
    Growth { at, rows: compare(rounds, &mut turns) }
}
