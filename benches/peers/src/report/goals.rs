//! What was aimed at, and what came of it.

use std::fmt::Write;

use super::Report;
use crate::{
    rounds::Row,
    wire::{Load, Threads, place::Way},
};

struct Goal {
    what: String,
    is: f64,
    /// At most.
    aim: f64,
    of: &'static str,
}

pub fn write(page: &mut String, report: &Report) -> std::fmt::Result {
    writeln!(page, "## What was aimed at\n")?;
    writeln!(page, "| what | is | aim | |\n|---|---:|---:|---|")?;
    for Goal { what, is, aim, of } in all(report) {
        let met = if is <= aim { "met" } else { "**not met**" };
        writeln!(page, "| {what} | {is:.3} {of} | ≤ {aim} | {met} |")?;
    }
    Ok(())
}

fn all(report: &Report) -> Vec<Goal> {
    let mut goals = Vec::new();
    decoding(report, &mut goals);
    for table in &report.encode {
        let [floor, built, ..] = &table.rows[..] else { continue };
        let what = |which: &str| format!("encode {}{which}", table.name);
        goals.push(Goal {
            what: what(""),
            is: built.wall_ratio / floor.wall_ratio,
            aim: 0.75,
            of: "× by hand",
        });
        let allocations = built.cost.allocations;
        goals.push(Goal { what: what(", allocations"), is: allocations, aim: 0.0, of: "" });
    }
    for table in report.wire.iter().filter(|table| table.way == Way::Tcp) {
        serving(table, &mut goals);
    }
    goals
}

fn decoding(report: &Report, goals: &mut Vec<Goal>) {
    for (place, table) in report.decode.iter().enumerate() {
        let named = |name: &str| table.rows.iter().find(|row| row.name.starts_with(name));
        let (Some(owned), Some(borrowed)) =
            (named("echo_wire, owned"), named("echo_wire, borrowed"))
        else {
            continue;
        };
        let what = |how: &str| format!("decode {}, {how}", table.name);
        let (owned_aim, of) = match (table.unit, place) {
            ("MiB", _) => (1.1, "× appending"),
            (_, ..=3) => (2.5, "× the walk"),
            (_, 4) => (3.0, "× the walk"),
            _ => (1.3, "× the walk"),
        };
        if table.name.starts_with("the same") && table.unit != "MiB" {
            let whole = report.decode[place - 1].rows.iter().find(|row| row.name == owned.name);
            let is = owned.cost.wall / whole.map_or(f64::NAN, |whole| whole.cost.wall);
            goals.push(Goal { what: what("owned"), is, aim: 1.2, of: "× itself whole" });
            continue;
        }
        goals.push(Goal { what: what("owned"), is: owned.wall_ratio, aim: owned_aim, of });
        if place < 4 {
            goals.push(Goal { what: what("borrowed"), is: borrowed.wall_ratio, aim: 1.5, of });
            let best = best(table.rows.iter().skip(3), |row| row.wall_ratio);
            goals.push(Goal {
                what: what("owned"),
                is: owned.wall_ratio / best,
                aim: 0.5,
                of: "× the best peer",
            });
        }
    }
}

fn serving(table: &crate::wire::Table, goals: &mut Vec<Goal>) {
    let peers = || table.rows.iter().skip(1).filter(|(row, _)| !row.name.contains("floor"));
    let Some((ours, our_syscalls)) = table.rows.first() else { return };
    let floor = table.rows.iter().find(|(row, _)| row.name.contains("floor"));
    let best = best(peers().map(|(row, _)| row), |row| row.cpu_ratio);
    let threads = if table.threads == Threads::Two { ", two threads" } else { "" };
    let what = |of: &str| format!("{}{threads}: {of}", table.load);
    let cpu = |is, aim, of| Goal { what: what("client CPU"), is, aim, of };
    match (table.load, table.threads) {
        (Load::Mix { .. }, Threads::One) => {
            goals.push(cpu(1.0 / best, 0.5, "× the best peer"));
            goals.push(Goal {
                what: what("allocations"),
                is: ours.cost.allocations,
                aim: 0.02,
                of: "",
            });
        }
        (Load::Mix { .. }, Threads::Two) => goals.push(cpu(1.0 / best, 0.25, "× the best peer")),
        (Load::Calls { .. }, Threads::One) => goals.push(cpu(1.0 / best, 0.5, "× the best peer")),
        (Load::Pipelines(1000), Threads::One) => {
            let floor = floor.map_or(f64::NAN, |(row, _)| row.cpu_ratio);
            goals.push(cpu(1.0 / floor, 2.0, "× the raw loop"));
        }
        (Load::One, Threads::One) => {
            let floor = floor.map_or(f64::NAN, |(row, _)| row.wall_ratio);
            let is = 1.0 / floor;
            goals.push(Goal { what: what("time"), is, aim: 1.05, of: "× the raw loop" });
        }
        _ => {}
    }
    let fewest = peers().filter_map(|(_, syscalls)| *syscalls).reduce(f64::min);
    if let (Some(is), Some(aim)) = (*our_syscalls, fewest) {
        // Two runs differ by a syscall in a thousand.
        goals
            .push(Goal { what: what("syscalls"), is: is / aim, aim: 1.01, of: "× the best peer" });
    }
}

fn best<'r>(rows: impl Iterator<Item = &'r Row>, of: fn(&Row) -> f64) -> f64 {
    rows.map(of).reduce(f64::min).unwrap_or(f64::NAN)
}
