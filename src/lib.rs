//! `echo_wire` is the wire driver of EchoMQ: the one crate through which every other EchoMQ crate
//! reaches [Valkey](https://valkey.io) (or Redis), over RESP2 and RESP3, on tokio.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/server.rs"));
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use echo_wire::{connector::{Config, Connector, Pipeline}, resp::Command};
//!
//! # let connector = connector().await?;
//! # if false {
//! let connector = Connector::connect(Config::from_url("redis://127.0.0.1:6379")?).await?;
//! # drop(connector); }
//! connector.command(Command::new("SET").arg("name").arg("mail")).await?;
//!
//! let batch = Pipeline::new()
//!     .command(Command::new("GET").arg("name"))
//!     .command(Command::new("INCR").arg("ids"));
//! let (name, id): (Option<String>, u64) = batch.run(&connector).await?.to()?;
//! assert_eq!((name.as_deref(), id), (Some("mail"), 1));
//! # Ok(()) }
//! ```
//!
//! # Three modules
//!
//! | module | owns | never knows about |
//! |---|---|---|
//! | [`resp`] | bytes ⇄ replies and commands, RESP2 and RESP3 | sockets, keys, queues |
//! | [`keyspace`] | the names of keys: the reserve, a queue's keys, branded ids, slots | RESP, sockets |
//! | [`connector`] | a socket's life: dial → boot → **fence** → serve → lose → dial again | what a job is |
//!
//! [`connector`] depends on the other two; they depend on nothing of ours. No arrow runs back.
//!
//! Which connection is for what:
//!
//! | | for | its verbs take |
//! |---|---|---|
//! | [`Connector`](connector::Connector) | nearly everything: one connection that all tasks share, dialled again when it is lost | `&self` |
//! | [`Pool`](connector::Pool) | several of them as one, where a single one cannot keep up | `&self` |
//! | [`Dedicated`](connector::Dedicated) | commands that wait on the server, and WATCH | `&mut self` |
//! | [`Connection`](connector::Connection) | one owner, one socket, no task behind it, no reconnect | `&mut self` |
//!
//! # The fence
//!
//! One reserved key, [`{emq}:version`](keyspace::VERSION_KEY), names the wire that a store speaks. Each
//! connection reads it before its first command: the same wire runs, an empty store is claimed (`SET … NX`,
//! then a confirming read), any other wire is refused without a write. It is checked again on every reconnect
//! and at every heartbeat. There is no way round it: the types that run commands are only made by a passed
//! fence.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/server.rs"));
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use echo_wire::connector::{Config, Connection, Error, Passage};
//!
//! let config = Config::tcp("localhost", 6379);
//! let stream = stream_to_a_store_of("echomq:2.0.0").await?;
//! assert_eq!(Connection::over(stream, &config).await?.passage(), Passage::Verified);
//!
//! let stream = stream_to_a_store_of("acme:1").await?;
//! let refused = Connection::over(stream, &config).await.unwrap_err();
//! assert!(matches!(&refused, Error::VersionFence { got } if got.to_string() == "acme:1"));
//! assert!(refused.is_fatal());
//! # Ok(()) }
//! ```
//!
//! # Errors, in two tiers
//!
//! **The call failed**: an [`Error`](connector::Error), which says what happened, whether the command may have
//! run, and whether connecting again could help. **The server said no**: a
//! [`ServerError`](resp::ServerError), which is an answer. It is an `Err` where one command was asked for, and a
//! value in its slot where several were; so one command's error hides no other's reply. `?` takes both tiers,
//! and what cannot be read as the type that was asked for, into one `Error`.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/server.rs"));
//! use echo_wire::{connector::{Connector, Error, Pipeline}, resp::{Command, ServerError}};
//!
//! async fn count(connector: &Connector, key: &str) -> Result<u64, Error> {
//!     Ok(connector.command(Command::new("INCR").arg(key)).await?.to()?)
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let connector = connector().await?;
//! connector.command(Command::new("SET").arg("name").arg("mail")).await?;
//! let error = count(&connector, "name").await.unwrap_err();
//! assert!(matches!(&error, Error::Server(error) if error.code() == "ERR"));
//! assert_eq!(error.to_string(), "ERR value is not an integer or out of range");
//!
//! let batch = Pipeline::new()
//!     .command(Command::new("INCR").arg("name"))
//!     .command(Command::new("INCR").arg("hits"));
//! let (name, hits): (Result<u64, ServerError>, u64) = batch.run(&connector).await?.to()?;
//! assert!(name.is_err());
//! assert_eq!(hits, 1);
//! # Ok(()) }
//! ```
//!
//! # At most once
//!
//! No command is ever sent twice. When a call fails, [`Error::maybe_executed`](connector::Error::maybe_executed)
//! says whether it may have run: `false` is a promise that trying again cannot run it twice, `true` leaves that to
//! you, who know whether it may.
//!
//! ```
//! use echo_wire::{connector::{Connector, Error}, resp::{Command, Reply}};
//!
//! /// Once more where that is safe: it did not run, and time may heal what stood in the way.
//! async fn twice(connector: &Connector, command: Command<'_>) -> Result<Reply, Error> {
//!     match connector.command(&command).await {
//!         Err(error) if !error.maybe_executed() && !error.is_fatal() => {
//!             connector.ready().await?;
//!             connector.command(&command).await
//!         }
//!         ended => ended,
//!     }
//! }
//! ```
//!
//! # Cancel safety
//!
//! A call's future does nothing until it is polled. Dropped after that (a `select!`, a `timeout`), on a
//! `Connector` its command was or will be sent, and the reply is read and dropped in its place: no later caller can
//! get it. On a [`Connection`](connector::Connection) it takes the socket along. On a
//! [`Dedicated`](connector::Dedicated) a command that waits is ended on the server, and what it had popped in that
//! moment waits at [`take_orphans`](connector::Connector::take_orphans). Each item says what a dropped future does.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/server.rs"));
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let connector = connector().await?;
//! use echo_wire::resp::Command;
//!
//! connector.command(Command::new("SET").arg("name").arg("mail")).await?;
//! let get = Command::new("GET").arg("name");
//! tokio::select! {
//!     biased;
//!     _ = connector.command(&get) => unreachable!("no reply comes that fast"),
//!     () = async {} => {} // something else was faster: the call is dropped
//! }
//! // The next call gets its own reply.
//! assert_eq!(connector.command(Command::new("INCR").arg("hits")).await?.to::<u64>()?, 1);
//! # Ok(()) }
//! ```
//!
//! # Commands that wait
//!
//! BLPOP, XREADGROUP … BLOCK, WAIT and their kin would hold up everybody on a shared connection, so it refuses them
//! before a byte is sent. [`Connector::dedicated`](connector::Connector::dedicated) is a connection of one's own,
//! under the same fence. Its deadline is the command's own, and the response timeout on top.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/server.rs"));
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let connector = connector().await?;
//! use echo_wire::{connector::Error, resp::Command};
//!
//! let pop = Command::new("BLPOP").arg("mail").arg(5);
//! assert!(matches!(connector.command(&pop).await, Err(Error::Refused(_))));
//!
//! let mut worker = connector.dedicated().await?;
//! connector.command(Command::new("RPUSH").arg("mail").arg("hello")).await?;
//! let popped: Option<(String, String)> = worker.command(&pop).await?.to()?;
//! assert_eq!(popped, Some(("mail".into(), "hello".into())));
//! # Ok(()) }
//! ```
//!
//! # Subscriptions
//!
//! A [`Subscription`](connector::Subscription) is a stream beside the commands, on the same connection (RESP3). It is
//! in force again after a reconnect, bounded, and tells its reader what was lost or may have been missed; replies
//! never wait for a slow reader.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/server.rs"));
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let connector = connector().await?;
//! use echo_wire::{connector::Delivery, resp::Command};
//!
//! let mut news = connector.subscribe(["news"]).await?;
//! connector.command(Command::new("PUBLISH").arg("news").arg("hello")).await?;
//! match news.next().await {
//!     Some(Delivery::Message(message)) => assert_eq!(message.payload(), b"hello"),
//!     Some(Delivery::Lagged(lost)) => println!("too slow: {lost} were dropped"),
//!     Some(Delivery::Gap) => println!("reconnected: some may have been missed"),
//!     _ => println!("over: {:?}", news.end()),
//! }
//! # Ok(()) }
//! ```
//!
//! # Limits and memory
//!
//! Nothing is reserved on the word of a header: memory follows the bytes that came, within
//! [`Limits`](resp::Limits). Nothing waits without a bound: see [`Policy`](connector::Policy). What a burst took is
//! given back when the connection is at rest. A [`Reply`](resp::Reply) and a `Bytes` from it are slices of what the
//! socket read, and keep that block alive; [`detach`](resp::Reply::detach) copies out what is worth keeping for long.
//!
//! ```
//! # fn main() -> Result<(), echo_wire::connector::ConfigError> {
//! use std::time::Duration;
//! use echo_wire::{connector::{Config, Policy, WhenFull}, resp::Limits};
//!
//! let policy = Policy {
//!     max_pending: 1_000,
//!     when_full: WhenFull::Wait, // a caller waits for room instead of being told Overloaded
//!     response_timeout: Duration::from_secs(2),
//!     ..Policy::default()
//! };
//! let config = Config::from_url("redis://127.0.0.1:6379")?
//!     .limits(Limits::default().bulk(16 * 1024 * 1024))
//!     .policy(policy);
//! # Ok(()) }
//! ```
//!
//! # Defaults
//!
//! | what | default | set by |
//! |---|---|---|
//! | wire | `echomq:2.0.0` | [`Config::wire`](connector::Config::wire) |
//! | protocol | RESP3, or RESP2 where HELLO is refused | [`Config::protocol`](connector::Config::protocol) |
//! | port, database, user | 6379, 0, the server's default user | [`Config::from_url`](connector::Config::from_url) |
//! | dial, TLS, boot and fence together | 5 s | [`Config::connect_timeout`](connector::Config::connect_timeout) |
//! | TCP keepalive and `TCP_USER_TIMEOUT` | 30 s | [`Config::tcp_timeout`](connector::Config::tcp_timeout) |
//! | a call on a `Connector` | 10 s | [`Policy::response_timeout`](connector::Policy::response_timeout) |
//! | a call on a `Connection` | no limit | [`Config::response_timeout`](connector::Config::response_timeout) |
//! | a first connect that is not ready yet | tried for 10 s | [`Policy::ready_within`](connector::Policy::ready_within) |
//! | the fence's heartbeat | 5 s | [`Policy::heartbeat`](connector::Policy::heartbeat) |
//! | a peer that owes replies and is silent | given up after 15 s | [`Policy::watchdog`](connector::Policy::watchdog) |
//! | a reconnect's wait | 10 ms to 100 ms, doubled by each failure, 10 s at most | [`Policy::backoff_base`](connector::Policy::backoff_base), [`backoff_cap`](connector::Policy::backoff_cap) |
//! | waits start from the base again | after 5 s of service | [`Policy::backoff_reset`](connector::Policy::backoff_reset) |
//! | a close, for replies in flight | 5 s | [`Policy::drain_within`](connector::Policy::drain_within) |
//! | commands in flight | 65 536 | [`Policy::max_pending`](connector::Policy::max_pending) |
//! | bytes that the socket has not taken | 64 MiB | [`Policy::max_buffered`](connector::Policy::max_buffered) |
//! | no room, or no connection | an error at once | [`Policy::when_full`](connector::Policy::when_full), [`when_away`](connector::Policy::when_away) |
//! | messages that wait for a reader | 4 096, and 16 MiB | [`Policy::max_messages`](connector::Policy::max_messages), [`max_message_bytes`](connector::Policy::max_message_bytes) |
//! | one reply | 1 GiB | [`Limits::reply`](resp::Limits::reply) |
//! | one bulk string | 512 MiB | [`Limits::bulk`](resp::Limits::bulk) |
//! | one line (a status, an error) | 64 KiB | [`Limits::line`](resp::Limits::line) |
//! | nesting | 1 024 | [`Limits::depth`](resp::Limits::depth) |
//! | elements of an aggregate | as many as the bytes allow | [`Limits::elements`](resp::Limits::elements) |
//! | events that a slow reader may fall behind | 128 | |
//! | scripts loaded on a new connection | 64, and 128 KiB | |
//! | orphans kept | 4 096 | |
//!
//! # Features
//!
//! | feature | brings |
//! |---|---|
//! | `tls` | `rediss://`, `valkeys://` and `Config::tls`: TLS by rustls |
//! | `tracing` | spans and events for those who collect the `tracing` crate's |
//! | `metrics` | counters, a gauge and a histogram for those who record the `metrics` crate's |
//!
//! None is on by default, and what is off is no code. [`Connector::stats`](connector::Connector::stats)
//! and [`Connector::events`](connector::Connector::events) are always there.
//!
//! Of a command its name is told, of a server's error its code; no argument and no password. A batch
//! is one call. What `tracing` gets:
//!
//! | target | level | what |
//! |---|---|---|
//! | `echo_wire::connect` | info | a span for each attempt to connect (`endpoint`, `tls`, `wire`, `passage`, `protocol`), and in it how it ended |
//! | | debug | and each step that was done (`step`) |
//! | `echo_wire::event` | error to debug | each [`Event`](connector::Event) of a connector (`endpoint`) |
//! | `echo_wire::command` | debug | each call: `command`, `commands`, `micros`, `outcome` (`ok`, `dropped`, or the kind of error), `code` |
//!
//! What `metrics` gets, of all connections of the program together:
//!
//! | name | kind | what |
//! |---|---|---|
//! | `echo_wire_commands_total` | counter | commands handed in, those in batches each |
//! | `echo_wire_errors_total` | counter by `kind` | calls that ended with an error |
//! | `echo_wire_pending` | gauge | commands whose callers wait for the reply |
//! | `echo_wire_call_seconds` | histogram by `call` | from a call to its last reply: `command`, `script`, `pipeline`, `transaction` |
//! | `echo_wire_connects_total` | counter by `passage` | connections that passed the fence |
//! | `echo_wire_connect_errors_total` | counter by `kind` | attempts to connect that failed |
//! | `echo_wire_reconnects_total` | counter | shared connections that were made again |
//! | `echo_wire_disconnects_total` | counter by `kind` | shared connections that ended |
//! | `echo_wire_fence_refusals_total` | counter | connections that met another wire |
//!
//! What it costs, in instructions that callgrind counts for one GET of 64 tasks on a shared connection, the server
//! in memory (`./run instructions --features metrics`), and in time on the machine that counted. To compare: a
//! round trip over a real socket is tens of microseconds.
//!
//! | | nobody listens | somebody does |
//! |---|---|---|
//! | neither feature | 2 060, or 0.20 µs | |
//! | `tracing` | + 140, + 0.01 µs | up to info the same; at debug a line for each call, with `tracing_subscriber::fmt` + 13 700, + 1.1 µs |
//! | `metrics` | + 1 080, + 0.12 µs | with `metrics-exporter-prometheus` + 2 950, + 0.35 µs |
//!
//! A pipeline is one call: of a thousand commands, each costs 2 % more at most. In a build without a feature the
//! counts are those of the crate before it had them.
//!
//! Who comes from redis-rs or fred begins at [`migrating`]; who changes the crate, at `docs/architecture.md`.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects, reason = "tests may overflow and fail"))]

pub mod connector;
pub mod keyspace;
pub mod resp;

#[cfg(doc)]
#[doc = include_str!("../docs/migrating.md")]
pub mod migrating {}

/// Keeps the examples of the pages compiling.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../README.md")]
    struct FrontPage;

    #[doc = include_str!("../docs/first-steps.md")]
    struct FirstSteps;

    #[cfg(feature = "tls")]
    #[doc = include_str!("../docs/operations.md")]
    struct Operations;

    #[doc = include_str!("../docs/protocol.md")]
    struct Protocol;
}
