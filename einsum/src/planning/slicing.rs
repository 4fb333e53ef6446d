//! Which labels to slice so that every result fits.
//!
//! Huang et al., "Efficient parallelization of tensor network contraction for simulating quantum computation" (2021):
//! one label after the other, interleaved with local improvements of the tree. Slicing a label fixes it at each of its
//! values in turn; steps without it are done again for each.

use super::frame::{Frame, Rooted, columns};
use super::subtree;
use crate::objective::StepCost;

/// Slices columns of a tree over a frame with single columns until no result but the last is larger than `limit`.
/// Gives the columns and the number of slices; the frame counts sliced columns with an extent of 1.
pub(super) fn slice(frame: &mut Frame, tree: &mut Rooted, limit: f64, rounds: u32) -> (Vec<usize>, f64) {
    let whole = frame.extents.clone();
    let mut sliced = Vec::new();
    while let Some(largest) = largest(frame, tree).filter(|&node| tree.sizes[node] > limit) {
        let candidates = columns(tree.set(largest)).filter(|&column| frame.extents[column] > 1.0);
        // The rise of the cost for each halving of the largest result.
        let price = |column: usize| (cost(frame, tree, column) / total(tree)).ln() / frame.extents[column].ln();
        let Some(column) = candidates.min_by(|&a, &b| price(a).total_cmp(&price(b))) else { break };
        frame.extents[column] = 1.0;
        sliced.push(column);
        tree.measure(frame);
        subtree::improve(frame, tree, rounds, limit);
    }
    drop_needless(frame, tree, limit, &whole, &mut sliced);
    sliced.sort_unstable();
    let slices = sliced.iter().fold(1.0, |slices: f64, &column| (slices * whole[column]).min(f64::MAX));
    (sliced, slices)
}

/// The largest tensor that takes memory and is not the last.
fn largest(frame: &Frame, tree: &Rooted) -> Option<usize> {
    let summed = (0..frame.leaves).filter(|&leaf| frame.summed[leaf]);
    let inner = tree.inner().take(tree.inner().len().saturating_sub(1));
    summed.chain(inner).max_by(|&a, &b| tree.sizes[a].total_cmp(&tree.sizes[b]))
}

fn total(tree: &Rooted) -> f64 {
    tree.shares.iter().sum()
}

/// The cost of all slices once a column is sliced.
fn cost(frame: &Frame, tree: &Rooted, column: usize) -> f64 {
    let extent = frame.extents[column];
    let has = |node: usize| tree.set(node)[column / 64] >> (column % 64) & 1 == 1;
    let part = |node: usize| tree.sizes[node] / if has(node) { extent } else { 1.0 };
    let step = |node: usize| {
        let [left, right] = tree.children(node);
        let flops = tree.flops[node - frame.leaves] / if has(left) || has(right) { extent } else { 1.0 };
        frame.objective.share(StepCost { flops, left: part(left), right: part(right), result: part(node) })
    };
    extent * tree.inner().map(step).sum::<f64>()
}

/// Takes back slices that later ones made needless, the first made first.
fn drop_needless(frame: &mut Frame, tree: &mut Rooted, limit: f64, whole: &[f64], sliced: &mut Vec<usize>) {
    sliced.retain(|&column| {
        frame.extents[column] = whole[column];
        tree.measure(frame);
        let fits = largest(frame, tree).is_none_or(|node| tree.sizes[node] <= limit);
        if !fits {
            frame.extents[column] = 1.0;
        }
        !fits
    });
    tree.measure(frame);
}
