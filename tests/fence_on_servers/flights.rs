//! How many round trips it takes.

use std::sync::atomic::Ordering::SeqCst;

use echo_wire::connector::{Config, Connection, Passage};
use echo_wire::resp::Protocol;
use tokio::net::TcpStream;

use super::doors::runtime;
use crate::support::{Server, Watched, flavors};

#[test]
fn a_match_takes_one_flight_and_a_claim_two() {
    for flavor in flavors() {
        let server = flavor.server().arg("--requirepass").arg("secret").start();
        let without_hello = flavor.server().args(["--rename-command", "HELLO", ""]).start();
        runtime().block_on(async {
            let config = Config::tcp("unused", 1).password("secret").client_name("w1").unwrap();
            let claimed = [(Passage::Claimed, 2), (Passage::Verified, 1)];
            for protocol in [Protocol::Resp2, Protocol::Resp3] {
                server.cli(&["FLUSHALL"]);
                for expected in claimed {
                    let config = config.clone().protocol(protocol);
                    assert_eq!(over(&server, &config).await, expected, "{protocol:?}");
                }
            }
            // The fall-back costs one flight more.
            let config = Config::tcp("unused", 1);
            assert_eq!(over(&without_hello, &config).await, (Passage::Claimed, 3));
            assert_eq!(over(&without_hello, &config).await, (Passage::Verified, 2));
        });
    }
}

/// How it came through, and in how many flights.
async fn over(server: &Server, config: &Config) -> (Passage, usize) {
    let stream = TcpStream::connect(server.address()).await.unwrap();
    let (stream, flights) = Watched::new(stream);
    let connection = Connection::over(stream, config).await.unwrap();
    (connection.passage(), flights.load(SeqCst))
}
