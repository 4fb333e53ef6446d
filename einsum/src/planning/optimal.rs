//! The cheapest order, by dynamic programming over subsets of the operands.
//!
//! Selinger et al., "Access path selection in a relational database management system" (1979), for joins; the greedy
//! cost bounds the search, so outer products are tried where they can pay and nowhere else.

use std::collections::BTreeMap;

use super::{Pair, greedy, left_to_right};
use crate::cost::{Network, product};

/// The most operands the exact search takes: its time triples with each one.
pub const LIMIT: usize = 14;

type Set = u32;

/// All labels with the same holders, as one: `extent` is the product of theirs.
struct Edge {
    holders: Set,
    open: bool,
    extent: f64,
}

impl Edge {
    /// Whether the product of the operands in `set` still carries the label.
    fn on(&self, set: Set) -> bool {
        self.holders & set != 0 && (self.open || self.holders & !set != 0)
    }
}

/// How the product of a subset is best made; a subset that no plan within the bound makes has `split` 0.
#[derive(Clone, Copy)]
struct Best {
    cost: f64,
    split: Set,
}

pub(super) fn pairs(network: &Network) -> Vec<Pair> {
    let operands = network.tensors.len();
    if operands < 3 {
        return left_to_right::pairs(operands);
    }
    let greedy = greedy::pairs(network);
    let edges = edges(network);
    // The slack keeps plans as good as the greedy one when their sums round differently.
    let bound = network.cost(&greedy) * (1.0 + 1e-9);

    let full: Set = (1 << operands) - 1;
    let mut best = vec![Best { cost: 0.0, split: 0 }; 1 << operands];
    for set in 1..=full {
        let low = set & set.wrapping_neg();
        let rest = set ^ low;
        if rest == 0 {
            // A single operand costs nothing, and is its own split.
            best[set as usize].split = set;
            continue;
        }
        let mut found = Best { cost: bound, split: 0 };
        let mut part = rest;
        while part != 0 {
            part = (part - 1) & rest;
            let (left, right) = (low | part, rest ^ part);
            let (a, b) = (best[left as usize], best[right as usize]);
            if a.split == 0 || b.split == 0 || a.cost + b.cost > found.cost {
                continue;
            }
            let step = product(edges.iter().filter(|edge| edge.on(left) || edge.on(right)).map(|edge| edge.extent));
            let cost = a.cost + b.cost + step;
            if cost < found.cost || (found.split == 0 && cost <= bound) {
                found = Best { cost, split: left };
            }
        }
        best[set as usize] = found;
    }
    if best[full as usize].split == 0 {
        return greedy;
    }
    let mut pairs = Vec::with_capacity(operands - 1);
    emit(full, &best, operands, &mut pairs);
    pairs
}

fn edges(network: &Network) -> Vec<Edge> {
    let mut holders: Vec<Set> = vec![0; network.extents.len()];
    for (number, labels) in network.tensors.iter().enumerate() {
        labels.iter().for_each(|&label| holders[label as usize] |= 1 << number);
    }
    let mut merged: BTreeMap<(Set, bool), f64> = BTreeMap::new();
    for (label, &held) in holders.iter().enumerate().filter(|&(_, &held)| held != 0) {
        let extent = merged.entry((held, network.open[label])).or_insert(1.0);
        *extent = product([*extent, network.extents[label]]);
    }
    merged.into_iter().map(|((holders, open), extent)| Edge { holders, open, extent }).collect()
}

/// Appends the steps that make `set` and returns the number of its tensor.
fn emit(set: Set, best: &[Best], operands: usize, pairs: &mut Vec<Pair>) -> usize {
    let left = best[set as usize].split;
    if left == set {
        return set.trailing_zeros() as usize;
    }
    let pair = (emit(left, best, operands, pairs), emit(set ^ left, best, operands, pairs));
    pairs.push(pair);
    operands + pairs.len() - 1
}
