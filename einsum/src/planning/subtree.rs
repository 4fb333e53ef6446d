//! Subtrees replaced by the best over the same tensors, until none gets better.
//!
//! Gray and Kourtis, "Hyper-optimized tensor network contraction" (2021), section 4.1 (subtree reconfiguration).

use super::exact::{Edge, Exact, Set};
use super::frame::{Frame, Rooted, columns};

/// The tensors of a subtree that is searched whole.
const WINDOW: usize = 8;

/// Improves a tree in at most `rounds` passes over its nodes; no inner result gets larger than `limit` that was not.
pub(super) fn improve(frame: &Frame, tree: &mut Rooted, rounds: u32, limit: f64) {
    let mut windows = Windows {
        frame,
        limit,
        exact: Exact::default(),
        edges: Vec::new(),
        columns: vec![0; frame.extents.len()],
        leaves: Vec::new(),
        inner: Vec::new(),
        changed: vec![1; tree.inner().end],
        clock: 1,
        seen: vec![0; tree.inner().end],
        set: vec![0; frame.words],
    };
    for _ in 0..rounds {
        let mut better = false;
        for root in tree.inner().rev() {
            better |= windows.improve(tree, root);
        }
        if !better {
            return;
        }
    }
}

struct Windows<'a> {
    frame: &'a Frame,
    limit: f64,
    exact: Exact,
    edges: Vec<Edge>,
    /// Per column, the tensors of the window that have it.
    columns: Vec<Set>,
    /// The tensors of the window, and the nodes above them with the root first.
    leaves: Vec<usize>,
    inner: Vec<usize>,
    /// Per node, when it last changed, and when the window below it was last searched.
    changed: Vec<u32>,
    seen: Vec<u32>,
    clock: u32,
    set: Vec<u64>,
}

impl Windows<'_> {
    fn improve(&mut self, tree: &mut Rooted, root: usize) -> bool {
        self.open(tree, root);
        let last = std::mem::replace(&mut self.seen[root], self.clock);
        if self.leaves.len() < 3 || self.inner.iter().all(|&node| self.changed[node] <= last) {
            return false;
        }
        self.collect_edges(tree, root);
        let now = tree.worth(self.inner.iter().copied());
        if !self.exact.better(self.leaves.len(), &self.edges, self.frame.objective, now, self.limit) {
            return false;
        }
        self.clock += 1;
        self.inner.iter().for_each(|&node| self.changed[node] = self.clock);
        // The root keeps its place, the others are given out again.
        let mut free = std::mem::take(&mut self.inner);
        free.swap_remove(0);
        self.rebuild(tree, root, (1 << self.leaves.len()) - 1, &mut free);
        self.inner = free;
        true
    }

    /// Opens the most expensive step at the edge of the window until it is full.
    fn open(&mut self, tree: &Rooted, root: usize) {
        let share = |node: usize| if tree.is_leaf(node) { -1.0 } else { tree.shares[node - self.frame.leaves] };
        self.inner.clear();
        self.leaves.clear();
        self.inner.push(root);
        self.leaves.extend(tree.children(root));
        while self.leaves.len() < WINDOW {
            let next = (0..self.leaves.len())
                .filter(|&at| !tree.is_leaf(self.leaves[at]))
                .max_by(|&a, &b| share(self.leaves[a]).total_cmp(&share(self.leaves[b])));
            let Some(next) = next else { return };
            let node = self.leaves.swap_remove(next);
            self.inner.push(node);
            self.leaves.extend(tree.children(node));
        }
    }

    fn collect_edges(&mut self, tree: &Rooted, root: usize) {
        self.edges.clear();
        self.set.fill(0);
        for (place, &leaf) in self.leaves.iter().enumerate() {
            let set = tree.set(leaf);
            columns(set).for_each(|column| self.columns[column] |= 1 << place);
            self.set.iter_mut().zip(set).for_each(|(all, one)| *all |= one);
        }
        let open = tree.set(root);
        for column in columns(&self.set) {
            let holders = std::mem::take(&mut self.columns[column]);
            let open = open[column / 64] >> (column % 64) & 1 == 1;
            self.edges.push(Edge { holders, open, extent: self.frame.extents[column] });
        }
    }

    /// Makes the nodes of a set from the free ones and returns the topmost.
    fn rebuild(&mut self, tree: &mut Rooted, root: usize, set: Set, free: &mut Vec<usize>) -> usize {
        let left = self.exact.split(set);
        if left == set {
            return self.leaves[set.trailing_zeros() as usize];
        }
        let node = if set.count_ones() as usize == self.leaves.len() { root } else { free.pop().unwrap_or(root) };
        let children = [self.rebuild(tree, root, left, free), self.rebuild(tree, root, set ^ left, free)];
        tree.set_children(node, children);
        if node != root {
            for word in 0..self.frame.words {
                let (mut within, mut beyond) = (0, tree.set(root)[word]);
                for (place, &leaf) in self.leaves.iter().enumerate() {
                    let side = if set >> place & 1 == 1 { &mut within } else { &mut beyond };
                    *side |= tree.set(leaf)[word];
                }
                self.set[word] = within & beyond;
            }
            tree.put(node, &self.set, self.frame.size(&self.set));
        }
        tree.measure_step(self.frame, node);
        node
    }
}
