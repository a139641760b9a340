//! What something cost: time, the process's CPU time, and allocations.

use std::{
    alloc::System,
    time::{Duration, Instant},
};

use nix::time::{ClockId, clock_gettime};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// For one operation, once it is divided by their number.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    /// Nanoseconds by the clock.
    pub wall: f64,
    /// Nanoseconds of CPU, user and system, of all threads: getrusage's sum, to the nanosecond.
    pub cpu: f64,
    /// Allocations, reallocations among them.
    pub allocations: f64,
}

pub fn measure<T>(operations: u64, work: impl FnOnce() -> T) -> (Cost, T) {
    let (allocations, cpu, wall) = (allocations(), cpu(), Instant::now());
    let result = work();
    let (wall, cpu) = (wall.elapsed(), self::cpu() - cpu);
    let each = |total: f64| total / operations as f64;
    let cost = Cost {
        wall: each(wall.as_nanos() as f64),
        cpu: each(cpu.as_nanos() as f64),
        allocations: each((self::allocations() - allocations) as f64),
    };
    (cost, result)
}

fn allocations() -> usize {
    let stats = ALLOCATOR.stats();
    stats.allocations + stats.reallocations
}

/// Bytes that are allocated now.
pub fn allocated() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated.wrapping_sub(stats.bytes_deallocated)
}

fn cpu() -> Duration {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).expect("a clock for the process");
    Duration::from(time)
}
