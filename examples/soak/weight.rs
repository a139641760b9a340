//! What this process weighs: memory, descriptors, tasks.

use std::{fs, time::Duration};

use tokio::time::sleep;

use crate::support::Gauge;

#[derive(Debug, Clone, Copy)]
pub struct Weight {
    pub gauge: Gauge,
    pub kib: u64,
}

impl Weight {
    pub fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let rss = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        let kib = rss.trim().trim_end_matches(" kB").parse().unwrap();
        Self { gauge: Gauge::read(), kib }
    }

    /// Once everything that was going to go has gone, or ten seconds later.
    pub async fn settled(before: Self) -> Self {
        for _ in 0..100 {
            let now = Self::now().gauge;
            if now.open_files <= before.gauge.open_files && now.alive_tasks == 0 {
                break;
            }
            sleep(Duration::from_millis(100)).await;
        }
        Self::now()
    }
}
