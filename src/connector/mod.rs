//! A socket's life: dial → boot → **fence** → serve → lose → dial again.
mod arguments;
mod command_table;
mod error;
mod pipeline;
#[allow(dead_code, reason = "the fence and the heartbeat send it")]
mod version_get;

pub use command_table::{Reason, Refusal, Traits};
pub use error::{Cause, Error, Found, Step};
pub use pipeline::Pipeline;
