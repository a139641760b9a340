//! Syscalls for each command: this program once more under `perf stat`, which counts them in the kernel
//! and slows nothing, for a short run and a longer one; the difference is the commands'.

use std::process::Command;

use super::{contender::Threads, load::Load, place::Place};

/// None: perf is not there, or may not count.
pub fn for_each_command(
    peer: &str,
    load: Load,
    threads: Threads,
    place: &Place,
    commands: usize,
) -> Option<f64> {
    let short = count(peer, load, threads, place, commands)?;
    let long = count(peer, load, threads, place, 3 * commands)?;
    Some(long.checked_sub(short)? as f64 / (2 * commands) as f64)
}

fn count(peer: &str, load: Load, threads: Threads, place: &Place, commands: usize) -> Option<u64> {
    let this = std::env::current_exe().ok()?;
    let output = Command::new("perf")
        .args(["stat", "-x,", "-e", "raw_syscalls:sys_enter"])
        .arg(this)
        .arg("alone")
        .args([peer, &index(load)?.to_string(), &format!("{threads:?}")])
        .args([&format!("{:?}", place.way), &commands.to_string()])
        .arg(&place.socket)
        .output()
        .ok()?;
    let counted = String::from_utf8(output.stderr).ok()?;
    output.status.success().then_some(())?;
    counted.lines().find(|line| line.contains("sys_enter"))?.split(',').next()?.parse().ok()
}

fn index(load: Load) -> Option<usize> {
    super::LOADS.iter().position(|other| *other == load)
}
