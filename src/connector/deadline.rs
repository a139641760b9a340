//! When a wait is over.

use std::time::Duration;

use tokio::time::Instant;

/// The instant `within` from now. `Duration::MAX`, which no clock can add, means a wait without
/// end: the far future, not a deadline that has passed.
pub(super) fn after(now: Instant, within: Duration) -> Instant {
    now.checked_add(within).or_else(|| now.checked_add(FAR)).unwrap_or(now)
}

/// Thirty years.
const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_without_end_is_not_over_at_once() {
        let now = Instant::now();
        assert_eq!(after(now, Duration::from_secs(3)), now + Duration::from_secs(3));
        assert!(after(now, Duration::MAX) >= now + FAR);
    }
}
