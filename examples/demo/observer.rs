//! Looks into the server past the crate, by hand: what it holds, what it counts, what it was sent.
//!
//! It is no connector, so that it can see what connectors do without doing the same.

use std::{collections::BTreeMap, io};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};

/// A bare connection that speaks RESP2.
pub(crate) struct Observer {
    stream: BufReader<TcpStream>,
}

impl Observer {
    pub(crate) async fn connect(address: &str) -> io::Result<Self> {
        Ok(Self { stream: BufReader::new(TcpStream::connect(address).await?) })
    }

    /// One command, as words without spaces; its reply as text, nothing for a null.
    pub(crate) async fn ask(&mut self, command: &str) -> io::Result<Option<String>> {
        self.stream.write_all(format!("{command}\r\n").as_bytes()).await?;
        let line = self.line().await?;
        match line.strip_prefix('$').map(str::parse) {
            None => Ok(Some(line.get(1..).unwrap_or_default().to_owned())),
            Some(Ok(len)) => {
                let mut text = vec![0; len];
                self.stream.read_exact(&mut text).await?;
                self.line().await?;
                Ok(Some(String::from_utf8_lossy(&text).into_owned()))
            }
            Some(Err(_negative)) => Ok(None),
        }
    }

    /// How often the server was asked to SET since it was last told to forget: what it refused
    /// counts, too.
    pub(crate) async fn sets(&mut self) -> io::Result<u64> {
        let stats = self.ask("INFO commandstats").await?.unwrap_or_default();
        let line = stats.lines().find_map(|line| line.strip_prefix("cmdstat_set:"));
        let fields = line.unwrap_or_default().trim().split(',');
        let counts = fields.filter_map(|field| field.split_once('='));
        let counts = counts.filter(|(name, _)| ["calls", "rejected_calls"].contains(name));
        Ok(counts.filter_map(|(_, count)| count.parse::<u64>().ok()).sum())
    }

    async fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }
}

/// The server's own account of every command that it runs.
pub(crate) struct Monitor {
    stream: Observer,
}

impl Monitor {
    pub(crate) async fn start(address: &str) -> io::Result<Self> {
        let mut stream = Observer::connect(address).await?;
        stream.ask("MONITOR").await?;
        Ok(Self { stream })
    }

    /// What each client that named itself was seen to send until now, by its name.
    pub(crate) async fn seen(
        mut self,
        observer: &mut Observer,
    ) -> io::Result<BTreeMap<String, Vec<String>>> {
        // Once this has come, so has everything before it.
        observer.ask("ECHO the-end").await?;
        let (mut sent, mut names) = (BTreeMap::<_, Vec<_>>::new(), BTreeMap::new());
        loop {
            // 1764561600.123456 [0 127.0.0.1:54321] "SET" "{emq}:version" "acme:1" "NX"
            let line = self.stream.line().await?;
            let Some((head, command)) = line.split_once("] ") else { continue };
            let client = head.rsplit(' ').next().unwrap_or_default().to_owned();
            let command = command.replace('"', "");
            if command == "ECHO the-end" {
                break;
            }
            if let Some(name) = command.strip_prefix("CLIENT SETNAME ") {
                names.insert(client.clone(), name.to_owned());
            }
            sent.entry(client).or_default().push(command);
        }
        let named =
            sent.into_iter().filter_map(|(client, sent)| Some((names.remove(&client)?, sent)));
        Ok(named.collect())
    }
}
