//! Every type that real servers can send, in both generations of the protocol: nulls, doubles, big
//! numbers, sets and maps read as what they mean, whatever form they came in.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops where it fails")]

mod support;

use echo_wire::{
    connector::{Config, Connector},
    resp::{Command, FromReply, Protocol},
};
use support::flavors;

struct Asker(Connector);

impl Asker {
    /// What the server says when it is asked for this type.
    async fn shows<T: FromReply>(&self, kind: &str) -> T {
        let show = Command::new("DEBUG").arg("PROTOCOL").arg(kind);
        let reply = self.0.command(show).await.unwrap();
        reply.to().unwrap_or_else(|error| panic!("{kind}: {error}, {reply:?}"))
    }

    async fn score(&self, text: &str) -> f64 {
        let add = Command::new("ZADD").arg("z").arg(text).arg("member");
        self.0.command(add).await.unwrap();
        let score = Command::new("ZSCORE").arg("z").arg("member");
        self.0.command(score).await.unwrap().to().unwrap()
    }
}

#[tokio::test]
async fn every_type_reads_as_what_it_means_in_both_generations() {
    for flavor in flavors() {
        let server = flavor.server().start();
        for protocol in [Protocol::Resp2, Protocol::Resp3] {
            let config = Config::from_url(&server.url()).unwrap().protocol(protocol);
            let asker = Asker(Connector::connect(config).await.unwrap());
            assert_eq!(asker.shows::<String>("string").await, "Hello World");
            assert_eq!(asker.shows::<i64>("integer").await, 12_345);
            assert_eq!((asker.shows::<f64>("double").await * 1000.0).round(), 3141.0);
            assert_eq!(asker.shows::<Option<String>>("null").await, None);
            assert_eq!(asker.shows::<Vec<i64>>("array").await, [0, 1, 2]);
            assert_eq!(asker.shows::<Vec<i64>>("set").await, [0, 1, 2]);
            let map = asker.shows::<Vec<(i64, bool)>>("map").await;
            assert_eq!(map, [(0, false), (1, true), (2, false)]);
            assert_eq!(asker.shows::<String>("verbatim").await, "This is a verbatim\nstring");
            assert!(asker.shows::<bool>("true").await && !asker.shows::<bool>("false").await);
            let digits = "1234567999999999999999999999999999999";
            assert_eq!(asker.shows::<String>("bignum").await, digits);
            assert_eq!(asker.shows::<u128>("bignum").await.to_string(), digits);

            assert_eq!(asker.score("-inf").await, f64::NEG_INFINITY);
            assert_eq!(asker.score("+inf").await, f64::INFINITY);
            assert_eq!(asker.score("-1.5e300").await, -1.5e300);
            let get = |key: &'static str| Command::new("GET").arg(key);
            let none = asker.0.command(get("nothing")).await.unwrap();
            assert!(none.is_null());
            asker.0.command(Command::new("SET").arg("empty").arg("")).await.unwrap();
            assert_eq!(asker.0.command(get("empty")).await.unwrap().to::<String>().unwrap(), "");
            let range = Command::new("LRANGE").arg("nothing").arg(0).arg(-1);
            let range = asker.0.command(range).await.unwrap();
            assert!(!range.is_null());
            assert_eq!(range.to::<Vec<String>>().unwrap(), [""; 0]);
            assert_eq!(asker.0.stats().protocol_errors, 0);
        }
    }
}
