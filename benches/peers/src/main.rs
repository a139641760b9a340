//! echo_wire beside its peers: the same work by each in turn, in one process, on one machine.
//!
//! `cargo run --release` does it all and writes `benches/RESULTS.md` and `benches/growth.svg`; with
//! `--quick` it does little of each and prints the report instead; `--codec` and `--values` print that
//! part alone.

mod codec;
mod meter;
mod plot;
mod report;
mod rounds;
mod wire;

use std::{env, fs};

use wire::{
    Effort, Threads,
    place::{Server, Way},
};

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["alone", name, load, threads, way, commands, socket] => {
            let number = |word: &str| word.parse().expect("a number");
            wire::alone(name, number(load), threads, way, number(commands), socket);
        }
        [] => all(false),
        ["--quick"] => all(true),
        ["--codec"] => print!("{}", report::codecs(&codec::decode(9))),
        ["--values"] => {
            let values =
                wire::grow_values(&Server::start(), Effort { rounds: 5, commands: 30_000 });
            print!("{}", report::values(&values));
        }
        _ => eprintln!("peers [--quick | --codec | --values]"),
    }
}

fn all(quick: bool) {
    let (rounds, effort) = match quick {
        true => (3, Effort { rounds: 3, commands: 20_000 }),
        false => (9, Effort { rounds: 5, commands: 60_000 }),
    };
    let decode = codec::decode(rounds);
    let encode = codec::encode(rounds);
    let server = Server::start();
    let ways = [(Threads::One, Way::Tcp), (Threads::One, Way::Unix), (Threads::Two, Way::Tcp)];
    let wire: Vec<_> =
        ways.iter().flat_map(|(threads, way)| wire::run(&server, *threads, *way, effort)).collect();
    let growth = Effort { rounds: 3, commands: effort.commands / 2 };
    let tasks = wire::grow_tasks(&server, growth);
    let values = wire::grow_values(&server, growth);
    let memory = wire::memory::measure(&server);
    drop(server);
    let report = report::Report { decode, encode, wire, tasks, values, memory };
    if quick {
        println!("{}", report.markdown());
        return;
    }
    let benches = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    fs::write(format!("{benches}/RESULTS.md"), report.markdown()).expect("a place for the report");
    fs::write(format!("{benches}/growth.svg"), plot::growth(&report.tasks, &report.values))
        .expect("a place for the plot");
}
