//! A blocking client with a parser of its own: what it sees does not depend on the crate.

use std::{
    fmt,
    io::{self, BufRead, BufReader, Read, Write},
    net::{Shutdown, TcpStream},
    os::unix::net::UnixStream,
    path::Path,
};

use super::BOUND;

/// One connection to a server, for looking into it.
pub struct Raw {
    stream: BufReader<Box<dyn Stream>>,
}

/// A reply, as far as inspection needs it.
#[derive(Clone, PartialEq, Eq)]
pub enum Answer {
    Null,
    Integer(i64),
    /// A simple, bulk or verbatim string, a double, a boolean or a big number: its bytes.
    Text(Vec<u8>),
    /// The error's whole line, without the type byte.
    Error(String),
    /// An array, a set, a push or a map (key, value, key, value, …).
    List(Vec<Self>),
}

impl Raw {
    /// Connects to a TCP address such as `"127.0.0.1:6379"`.
    pub fn tcp(address: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(BOUND))?;
        stream.set_write_timeout(Some(BOUND))?;
        Ok(Self { stream: BufReader::new(Box::new(stream)) })
    }

    /// Connects to a unix socket.
    pub fn unix(path: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(BOUND))?;
        stream.set_write_timeout(Some(BOUND))?;
        Ok(Self { stream: BufReader::new(Box::new(stream)) })
    }

    /// Sends a command and reads its reply; an error reply is a value.
    pub fn call<A: AsRef<[u8]>>(&mut self, command: &[A]) -> Answer {
        self.send(command).expect("the command is written");
        self.read().expect("a reply is read")
    }

    /// Sends a command and reads its reply as text; an error reply panics.
    pub fn text<A: AsRef<[u8]>>(&mut self, command: &[A]) -> String {
        let shown = command.iter().map(|part| String::from_utf8_lossy(part.as_ref()));
        let shown = shown.collect::<Vec<_>>().join(" ");
        match self.call(command) {
            Answer::Error(line) => panic!("{shown}: {line}"),
            answer => answer.to_string(),
        }
    }

    /// Sends a command and does not wait for its reply.
    pub fn send<A: AsRef<[u8]>>(&mut self, command: &[A]) -> io::Result<()> {
        let mut wire = format!("*{}\r\n", command.len()).into_bytes();
        for part in command {
            let part = part.as_ref();
            wire.extend_from_slice(format!("${}\r\n", part.len()).as_bytes());
            wire.extend_from_slice(part);
            wire.extend_from_slice(b"\r\n");
        }
        self.write(&wire)
    }

    /// Writes bytes as they are.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(bytes)
    }

    /// Reads the next reply (or push).
    pub fn read(&mut self) -> io::Result<Answer> {
        let line = self.line()?;
        let (kind, rest) = line.split_at(1);
        Ok(match kind {
            "+" | "," | "#" | "(" => Answer::Text(rest.into()),
            "-" => Answer::Error(rest.into()),
            ":" => Answer::Integer(number(rest)?),
            "_" => Answer::Null,
            "$" | "=" | "!" => match self.bulk(number(rest)?)? {
                None => Answer::Null,
                Some(bytes) if kind == "!" => Answer::Error(String::from_utf8_lossy(&bytes).into()),
                Some(bytes) if kind == "=" => Answer::Text(bytes[4..].into()),
                Some(bytes) => Answer::Text(bytes),
            },
            "*" | "~" | ">" => self.list(number(rest)?)?,
            "%" => self.list(number(rest)? * 2)?,
            _ => return Err(io::Error::other(format!("not a reply: {line:?}"))),
        })
    }

    /// Asks the server to close and waits until it has: then it counts this client no more.
    pub fn quit(mut self) {
        let _ = self.send(&["QUIT"]);
        let _ = self.read_to_close();
    }

    /// Reads until the server closes; the bytes that came before. An error is a reset.
    pub fn read_to_close(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read_what_comes(&mut bytes)?;
        Ok(bytes)
    }

    /// As `read_to_close`, into `bytes`: what came before a reset is there too.
    pub fn read_what_comes(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        self.stream.read_to_end(bytes).map(|_| ())
    }

    /// Tells the server that nothing more comes; replies can still be read.
    pub fn finish(&mut self) -> io::Result<()> {
        self.stream.get_ref().finish()
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = Vec::new();
        self.stream.read_until(b'\n', &mut line)?;
        let Some(text) = line.strip_suffix(b"\r\n").filter(|text| !text.is_empty()) else {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "closed within a reply"));
        };
        Ok(String::from_utf8_lossy(text).into())
    }

    fn bulk(&mut self, len: i64) -> io::Result<Option<Vec<u8>>> {
        let Ok(len) = usize::try_from(len) else { return Ok(None) };
        let mut bytes = vec![0; len + 2];
        self.stream.read_exact(&mut bytes)?;
        bytes.truncate(len);
        Ok(Some(bytes))
    }

    fn list(&mut self, count: i64) -> io::Result<Answer> {
        if count < 0 {
            return Ok(Answer::Null);
        }
        (0..count).map(|_| self.read()).collect::<io::Result<_>>().map(Answer::List)
    }
}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Raw")
    }
}

/// As `redis-cli` shows it without a terminal: elements on lines, a null as nothing.
impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => Ok(()),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Text(bytes) => f.write_str(&String::from_utf8_lossy(bytes)),
            Self::Error(line) => f.write_str(line),
            Self::List(answers) => {
                for (at, answer) in answers.iter().enumerate() {
                    write!(f, "{}{answer}", if at == 0 { "" } else { "\n" })?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("Null"),
            Self::Integer(number) => write!(f, "Integer({number})"),
            Self::Text(bytes) => write!(f, "Text({:?})", String::from_utf8_lossy(bytes)),
            Self::Error(line) => write!(f, "Error({line:?})"),
            Self::List(answers) => f.debug_list().entries(answers).finish(),
        }
    }
}

/// What TCP and unix sockets share here.
trait Stream: Read + Write + Send {
    fn finish(&self) -> io::Result<()>;
}

impl Stream for TcpStream {
    fn finish(&self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }
}

impl Stream for UnixStream {
    fn finish(&self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }
}

fn number(digits: &str) -> io::Result<i64> {
    digits.parse().map_err(|_| io::Error::other(format!("not a number: {digits:?}")))
}
