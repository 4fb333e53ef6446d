//! The best order there is, for a few operands.

use super::exact::{Edge, Exact, Set, Worth};
use super::frame::{Columns, Frame, Rooted, columns};
use super::tries::Found;
use super::{Pair, greedy, left_to_right, search};
use crate::cost::Network;
use crate::objective::{Goal, Objective};

/// The most operands the exact search takes: its time triples with each one.
pub const LIMIT: usize = 14;

pub(super) fn plan(network: &Network, goal: &Goal) -> Found {
    let free = pairs(network, goal.objective, None);
    let free = search::given(network, free.unwrap_or_else(|| left_to_right::pairs(network.tensors.len())), goal);
    let within = goal.memory_limit.filter(|_| !free.slices.is_empty());
    let within = within.and_then(|limit| pairs(network, goal.objective, Some(limit as f64)));
    match within.map(|pairs| search::given(network, pairs, goal)) {
        Some(within) if within.score.better_than(free.score) => within,
        _ => free,
    }
}

/// The best order whose results all are within the limit, if there is one.
fn pairs(network: &Network, objective: Objective, limit: Option<f64>) -> Option<Vec<Pair>> {
    let operands = network.tensors.len();
    if operands < 3 {
        return None;
    }
    let greedy = greedy::pairs(network);
    let frame = Frame::new(network, objective, Columns::Merged);
    let tree = Rooted::new(&frame, &greedy);
    let mut edges: Vec<Edge> = frame.extents.iter().map(|&extent| Edge { holders: 0, open: false, extent }).collect();
    for leaf in 0..operands {
        columns(tree.set(leaf)).for_each(|column| edges[column].holders |= 1 << leaf);
    }
    columns(frame.output()).for_each(|column| edges[column].open = true);
    let fits = limit.is_none_or(|limit| tree.inner().rev().skip(1).all(|node| tree.sizes[node] <= limit));
    let now = match fits {
        true => tree.worth(tree.inner()),
        false => Worth { shares: f64::INFINITY, flops: f64::INFINITY, peak: f64::INFINITY },
    };
    let mut exact = Exact::default();
    if !exact.better(operands, &edges, objective, now, limit.unwrap_or(f64::INFINITY)) {
        return fits.then_some(greedy);
    }
    let mut pairs = Vec::with_capacity(operands - 1);
    emit((1 << operands) - 1, &exact, operands, &mut pairs);
    // The shares of a weighted objective are not its score.
    let found = Rooted::new(&frame, &pairs).score(&frame, 1.0);
    let is_worse = fits && tree.score(&frame, 1.0).better_than(found);
    Some(if is_worse { greedy } else { pairs })
}

/// Appends the steps that make `set` and returns the number of its tensor.
fn emit(set: Set, exact: &Exact, operands: usize, pairs: &mut Vec<Pair>) -> usize {
    let left = exact.split(set);
    if left == set {
        return set.trailing_zeros() as usize;
    }
    let pair = (emit(left, exact, operands, pairs), emit(set ^ left, exact, operands, pairs));
    pairs.push(pair);
    operands + pairs.len() - 1
}
