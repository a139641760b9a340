//! The worker that people run keeps its promises while its server is killed under it.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test stops where it fails")]

mod support;

use std::{env, process::Command};

use support::{Flavor, flavors};

#[test]
fn no_job_is_lost_and_none_completed_twice_while_the_server_is_killed() {
    if flavors()[0] != Flavor::Valkey {
        return;
    }
    // Built by `cargo test`, beside the tests.
    let tests = env::current_exe().unwrap();
    let worker = tests.parent().unwrap().parent().unwrap().join("examples/worker");
    let run = Command::new(worker).args(["--kills", "4", "--jobs", "800"]).output().unwrap();
    let said = String::from_utf8(run.stdout).unwrap();
    assert!(run.status.success(), "{said}");
    assert!(said.contains("800 enqueued, 800 completed, 0 lost, 0 completed twice"), "{said}");
    assert!(said.matches("disconnected").count() >= 4, "{said}");
}
