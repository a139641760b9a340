//! The shared live socket. [`core`] tells the life of a command; the rest are its parts:
//!
//! - [`shared`]: the core behind its lock, and how callers come in;
//! - [`call`]: a caller's wait, [`slots`]: where its replies wait for it;
//! - [`outbox`]: bytes on their way out, [`clock`]: when which command was handed in;
//! - [`scripts`]: which of them this connection has loaded;
//! - [`driver`]: the one task that owns the socket, [`pulse`]: the fence, again and again.

mod call;
mod clock;
mod core;
mod driver;
mod outbox;
mod pulse;
mod scripts;
mod shared;
mod slots;

pub(super) use self::{
    driver::{Driver, End},
    outbox::Outbox,
    scripts::Turn,
    shared::{Hold, Shared},
    slots::Outcome,
};
