//! The default: an effort in proportion to the predicted time of what it plans.
//!
//! Stages of growing effort, each a whole search, until the next is not worth its time. Times are predicted throughout,
//! never measured, so that the plan depends on the network alone. What is so large that even the first stage takes too
//! long stays greedy.

use std::num::NonZero;

use super::anneal::Schedule;
use super::search::{self, Effort};
use super::tries::{Found, Watch};
use super::{greedy, optimal};
use crate::cost::Network;
use crate::objective::Goal;

/// Up to here the exact search takes some ten microseconds.
const EXACT: usize = 8;
/// How often a plan is thought to be used: planning may take as long as so many contractions,
const USES: f64 = 10.0;
/// and so many nanoseconds for each pair of tensors, since what is large gains most.
const PAIR: f64 = 4000.0;
/// In nanoseconds on one thread, what all stages together may take.
const LONGEST: f64 = 4e8;
/// By what part a stage must shorten the predicted time for the next to be worth more than one contraction.
const GAIN: f64 = 0.05;

/// Nanoseconds of a local rewrite, of the search in a small subtree, and of a tensor's part in a greedy order.
const REWRITE: f64 = 50.0;
const SUBTREE: f64 = 5000.0;
const ORDER: f64 = 1500.0;
/// The labels whose sets take as long as all else in a rewrite.
const WIDE: f64 = 1000.0;

pub(super) fn plan(network: &Network, goal: &Goal, watch: &Watch<'_>) -> Found {
    let tensors = network.tensors.len();
    if tensors <= EXACT {
        return optimal::plan(network, goal);
    }
    let mut best = search::given(network, greedy::pairs(network), goal);
    let mut spent = ORDER * tensors as f64;
    // Sets of labels are a bit for each: where there are many, all that is done with them takes longer.
    let width = 1.0 + network.extents.len() as f64 / WIDE;
    let pairs = (tensors * tensors) as f64;
    for stage in 0.. {
        let effort = effort(stage);
        spent += width * effort.time(tensors);
        if spent > LONGEST.min(USES * best.time + PAIR * pairs) {
            break;
        }
        let found = search::run(network, goal, stage.into(), effort, watch);
        let gains = found.time < (1.0 - GAIN) * best.time;
        if found.score.better_than(best.score) {
            best = found;
        }
        if watch.is_cancelled() || (!gains && spent > best.time) {
            break;
        }
    }
    best
}

/// One quick try, then several thorough ones that take twice as long with each stage.
fn effort(stage: u32) -> Effort {
    let sweeps = 4u32.saturating_mul(1u32.checked_shl(stage).unwrap_or(u32::MAX));
    let quick = stage == 0;
    Effort {
        tries: if quick { NonZero::<u32>::MIN } else { NonZero::<u32>::MIN.saturating_add(3) },
        starts: 2,
        passes: if quick { 0 } else { 4 },
        annealing: Some(Schedule { betas: (1.0, 10.0), temperatures: if quick { 20 } else { 40 }, sweeps }),
    }
}

impl Effort {
    /// Predicted nanoseconds for so many tensors.
    fn time(&self, tensors: usize) -> f64 {
        let orders = ORDER * f64::from(self.starts);
        // Passes after the second find little changed.
        let subtrees = 2.0 * SUBTREE * f64::from(self.passes.min(2));
        // Half as much again for the end, which is annealed over the whole network.
        let rewrites = self
            .annealing
            .map_or(0.0, |schedule| 1.5 * REWRITE * f64::from(schedule.temperatures) * f64::from(schedule.sweeps));
        f64::from(self.tries.get()) * tensors as f64 * (orders + subtrees + rewrites)
    }
}
