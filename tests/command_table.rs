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

mod support;

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
};

use echo_wire::{connector::Traits, resp::Command};
use support::{Answer, Flavor, Raw, Server, flavors};

const ROWS: &str = "src/connector/command_table/rows.rs";

/// A command as one server describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Described {
    flags: BTreeSet<String>,
    keys: String,
    container: bool,
}

fn describe(client: &mut Raw) -> BTreeMap<String, Described> {
    fn add(entry: &Answer, all: &mut BTreeMap<String, Described>) {
        let fields = list(entry);
        let subcommands = list(&fields[9]);
        let described = Described {
            flags: list(&fields[2]).iter().map(ToString::to_string).collect(),
            keys: list(&fields[8]).first().map_or_else(|| "Keys::No".to_owned(), first_key),
            container: !subcommands.is_empty(),
        };
        all.insert(fields[0].to_string().to_uppercase().replace('|', " "), described);
        subcommands.iter().for_each(|entry| add(entry, all));
    }
    let mut all = BTreeMap::new();
    list(&client.call(&["COMMAND"])).iter().for_each(|entry| add(entry, &mut all));
    all
}

fn list(answer: &Answer) -> &[Answer] {
    match answer {
        Answer::List(items) => items,
        other => panic!("no list: {other:?}"),
    }
}

/// The value after `name` in a list of names and values.
fn field<'a>(answer: &'a Answer, name: &str) -> &'a Answer {
    let pairs = list(answer);
    let at = pairs.iter().step_by(2).position(|key| key.to_string() == name).unwrap();
    &pairs[at * 2 + 1]
}

/// The rule for the first key, from the first key specification.
fn first_key(specification: &Answer) -> String {
    let begin = field(specification, "begin_search");
    let find = field(specification, "find_keys");
    let of = |answer, name| field(field(answer, "spec"), name).to_string();
    match (field(begin, "type").to_string().as_str(), field(find, "type").to_string().as_str()) {
        ("index", "range") => format!("Keys::At({})", of(begin, "index")),
        ("index", "keynum") => {
            assert_eq!((of(find, "keynumidx"), of(find, "firstkey")), ("0".into(), "1".into()));
            format!("Keys::Counted({})", of(begin, "index"))
        }
        ("keyword", "range") => {
            assert_eq!(of(begin, "keyword"), "STREAMS");
            format!("Keys::Streams({})", of(begin, "startfrom"))
        }
        other => panic!("a new way to find keys: {other:?}"),
    }
}

type Live = (Flavor, String, BTreeMap<String, Described>);

fn live() -> Vec<Live> {
    flavors()
        .into_iter()
        .map(|flavor| {
            let server = Server::builder(flavor).start();
            let info = server.cli(&["INFO", "server"]);
            let version = |key: &str| info.lines().find_map(|line| line.strip_prefix(key));
            let version = version("valkey_version:").or_else(|| version("redis_version:"));
            (flavor, version.unwrap().to_owned(), describe(&mut server.raw()))
        })
        .collect()
}

/// The source text of the table; the first server's word counts where they differ.
fn rows(servers: &[Live]) -> String {
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
        servers.iter().map(|(flavor, version, _)| format!("{flavor:?} {version}")).collect();
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
    for (flavor, version, commands) in &servers {
        assert!(commands.len() > 300, "{flavor:?} {version} lists {}", commands.len());
        for (name, described) in commands {
            let words = sample(name, &described.keys);
            let lower = words[0].to_lowercase();
            let command = Command::new(&lower).args(&words[1..]);
            let traits = Traits::of(&command);
            let says = |flag: &str| described.flags.contains(flag);
            assert_eq!(traits.name(), Some(name.as_str()), "{flavor:?} {version}");
            assert_eq!(traits.is_read_only(), says("readonly"), "{flavor:?} {version}: {name}");
            assert_eq!(traits.is_pubsub(), says("pubsub"), "{flavor:?} {version}: {name}");
            // Redis 7.0 does not mark WAIT, Valkey does. The samples of XREAD and XREADGROUP have
            // no BLOCK.
            let blocks = (says("blocking") || name == "WAIT") && !name.starts_with("XREAD");
            assert_eq!(traits.is_blocking(), blocks, "{flavor:?} {version}: {name}");
            let key = match described.keys.trim_end_matches(')').split_once('(') {
                None => None,
                Some(("Keys::At", position)) => words.get(position.parse::<usize>().unwrap()),
                Some((_, position)) => words.get(position.parse::<usize>().unwrap() + 1),
            };
            let ours = traits.first_key(&command);
            assert_eq!(ours, key.map(|key| key.as_bytes()), "{flavor:?} {version}: {name}");
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
    for flavor in flavors() {
        let server = Server::builder(flavor).start();
        let mut client = server.raw();
        for words in commands {
            let theirs = match client.call(&[&["COMMAND", "GETKEYS"], words].concat()) {
                Answer::List(keys) => keys.first().map(ToString::to_string),
                Answer::Error(error) if error.contains("no key arguments") => None,
                other => panic!("{flavor:?}: {words:?}: {other:?}"),
            };
            let command = Command::new(words[0]).args(&words[1..]);
            let ours = Traits::of(&command).first_key(&command);
            assert_eq!(ours, theirs.as_deref().map(str::as_bytes), "{flavor:?}: {words:?}");
        }
    }
}
