//! The reserve: the space of keys that belong to no single queue.

/// What every key of the reserve begins with.
///
/// Its first byte is `{`, that of every queue's key is `e`: the two spaces cannot meet, whatever a
/// queue is named.
pub const RESERVE: &str = "{emq}:";

/// The key that holds the identity of the wire this store speaks.
///
/// ```
/// use echo_wire::keyspace::{RESERVE, VERSION_KEY};
///
/// assert_eq!(VERSION_KEY.strip_prefix(RESERVE), Some("version"));
/// ```
pub const VERSION_KEY: &str = "{emq}:version";
