//! rustis, by its `Client`, which sets TCP_NODELAY by itself, with room for large values.

use rustis::{
    client::{BatchPreparedCommand, Client, IntoConfig},
    commands::{ScriptingCommands, StringCommands},
    resp::BulkString,
};

use super::{
    peer::{Peer, SCRIPT},
    place::Place,
};

#[derive(Clone)]
pub struct Rustis(Client, String);

impl Peer for Rustis {
    const NAME: &'static str = "rustis";

    async fn connect(place: &Place) -> Self {
        let mut config = place.url("unix://").into_config().expect("a URL");
        // By default it refuses what 64 tasks send of 1 MiB.
        config.backpressure.max_queued_bytes = usize::MAX;
        let client = Client::connect(config).await.expect("a server");
        let sha1 = client.script_load(SCRIPT).await.expect("a hash");
        Self(client, sha1)
    }

    async fn get(&self, key: &str) -> usize {
        let value: BulkString = self.0.get(key).await.expect("a reply");
        value.len()
    }

    async fn set(&self, key: &str, value: &[u8]) {
        self.0.set(key, Text(value)).await.expect("a reply");
    }

    async fn gets(&self, key: &str, count: usize) -> usize {
        let mut pipeline = self.0.create_pipeline();
        for _ in 0..count {
            pipeline.get::<BulkString>(key).queue();
        }
        let values: Vec<BulkString> = pipeline.execute().await.expect("replies");
        values.iter().map(|value| value.len()).sum()
    }

    async fn call(&self, keys: &[&str; 3], args: &[&str; 8]) -> i64 {
        self.0.evalsha(&self.1, keys, args).await.expect("a reply")
    }
}

/// Bytes as serde wants them.
struct Text<'a>(&'a [u8]);

impl serde::Serialize for Text<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}
