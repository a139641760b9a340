//! A real server on a free port, and the plainest client that can ask it: one request, one reply,
//! nothing of the crate's.
#![allow(dead_code, reason = "no test uses all of it")]

use std::{
    env, fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// The servers that the tests run on: name and binary.
pub(crate) fn flavors() -> Vec<(&'static str, PathBuf)> {
    let skipped = env::var("ECHO_WIRE_SKIP").unwrap_or_default();
    [("valkey", "ECHO_WIRE_VALKEY"), ("redis", "ECHO_WIRE_REDIS")]
        .into_iter()
        .filter(|(name, _)| !skipped.split(',').any(|skip| skip == *name))
        .map(|(name, variable)| {
            let binary = format!("{name}-server");
            let fetched = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(".servers").join(&binary);
            let path = match env::var_os(variable) {
                Some(path) => path.into(),
                None if fetched.exists() => fetched,
                None => binary.into(),
            };
            (name, path)
        })
        .collect()
}

/// A server that ends with its value.
pub(crate) struct Server {
    child: Child,
    port: u16,
    dir: PathBuf,
}

impl Server {
    /// Starts `binary` and returns when it accepts connections.
    pub(crate) fn start(binary: &Path, args: &[&str]) -> Self {
        // Another process may take the port before the server does: then the next one is tried.
        (0..5)
            .find_map(|_| Self::try_start(binary, args))
            .unwrap_or_else(|| panic!("{} ends before it is ready", binary.display()))
    }

    fn try_start(binary: &Path, args: &[&str]) -> Option<Self> {
        let port = free_port();
        let dir = env::temp_dir().join(format!("echo_wire-plain-{port}"));
        fs::create_dir_all(&dir).unwrap();
        let child = Command::new(binary)
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--dir"])
            .arg(&dir)
            .args(args)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| {
                panic!("{}: {error} (`./run servers` fetches the servers)", binary.display())
            });
        let mut server = Self { child, port, dir };
        let mut log = BufReader::new(server.child.stdout.take().unwrap()).lines();
        log.find(|line| line.as_ref().unwrap().contains("Ready to accept connections"))?.unwrap();
        // A full pipe would stop the server.
        std::thread::spawn(move || log.for_each(drop));
        Some(server)
    }

    pub(crate) fn client(&self) -> Client {
        Client { stream: BufReader::new(TcpStream::connect(("127.0.0.1", self.port)).unwrap()) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// Below 55 535, because a cluster's bus listens 10 000 above it.
fn free_port() -> u16 {
    loop {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        if port < 55_535 {
            return port;
        }
    }
}

pub(crate) struct Client {
    stream: BufReader<TcpStream>,
}

impl Client {
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).unwrap();
    }

    pub(crate) fn ask(&mut self, words: &[&[u8]]) -> Reply {
        let mut request = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            request.extend(format!("${}\r\n", word.len()).into_bytes());
            request.extend(*word);
            request.extend(b"\r\n");
        }
        self.send(&request);
        self.read()
    }

    /// Waits until a reply begins.
    pub(crate) fn peek(&mut self) {
        assert!(!self.stream.fill_buf().unwrap().is_empty(), "the server closed");
    }

    pub(crate) fn read(&mut self) -> Reply {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        let line = line.trim_end();
        let (kind, rest) = line.split_at(1);
        match kind {
            "+" => Reply::Text(rest.as_bytes().to_vec()),
            "-" => Reply::Error(rest.to_owned()),
            ":" => Reply::Integer(rest.parse().unwrap()),
            "$" | "*" if rest == "-1" => Reply::Null,
            "$" => {
                let mut body = vec![0; rest.parse::<usize>().unwrap() + 2];
                self.stream.read_exact(&mut body).unwrap();
                body.truncate(body.len() - 2);
                Reply::Text(body)
            }
            "*" => Reply::List((0..rest.parse().unwrap()).map(|_| self.read()).collect()),
            _ => panic!("unexpected {line:?}"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    Text(Vec<u8>),
    Error(String),
    Integer(i64),
    Null,
    List(Vec<Self>),
}

impl Reply {
    pub(crate) fn list(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            other => panic!("no list: {other:?}"),
        }
    }

    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Text(text) => std::str::from_utf8(text).unwrap(),
            other => panic!("no text: {other:?}"),
        }
    }

    pub(crate) fn integer(&self) -> i64 {
        match self {
            Self::Integer(value) => *value,
            other => panic!("no integer: {other:?}"),
        }
    }

    /// The value after `name` in a list of names and values.
    pub(crate) fn field(&self, name: &str) -> &Self {
        let pairs = self.list();
        let at = pairs.iter().step_by(2).position(|key| key.text() == name).unwrap();
        &pairs[at * 2 + 1]
    }
}
