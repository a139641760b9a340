//! What each driver is asked to do.

use std::future::Future;

use super::place::Place;

/// A driver's handle to one connection, shared by tasks. Each answers in the form that is cheapest for
/// it and holds the data, and says how long the data is.
pub trait Peer: Clone + Send + Sync + 'static {
    const NAME: &'static str;

    fn connect(place: &Place) -> impl Future<Output = Self> + Send;
    /// GET; the value's length.
    fn get(&self, key: &str) -> impl Future<Output = usize> + Send;
    /// SET.
    fn set(&self, key: &str, value: &[u8]) -> impl Future<Output = ()> + Send;
    /// So many GETs in one pipeline, built for it; the sum of the values' lengths.
    fn gets(&self, key: &str, count: usize) -> impl Future<Output = usize> + Send;
    /// EVALSHA of [`SCRIPT`], which is loaded; its answer.
    fn call(&self, keys: &[&str; 3], args: &[&str; 8]) -> impl Future<Output = i64> + Send;
}

/// A short script, so that the driver's part shows.
pub const SCRIPT: &str = "return #KEYS * 100 + #ARGV";
