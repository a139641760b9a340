//! echo_wire, by its `Connector`, as it is by default.

use echo_wire::{
    connector::{Config, Connector, Pipeline, Script},
    resp::Command,
};

use super::{
    peer::{Peer, SCRIPT},
    place::Place,
};

#[derive(Clone)]
pub struct Echo(pub Connector);

static CALLED: Script = Script::new(SCRIPT);

impl Peer for Echo {
    const NAME: &'static str = "echo_wire";

    async fn connect(place: &Place) -> Self {
        let config = Config::from_url(&place.url("unix://")).expect("a URL");
        Self(Connector::connect(config).await.expect("a server"))
    }

    async fn get(&self, key: &str) -> usize {
        let reply = self.0.command(Command::new("GET").arg(key)).await.expect("a reply");
        reply.value().text().map_or(0, <[u8]>::len)
    }

    async fn set(&self, key: &str, value: &[u8]) {
        self.0.command(Command::new("SET").arg(key).arg(value)).await.expect("a reply");
    }

    async fn gets(&self, key: &str, count: usize) -> usize {
        let mut pipeline = Pipeline::new();
        (0..count).for_each(|_| pipeline.push(Command::new("GET").arg(key)));
        let replies = self.0.pipeline(&pipeline).await.expect("replies");
        replies.iter().map(|reply| reply.value().text().map_or(0, <[u8]>::len)).sum()
    }

    async fn call(&self, keys: &[&str; 3], args: &[&str; 8]) -> i64 {
        let call = CALLED.call().keys(keys).args(args);
        self.0.eval(call).await.expect("a reply").to().expect("a number")
    }
}
