//! A network and a tree over it as searches need them: tensors as sets of bits.

use super::Pair;
use super::exact::Worth;
use crate::cost::Network;
use crate::objective::{Objective, Score, StepCost};

/// A network with a bit for each column, a label or several that always occur together.
#[derive(Clone)]
pub(super) struct Frame {
    pub leaves: usize,
    /// Words of a set.
    pub words: usize,
    pub objective: Objective,
    /// Per column; a zero extent counts as one, since where there is one no order is better than another.
    pub extents: Vec<f64>,
    /// Per column, its labels.
    pub labels: Vec<Vec<u32>>,
    /// The set of each tensor, one after the other.
    sets: Vec<u64>,
    /// The columns of the output.
    output: Vec<u64>,
    /// Per column, how many tensors have it, the output counting as one.
    holders: Vec<u32>,
    /// Per tensor, whether it takes memory as results do.
    pub summed: Vec<bool>,
}

/// How the labels of a network become columns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Columns {
    /// Labels that always occur together are one.
    Merged,
    /// Every label is one of its own, so that it can be sliced.
    Single,
}

impl Frame {
    pub fn new(network: &Network, objective: Objective, columns: Columns) -> Self {
        let leaves = network.tensors.len();
        let mut held: Vec<Vec<u32>> = vec![Vec::new(); network.extents.len()];
        for (number, labels) in network.tensors.iter().enumerate() {
            labels.iter().for_each(|&label| held[label as usize].push(number as u32));
        }
        let mut order: Vec<usize> = (0..held.len()).filter(|&label| !held[label].is_empty()).collect();
        let place = |label: usize| (held[label].as_slice(), network.open[label]);
        if columns == Columns::Merged {
            order.sort_by(|&a, &b| place(a).cmp(&place(b)).then(a.cmp(&b)));
        }
        let mut frame = Self {
            leaves,
            words: 0,
            objective,
            extents: Vec::new(),
            labels: Vec::new(),
            sets: Vec::new(),
            output: Vec::new(),
            holders: Vec::new(),
            summed: network.summed.clone(),
        };
        let mut first_of_column = Vec::new();
        for label in order {
            let extent = network.extents[label].max(1.0);
            match first_of_column.last() {
                Some(&first) if columns == Columns::Merged && place(first) == place(label) => {
                    let column = frame.extents.len() - 1;
                    frame.extents[column] = (frame.extents[column] * extent).min(f64::MAX);
                    frame.labels[column].push(label as u32);
                }
                _ => {
                    first_of_column.push(label);
                    frame.extents.push(extent);
                    frame.labels.push(vec![label as u32]);
                }
            }
        }
        frame.words = frame.extents.len().div_ceil(64).max(1);
        frame.sets = vec![0; leaves * frame.words];
        frame.output = vec![0; frame.words];
        for (column, &label) in first_of_column.iter().enumerate() {
            for &leaf in &held[label] {
                frame.sets[leaf as usize * frame.words + column / 64] |= 1 << (column % 64);
            }
            if network.open[label] {
                frame.output[column / 64] |= 1 << (column % 64);
            }
            frame.holders.push(held[label].len() as u32 + u32::from(network.open[label]));
        }
        frame
    }

    /// The columns of the output.
    pub fn output(&self) -> &[u64] {
        &self.output
    }

    /// The product of the extents of a set.
    #[inline]
    pub fn size(&self, set: &[u64]) -> f64 {
        set.iter().enumerate().fold(1.0, |size, (word, &bits)| size * self.product(word, bits)).min(f64::MAX)
    }

    /// The product of the extents of one word of a set.
    #[inline]
    pub fn product(&self, word: usize, mut bits: u64) -> f64 {
        let extents = &self.extents[word * 64..];
        let mut product = 1.0;
        while bits != 0 {
            product *= extents[bits.trailing_zeros() as usize];
            bits &= bits - 1;
        }
        product
    }
}

/// The columns of a set.
pub(super) fn columns(set: &[u64]) -> impl Iterator<Item = usize> + '_ {
    set.iter().enumerate().flat_map(|(word, &bits)| {
        let mut bits = bits;
        std::iter::from_fn(move || {
            (bits != 0).then(|| {
                let column = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                column
            })
        })
    })
}

/// A binary tree over the tensors of a frame: nodes `0..leaves` are its tensors, the last node is the root.
#[derive(Clone)]
pub(super) struct Rooted {
    leaves: usize,
    words: usize,
    /// Per inner node.
    children: Vec<[u32; 2]>,
    sets: Vec<u64>,
    /// Per node, the elements of its tensor.
    pub sizes: Vec<f64>,
    /// Per inner node, the flops of its step.
    pub flops: Vec<f64>,
    /// Per inner node, its share in the objective.
    pub shares: Vec<f64>,
}

impl Rooted {
    pub fn new(frame: &Frame, pairs: &[Pair]) -> Self {
        let (words, leaves) = (frame.words, frame.leaves);
        let mut tree = Self {
            leaves,
            words,
            children: pairs.iter().map(|&(left, right)| [left as u32, right as u32]).collect(),
            sets: frame.sets.clone(),
            sizes: Vec::new(),
            flops: Vec::new(),
            shares: Vec::new(),
        };
        let mut holders = frame.holders.clone();
        let mut result = vec![0; words];
        for &(left, right) in pairs {
            for word in 0..words {
                let (a, b) = (tree.sets[left * words + word], tree.sets[right * words + word]);
                let mut left_to_see = a | b;
                result[word] = 0;
                while left_to_see != 0 {
                    let bit = left_to_see & left_to_see.wrapping_neg();
                    left_to_see ^= bit;
                    let held = &mut holders[word * 64 + bit.trailing_zeros() as usize];
                    *held -= u32::from(a & bit != 0) + u32::from(b & bit != 0);
                    if *held > 0 {
                        *held += 1;
                        result[word] |= bit;
                    }
                }
            }
            tree.sets.extend_from_slice(&result);
        }
        tree.measure(frame);
        tree
    }

    /// Computes sizes, flops and shares anew, as after a change of the frame's extents.
    pub fn measure(&mut self, frame: &Frame) {
        let nodes = self.leaves + self.children.len();
        self.sizes = (0..nodes).map(|node| frame.size(self.set(node))).collect();
        self.flops = vec![0.0; self.children.len()];
        self.shares = vec![0.0; self.children.len()];
        for node in self.leaves..nodes {
            self.measure_step(frame, node);
        }
    }

    /// Computes flops and share of one step anew.
    pub fn measure_step(&mut self, frame: &Frame, node: usize) {
        let [left, right] = self.children(node);
        let (a, b) = (self.set(left), self.set(right));
        let flops = (0..self.words).fold(1.0, |flops, word| flops * frame.product(word, a[word] | b[word]));
        let flops = flops.min(f64::MAX);
        let step = StepCost { flops, left: self.sizes[left], right: self.sizes[right], result: self.sizes[node] };
        self.flops[node - self.leaves] = flops;
        self.shares[node - self.leaves] = frame.objective.share(step);
    }

    /// The inner nodes.
    pub fn inner(&self) -> std::ops::Range<usize> {
        self.leaves..self.leaves + self.children.len()
    }

    pub fn is_leaf(&self, node: usize) -> bool {
        node < self.leaves
    }

    pub fn children(&self, node: usize) -> [usize; 2] {
        self.children[node - self.leaves].map(|child| child as usize)
    }

    pub fn set_children(&mut self, node: usize, children: [usize; 2]) {
        self.children[node - self.leaves] = children.map(|child| child as u32);
    }

    #[inline]
    pub fn set(&self, node: usize) -> &[u64] {
        &self.sets[node * self.words..][..self.words]
    }

    /// Gives an inner node another set, of this many elements.
    #[inline]
    pub fn put(&mut self, node: usize, set: &[u64], size: f64) {
        self.sets[node * self.words..][..self.words].copy_from_slice(set);
        self.sizes[node] = size;
    }

    /// What the steps that make these nodes are worth together.
    pub fn worth(&self, inner: impl Iterator<Item = usize>) -> Worth {
        let none = Worth { shares: 0.0, flops: 0.0, peak: 0.0 };
        inner.fold(none, |worth, node| Worth {
            shares: worth.shares + self.shares[node - self.leaves],
            flops: worth.flops + self.flops[node - self.leaves],
            peak: worth.peak.max(self.sizes[node]),
        })
    }

    /// The flops of all steps.
    pub fn total_flops(&self) -> f64 {
        self.flops.iter().sum()
    }

    /// The predicted nanoseconds of all steps.
    pub fn time(&self) -> f64 {
        let step = |node: usize| {
            let [left, right] = self.children(node).map(|child| self.sizes[child]);
            StepCost { flops: self.flops[node - self.leaves], left, right, result: self.sizes[node] }.time()
        };
        self.inner().map(step).sum()
    }

    /// The elements of the largest result.
    pub fn peak(&self) -> f64 {
        self.inner().map(|node| self.sizes[node]).fold(0.0, f64::max)
    }

    /// The score when all of it is done `slices` times.
    pub fn score(&self, frame: &Frame, slices: f64) -> Score {
        let shares: f64 = self.shares.iter().sum();
        frame.objective.score(slices * shares, slices * self.total_flops(), self.peak())
    }

    /// Makes this the same tree as another over the same frame, without allocating.
    pub fn copy_from(&mut self, other: &Rooted) {
        self.children.copy_from_slice(&other.children);
        self.sets.copy_from_slice(&other.sets);
        self.sizes.copy_from_slice(&other.sizes);
        self.flops.copy_from_slice(&other.flops);
        self.shares.copy_from_slice(&other.shares);
    }

    /// The steps, each after those it needs; the tensor with the lowest operand is the left one.
    pub fn pairs(&self) -> Vec<Pair> {
        let mut pairs = Vec::with_capacity(self.children.len());
        // Per node, its number in the new order and its lowest operand.
        let mut done: Vec<Option<(usize, usize)>> = vec![None; self.leaves + self.children.len()];
        (0..self.leaves).for_each(|leaf| done[leaf] = Some((leaf, leaf)));
        let mut stack: Vec<usize> = self.inner().last().into_iter().collect();
        while let Some(&node) = stack.last() {
            let [left, right] = self.children(node);
            match (done[left], done[right]) {
                (Some(a), Some(b)) => {
                    let (first, second) = if a.1 < b.1 { (a, b) } else { (b, a) };
                    done[node] = Some((self.leaves + pairs.len(), first.1));
                    pairs.push((first.0, second.0));
                    stack.pop();
                }
                (None, _) => stack.push(left),
                _ => stack.push(right),
            }
        }
        pairs
    }
}
