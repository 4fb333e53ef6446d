//! The best order there is, for a few operands.

use super::exact::{Edge, Exact, Set};
use super::frame::{Columns, Frame, Rooted, columns};
use super::{Pair, greedy, left_to_right};
use crate::cost::Network;
use crate::objective::Objective;

/// The most operands the exact search takes: its time triples with each one.
pub const LIMIT: usize = 14;

pub(super) fn pairs(network: &Network, objective: Objective) -> Vec<Pair> {
    let operands = network.tensors.len();
    if operands < 3 {
        return left_to_right::pairs(operands);
    }
    let greedy = greedy::pairs(network);
    let frame = Frame::new(network, objective, Columns::Merged);
    let tree = Rooted::new(&frame, &greedy);
    let mut edges: Vec<Edge> = frame.extents.iter().map(|&extent| Edge { holders: 0, open: false, extent }).collect();
    for leaf in 0..operands {
        columns(tree.set(leaf)).for_each(|column| edges[column].holders |= 1 << leaf);
    }
    columns(frame.output()).for_each(|column| edges[column].open = true);
    let mut exact = Exact::default();
    let bound: f64 = tree.shares.iter().sum();
    if !exact.search(operands, &edges, objective, bound, f64::INFINITY) {
        return greedy;
    }
    let mut pairs = Vec::with_capacity(operands - 1);
    emit((1 << operands) - 1, &exact, operands, &mut pairs);
    pairs
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
