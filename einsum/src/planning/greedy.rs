//! Smallest result first, among pairs that share a label; ties by lowest numbers.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::Pair;
use crate::cost::Network;

/// A pair's score never changes while both tensors live: a label that some third tensor holds stays held by whatever
/// that tensor is merged into. So candidates are scored once, and stale ones are dropped when they come up.
pub(super) fn pairs(network: &Network) -> Vec<Pair> {
    let operands = network.tensors.len();
    let mut tensors: Vec<Option<Vec<u32>>> = network.tensors.iter().cloned().map(Some).collect();
    let mut holders = network.holders();
    let mut held_by: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); network.extents.len()];
    let mut candidates: BinaryHeap<Reverse<(u64, usize, usize)>> = BinaryHeap::new();
    let mut pairs = Vec::with_capacity(operands.saturating_sub(1));

    for (number, labels) in network.tensors.iter().enumerate() {
        let neighbours: BTreeSet<usize> = labels.iter().flat_map(|&label| &held_by[label as usize]).copied().collect();
        for neighbour in neighbours {
            let size = network.result_size(&holders, &network.tensors[neighbour], labels);
            candidates.push(Reverse((order(size), neighbour, number)));
        }
        labels.iter().for_each(|&label| _ = held_by[label as usize].insert(number));
    }

    while let Some(Reverse((_, left, right))) = candidates.pop() {
        let (Some(a), Some(b)) = (&tensors[left], &tensors[right]) else { continue };
        let result = network.result(&holders, a, b);
        holders.replace([a.as_slice(), b.as_slice()], &result);
        a.iter().for_each(|&label| _ = held_by[label as usize].remove(&left));
        b.iter().for_each(|&label| _ = held_by[label as usize].remove(&right));
        (tensors[left], tensors[right]) = (None, None);

        let number = operands + pairs.len();
        let neighbours: BTreeSet<usize> = result.iter().flat_map(|&label| &held_by[label as usize]).copied().collect();
        for neighbour in neighbours {
            if let Some(labels) = &tensors[neighbour] {
                let size = network.result_size(&holders, labels, &result);
                candidates.push(Reverse((order(size), neighbour, number)));
            }
        }
        result.iter().for_each(|&label| _ = held_by[label as usize].insert(number));
        tensors.push(Some(result));
        pairs.push((left, right));
    }
    outer_products(&tensors, operands, &mut pairs);
    pairs
}

/// What shares no label with anything left never will again: lowest numbers first.
fn outer_products(tensors: &[Option<Vec<u32>>], operands: usize, pairs: &mut Vec<Pair>) {
    let mut left: Vec<usize> = (0..tensors.len()).filter(|&number| tensors[number].is_some()).collect();
    let mut front = 0;
    while front + 1 < left.len() {
        left.push(operands + pairs.len());
        pairs.push((left[front], left[front + 1]));
        front += 2;
    }
}

/// Bits of floats that are not negative sort as the floats do.
fn order(size: f64) -> u64 {
    size.to_bits()
}
