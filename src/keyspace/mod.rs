//! The names of keys: the reserve, a queue's keys, branded ids, cluster slots.
mod slot;

pub use slot::slot;
