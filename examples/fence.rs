//! Takes one connection through the version fence and tells how it went.
//!
//! ```text
//! cargo run --example fence -- <url> [--wire echomq:2.0.0]
//! ```
//!
//! Prints one line and exits: `verified <wire>` or `claimed <wire>` with 0, `refused got=<value>`
//! with 2 (bytes escaped; `(none)` when absent, `(wrong type)` when no string). Anything else exits
//! 3 with the reason on standard error.

use std::process::ExitCode;

use echo_wire::connector::{Config, Connection, Error, WIRE_VERSION};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Some((url, wire)) = arguments() else {
        eprintln!("usage: fence <url> [--wire {WIRE_VERSION}]");
        return ExitCode::from(3);
    };
    match pass(&url, wire.clone()).await {
        Ok(connection) => {
            println!("{} {wire}", connection.passage());
            ExitCode::SUCCESS
        }
        Err(Error::VersionFence { got }) => {
            println!("refused got={got}");
            ExitCode::from(2)
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(3)
        }
    }
}

async fn pass(url: &str, wire: String) -> Result<Connection, Error> {
    let config = Config::from_url(url)?.wire(wire)?;
    Connection::connect(&config).await
}

/// The URL and the wire.
fn arguments() -> Option<(String, String)> {
    let (mut url, mut wire) = (None, WIRE_VERSION.to_owned());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.strip_prefix("--wire=") {
            Some(given) => wire = given.to_owned(),
            None if argument == "--wire" => wire = arguments.next()?,
            None if argument.starts_with('-') || url.is_some() => return None,
            None => url = Some(argument),
        }
    }
    Some((url?, wire))
}
