//! Bytes ⇄ replies and commands, RESP2 and RESP3, without a socket.
//!
//! Follows <https://valkey.io/topics/protocol/>. Data passes through once, in one direction:
//!
//! ```text
//! replies   bytes ─▶ read_buffer ─▶ decode ─┬─▶ tiny ────────────────▶ reply | reply_ref ─▶ value ─▶ convert
//!                                           └─▶ frame ─▶ scan ─▶ tape ─▶─┘    (elements, show)
//! commands  argument ─▶ command ─▶ encode ─▶ bytes
//! ```
//!
//! `tiny` decides the commonest elements in a few instructions, `scan` each element thoroughly
//! (`digits`, `double`), `frame` their nesting (`stack`); `shelf` keeps small owned replies.
mod argument;
mod command;
mod convert;
mod convert_error;
mod convert_many;
mod decode;
mod digits;
mod double;
mod elements;
pub(crate) mod encode;
mod error;
mod frame;
mod kind;
mod limits;
mod number;
mod protocol;
mod protocol_error;
mod read_buffer;
mod reply;
mod reply_ref;
mod scan;
mod shelf;
mod show;
mod stack;
mod tape;
mod tiny;
mod value;

pub use argument::Arg;
pub use command::Command;
pub use convert::FromReply;
pub use convert_error::ConvertError;
pub use decode::Decoder;
pub use elements::{Attributes, Elements, ElementsIter, Pairs, PairsIter};
#[allow(unused_imports, reason = "the connector uses it")]
pub(crate) use encode::Sink;
pub use error::ServerError;
pub use limits::Limits;
pub use protocol::Protocol;
pub use protocol_error::{ProtocolError, ProtocolErrorKind};
pub use reply::Reply;
pub use reply_ref::ReplyRef;
pub use value::{Null, Value};
