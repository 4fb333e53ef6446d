//! The recipe of every search: a start, local improvement, annealing, local improvement again.
//!
//! Gray and Kourtis (2021) for the starts and the subtrees, Kalachev et al. (2021) for the annealing.

use std::num::NonZero;

use super::anneal::{Schedule, anneal};
use super::frame::{Columns, Frame, Rooted};
use super::rng::Random;
use super::simplify::Simplified;
use super::tries::{Found, Watch, best_of};
use super::{Pair, greedy, random_greedy, slicing, subtree};
use crate::cost::Network;
use crate::objective::{Goal, Score};

/// How much of everything a search does.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// Independent tries.
    pub tries: NonZero<u32>,
    /// Randomised orders among which a try starts from the best. The first try has the plain greedy order besides.
    pub starts: u32,
    /// Passes of local improvement at a time; 0 leaves it out.
    pub passes: u32,
    pub annealing: Option<Schedule>,
}

impl Effort {
    /// Randomised greedy orders, improved locally.
    pub fn greedy(tries: NonZero<u32>) -> Self {
        Self { tries, starts: 1, passes: PASSES, annealing: None }
    }

    /// One annealing a try.
    pub fn annealing(tries: NonZero<u32>, temperatures: u32, sweeps: u32) -> Self {
        Self { tries, starts: 1, passes: PASSES, annealing: Some(Schedule::through(temperatures, sweeps)) }
    }
}

/// Passes of local improvement in a thorough search; few trees need so many.
const PASSES: u32 = 20;

/// The local rewrites, and what takes as long, from which a search is worth starting threads for.
const LONG: u64 = 20_000;

pub(super) fn run(network: &Network, goal: &Goal, seed: u64, effort: Effort, watch: &Watch<'_>) -> Found {
    let columns = if goal.memory_limit.is_some() { Columns::Single } else { Columns::Merged };
    let simplified = Simplified::new(network);
    let task = Task {
        network,
        goal,
        effort,
        whole: Frame::new(network, goal.objective, columns),
        core: Frame::new(&simplified.network, goal.objective.guide(), Columns::Merged),
        simplified,
    };
    let steps = network.tensors.len() as u64;
    let rewrites = |schedule: Schedule| u64::from(schedule.temperatures) * u64::from(schedule.sweeps);
    let local = u64::from(effort.starts) * 20 + u64::from(effort.passes) * 100;
    let each = local.saturating_add(effort.annealing.map_or(0, rewrites));
    let is_long = steps.saturating_mul(each).saturating_mul(effort.tries.get().into()) > LONG;
    best_of(effort.tries, watch, is_long, |index| task.attempt(index, &mut Random::new(seed, index), watch))
}

/// What all tries of a search have in common.
struct Task<'a> {
    network: &'a Network,
    goal: &'a Goal,
    effort: Effort,
    /// The network as it is, with the objective of the goal.
    whole: Frame,
    /// What is left of it after simplification, with the objective that guides.
    core: Frame,
    simplified: Simplified,
}

impl Task<'_> {
    /// One try. Where the goal is time, flops lead first: their landscape is smoother, and what is good is good in
    /// both.
    fn attempt(&self, index: u32, random: &mut Random, watch: &Watch<'_>) -> Found {
        let effort = self.effort;
        let mut best: Option<(Score, Rooted)> = None;
        let mut keep = |tree: &Rooted| {
            let score = tree.score(&self.whole, 1.0);
            match &mut best {
                Some((least, _)) if !score.better_than(*least) => {}
                Some((least, best)) => {
                    *least = score;
                    best.copy_from(tree);
                }
                None => best = Some((score, tree.clone())),
            }
        };
        if index == 0 {
            // No worse than the plain rule.
            let mut tree = Rooted::new(&self.whole, &greedy::pairs(self.network));
            keep(&tree);
            subtree::improve(&self.whole, &mut tree, effort.passes, f64::INFINITY);
            keep(&tree);
        }
        let mut tree = self.start(random, watch);
        subtree::improve(&self.core, &mut tree, effort.passes, f64::INFINITY);
        if let Some(schedule) = effort.annealing {
            anneal(&self.core, &mut tree, schedule, random, watch);
            subtree::improve(&self.core, &mut tree, effort.passes, f64::INFINITY);
        }
        let mut tree = Rooted::new(&self.whole, &self.simplified.expand(&tree.pairs()));
        if let Some(schedule) = effort.annealing {
            anneal(&self.whole, &mut tree, schedule.cold(), random, watch);
        }
        subtree::improve(&self.whole, &mut tree, effort.passes, f64::INFINITY);
        keep(&tree);
        let tree = best.map_or(tree, |(_, best)| best);
        finish(&self.whole, tree, self.goal, effort.passes)
    }

    /// The best of some randomised orders.
    fn start(&self, random: &mut Random, watch: &Watch<'_>) -> Rooted {
        let network = &self.simplified.network;
        let mut order = || Rooted::new(&self.core, &random_greedy::pairs(network, random));
        let mut best = order();
        for _ in 1..self.effort.starts {
            if watch.is_cancelled() {
                break;
            }
            let tree = order();
            if tree.score(&self.core, 1.0).better_than(best.score(&self.core, 1.0)) {
                best = tree;
            }
        }
        best
    }
}

/// The plan of a tree, sliced where the goal has a limit.
fn finish(frame: &Frame, mut tree: Rooted, goal: &Goal, passes: u32) -> Found {
    let mut slices = Vec::new();
    let mut count = 1.0;
    let mut sliced = frame.clone();
    if let Some(limit) = goal.memory_limit {
        let (columns, slices_of_all) = slicing::slice(&mut sliced, &mut tree, limit as f64, passes);
        count = slices_of_all;
        slices = columns.into_iter().flat_map(|column| frame.labels[column].iter().copied()).collect();
        slices.sort_unstable();
    }
    let score = tree.score(&sliced, count);
    let time = count * tree.time();
    Found { score, time, flops: count * tree.total_flops(), peak: tree.peak(), pairs: tree.pairs(), slices }
}

/// The plan of a given order, with labels sliced where the goal has a limit.
pub(super) fn given(network: &Network, pairs: Vec<Pair>, goal: &Goal) -> Found {
    let columns = if goal.memory_limit.is_some() { Columns::Single } else { Columns::Merged };
    let frame = Frame::new(network, goal.objective, columns);
    Found { pairs: pairs.clone(), ..finish(&frame, Rooted::new(&frame, &pairs), goal, 0) }
}
