//! A socket's life: dial → boot → **fence** → serve → lose → dial again.
mod error;

pub use error::{Cause, Error, Found, Step};
