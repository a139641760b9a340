//! Bytes ⇄ replies and commands, RESP2 and RESP3, without a socket.
mod error;

pub use error::ServerError;
