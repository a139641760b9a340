//! The table of defaults on the crate page says what the defaults are.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::time::Duration;

use echo_wire::{
    connector::{Policy, WIRE_VERSION, WhenAway, WhenFull},
    resp::Limits,
};

const PAGE: &str = include_str!("../src/lib.rs");

/// What the table's line about this says.
#[track_caller]
fn told(setting: &str) -> &'static str {
    let is_it = |line: &&str| line.starts_with("//! | ") && line.contains(&format!("`{setting}`"));
    let line = PAGE.lines().find(is_it);
    line.unwrap_or_else(|| panic!("no line about {setting}")).split(" | ").nth(2).unwrap()
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs())
}

#[test]
fn every_policy_is_told_as_it_is() {
    let Policy {
        max_pending,
        max_buffered,
        when_full,
        when_away,
        max_messages,
        max_message_bytes,
        response_timeout,
        heartbeat,
        watchdog,
        ready_within,
        drain_within,
        backoff_base,
        backoff_cap,
        backoff_reset,
    } = Policy::default();
    let mebibytes = |bytes: usize| format!("{} MiB", bytes / (1024 * 1024));
    for (line, says) in [
        ("Policy::response_timeout", seconds(response_timeout)),
        ("Policy::heartbeat", seconds(heartbeat)),
        ("Policy::watchdog", seconds(watchdog)),
        ("Policy::ready_within", seconds(ready_within)),
        ("Policy::drain_within", seconds(drain_within)),
        (
            "Policy::backoff_base",
            format!("{} ms to {} ms", backoff_base.as_millis() / 10, backoff_base.as_millis()),
        ),
        ("backoff_cap", seconds(backoff_cap)),
        ("Policy::backoff_reset", seconds(backoff_reset)),
        ("Policy::max_buffered", mebibytes(max_buffered)),
        ("max_message_bytes", mebibytes(max_message_bytes)),
    ] {
        assert!(told(line).contains(&says), "{line} is {says}: {}", told(line));
    }
    let number = |line: &str| told(line).split(',').next().unwrap().replace(' ', "");
    assert_eq!(number("Policy::max_pending"), max_pending.to_string());
    assert_eq!(number("Policy::max_messages"), max_messages.to_string());
    assert_eq!((when_full, when_away), (WhenFull::Fail, WhenAway::Fail));
    assert_eq!(told("when_away"), "an error at once");
}

#[test]
fn the_wire_and_the_limits_are_told_as_they_are() {
    assert!(told("Config::wire").contains(WIRE_VERSION));
    let limits = Limits::default()
        .reply(1024 * 1024 * 1024)
        .bulk(512 * 1024 * 1024)
        .line(64 * 1024)
        .depth(1024);
    assert_eq!(limits, Limits::default());
    for (line, says) in [
        ("Limits::reply", "1 GiB"),
        ("Limits::bulk", "512 MiB"),
        ("Limits::line", "64 KiB"),
        ("Limits::depth", "1 024"),
    ] {
        assert_eq!(told(line), says);
    }
}
