//! `echo_wire` is the wire driver of EchoMQ: the one crate through which every other EchoMQ crate
//! reaches Valkey (or Redis).
//!
//! It owns three things and nothing else:
//!
//! | module | owns | never knows about |
//! |---|---|---|
//! | [`resp`] | bytes ⇄ replies and commands, RESP2 and RESP3 | sockets, keys, queues |
//! | [`keyspace`] | the names of keys: the reserve, a queue's keys, branded ids, slots | RESP, sockets |
//! | [`connector`] | a socket's life: dial → boot → **fence** → serve → lose → dial again | what a job is |
//!
//! [`connector`] depends on the other two; they depend on nothing of ours. No arrow runs back.
//!
//! | feature | brings |
//! |---|---|
//! | `tls` | `rediss://`, `valkeys://` and `Config::tls`: TLS by rustls |
//!
//! None is on by default.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects, reason = "tests may overflow and fail"))]

pub mod connector;
pub mod keyspace;
pub mod resp;

/// Keeps the examples of the pages compiling.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../README.md")]
    struct FrontPage;

    #[doc = include_str!("../docs/migrating.md")]
    struct Migrating;

    #[doc = include_str!("../docs/protocol.md")]
    struct Protocol;
}
