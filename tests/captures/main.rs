//! What real servers say, in every kind of reply and in both generations: the crate reads it as the plain
//! decoder does. The same words are what the fuzz targets start from:
//!
//! ```console
//! $ cargo test --test captures -- --ignored
//! ```
//!
//! writes them anew, from Valkey and Redis as they are now.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    unreachable_pub,
    reason = "a test stops where it fails, and is nobody's library"
)]

mod dialogue;
mod groups;
#[path = "../codec/reference.rs"]
mod reference;
#[path = "../support/mod.rs"]
mod support;
#[path = "../codec/tree.rs"]
mod tree;

use std::{
    fs,
    path::{Path, PathBuf},
};

use echo_wire::resp::{Decoder, Limits, Protocol};
use support::{Answer, Flavor, Raw, Server, flavors};

use self::groups::GROUPS;

/// A name for a capture: of which server, generation and group.
fn name(flavor: Flavor, protocol: Protocol, group: &str) -> String {
    let generation = if protocol == Protocol::Resp2 { 2 } else { 3 };
    format!("seed-{flavor}-resp{generation}-{group}")
}

fn start(flavor: Flavor) -> Server {
    flavor.server().args(["--enable-debug-command", "yes"]).start()
}

/// All that the server says to a group's commands.
fn said(server: &Server, protocol: Protocol, commands: &[&str]) -> Vec<u8> {
    server.cli(&["FLUSHALL"]);
    let mut client = Raw::tcp(&server.address()).unwrap();
    let hello = if protocol == Protocol::Resp2 { "2" } else { "3" };
    assert!(matches!(client.call(&["HELLO", hello]), Answer::List(_)));
    for command in commands {
        client.send(&command.split(' ').collect::<Vec<_>>()).unwrap();
    }
    client.send(&["QUIT"]).unwrap();
    let mut said = client.read_to_close().unwrap();
    assert!(said.ends_with(b"+OK\r\n"));
    said.truncate(said.len() - b"+OK\r\n".len());
    said
}

/// Calls with each name and what was said, of each server, generation and group.
fn each(mut call: impl FnMut(&str, &[u8], usize)) {
    for flavor in flavors() {
        let server = start(flavor);
        for protocol in [Protocol::Resp2, Protocol::Resp3] {
            for (group, commands) in GROUPS {
                let said = said(&server, protocol, commands);
                call(&name(flavor, protocol, group), &said, commands.len());
            }
        }
    }
}

fn fuzz(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz").join(folder)
}

#[test]
fn every_reply_of_a_real_server_reads_as_the_plain_decoder_reads_it() {
    let mut kinds = Vec::new();
    each(|name, said, commands| {
        let mut decoder = Decoder::new(Limits::default());
        decoder.feed(said);
        let (mut rest, mut count) = (said, 0);
        while let Some(reply) = decoder.next_ref().unwrap() {
            let (expected, len) = reference::decode(rest).unwrap();
            assert_eq!(tree::of(reply), expected, "{name}");
            let kind = reply.value().type_name();
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
            rest = &rest[len..];
            count += 1;
        }
        assert!(decoder.is_idle() && rest.is_empty(), "{name}");
        assert!(count >= commands, "{name}: {count} replies to {commands} commands");
    });
    // Where both servers are left out there is nothing to read.
    assert!(kinds.len() > 12 || flavors().is_empty(), "only {kinds:?}");
}

#[test]
#[ignore = "writes the seeds in fuzz/ anew"]
fn capture_anew() {
    let captures = fuzz("captures");
    fs::create_dir_all(&captures).unwrap();
    each(|name, said, _| {
        fs::write(captures.join(name), said).unwrap();
        // In front of it, how it is cut: so many lengths, and the lengths.
        if name.contains("resp3") {
            let cut = [&[2, 1, 7, 40][..], said].concat();
            fs::write(fuzz("corpus/chunking").join(name), cut).unwrap();
        }
    });
    for flavor in flavors() {
        dialogue::capture(flavor);
    }
}
