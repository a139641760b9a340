//! fred, by its `Client`, with TCP_NODELAY.

use fred::{
    bytes::Bytes,
    clients::Client,
    interfaces::{ClientLike, KeysInterface, LuaInterface},
    types::{
        Builder,
        config::{Config, ServerConfig, TcpConfig},
    },
};

use super::{
    peer::{Peer, SCRIPT},
    place::{PORT, Place, Way},
};

#[derive(Clone)]
pub struct Fred(Client, String);

impl Peer for Fred {
    const NAME: &'static str = "fred";

    async fn connect(place: &Place) -> Self {
        let server = match place.way {
            Way::Tcp => ServerConfig::new_centralized("127.0.0.1", PORT),
            Way::Unix => ServerConfig::new_unix_socket(&place.socket),
        };
        let client = Builder::from_config(Config { server, ..Config::default() })
            .with_connection_config(|config| {
                config.tcp = TcpConfig { nodelay: Some(true), ..TcpConfig::default() };
            })
            .build()
            .expect("a config");
        client.init().await.expect("a server");
        let sha1 = client.script_load(SCRIPT).await.expect("a hash");
        Self(client, sha1)
    }

    async fn get(&self, key: &str) -> usize {
        self.0.get::<Bytes, _>(key).await.expect("a reply").len()
    }

    async fn set(&self, key: &str, value: &[u8]) {
        self.0.set::<(), _, _>(key, value, None, None, false).await.expect("a reply");
    }

    async fn gets(&self, key: &str, count: usize) -> usize {
        let pipeline = self.0.pipeline();
        for _ in 0..count {
            pipeline.get::<(), _>(key).await.expect("queued");
        }
        let values: Vec<Bytes> = pipeline.all().await.expect("replies");
        values.iter().map(Bytes::len).sum()
    }

    async fn call(&self, keys: &[&str; 3], args: &[&str; 8]) -> i64 {
        let (keys, args) = (keys.to_vec(), args.to_vec());
        self.0.evalsha(&*self.1, keys, args).await.expect("a reply")
    }
}
