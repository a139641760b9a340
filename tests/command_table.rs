//! The table of commands against the live servers' own `COMMAND` output.
//!
//! `ECHO_WIRE_WRITE_ROWS=1 cargo test --test command_table` writes the table anew.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail"
)]

mod plain;

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
};

use bytes::BytesMut;
use echo_wire::{
    connector::{Reason, Traits},
    resp::Command,
};
use plain::{Client, Reply, Server, flavors};

const ROWS: &str = "src/connector/command_table/rows.rs";

/// A command as one server describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Described {
    flags: BTreeSet<String>,
    keys: String,
    container: bool,
}

fn describe(client: &mut Client) -> BTreeMap<String, Described> {
    fn add(entry: &Reply, all: &mut BTreeMap<String, Described>) {
        let fields = entry.list();
        let subcommands = fields[9].list();
        let described = Described {
            flags: fields[2].list().iter().map(|flag| flag.text().to_owned()).collect(),
            keys: fields[8].list().first().map_or_else(|| "Keys::No".to_owned(), first_key),
            container: !subcommands.is_empty(),
        };
        all.insert(fields[0].text().to_uppercase().replace('|', " "), described);
        subcommands.iter().for_each(|entry| add(entry, all));
    }
    let mut all = BTreeMap::new();
    client.ask(&[b"COMMAND"]).list().iter().for_each(|entry| add(entry, &mut all));
    all
}

/// The rule for the first key, from the first key specification.
fn first_key(specification: &Reply) -> String {
    let begin = specification.field("begin_search");
    let find = specification.field("find_keys");
    let number = |name: &str| begin.field("spec").field(name).integer();
    match (begin.field("type").text(), find.field("type").text()) {
        ("index", "range") => format!("Keys::At({})", number("index")),
        ("index", "keynum") => {
            assert_eq!(find.field("spec").field("keynumidx").integer(), 0);
            assert_eq!(find.field("spec").field("firstkey").integer(), 1);
            format!("Keys::Counted({})", number("index"))
        }
        ("keyword", "range") => {
            assert_eq!(begin.field("spec").field("keyword").text(), "STREAMS");
            format!("Keys::Streams({})", number("startfrom"))
        }
        other => panic!("a new way to find keys: {other:?}"),
    }
}

fn live() -> Vec<(&'static str, String, BTreeMap<String, Described>)> {
    flavors()
        .into_iter()
        .map(|(name, binary)| {
            let server = Server::start(&binary, &[]);
            let mut client = server.client();
            let info = client.ask(&[b"INFO", b"server"]);
            let version = |key: &str| {
                info.text().lines().find_map(|line| Some(line.strip_prefix(key)?.to_owned()))
            };
            let version = version("valkey_version:").or_else(|| version("redis_version:"));
            (name, version.unwrap(), describe(&mut client))
        })
        .collect()
}

/// The source text of the table; the first server's word counts where they differ.
fn rows(servers: &[(&str, String, BTreeMap<String, Described>)]) -> String {
    let mut all = BTreeMap::new();
    for (_, _, commands) in servers.iter().rev() {
        all.extend(commands.iter().map(|(name, described)| (name.as_str(), described)));
    }
    let table = |name: &str, want_sub: bool| {
        let rows = all.iter().filter(|(name, _)| name.contains(' ') == want_sub);
        let rows = rows.map(|(name, described)| {
            let flags: Vec<&str> =
                [("readonly", "READS"), ("blocking", "BLOCKS"), ("pubsub", "PUBSUB")]
                    .into_iter()
                    .filter(|(flag, _)| described.flags.contains(*flag))
                    .map(|(_, ours)| ours)
                    .chain(described.container.then_some("CONTAINER"))
                    .collect();
            let flags = if flags.is_empty() { "0".to_owned() } else { flags.join(" | ") };
            format!("    row({name:?}, {flags}, {}),\n", described.keys)
        });
        format!(
            "/// By name.\n#[rustfmt::skip]\npub(super) const {name}: &[Row] = &[\n{}];\n",
            rows.collect::<String>()
        )
    };
    let sources: Vec<String> =
        servers.iter().map(|(name, version, _)| format!("{name} {version}")).collect();
    format!(
        "//! The commands and subcommands of the servers, from their `COMMAND` output:\n\
         //! {}. Where they differ, the first one's word counts.\n\
         //!\n\
         //! Written by `tests/command_table.rs`, which also checks it against the live servers:\n\
         //! `ECHO_WIRE_WRITE_ROWS=1 cargo test --test command_table`.\n\n\
         use super::row::{{BLOCKS, CONTAINER, Keys, PUBSUB, READS, Row, row}};\n\n{}\n{}",
        sources.join(", "),
        table("COMMANDS", false),
        table("SUBCOMMANDS", true),
    )
}

/// The command with as many arguments as show its first key: `k1` at position 1 and so on, but for
/// the number of keys and the word STREAMS where they belong.
fn sample(name: &str, keys: &str) -> Vec<String> {
    let mut words: Vec<String> = name.split(' ').map(str::to_owned).collect();
    words.extend((words.len()..8).map(|position| format!("k{position}")));
    let (rule, position) = keys.trim_end_matches(')').split_once('(').unwrap_or((keys, "0"));
    let position: usize = position.parse().unwrap();
    match rule {
        "Keys::Counted" => words[position] = "1".to_owned(),
        "Keys::Streams" => words[position] = "streams".to_owned(),
        _ => {}
    }
    words
}

#[test]
fn the_table_says_what_the_live_servers_say() {
    let servers = live();
    if env::var_os("ECHO_WIRE_WRITE_ROWS").is_some() {
        assert_eq!(servers.len(), 2, "the table is written from both servers");
        fs::write(ROWS, rows(&servers)).unwrap();
        return;
    }
    for (server, version, commands) in &servers {
        assert!(commands.len() > 300, "{server} {version} lists {}", commands.len());
        for (name, described) in commands {
            let words = sample(name, &described.keys);
            let lower = words[0].to_lowercase();
            let command = Command::new(&lower).args(&words[1..]);
            let traits = Traits::of(&command);
            let says = |flag: &str| described.flags.contains(flag);
            assert_eq!(traits.name(), Some(name.as_str()), "{server} {version}");
            assert_eq!(traits.is_read_only(), says("readonly"), "{server} {version}: {name}");
            assert_eq!(traits.is_pubsub(), says("pubsub"), "{server} {version}: {name}");
            // Redis 7.0 does not mark WAIT, Valkey does. The samples of XREAD and XREADGROUP have
            // no BLOCK.
            let blocks = (says("blocking") || name == "WAIT") && !name.starts_with("XREAD");
            assert_eq!(traits.is_blocking(), blocks, "{server} {version}: {name}");
            let key = match described.keys.trim_end_matches(')').split_once('(') {
                None => None,
                Some(("Keys::At", position)) => words.get(position.parse::<usize>().unwrap()),
                Some((_, position)) => words.get(position.parse::<usize>().unwrap() + 1),
            };
            let ours = traits.first_key(&command);
            assert_eq!(ours, key.map(|key| key.as_bytes()), "{server} {version}: {name}");
        }
    }
}

#[test]
fn the_table_is_the_one_that_the_live_servers_write() {
    let servers = live();
    let (written, now) = (fs::read_to_string(ROWS).unwrap(), rows(&servers));
    let known: BTreeSet<&str> = written.lines().filter(|line| line.contains("row(")).collect();
    let both = servers.len() == 2;
    for line in now.lines().filter(|line| line.contains("row(")) {
        // One server alone may have less to say of a command than both together.
        let name = line.split('"').nth(1).unwrap();
        let is_known = known.contains(line)
            || !both && known.iter().any(|row| row.contains(&format!("\"{name}\"")));
        assert!(is_known, "not in {ROWS}: {line}");
    }
    let sources = |text: &str| text.lines().nth(1).unwrap().to_owned();
    if both && sources(&written) == sources(&now) {
        assert_eq!(written, now, "{ROWS} is not what these servers write");
    }
}

/// The servers say it best: what they find as keys is what the table finds first.
#[test]
fn the_first_key_is_the_one_that_the_server_finds() {
    let commands: [&[&str]; 14] = [
        &["GET", "a"],
        &["SET", "a", "1", "EX", "5"],
        &["EVALSHA", "0123", "2", "a", "b", "c"],
        &["EVAL", "return 1", "0", "x"],
        &["FCALL", "f", "1", "a", "b"],
        &["XREAD", "COUNT", "2", "BLOCK", "0", "STREAMS", "a", "b", "0", "0"],
        &["XREADGROUP", "GROUP", "STREAMS", "BLOCK", "streams", "a", ">"],
        &["ZUNIONSTORE", "a", "2", "b", "c"],
        &["BLMPOP", "0", "2", "a", "b", "LEFT"],
        &["LMPOP", "1", "a", "LEFT"],
        &["OBJECT", "ENCODING", "a"],
        &["XGROUP", "CREATE", "a", "group", "$"],
        &["BITOP", "AND", "a", "b"],
        &["MEMORY", "USAGE", "a"],
    ];
    for (server, binary) in flavors() {
        let process = Server::start(&binary, &[]);
        let mut client = process.client();
        for words in commands {
            let mut ask: Vec<&[u8]> = vec![b"COMMAND", b"GETKEYS"];
            ask.extend(words.iter().map(|word| word.as_bytes()));
            let theirs = match client.ask(&ask) {
                Reply::List(keys) => keys.first().map(|key| key.text().to_owned()),
                Reply::Error(error) if error.contains("no key arguments") => None,
                other => panic!("{server}: {words:?}: {other:?}"),
            };
            let command = Command::new(words[0]).args(&words[1..]);
            let ours = Traits::of(&command).first_key(&command);
            assert_eq!(ours, theirs.as_deref().map(str::as_bytes), "{server}: {words:?}");
        }
    }
}

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
    let changed: [(&[&str], &str); 8] = [
        (&["SELECT", "3"], "db=3"),
        (&["CLIENT", "SETNAME", "me"], "name=me"),
        (&["CLIENT", "NO-EVICT", "ON"], "flags=e"),
        (&["CLIENT", "TRACKING", "ON"], "flags=t"),
        (&["SUBSCRIBE", "c"], "sub=1"),
        (&["PSUBSCRIBE", "c*"], "psub=1"),
        (&["MULTI"], "multi=0"),
        (&["HELLO", "3"], "resp=3"),
    ];
    for (server, binary) in flavors() {
        let process = Server::start(&binary, &[]);
        for (words, want) in changed {
            assert!(reason(words).is_some(), "{words:?}");
            let (mut client, mut other) = (process.client(), process.client());
            let id = client.ask(&[b"CLIENT", b"ID"]).integer().to_string();
            client.send(&encoded(words));
            // The first byte of the reply tells that the command ran.
            client.peek();
            let info = other.ask(&[b"CLIENT", b"LIST", b"ID", id.as_bytes()]);
            assert!(info.text().contains(want), "{server}: {words:?}: {}", info.text());
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
    for (server, binary) in flavors() {
        let process = Server::start(&binary, &[]);
        for (words, swallowed) in silent {
            assert_eq!(reason(words), Some(Reason::Replies), "{words:?}");
            let mut client = process.client();
            client.send(&encoded(words));
            (0..swallowed).for_each(|_| client.send(&encoded(&["ECHO", "swallowed"])));
            if swallowed == 2 {
                client.send(&encoded(&["CLIENT", "REPLY", "ON"]));
                assert_eq!(client.read().text(), "OK");
            }
            client.send(&encoded(&["ECHO", "heard"]));
            assert_eq!(client.read().text(), "heard", "{server}: {words:?} was answered");
        }
    }
}

#[test]
fn a_command_without_a_name_gets_one_error_reply() {
    for (server, binary) in flavors() {
        let process = Server::start(&binary, &[]);
        let mut client = process.client();
        client.send(&encoded(&[""]));
        client.send(&encoded(&["ECHO", "next"]));
        let Reply::Error(error) = client.read() else { panic!("{server} took it") };
        assert!(error.starts_with("ERR unknown command"), "{server}: {error}");
        assert_eq!(client.read().text(), "next", "{server}");
    }
}
