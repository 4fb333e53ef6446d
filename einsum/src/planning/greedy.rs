//! One pair after the other, the pair of least score first, among pairs that share a label.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Pair;
use super::neighbours::Neighbours;
use crate::cost::{Holders, Network};
use crate::tree::Labels;

/// The smallest result first; ties by lowest numbers.
pub(super) fn pairs(network: &Network) -> Vec<Pair> {
    pairs_by(network, |result, _, _| result)
}

/// The least `score` of the sizes of the result, the left and the right tensor first; ties by lowest numbers.
///
/// A pair's result never changes while both tensors live: a label that some third tensor holds stays held by whatever
/// that tensor is merged into. So candidates are scored once, and stale ones are dropped when they come up. Where a label
/// is on very many tensors, each is paired with some of them only; those that lose all their partners so are paired
/// again once nothing else is left.
pub(super) fn pairs_by(network: &Network, score: impl FnMut(f64, f64, f64) -> f64) -> Vec<Pair> {
    let operands = network.tensors.len();
    let mut greedy = Greedy {
        network,
        score,
        sizes: network.tensors.iter().map(|labels| network.size(labels)).collect(),
        tensors: network.tensors.iter().cloned().map(Some).collect(),
        holders: network.holders(),
        neighbours: Neighbours::new(network.extents.len()),
        candidates: BinaryHeap::with_capacity(2 * operands),
        seen: vec![u32::MAX; 2 * operands],
    };
    let mut pairs = Vec::with_capacity(operands.saturating_sub(1));
    for (number, labels) in network.tensors.iter().enumerate() {
        greedy.meet(number as u32, labels);
    }
    loop {
        let Some(Reverse((_, left, right))) = greedy.candidates.pop() else {
            if greedy.meet_again() {
                continue;
            }
            break;
        };
        let taken = (greedy.tensors[left as usize].is_some(), greedy.tensors[right as usize].is_some());
        if let (true, true) = taken
            && let (Some(a), Some(b)) = (greedy.take(left), greedy.take(right))
        {
            let result = network.result(&greedy.holders, &a, &b);
            greedy.holders.replace([a.as_slice(), b.as_slice()], &result);
            greedy.sizes.push(network.size(&result));
            greedy.tensors.push(Some(result.clone()));
            greedy.meet((operands + pairs.len()) as u32, &result);
            pairs.push((left as usize, right as usize));
        }
    }
    outer_products(&greedy.tensors, operands, &mut pairs);
    pairs
}

struct Greedy<'a, F> {
    network: &'a Network,
    score: F,
    sizes: Vec<f64>,
    /// By number; none once it is contracted.
    tensors: Vec<Option<Labels>>,
    holders: Holders,
    neighbours: Neighbours,
    candidates: BinaryHeap<Reverse<(u64, u32, u32)>>,
    /// Per tensor, the last tensor whose neighbour it was found to be.
    seen: Vec<u32>,
}

impl<F: FnMut(f64, f64, f64) -> f64> Greedy<'_, F> {
    /// Scores a new tensor with live ones that share a label.
    fn meet(&mut self, number: u32, labels: &Labels) {
        for &label in labels {
            for &neighbour in self.neighbours.with(label) {
                if self.seen[neighbour as usize] == number {
                    continue;
                }
                self.seen[neighbour as usize] = number;
                if let Some(other) = &self.tensors[neighbour as usize] {
                    let result = self.network.result_size(&self.holders, other, labels);
                    let sizes = (self.sizes[neighbour as usize], self.sizes[number as usize]);
                    let score = (self.score)(result, sizes.0, sizes.1);
                    self.candidates.push(Reverse((order(score), neighbour, number)));
                }
            }
        }
        self.neighbours.add(number, labels);
    }

    fn take(&mut self, number: u32) -> Option<Labels> {
        let labels = self.tensors[number as usize].take()?;
        self.neighbours.remove(number, &labels);
        Some(labels)
    }

    /// Pairs all live tensors anew; whether any share a label.
    fn meet_again(&mut self) -> bool {
        self.neighbours = Neighbours::new(self.network.extents.len());
        self.seen.fill(u32::MAX);
        for number in 0..self.tensors.len() {
            if let Some(labels) = self.tensors[number].clone() {
                self.meet(number as u32, &labels);
            }
        }
        !self.candidates.is_empty()
    }
}

/// What shares no label with anything left never will again: lowest numbers first.
fn outer_products(tensors: &[Option<Labels>], operands: usize, pairs: &mut Vec<Pair>) {
    let mut left: Vec<usize> = (0..tensors.len()).filter(|&number| tensors[number].is_some()).collect();
    let mut front = 0;
    while front + 1 < left.len() {
        left.push(operands + pairs.len());
        pairs.push((left[front], left[front + 1]));
        front += 2;
    }
}

/// An integer that sorts as the float does.
fn order(score: f64) -> u64 {
    let bits = score.to_bits();
    if bits >> 63 == 0 { bits ^ (1 << 63) } else { !bits }
}
