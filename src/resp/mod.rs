//! Bytes ⇄ replies and commands, RESP2 and RESP3, without a socket.
mod argument;
mod command;
mod encode;
mod error;
mod number;

pub use argument::Arg;
pub use command::Command;
#[allow(unused_imports, reason = "the connector uses it")]
pub(crate) use encode::Sink;
pub use error::ServerError;
