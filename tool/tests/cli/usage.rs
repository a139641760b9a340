//! The command line itself.

use std::{io::Read as _, process::Stdio};

use crate::runs::{command, run};

#[test]
fn wrong_usage_and_unusable_urls_are_told_apart_from_failures() {
    for args in [
        &[][..],
        &["no-such-verb"],
        &["fence"],
        &["fence", "localhost"],
        &["fence", "http://localhost"],
        &["fence", "redis://localhost", "--wire", ""],
        &["fence", "redis://localhost", "--timeout", "fast"],
        &["keys"],
        &["resp", "--proto", "4"],
    ] {
        let ran = run(args);
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        assert!(!ran.err.is_empty() && ran.out.is_empty(), "{args:?}: {ran:?}");
    }
}

#[test]
fn help_has_examples_and_the_exit_codes() {
    let help = run(&["--help"]);
    assert_eq!(help.code, 0);
    assert!(help.out.contains("3  refused by the version fence"), "{}", help.out);
    for verb in ["fence", "keys", "ping", "watch", "resp"] {
        let help = run(&[verb, "--help"]);
        assert_eq!(help.code, 0);
        assert!(help.out.contains("Examples:\n  "), "{}", help.out);
        // A terminal has 80 columns and more.
        let longest = help.out.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(110), "{}", help.out);
    }
    let fence = run(&["fence", "--help"]).out;
    assert!(fence.contains("AN EMPTY STORE IS CLAIMED"), "{fence}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let keys = vec!["emq:{mail}:pending"; 20_000];
    let mut child =
        command(&[&["keys"], keys.as_slice()].concat()).stdout(Stdio::piped()).spawn().unwrap();
    let mut some = [0; 64];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
