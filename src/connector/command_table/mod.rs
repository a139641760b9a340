//! What a command does to the connection that carries it, and where its first key stands.
//!
//! - `rows`: the servers' own words, generated from their `COMMAND` output.
//! - `session`: what `COMMAND` does not tell: which commands change the session, and why.
//! - `index`: both joined by the compiler into one table with a hash index over the names.
//! - `traits`: a command looked up in it.
//! - `refusal`: why a connection that callers share cannot take a command.
mod index;
mod refusal;
mod row;
mod rows;
mod session;
mod traits;

pub use refusal::{Reason, Refusal};
pub use traits::Traits;
