//! Orders of contraction, one file a method.
//!
//! A method turns a network into pairs of tensor numbers: operands are `0..n`, and the result of step `s` is `n + s`.

mod auto;
mod greedy;
mod left_to_right;
mod optimal;
mod pairwise;
pub(crate) mod path;

use std::borrow::Cow;
use std::fmt;

use tenferro_core::{Error, Result};

use crate::cost::Network;

/// The two tensors of one step.
pub(crate) type Pair = (usize, usize);

/// How the order of contraction is found; part of the payload, free of extents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EinsumOptimize {
    /// The library chooses a method.
    #[default]
    Auto,
    /// Each step takes the pair of tensors sharing a label whose result is smallest, ties by lowest numbers.
    Greedy,
    /// The first operand with the second, the result with the third, and so on.
    LeftToRight,
    /// Positions (0, 1) of the current list until one tensor is left, results appended.
    Pairwise,
    /// The cheapest order there is, by dynamic programming; for at most [`OPTIMAL_LIMIT`] operands.
    Optimal,
    /// Positions in the current list, results appended, as in `opt_einsum` and JAX.
    Path(Cow<'static, [(u32, u32)]>),
}

pub use optimal::LIMIT as OPTIMAL_LIMIT;

impl EinsumOptimize {
    /// Checks the plan against the number of operands.
    pub(crate) fn check(&self, operands: usize) -> Result<()> {
        let (option, message) = match self {
            EinsumOptimize::Path(positions) => match path::check(positions, operands) {
                Ok(()) => return Ok(()),
                Err(message) => ("path", message),
            },
            EinsumOptimize::Optimal if operands > OPTIMAL_LIMIT => {
                ("optimize", format!("is `optimal`, which takes at most {OPTIMAL_LIMIT} operands, not {operands}"))
            }
            _ => return Ok(()),
        };
        Err(Error::argument("einsum", option, message))
    }

    /// The order, where it does not depend on extents.
    pub(crate) fn fixed(&self, operands: usize) -> Option<Vec<Pair>> {
        match self {
            EinsumOptimize::Path(positions) => Some(path::from_positions(positions, operands)),
            EinsumOptimize::LeftToRight => Some(left_to_right::pairs(operands)),
            EinsumOptimize::Pairwise => Some(pairwise::pairs(operands)),
            EinsumOptimize::Auto | EinsumOptimize::Greedy | EinsumOptimize::Optimal => None,
        }
    }

    /// The order for a network.
    pub(crate) fn pairs(&self, network: &Network) -> Vec<Pair> {
        self.fixed(network.tensors.len()).unwrap_or_else(|| match self {
            EinsumOptimize::Greedy => greedy::pairs(network),
            EinsumOptimize::Optimal => optimal::pairs(network),
            _ => auto::pairs(network),
        })
    }
}

impl fmt::Display for EinsumOptimize {
    /// As the language writes it: `optimize = greedy`, `path = [(0, 1)]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let method = match self {
            EinsumOptimize::Auto => "auto",
            EinsumOptimize::Greedy => "greedy",
            EinsumOptimize::LeftToRight => "left_to_right",
            EinsumOptimize::Pairwise => "pairwise",
            EinsumOptimize::Optimal => "optimal",
            EinsumOptimize::Path(positions) => return write!(f, "path = {positions:?}"),
        };
        write!(f, "optimize = {method}")
    }
}
