//! What the test process holds: open file descriptors and live tokio tasks.

use std::fs;

use tokio::runtime::Handle;

use super::wait::until;

/// A reading. Descriptors are the whole process's: a test that reads them is the only one in
/// its file, or holds a lock with the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gauge {
    pub open_files: usize,
    /// Of the runtime the reading was taken in, without the task `block_on` runs.
    pub alive_tasks: usize,
}

impl Gauge {
    pub fn read() -> Self {
        Self {
            open_files: open_files(),
            alive_tasks: Handle::current().metrics().num_alive_tasks(),
        }
    }

    /// Waits until both are what they were at this reading, or less.
    pub async fn returns(self) {
        let mut now = Self::read();
        let back = until("files and tasks return to the start", || {
            now = Self::read();
            now.open_files <= self.open_files && now.alive_tasks <= self.alive_tasks
        });
        back.await;
    }
}

/// How many file descriptors this process has open.
pub fn open_files() -> usize {
    // One of those listed is the listing's own.
    fs::read_dir("/proc/self/fd").expect("a system with /proc").count() - 1
}
