//! A socket's life: dial → boot → **fence** → serve → lose → dial again.
mod command_table;
mod error;
mod pipeline;

pub use command_table::{Reason, Refusal, Traits};
pub use error::{Cause, Error, Found, Step};
pub use pipeline::Pipeline;
