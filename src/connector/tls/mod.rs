//! TLS for a socket, by rustls: between dialling it and the boot, which know nothing of it.
//!
//! - [`settings`]: whom to trust, and who we are there; [`setup`]: that, for one server;
//! - [`stream`]: the socket with TLS on it, [`verdict`]: what rustls' errors mean.

mod settings;
mod setup;
mod stream;
mod verdict;

pub use self::settings::Tls;
pub(super) use self::setup::Setup;
