//! Orders of contraction, one file a method.
//!
//! A method turns a network into pairs of tensor numbers: operands are `0..n`, and the result of step `s` is `n + s`.

mod anneal;
mod auto;
mod exact;
mod frame;
mod greedy;
mod left_to_right;
mod neighbours;
mod nested;
mod optimal;
mod pairwise;
pub(crate) mod path;
mod random_greedy;
mod rng;
mod search;
mod simplify;
mod slicing;
mod subtree;
mod tries;

use std::borrow::Cow;
use std::fmt;
use std::num::NonZero;

use tenferro_core::{Error, Result};

use crate::cost::Network;
use crate::objective::Goal;

pub(crate) use nested::DEPTH as NESTED_DEPTH;
pub use nested::Nested;
pub use optimal::LIMIT as OPTIMAL_LIMIT;
pub(crate) use tries::Watch;
pub use tries::{Progress, Search, Tell};

/// The two tensors of one step.
pub(crate) type Pair = (usize, usize);

/// How the order of contraction is found; part of the payload, free of extents.
///
/// What is found depends on the equation, the extents, the [`Goal`] and this, never on the clock or on how many threads
/// look for it; it may depend on the platform and the compiler, whose floating-point functions differ in the last bit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EinsumOptimize {
    /// The library chooses a method, with an effort in proportion to what the contraction is predicted to take.
    #[default]
    Auto,
    /// Each step takes the pair of tensors sharing a label whose result is smallest, ties by lowest numbers. Of the many
    /// tensors that share one label, each is paired with 128 at a time.
    Greedy,
    /// The first operand with the second, the result with the third, and so on.
    LeftToRight,
    /// Positions (0, 1) of the current list until one tensor is left, results appended.
    Pairwise,
    /// The best order there is for [`Objective::Time`](crate::Objective::Time), `Flops` and `Size`, by dynamic
    /// programming; for at most [`OPTIMAL_LIMIT`] operands. For `Weighted` a good one, no worse than the greedy one: its
    /// logarithms are no sum over the steps. Under a memory limit it is the best order of all once that is sliced, or the
    /// best of those that need no slices. Extents of 0 count as 1.
    Optimal,
    /// The best of greedy orders with a randomised rule, each improved by exact search over small subtrees.
    RandomGreedy {
        /// The number of orders; the first is the plain greedy one.
        trials: u32,
        /// Where the random numbers start.
        seed: u64,
    },
    /// The best of several annealings, each from a greedy order of its own, over local rewrites of the tree.
    /// [`EinsumOptimize::tree_sa`] has the usual numbers.
    TreeSA {
        /// The number of inverse temperatures, evenly from 0.01 to 15.
        nbetas: u32,
        /// The number of annealings.
        ntrials: u32,
        /// Passes over the tree at each temperature.
        niters: u32,
        /// Where the random numbers start.
        seed: u64,
    },
    /// Nested groups, as parentheses write them.
    Nested(Nested),
    /// Positions in the current list, results appended, as in `opt_einsum` and JAX.
    Path(Cow<'static, [(u32, u32)]>),
    /// A contraction tree given whole, as [`ContractionTree::plan`](crate::ContractionTree::plan) gives it.
    Tree {
        /// The two tensors of each step: operands are `0..n`, and the result of step `s` is `n + s`.
        pairs: Cow<'static, [(u32, u32)]>,
        /// The labels that are sliced, as [`EinsumOp`](crate::EinsumOp) numbers them: from 0 by first occurrence among
        /// the operands, whatever labels the equation was given in. [`EinsumOp::label`](crate::EinsumOp::label) gives
        /// the number on an axis.
        slices: Cow<'static, [u32]>,
    },
}

impl EinsumOptimize {
    /// Annealing with ten trials of 300 temperatures and 50 passes at each.
    pub const fn tree_sa(seed: u64) -> Self {
        EinsumOptimize::TreeSA { nbetas: 300, ntrials: 10, niters: 50, seed }
    }

    /// Checks the plan against the number of operands; the labels that it slices are checked by
    /// [`EinsumOp::with_plan`](crate::EinsumOp::with_plan).
    ///
    /// # Errors
    /// An order over another number of operands or with a tensor twice, a method that takes fewer, no trials.
    pub fn check(&self, operands: usize) -> Result<()> {
        let checked = match self {
            EinsumOptimize::Path(positions) => path::check(positions, operands).map_err(|e| ("path", e)),
            EinsumOptimize::Nested(nested) => nested.pairs(operands).map(drop).map_err(|e| ("nested", e)),
            EinsumOptimize::Tree { pairs, .. } => path::check_tree(pairs, operands).map_err(|e| ("tree", e)),
            EinsumOptimize::Optimal if operands > OPTIMAL_LIMIT => {
                Err(("optimize", format!("is `optimal`, which takes at most {OPTIMAL_LIMIT} operands, not {operands}")))
            }
            EinsumOptimize::RandomGreedy { trials: 0, .. } => Err(("trials", "is 0".to_owned())),
            EinsumOptimize::TreeSA { ntrials: 0, .. } => Err(("ntrials", "is 0".to_owned())),
            _ => Ok(()),
        };
        checked.map_err(|(argument, message)| Error::argument("einsum", argument, message))
    }

    /// The labels to slice that the plan names.
    pub(crate) fn slices(&self) -> &[u32] {
        match self {
            EinsumOptimize::Tree { slices, .. } => slices,
            _ => &[],
        }
    }

    /// The order, where it does not depend on extents; the plan must have been checked.
    pub(crate) fn fixed(&self, operands: usize) -> Option<Vec<Pair>> {
        match self {
            EinsumOptimize::Path(positions) => Some(path::from_positions(positions, operands)),
            EinsumOptimize::LeftToRight => Some(left_to_right::pairs(operands)),
            EinsumOptimize::Pairwise => Some(pairwise::pairs(operands)),
            EinsumOptimize::Nested(nested) => nested.pairs(operands).ok(),
            EinsumOptimize::Tree { pairs, .. } => {
                Some(pairs.iter().map(|&(left, right)| (left as usize, right as usize)).collect())
            }
            EinsumOptimize::Auto
            | EinsumOptimize::Greedy
            | EinsumOptimize::Optimal
            | EinsumOptimize::RandomGreedy { .. }
            | EinsumOptimize::TreeSA { .. } => None,
        }
    }

    /// The order for a network, and the labels to slice.
    pub(crate) fn plan(&self, network: &Network, goal: &Goal, watch: &Watch<'_>) -> (Vec<Pair>, Vec<u32>) {
        let tries = |count: u32| NonZero::new(count).unwrap_or(NonZero::<u32>::MIN);
        let found = match (self.fixed(network.tensors.len()), self) {
            (Some(pairs), plan) if goal.memory_limit.is_none() || !plan.slices().is_empty() => {
                return (pairs, plan.slices().to_vec());
            }
            (Some(pairs), _) => search::given(network, pairs, goal),
            (None, EinsumOptimize::Auto) => auto::plan(network, goal, watch),
            (None, EinsumOptimize::Optimal) => optimal::plan(network, goal),
            (None, &EinsumOptimize::RandomGreedy { trials, seed }) => {
                search::run(network, goal, seed, search::Effort::greedy(tries(trials)), watch)
            }
            (None, &EinsumOptimize::TreeSA { nbetas, ntrials, niters, seed }) => {
                search::run(network, goal, seed, search::Effort::annealing(tries(ntrials), nbetas, niters), watch)
            }
            // A plan that was checked is greedy here: those that are fixed have pairs.
            (
                None,
                EinsumOptimize::Greedy
                | EinsumOptimize::LeftToRight
                | EinsumOptimize::Pairwise
                | EinsumOptimize::Nested(_)
                | EinsumOptimize::Path(_)
                | EinsumOptimize::Tree { .. },
            ) => {
                let pairs = greedy::pairs(network);
                if goal.memory_limit.is_none() {
                    return (pairs, Vec::new());
                }
                search::given(network, pairs, goal)
            }
        };
        (found.pairs, found.slices)
    }
}

impl fmt::Display for EinsumOptimize {
    /// As a payload has it and [`str::parse`] reads it: `optimize = greedy`, `path = [(0, 1)]`. The language writes the
    /// same, trees excepted.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EinsumOptimize::Auto => f.write_str("optimize = auto"),
            EinsumOptimize::Greedy => f.write_str("optimize = greedy"),
            EinsumOptimize::LeftToRight => f.write_str("optimize = left_to_right"),
            EinsumOptimize::Pairwise => f.write_str("optimize = pairwise"),
            EinsumOptimize::Optimal => f.write_str("optimize = optimal"),
            EinsumOptimize::RandomGreedy { trials, seed } => {
                write!(f, "optimize = random_greedy(trials = {trials}, seed = {seed})")
            }
            EinsumOptimize::TreeSA { nbetas, ntrials, niters, seed } => write!(
                f,
                "optimize = tree_sa(nbetas = {nbetas}, ntrials = {ntrials}, niters = {niters}, seed = {seed})"
            ),
            EinsumOptimize::Nested(nested) => write!(f, "nested = {nested}"),
            EinsumOptimize::Path(positions) => write!(f, "path = {positions:?}"),
            EinsumOptimize::Tree { pairs, slices } => {
                write!(f, "tree = {pairs:?}")?;
                if slices.is_empty() { Ok(()) } else { write!(f, ", slices = {slices:?}") }
            }
        }
    }
}
