//! A server, each way into it, and what it counts.

use echo_wire::connector::{Config, Connection, Error};
use echo_wire::resp::Protocol;

use crate::support::{Server, flavors};

/// A server, and each way in.
pub(crate) fn each_door(test: impl AsyncFn(&Server, Config)) {
    for flavor in flavors() {
        let server = flavor.server().start();
        for config in doors(&server) {
            server.cli(&["FLUSHALL"]);
            runtime().block_on(test(&server, config));
        }
    }
}

pub(crate) fn doors(server: &Server) -> Vec<Config> {
    let urls = [server.url(), server.unix_url()];
    let protocols = [Protocol::Resp2, Protocol::Resp3];
    let door = |url: &String, protocol| Config::from_url(url).unwrap().protocol(protocol);
    urls.iter().flat_map(|url| protocols.map(|protocol| door(url, protocol))).collect()
}

pub(crate) fn tcp_doors(server: &Server) -> Vec<Config> {
    doors(server).into_iter().take(2).collect()
}

/// How many calls of a command the server has counted; refused ones, too.
pub(crate) fn calls(server: &Server, command: &str) -> u64 {
    let stats = server.cli(&["INFO", "commandstats"]);
    let line = stats.lines().find(|line| line.starts_with(&format!("cmdstat_{command}:")));
    let count = |line: &str, field: &str| -> u64 {
        let (_, rest) = line.split_once(field).unwrap();
        rest.split([',', '\r']).next().unwrap().parse().unwrap()
    };
    line.map_or(0, |line| count(line, "calls=") + count(line, "rejected_calls="))
}

pub(crate) fn refused(result: Result<Connection, Error>) -> Error {
    result.map(|connection| panic!("{connection:?} came about")).unwrap_err()
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}
