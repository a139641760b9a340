//! What a connector does when things are slow, full or away.

use std::time::Duration;

/// Bounds and patience of a [`Connector`](super::Connector): how much may wait, for how long, and
/// what happens then. Every value has a sane default; nothing is unbounded.
///
/// ```
/// use std::time::Duration;
/// use echo_wire::connector::{Policy, WhenAway, WhenFull};
///
/// let policy = Policy {
///     max_pending: 1_000,
///     when_full: WhenFull::Wait,
///     when_away: WhenAway::WaitAtMost(Duration::from_secs(2)),
///     ..Policy::default()
/// };
/// assert_eq!(policy.response_timeout, Duration::from_secs(10));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Commands without their reply, at most; default 65 536. A batch that is larger by itself is
    /// let in when nothing else is in flight.
    pub max_pending: usize,
    /// Bytes encoded and not yet taken by the socket, at most; default 64 MiB. One command may go
    /// over it.
    pub max_buffered: usize,
    /// What a caller meets when either bound is reached; default [`WhenFull::Fail`].
    pub when_full: WhenFull,
    /// What a caller meets while there is no connection; default [`WhenAway::Fail`].
    pub when_away: WhenAway,
    /// Messages that wait for a subscription's reader, at most; then the oldest are dropped and
    /// counted. Default 4 096.
    pub max_messages: usize,
    /// Bytes of such messages, at most; a single larger one still comes. Default 16 MiB.
    pub max_message_bytes: usize,
    /// How long a call waits for its replies, from when it was queued; default 10 s. The connection
    /// goes on, and the late reply is read and dropped.
    pub response_timeout: Duration,
    /// How often the fence's `GET` is sent on a live connection; default 5 s. It proves the peer
    /// alive and stops the connector on another wire's value.
    pub heartbeat: Duration,
    /// Replies owed and not a byte read for this long: the peer is gone, the connection is torn
    /// down; default 15 s. A script that runs longer than this needs a larger value, or a
    /// dedicated connection.
    pub watchdog: Duration,
    /// How long [`Connector::connect`](super::Connector::connect) retries what time can heal before
    /// it gives up with the last cause; default 10 s.
    pub ready_within: Duration,
    /// How long a closing connector, or one that leaves a demoted server, waits for the replies in
    /// flight; default 5 s.
    pub drain_within: Duration,
    /// The wait before the first reconnect is random between a tenth of this and this; default
    /// 100 ms, the least is 1 ms. Each failure doubles it.
    pub backoff_base: Duration,
    /// The longest such wait; default 10 s.
    pub backoff_cap: Duration,
    /// A connection that served for this long makes the waits start from the base again; default
    /// 5 s.
    pub backoff_reset: Duration,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            max_pending: 65_536,
            max_buffered: 64 * 1024 * 1024,
            when_full: WhenFull::Fail,
            when_away: WhenAway::Fail,
            max_messages: 4096,
            max_message_bytes: 16 * 1024 * 1024,
            response_timeout: Duration::from_secs(10),
            heartbeat: Duration::from_secs(5),
            watchdog: Duration::from_secs(15),
            ready_within: Duration::from_secs(10),
            drain_within: Duration::from_secs(5),
            backoff_base: Duration::from_millis(100),
            backoff_cap: Duration::from_secs(10),
            backoff_reset: Duration::from_secs(5),
        }
    }
}

/// What a caller meets when as much is in flight as may be.
///
/// ```
/// use echo_wire::connector::{Policy, WhenFull};
/// assert_eq!(Policy::default().when_full, WhenFull::Fail);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenFull {
    /// [`Error::Overloaded`](super::Error::Overloaded) at once; the command was not sent.
    Fail,
    /// It waits for room, for at most [`Policy::response_timeout`], then the same error.
    Wait,
}

/// What a caller meets while there is no connection.
///
/// ```
/// use echo_wire::connector::{Policy, WhenAway};
/// assert_eq!(Policy::default().when_away, WhenAway::Fail);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenAway {
    /// [`Error::Disconnected`](super::Error::Disconnected) at once; the command was not sent.
    Fail,
    /// It waits for a connection for at most this long, then the same error. Only the calls
    /// themselves wait, nothing is queued for them.
    WaitAtMost(Duration),
}
