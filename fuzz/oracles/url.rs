//! Any text as a URL: it is taken or refused, without a panic, a password is shown in neither case,
//! and what reaches the server of one that is taken is within its bounds.
//!
//! The input's first byte says whether and where a password is put into the text.

use std::{
    io,
    pin::{Pin, pin},
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use echo_wire::{
    connector::{Config, Connection, Endpoint},
    resp::{Decoder, Limits},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    runtime::Builder,
};

const SECRET: &str = "hunter2";

pub(crate) fn check(input: &[u8]) {
    let Some((choice, text)) = input.split_first() else { return };
    let text = String::from_utf8_lossy(text).replace(SECRET, "");
    let (before, after) = text.split_once('\t').unwrap_or((&text, ""));
    // Where the secret certainly is a part of the password, it may not be shown by a config either.
    let plain = !before.contains(['/', '?', '#']) && !after.contains(['/', '?', '#', '@']);
    let (url, hidden) = match choice % 8 {
        0 => (format!("redis://{before}:{SECRET}{after}@host/1"), plain),
        1 => (format!("redis://:{before}{SECRET}{after}@host"), plain),
        2 => (format!("redis://{before}:{SECRET}@{after}"), !before.contains(['/', '?', '#'])),
        3 => (format!("unix://{before}:{SECRET}@/{after}"), !before.contains(['/', '?', '#'])),
        4 => (format!("redis://host?{before}&password={SECRET}{after}"), false),
        5 => (format!("{before}{SECRET}{after}"), false),
        _ => (text.clone(), false),
    };
    match Config::from_url(&url) {
        Ok(config) => {
            let shown = format!("{config:?} {config:#?} {}", config.endpoint());
            assert!(!hidden || !shown.contains(SECRET), "{url:?}: {shown}");
            taken(&url, &config);
            assert_eq!(url.parse::<Config>().unwrap().endpoint(), config.endpoint());
        }
        Err(error) => {
            let shown = format!("{error} {error:?}");
            assert!(!shown.contains(SECRET), "{url:?}: {shown}");
            assert_eq!(error.to_string(), format!("{}: {}", error.part(), error.rule()));
            // It is made of constants: no input can be in it.
            assert!(shown.is_ascii() && shown.len() < 400, "{shown}");
        }
    }
}

fn taken(url: &str, config: &Config) {
    match config.endpoint() {
        Endpoint::Tcp { host, port } => {
            assert!(!host.is_empty() && *port > 0);
            assert!(
                !host.contains(|c: char| c.is_ascii_control() || " /@".contains(c)),
                "{host:?}"
            );
        }
        Endpoint::Unix(path) => {
            assert!(path.is_absolute());
            assert!(!path.to_str().unwrap().contains('\0'), "{path:?}");
        }
        other => panic!("{other:?}"),
    }
    if is_secure(url) {
        return; // what is sent first is a TLS greeting, which nobody here answers
    }
    let commands = first_flight(config);
    assert_eq!(commands.last().unwrap(), &[&b"GET"[..], b"{emq}:version"]);
    for command in commands {
        let words: Vec<&[u8]> = command.iter().map(Vec::as_slice).collect();
        match words[..] {
            [b"HELLO", b"3"] | [b"AUTH", _] | [b"ROLE"] | [b"GET", _] => {}
            [b"HELLO", b"3", b"AUTH", user, _] | [b"AUTH", user, _] => assert!(!user.is_empty()),
            [b"CLIENT", b"SETINFO", ..] | [b"CONFIG", b"GET", b"maxmemory-policy"] => {}
            [b"SELECT", database] => {
                let digits = std::str::from_utf8(database).unwrap();
                assert!(digits.parse::<u32>().unwrap() > 0, "{url:?}");
            }
            [b"CLIENT", b"SETNAME", name] => {
                assert!(!name.is_empty() && name.iter().all(u8::is_ascii_graphic), "{url:?}");
            }
            _ => panic!("{url:?}: {words:?}"),
        }
    }
}

/// Whether it asks for TLS, which is taken where the feature is on.
fn is_secure(url: &str) -> bool {
    let scheme = url.split(':').next().unwrap_or_default();
    ["rediss", "valkeys"].iter().any(|secure| scheme.eq_ignore_ascii_case(secure))
}

/// What is sent before anything is answered.
fn first_flight(config: &Config) -> Vec<Vec<Vec<u8>>> {
    let written = Arc::new(Mutex::new(Vec::new()));
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let _inside = runtime.enter();
    let connecting = Connection::over(Mute(Arc::clone(&written)), config);
    let polled = pin!(connecting).poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending());
    let mut decoder = Decoder::new(Limits::default());
    decoder.feed(&written.lock().unwrap());
    let commands = std::iter::from_fn(|| decoder.next().unwrap());
    commands.map(|command| command.to().unwrap()).collect()
}

/// Takes everything and says nothing.
struct Mute(Arc<Mutex<Vec<u8>>>);

impl AsyncRead for Mute {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Poll::Pending
    }
}

impl AsyncWrite for Mute {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
