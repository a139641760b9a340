//! How long to wait before the next attempt to connect: exponential, capped, jittered.

use std::time::Duration;

use super::Policy;

/// `wait` draws from `[ceiling / 10, ceiling]`, where the ceiling doubles with every failure in a
/// row: never zero, and connectors that lost the same server do not come back in step.
#[derive(Debug, Clone)]
pub(super) struct Backoff {
    base: Duration,
    cap: Duration,
    reset_after: Duration,
    failures: u32,
}

impl Backoff {
    pub(super) fn new(policy: &Policy) -> Self {
        Self {
            base: policy.backoff_base.max(SHORTEST),
            cap: policy.backoff_cap.max(SHORTEST),
            reset_after: policy.backoff_reset,
            failures: 0,
        }
    }

    /// The wait after one more failure; `random` is any number.
    pub(super) fn wait(&mut self, random: u64) -> Duration {
        let doubled = 1_u32.checked_shl(self.failures).unwrap_or(u32::MAX);
        let ceiling = self.base.saturating_mul(doubled).min(self.cap);
        self.failures = self.failures.saturating_add(1);
        let floor = ceiling.mul_f64(0.1);
        // The upper half of the bits is spread evenly enough over a span of milliseconds.
        let share = u32::try_from(random >> 32).unwrap_or(u32::MAX);
        let spread = ceiling.saturating_sub(floor).mul_f64(f64::from(share) / f64::from(u32::MAX));
        floor.saturating_add(spread)
    }

    /// A connection served for `served` and was lost. A short life counts as one more failure: a
    /// server that accepts and hangs up at once must not be dialled without a pause.
    pub(super) fn served(&mut self, served: Duration) {
        if served >= self.reset_after {
            self.failures = 0;
        }
    }

    /// Failures in a row.
    pub(super) fn failures(&self) -> u32 {
        self.failures
    }
}

/// Whatever the policy says: attempts without a pause keep a core busy and a server from coming up.
const SHORTEST: Duration = Duration::from_millis(1);

/// A number that differs between processes and calls; nothing secret depends on it.
pub(super) fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backoff() -> Backoff {
        Backoff::new(&Policy {
            backoff_base: Duration::from_millis(100),
            backoff_cap: Duration::from_secs(3),
            backoff_reset: Duration::from_secs(5),
            ..Policy::default()
        })
    }

    #[test]
    fn ceilings_double_up_to_the_cap() {
        let mut backoff = backoff();
        let longest: Vec<_> = (0..40).map(|_| backoff.wait(u64::MAX).as_millis()).collect();
        assert_eq!(longest[..7], [100, 200, 400, 800, 1600, 3000, 3000]);
        assert_eq!(longest[39], 3000);
    }

    #[test]
    fn the_first_wait_is_never_zero_and_draws_spread() {
        assert_eq!(backoff().wait(0).as_millis(), 10);
        let mut tenths = [0_u32; 10];
        for _ in 0..1000 {
            let wait = backoff().wait(random()).as_micros();
            let place = (wait - 10_000) * 10 / 90_001;
            tenths[usize::try_from(place).unwrap()] += 1;
        }
        assert!(tenths.iter().all(|n| (50..150).contains(n)), "{tenths:?}");
    }

    #[test]
    fn a_policy_without_waits_still_pauses() {
        let none = Policy {
            backoff_base: Duration::ZERO,
            backoff_cap: Duration::ZERO,
            ..Policy::default()
        };
        let mut backoff = Backoff::new(&none);
        assert!((0..40).all(|_| backoff.wait(0) >= SHORTEST / 10));
    }

    #[test]
    fn only_a_served_period_starts_the_waits_afresh() {
        let mut backoff = backoff();
        for _ in 0..4 {
            backoff.wait(0);
        }
        backoff.served(Duration::from_millis(4999));
        assert_eq!(backoff.failures(), 4);
        backoff.served(Duration::from_secs(5));
        assert_eq!(backoff.wait(u64::MAX).as_millis(), 100);
    }
}
