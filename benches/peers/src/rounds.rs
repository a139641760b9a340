//! Contenders take turns, round after round, so that what the machine does meets them all alike.

use crate::meter::Cost;

/// A contender's medians over all rounds.
#[derive(Debug, Clone)]
pub struct Row {
    pub name: &'static str,
    pub cost: Cost,
    /// Of its time, or its CPU time, to the first contender's of the same round.
    pub wall_ratio: f64,
    pub cpu_ratio: f64,
}

/// One contender: does its work once and says what an operation cost.
pub type Turn<'a> = Box<dyn FnMut() -> Cost + 'a>;

/// Runs every contender once to warm up, then `rounds` times in turn.
pub fn compare(rounds: usize, contenders: &mut [(&'static str, Turn<'_>)]) -> Vec<Row> {
    for (_, turn) in &mut *contenders {
        turn();
    }
    let mut costs = vec![Vec::with_capacity(rounds); contenders.len()];
    for _ in 0..rounds {
        for ((_, turn), costs) in contenders.iter_mut().zip(&mut costs) {
            costs.push(turn());
        }
    }
    let first = costs.first().cloned().unwrap_or_default();
    let of = |costs: &[Cost], what: fn(&Cost) -> f64| median(costs.iter().map(what));
    let ratio = |costs: &[Cost], what: fn(&Cost) -> f64| {
        median(costs.iter().zip(&first).map(|(cost, first)| what(cost) / what(first)))
    };
    contenders
        .iter()
        .zip(&costs)
        .map(|((name, _), costs)| Row {
            name,
            cost: Cost {
                wall: of(costs, |cost| cost.wall),
                cpu: of(costs, |cost| cost.cpu),
                allocations: of(costs, |cost| cost.allocations),
            },
            wall_ratio: ratio(costs, |cost| cost.wall),
            cpu_ratio: ratio(costs, |cost| cost.cpu),
        })
        .collect()
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
