//! What kind of a story it will be.

use std::time::Duration;

use echo_wire::connector::{Policy, WhenAway, WhenFull};

use crate::support::Random;

#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Bytes that a path holds in each direction.
    pub capacity: usize,
    pub callers: u64,
    pub calls: u64,
    pub max_pending: usize,
    pub when_full: WhenFull,
    pub when_away: WhenAway,
    /// HELLO is refused: RESP2.
    pub is_old: bool,
    /// Pushes and attributes in a hundred places where one may stand.
    pub noise: u64,
    /// Errors in a hundred commands, instead of running them.
    pub errors: u64,
    /// Once so many commands have run, another wire takes the store.
    pub usurped_after: Option<u64>,
    /// How often the version key may be lost, as by a flush.
    pub vanishes: u64,
    /// Now and then the server sends what is no RESP.
    pub is_rude: bool,
    /// The connector is closed in the midst of it all.
    pub closed_after: Option<Duration>,
    /// A reader of messages is there, as slow as that.
    pub reader: Option<Duration>,
}

pub fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

impl Plan {
    pub fn new(random: &mut Random) -> Self {
        let one_in = |random: &mut Random, n| random.below(n) == 0;
        let is_old = one_in(random, 8);
        Self {
            capacity: [1, 9, 30, 60, 100, 200, 700, 4096][random.below(8) as usize],
            callers: 1 + random.below(6),
            calls: 4 + random.below(10),
            max_pending: [4, 16, 65_536][random.below(3) as usize],
            when_full: [WhenFull::Fail, WhenFull::Wait][random.below(2) as usize],
            when_away: [WhenAway::Fail, WhenAway::WaitAtMost(seconds(20))]
                [random.below(2) as usize],
            is_old,
            noise: [0, 5, 30][random.below(3) as usize],
            errors: [0, 3, 15][random.below(3) as usize],
            usurped_after: one_in(random, 6).then(|| random.below(40)),
            // The third time in a row would be a verdict.
            vanishes: [0, 0, 2][random.below(3) as usize],
            is_rude: one_in(random, 6),
            closed_after: one_in(random, 8).then(|| Duration::from_millis(random.below(8_000))),
            reader: (!is_old && one_in(random, 2))
                .then(|| Duration::from_millis(random.below(400))),
        }
    }

    pub fn policy(&self) -> Policy {
        Policy {
            max_pending: self.max_pending,
            max_messages: 16,
            when_full: self.when_full,
            when_away: self.when_away,
            response_timeout: seconds(5),
            heartbeat: seconds(2),
            watchdog: seconds(8),
            ready_within: seconds(3600),
            // A wait of the least length, whose jitter is lost in the clock's grain: so a seed tells
            // the same story again.
            backoff_base: Duration::from_millis(1),
            backoff_cap: Duration::from_millis(1),
            ..Policy::default()
        }
    }
}
