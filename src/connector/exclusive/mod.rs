//! Connections that are one caller's alone, with the connector's config and under its fence.
//!
//! - [`Dedicated`] is the handle; [`Watch`] is a stretch of it in which keys are watched;
//!   `noreply` runs a pipeline that is not answered, on a connection made for it.
//! - `dial` makes a `line`, a fenced socket between two calls; `seat` is where it stays.
//! - A `call` is one `exchange` on the line: commands out, replies in. Given up half-way it goes to
//!   a `rescue`, which brings the line back; what had been handed out for it is an [`Orphan`].
mod call;
mod dedicated;
mod dial;
mod exchange;
mod job;
mod line;
mod noreply;
mod orphan;
mod rescue;
mod seat;
mod watch;

pub use dedicated::Dedicated;
pub use orphan::Orphan;
pub use watch::Watch;

pub(super) use orphan::Orphans;
