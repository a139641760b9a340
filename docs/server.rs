// A server in memory for the examples of the docs, which include this file: a few commands, in RESP3, and
// no more of each than an example shows. What a server really does is tested on real ones.

use std::{
    collections::{HashMap, VecDeque},
    io,
    sync::{Arc, Mutex},
};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

#[derive(Clone, Default)]
struct ExampleServer(Arc<Mutex<ExampleStore>>);

#[derive(Default)]
struct ExampleStore {
    texts: HashMap<String, String>,
    lists: HashMap<String, VecDeque<String>>,
}

/// A connector to an empty store.
#[allow(dead_code)]
async fn connector() -> Result<echo_wire::connector::Connector, echo_wire::connector::Error> {
    let server = ExampleServer::default();
    let config = echo_wire::connector::Config::tcp("localhost", 6379);
    echo_wire::connector::Connector::over(move || server.clone().dial(), config).await
}

/// A stream to a store whose version key holds this.
#[allow(dead_code)]
async fn stream_to_a_store_of(wire: &str) -> io::Result<DuplexStream> {
    let server = ExampleServer::default();
    server.0.lock().unwrap().texts.insert("{emq}:version".into(), wire.into());
    server.dial().await
}

impl ExampleServer {
    async fn dial(self) -> io::Result<DuplexStream> {
        let (ours, mut theirs) = tokio::io::duplex(64 * 1024);
        tokio::spawn(async move {
            let limits = echo_wire::resp::Limits::default();
            let mut commands = echo_wire::resp::Decoder::new(limits);
            let mut channels = Vec::new();
            while let Ok(1..) = theirs.read_buf(commands.read_buf()).await {
                let mut answers = String::new();
                while let Ok(Some(command)) = commands.next() {
                    let words: Vec<String> = command.to().unwrap();
                    let words: Vec<&str> = words.iter().map(String::as_str).collect();
                    self.0.lock().unwrap().run(&words, &mut channels, &mut answers);
                }
                if theirs.write_all(answers.as_bytes()).await.is_err() {
                    break;
                }
            }
        });
        Ok(ours)
    }
}

impl ExampleStore {
    fn run(&mut self, words: &[&str], channels: &mut Vec<String>, out: &mut String) {
        let bulk = |text: &str| format!("${}\r\n{text}\r\n", text.len());
        let answer = match *words {
            ["HELLO", ..] => "%1\r\n+role\r\n+master\r\n".to_owned(),
            ["GET", key] => self.texts.get(key).map_or("_\r\n".to_owned(), |text| bulk(text)),
            ["SET", key, text, ..] => {
                self.texts.insert(key.into(), text.into());
                "+OK\r\n".to_owned()
            }
            ["INCR", key] => match self.texts.get(key).map_or(Ok(0), |text| text.parse::<i64>()) {
                Ok(number) => {
                    self.texts.insert(key.into(), (number + 1).to_string());
                    format!(":{}\r\n", number + 1)
                }
                Err(_) => "-ERR value is not an integer or out of range\r\n".to_owned(),
            },
            ["RPUSH", key, text] => {
                let list = self.lists.entry(key.into()).or_default();
                list.push_back(text.into());
                format!(":{}\r\n", list.len())
            }
            ["BLPOP", key, _] => match self.lists.get_mut(key).and_then(VecDeque::pop_front) {
                Some(text) => format!("*2\r\n{}{}", bulk(key), bulk(&text)),
                None => "_\r\n".to_owned(),
            },
            ["SUBSCRIBE", channel] => {
                channels.push(channel.into());
                format!(">3\r\n+subscribe\r\n{}:1\r\n", bulk(channel))
            }
            ["UNSUBSCRIBE", channel] => {
                channels.retain(|it| it != channel);
                format!(">3\r\n+unsubscribe\r\n{}:0\r\n", bulk(channel))
            }
            ["PUBLISH", channel, text] => {
                let is_heard = channels.iter().any(|it| it == channel);
                let push = format!(">3\r\n+message\r\n{}{}", bulk(channel), bulk(text));
                format!("{}:{}\r\n", if is_heard { &push } else { "" }, u8::from(is_heard))
            }
            _ => "+OK\r\n".to_owned(),
        };
        out.push_str(&answer);
    }
}
