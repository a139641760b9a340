//! The tables of defaults, on the crate page and in SECURITY.md, say what the defaults are.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail")]

use std::time::Duration;

use echo_wire::{
    connector::{Config, Policy, WIRE_VERSION, WhenAway, WhenFull},
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

/// What SECURITY.md's line about this says is the most.
#[track_caller]
fn at_most(what: &str) -> &'static str {
    const PAGE: &str = include_str!("../SECURITY.md");
    let columns = PAGE.lines().map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    let is_it = |columns: &Vec<&str>| {
        columns.len() == 5 && (columns[1] == what || columns[3] == format!("`{what}`"))
    };
    let mut lines = columns.filter(is_it);
    let line = lines.next().unwrap_or_else(|| panic!("no line about {what}"));
    assert_eq!(lines.next(), None, "{what}");
    line[2]
}

#[test]
fn the_page_on_security_tells_the_limits_as_they_are() {
    let (policy, config) = (Policy::default(), format!("{:?}", Config::tcp("host", 1)));
    let number = |what: &str| at_most(what).replace(' ', "");
    assert_eq!(number("Policy::max_pending"), policy.max_pending.to_string());
    assert_eq!(number("Policy::max_messages"), policy.max_messages.to_string());
    let mebibytes = |bytes: usize| format!("{} MiB", bytes / (1024 * 1024));
    assert_eq!(at_most("Policy::max_buffered"), mebibytes(policy.max_buffered));
    assert_eq!(at_most("Policy::max_message_bytes"), mebibytes(policy.max_message_bytes));
    assert_eq!(at_most("Policy::response_timeout"), seconds(policy.response_timeout));
    assert_eq!(at_most("Policy::watchdog"), seconds(policy.watchdog));
    assert!(
        config.contains(&format!(
            "connect_timeout: {}",
            at_most("Config::connect_timeout").replace(' ', "")
        )),
        "{config}"
    );
    assert!(
        config.contains(&format!(
            "tcp_timeout: Some({})",
            at_most("Config::tcp_timeout").replace(' ', "")
        )),
        "{config}"
    );
    // As the crate page, which is held to the code above.
    for limit in ["reply", "bulk", "line", "depth", "elements"] {
        let limit = format!("Limits::{limit}");
        assert_eq!(
            at_most(&limit).trim_start_matches("as many as its bytes allow"),
            told(&limit).trim_start_matches("as many as the bytes allow")
        );
    }
    for (what, kept) in [
        ("pushes kept for `Connection::next_push`", include_str!("../src/connector/pushes.rs")),
        ("events for one reader", include_str!("../src/connector/event.rs")),
        (
            "popped elements whose caller had gone",
            include_str!("../src/connector/exclusive/orphan.rs"),
        ),
    ] {
        let constant = format!("const KEPT: usize = {};", number(what));
        assert!(kept.contains(&constant), "{what}: {constant}");
    }
}

#[test]
fn a_configs_own_times_are_told_as_they_are() {
    let shown = format!("{:?}", Config::tcp("localhost", 6379));
    for (line, is) in [
        ("Config::connect_timeout", "connect_timeout: "),
        ("Config::tcp_timeout", "tcp_timeout: Some("),
    ] {
        let says = told(line).replace(' ', "");
        let field = format!("{is}{}", says.trim_end_matches('`'));
        assert!(shown.contains(&field), "{line} is told as {says}: {shown}");
    }
    assert!(told("Config::response_timeout").contains("no limit"));
    assert!(shown.contains("response_timeout: None"), "{shown}");
}
