//! redis-rs, by its `MultiplexedConnection`, with TCP_NODELAY and without its response time-out, which
//! costs it a timer a command.

use redis::{
    AsyncConnectionConfig, Client, IntoConnectionInfo, aio::MultiplexedConnection,
    io::tcp::TcpSettings,
};

use super::{
    peer::{Peer, SCRIPT},
    place::Place,
};

#[derive(Clone)]
pub struct RedisRs(MultiplexedConnection, String);

impl Peer for RedisRs {
    const NAME: &'static str = "redis-rs";

    async fn connect(place: &Place) -> Self {
        let info = place.url("unix://").into_connection_info().expect("a URL");
        let info = info.set_tcp_settings(TcpSettings::default().set_nodelay(true));
        let client = Client::open(info).expect("a place");
        let config = AsyncConnectionConfig::new().set_response_timeout(None);
        let connection = client.get_multiplexed_async_connection_with_config(&config).await;
        let mut connection = connection.expect("a server");
        let load = redis::cmd("SCRIPT").arg("LOAD").arg(SCRIPT).take();
        let sha1 = load.query_async(&mut connection).await.expect("a hash");
        Self(connection, sha1)
    }

    async fn get(&self, key: &str) -> usize {
        let mut command = redis::cmd("GET");
        let value: Vec<u8> =
            command.arg(key).query_async(&mut self.0.clone()).await.expect("a reply");
        value.len()
    }

    async fn set(&self, key: &str, value: &[u8]) {
        let mut command = redis::cmd("SET");
        let set = command.arg(key).arg(value);
        set.query_async::<()>(&mut self.0.clone()).await.expect("a reply");
    }

    async fn gets(&self, key: &str, count: usize) -> usize {
        let mut pipeline = redis::pipe();
        for _ in 0..count {
            pipeline.cmd("GET").arg(key);
        }
        let values: Vec<redis::Value> =
            pipeline.query_async(&mut self.0.clone()).await.expect("replies");
        let len = |value: &redis::Value| match value {
            redis::Value::BulkString(text) => text.len(),
            _ => 0,
        };
        values.iter().map(len).sum()
    }

    async fn call(&self, keys: &[&str; 3], args: &[&str; 8]) -> i64 {
        let mut command = redis::cmd("EVALSHA");
        command.arg(&self.1).arg(keys.len()).arg(keys).arg(args);
        command.query_async(&mut self.0.clone()).await.expect("a reply")
    }
}
