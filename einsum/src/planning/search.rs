//! The recipe of every search: a start, local improvement, annealing, local improvement again.
//!
//! Gray and Kourtis (2021) for the starts and the subtrees, Kalachev et al. (2021) for the annealing.

use std::num::NonZero;

use super::anneal::{Schedule, anneal};
use super::frame::{Columns, Frame, Rooted};
use super::rng::Random;
use super::tries::{Found, Search, Watch, best_of};
use super::{Pair, greedy, random_greedy, slicing, subtree};
use crate::cost::Network;
use crate::objective::Goal;

/// How much of everything a search does.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// Independent tries.
    pub tries: NonZero<u32>,
    /// Orders among which a try starts from the best. The first order of the first try is the plain greedy one, all
    /// others are randomised.
    pub starts: u32,
    /// Passes of local improvement at a time; 0 leaves it out.
    pub passes: u32,
    /// Rounds of annealing, each followed by local improvement.
    pub rounds: u32,
    pub schedule: Schedule,
}

impl Effort {
    /// Randomised greedy orders, improved locally.
    pub fn greedy(tries: NonZero<u32>) -> Self {
        Self { tries, starts: 1, passes: PASSES, rounds: 0, schedule: Schedule::through(0, 0) }
    }

    /// One annealing a try.
    pub fn annealing(tries: NonZero<u32>, temperatures: u32, sweeps: u32) -> Self {
        Self { tries, starts: 1, passes: PASSES, rounds: 1, schedule: Schedule::through(temperatures, sweeps) }
    }
}

/// Passes of local improvement in a thorough search; few trees need so many.
const PASSES: u32 = 20;

/// About the work of one step of a try below which threads do not pay, in steps of a tree.
const LONG: u64 = 20_000;

pub(super) fn run(network: &Network, goal: &Goal, seed: u64, effort: Effort, search: &Search<'_>) -> Found {
    let columns = if goal.memory_limit.is_some() { Columns::Single } else { Columns::Merged };
    let frame = Frame::new(network, goal.objective, columns);
    let steps = network.tensors.len() as u64;
    let Effort { starts, rounds, schedule, .. } = effort;
    let each = u64::from(starts) * 20
        + u64::from(effort.passes) * 100
        + u64::from(rounds) * u64::from(schedule.temperatures) * u64::from(schedule.sweeps);
    let is_long = steps * each * u64::from(effort.tries.get()) > LONG;
    best_of(effort.tries, search, is_long, |index, watch| {
        let mut random = Random::new(seed, index);
        attempt(network, &frame, goal, effort, index, &mut random, watch)
    })
}

fn attempt(
    network: &Network,
    frame: &Frame,
    goal: &Goal,
    effort: Effort,
    index: u32,
    random: &mut Random,
    watch: &Watch<'_>,
) -> Found {
    let mut best: Option<Rooted> = None;
    for start in 0..effort.starts.max(1) {
        if best.is_some() && watch.is_cancelled() {
            break;
        }
        let pairs = match index == 0 && start == 0 {
            true => greedy::pairs(network),
            false => random_greedy::pairs(network, random),
        };
        let tree = Rooted::new(frame, &pairs);
        if best.as_ref().is_none_or(|best| tree.score(frame, 1.0).better_than(best.score(frame, 1.0))) {
            best = Some(tree);
        }
    }
    let mut best = best.unwrap_or_else(|| Rooted::new(frame, &greedy::pairs(network)));
    let mut tree = best.clone();
    // Where the goal is time, flops lead: their landscape is smoother, and what is good is good in both. Only the last
    // round is about time itself.
    let rough = frame.with_objective(goal.objective.guide());
    if rough.objective != frame.objective && effort.rounds > 0 {
        tree.measure(&rough);
    }
    for round in 0..effort.rounds {
        subtree::improve(&rough, &mut tree, effort.passes, f64::INFINITY);
        let schedule = if round == 0 { effort.schedule } else { effort.schedule.cooler() };
        anneal(&rough, &mut tree, schedule, random, watch);
        if watch.is_cancelled() {
            break;
        }
    }
    if rough.objective != frame.objective && effort.rounds > 0 {
        subtree::improve(&rough, &mut tree, effort.passes, f64::INFINITY);
        tree.measure(frame);
        anneal(frame, &mut tree, effort.schedule.cold(), random, watch);
    }
    subtree::improve(frame, &mut tree, effort.passes, f64::INFINITY);
    if tree.score(frame, 1.0).better_than(best.score(frame, 1.0)) {
        best = tree;
    }
    finish(frame, best, goal, effort.passes)
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
    Found { score, flops: count * tree.total_flops(), peak: tree.peak(), pairs: tree.pairs(), slices }
}

/// The labels to slice when the order is given.
pub(super) fn slices(network: &Network, pairs: &[Pair], goal: &Goal) -> Vec<u32> {
    if goal.memory_limit.is_none() {
        return Vec::new();
    }
    let frame = Frame::new(network, goal.objective, Columns::Single);
    finish(&frame, Rooted::new(&frame, pairs), goal, 0).slices
}
