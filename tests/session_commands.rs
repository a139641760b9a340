//! Which commands a shared connection must refuse, and on real servers, why.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail"
)]

mod support;

use bytes::BytesMut;
use echo_wire::{
    connector::{Reason, Traits},
    resp::Command,
};
use support::{Answer, Server, flavors};

#[test]
fn waiting_commands_are_refused_in_any_case_and_reads_that_do_not_wait_are_not() {
    for words in [
        &["BLPOP", "q", "0"][..],
        &["brpop", "q", "1"],
        &["BlMove", "a", "b", "LEFT", "LEFT", "0"],
        &["BRPOPLPUSH", "a", "b", "0"],
        &["BLMPOP", "0", "1", "a", "LEFT"],
        &["BZPOPMIN", "z", "0"],
        &["BZPOPMAX", "z", "0"],
        &["BZMPOP", "0", "1", "a", "MIN"],
        &["XREAD", "BLOCK", "0", "STREAMS", "s", "$"],
        &["xread", "count", "1", "block", "0", "streams", "s", "$"],
        &["XREADGROUP", "GROUP", "g", "c", "BLOCK", "0", "STREAMS", "s", ">"],
        &["WAIT", "1", "0"],
        &["waitaof", "1", "0", "0"],
    ] {
        assert_eq!(reason(words), Some(Reason::Blocks), "{words:?}");
    }
    for words in [
        &["XREAD", "STREAMS", "BLOCK", "0"][..],
        &["XREADGROUP", "GROUP", "BLOCK", "BLOCK", "STREAMS", "s", ">"],
        &["LPOP", "q"],
        &["LMPOP", "1", "q", "LEFT"],
        &["BLPOPX", "q"],
        &["CLIENT"],
        &["CLIENT", "ID"],
        &["CLIENT", "NO-SUCH"],
        &["SCRIPT", "LOAD", "return 1"],
        &["PUBLISH", "c", "m"],
        &["PUBSUB", "CHANNELS"],
        &["CONFIG", "GET", "maxmemory"],
        &["PING"],
        &[""],
        &["A"],
        &["AB"],
    ] {
        assert_eq!(reason(words), None, "{words:?}");
    }
}

#[test]
fn what_no_table_knows_is_refused_once_it_is_marked_as_blocking() {
    let refusal = |command: &Command<'_>| Traits::of(command).refusal();
    assert_eq!(refusal(&Command::new("MODULE.POP")), None);
    let marked = refusal(&Command::new("MODULE.POP").blocking()).unwrap();
    assert_eq!((marked.command(), marked.reason()), ("this command", Reason::Blocks));
    let client = refusal(&Command::new("CLIENT").arg("ID").blocking()).unwrap();
    assert_eq!((client.command(), client.reason()), ("CLIENT ID", Reason::Blocks));
}

/// Encodes with the crate, so that this is what would go out.
fn encoded(words: &[&str]) -> BytesMut {
    let mut out = BytesMut::new();
    Command::new(words[0]).args(&words[1..]).encode(&mut out);
    out
}

fn reason(words: &[&str]) -> Option<Reason> {
    let command = Command::new(words[0]).args(&words[1..]);
    Traits::of(&command).refusal().map(|refusal| refusal.reason())
}

#[test]
fn session_commands_change_what_the_server_says_of_the_connection() {
    let changed: [(&[&str], &str, &str); 8] = [
        (&["SELECT", "3"], "db", "3"),
        (&["CLIENT", "SETNAME", "me"], "name", "me"),
        (&["CLIENT", "NO-EVICT", "ON"], "flags", "e"),
        (&["CLIENT", "TRACKING", "ON"], "flags", "t"),
        (&["SUBSCRIBE", "c"], "sub", "1"),
        (&["PSUBSCRIBE", "c*"], "psub", "1"),
        (&["MULTI"], "multi", "0"),
        (&["HELLO", "3"], "resp", "3"),
    ];
    for flavor in flavors() {
        let server = Server::builder(flavor).start();
        for (words, field, want) in changed {
            assert!(reason(words).is_some(), "{words:?}");
            let mut client = server.raw();
            let id = client.text(&["CLIENT", "ID"]);
            client.write(&encoded(words)).unwrap();
            client.read().unwrap();
            let info = server.cli(&["CLIENT", "LIST", "ID", &id]);
            let says = info.split(' ').find_map(|word| word.strip_prefix(field)?.strip_prefix('='));
            assert!(says.unwrap().contains(want), "{flavor:?}: {words:?}: {info}");
        }
    }
}

#[test]
fn commands_that_get_no_reply_are_refused() {
    let silent: [(&[&str], usize); 5] = [
        (&["client", "reply", "off"], 2),
        (&["CLIENT", "REPLY", "SKIP"], 1),
        (&["Client", "Reply", "Off"], 2),
        (&["REPLCONF", "ACK", "0"], 0),
        (&["replconf", "getack", "*"], 0),
    ];
    for flavor in flavors() {
        let server = Server::builder(flavor).start();
        for (words, swallowed) in silent {
            assert_eq!(reason(words), Some(Reason::Replies), "{words:?}");
            let mut client = server.raw();
            let mut send = |words: &[&str]| client.write(&encoded(words)).unwrap();
            send(words);
            (0..swallowed).for_each(|_| send(&["ECHO", "swallowed"]));
            if words[2].eq_ignore_ascii_case("off") {
                send(&["CLIENT", "REPLY", "ON"]);
            }
            send(&["ECHO", "heard"]);
            let on = words[2].eq_ignore_ascii_case("off").then(|| client.read().unwrap());
            assert!(on.is_none_or(|on| on.to_string() == "OK"));
            assert_eq!(client.read().unwrap().to_string(), "heard", "{flavor:?}: {words:?}");
        }
    }
}

#[test]
fn a_command_without_a_name_gets_one_error_reply() {
    for flavor in flavors() {
        let server = Server::builder(flavor).start();
        let mut client = server.raw();
        client.write(&encoded(&[""])).unwrap();
        client.write(&encoded(&["ECHO", "next"])).unwrap();
        let Answer::Error(error) = client.read().unwrap() else { panic!("{flavor:?} took it") };
        assert!(error.starts_with("ERR unknown command"), "{flavor:?}: {error}");
        assert_eq!(client.read().unwrap().to_string(), "next", "{flavor:?}");
    }
}
