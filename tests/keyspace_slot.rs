//! Cluster slots against the servers' own `CLUSTER KEYSLOT`, over keys rich in braces.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail"
)]

mod support;

use echo_wire::keyspace::{Queue, VERSION_KEY, slot};
use support::{Answer, Raw, Server, flavors};

/// A third of all bytes are braces; the rest are letters, line ends and bytes of no meaning.
fn keys() -> Vec<Vec<u8>> {
    const ALPHABET: &[u8] = b"{{{}}}ab:\r\n\0\xff ";
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or(0) % below
    };
    let mut keys: Vec<Vec<u8>> = (0..5000)
        .map(|_| (0..next(24)).map(|_| ALPHABET[next(ALPHABET.len())]).collect())
        .collect();
    keys.push(VERSION_KEY.into());
    keys.extend(["", "{}", "}{", "{}{x}", "foo{}{bar}", "foo{{bar}}zap"].map(Into::into));
    keys
}

fn ask(client: &mut Raw, key: &[u8]) -> Answer {
    client.call(&[b"CLUSTER", b"KEYSLOT", key])
}

#[test]
fn every_key_has_the_slot_that_the_server_says() {
    for flavor in flavors() {
        let server = Server::builder(flavor).args(["--cluster-enabled", "yes"]).start();
        let mut client = server.raw();
        let mut slots = std::collections::BTreeSet::new();
        for key in keys() {
            let ours = slot(&key);
            let theirs = ask(&mut client, &key);
            assert_eq!(Answer::Integer(ours.into()), theirs, "{flavor:?}: {}", key.escape_ascii());
            slots.insert(ours);
        }
        assert!(slots.len() > 1000, "{} slots are too few to tell", slots.len());
    }
}

#[test]
fn all_keys_of_a_queue_have_its_slot() {
    for flavor in flavors() {
        let server = Server::builder(flavor).args(["--cluster-enabled", "yes"]).start();
        let mut client = server.raw();
        for queue in ["emq", "mail", "a:b", "größe", " "].map(Queue::new) {
            let queue = queue.unwrap();
            let id = "USR0KHTOWnGLuC".parse().unwrap();
            for key in [queue.key("pending").unwrap(), queue.key("x:y").unwrap(), queue.job(&id)] {
                let theirs = ask(&mut client, key.as_bytes());
                assert_eq!(theirs, Answer::Integer(queue.slot().into()), "{flavor:?}: {key}");
                assert_eq!(key.slot(), queue.slot());
            }
        }
    }
}
