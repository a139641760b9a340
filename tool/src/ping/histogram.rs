//! How round trips are spread, as figures and as bars.

use std::time::Duration;

use serde_json::{Value as Json, json};

/// Round trips, sorted.
#[derive(Debug)]
pub(crate) struct Histogram(Vec<Duration>);

/// A range of round trips, `[from, to)`, and how many fell into it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Bucket {
    pub(crate) from: Duration,
    pub(crate) to: Duration,
    pub(crate) count: usize,
}

/// Bars of the tallest bucket.
const WIDTH: usize = 40;
/// Buckets of an octave: each is 2^(1/4) wide, 19 %.
const STEPS: i32 = 4;
/// More than this are put together two by two.
const ROWS: usize = 20;

impl Histogram {
    pub(crate) fn new(mut trips: Vec<Duration>) -> Self {
        trips.sort_unstable();
        Self(trips)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The smallest round trip that `percent` of all do not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let rank = (self.0.len() * percent).div_ceil(100).max(1) - 1;
        self.0.get(rank).copied().unwrap_or_default()
    }

    pub(crate) fn mean(&self) -> Duration {
        let sum: Duration = self.0.iter().sum();
        sum.checked_div(u32::try_from(self.0.len()).unwrap_or(u32::MAX)).unwrap_or_default()
    }

    /// From the bucket of the shortest to that of the longest, the empty ones in between included.
    pub(crate) fn buckets(&self) -> Vec<Bucket> {
        let (Some(first), Some(last)) = (self.0.first(), self.0.last()) else { return Vec::new() };
        let (low, high) = (step(*first), step(*last));
        let mut width = 1;
        while usize::try_from((high - low) / width + 1).unwrap_or_default() > ROWS {
            width *= 2;
        }
        let mut buckets = Vec::new();
        let mut left = self.0.as_slice();
        let mut at = low;
        while at <= high {
            let below = left.partition_point(|trip| step(*trip) < at + width);
            let (from, to) = (edge(at), edge(at + width));
            buckets.push(Bucket { from, to, count: below });
            left = left.get(below..).unwrap_or_default();
            at += width;
        }
        buckets
    }

    pub(crate) fn json(&self) -> Json {
        let buckets = self.buckets().into_iter().map(|Bucket { from, to, count }| {
            json!({ "from_us": micros(from), "to_us": micros(to), "count": count })
        });
        json!({
            "min_us": micros(self.percentile(0)),
            "mean_us": micros(self.mean()),
            "p50_us": micros(self.percentile(50)),
            "p90_us": micros(self.percentile(90)),
            "p99_us": micros(self.percentile(99)),
            "max_us": micros(self.percentile(100)),
            "histogram": buckets.collect::<Vec<_>>(),
        })
    }
}

/// As long as its count is large, in eighths of a character; something for the smallest count.
pub(crate) fn bar(count: usize, most: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (count * WIDTH * 8).div_ceil(most.max(1));
    let part = PARTS.get(eighths % 8).copied().unwrap_or_default();
    format!("{}{part}", "█".repeat(eighths / 8))
}

/// The bucket of a round trip. Microseconds and above; all below share one.
fn step(trip: Duration) -> i32 {
    let micros = (trip.as_secs_f64() * 1e6).max(1.0);
    #[allow(clippy::cast_possible_truncation, reason = "a logarithm of a duration is small")]
    let step = (micros.log2() * f64::from(STEPS)).floor() as i32;
    step
}

fn edge(step: i32) -> Duration {
    Duration::from_secs_f64((f64::from(step) / f64::from(STEPS)).exp2() / 1e6)
}

pub(crate) fn micros(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e7).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(micros: impl IntoIterator<Item = u64>) -> Histogram {
        Histogram::new(micros.into_iter().map(Duration::from_micros).collect())
    }

    #[test]
    fn percentiles_are_round_trips_that_were_measured() {
        let histogram = of((1..=100).rev());
        let percentile = |percent| histogram.percentile(percent).as_micros();
        assert_eq!([0, 50, 90, 99, 100].map(percentile), [1, 50, 90, 99, 100]);
        assert_eq!(histogram.mean(), Duration::from_nanos(50_500));
        assert_eq!(of([]).percentile(50), Duration::ZERO);
    }

    #[test]
    fn every_round_trip_is_in_one_bucket_and_no_row_is_missing() {
        for trips in [vec![0, 1, 5_000_000], (40..90).collect(), vec![70; 9], vec![3, 1000]] {
            let (count, buckets) = (trips.len(), of(trips.clone()).buckets());
            assert_eq!(buckets.iter().map(|bucket| bucket.count).sum::<usize>(), count);
            assert!(buckets.len() <= ROWS, "{buckets:?}");
            assert!(buckets.windows(2).all(|pair| pair[0].to == pair[1].from), "{buckets:?}");
            assert!(buckets[0].count > 0 && buckets[buckets.len() - 1].count > 0);
        }
        assert_eq!(of([]).buckets(), []);
    }

    #[test]
    fn the_tallest_bar_fills_the_width_and_the_smallest_is_seen() {
        assert_eq!(bar(7, 7), "█".repeat(WIDTH));
        assert_eq!(bar(1, 1_000_000), "▏");
        assert_eq!(bar(0, 9), "");
    }
}
