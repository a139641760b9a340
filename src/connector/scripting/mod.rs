//! Scripts: a source that is sent once, and called by its hash.
//!
//! - A [`Script`] is the source and its SHA-1; a [`ScriptCall`] is the script with keys and
//!   arguments.
//! - A call goes out in one of two `form`s, by hash or with the source.
//! - `calls` are those that stand in a pipeline, which settles their forms when it is sent.
//!
//! What a server has loaded is known to the link, see `link::scripts`.
mod call;
mod calls;
mod form;
mod script;

pub use call::ScriptCall;
pub use script::Script;

pub(super) use calls::{Calls, Forms};
pub(super) use form::{Form, is_missing};
