//! Simulated annealing over trees by local rewrites.
//!
//! Kalachev, Panteleev and Yung, "Multi-tensor contraction for XEB verification of quantum circuits" (2021), section
//! on tree annealing: `(a b) c` becomes `(a c) b` or `(c b) a`, and mirrored; a rewrite is judged by the logarithm of
//! how the cost of the two steps it touches changes.

use super::frame::{Frame, Rooted};
use super::rng::Random;
use super::tries::Watch;
use crate::objective::StepCost;

/// How temperatures fall: inverse temperatures rise evenly from the first to the last.
#[derive(Clone, Copy)]
pub(super) struct Schedule {
    pub betas: (f64, f64),
    pub temperatures: u32,
    /// Passes over all nodes at each temperature.
    pub sweeps: u32,
}

impl Schedule {
    /// The usual inverse temperatures, those of the OMEinsum planners.
    pub fn through(temperatures: u32, sweeps: u32) -> Self {
        Self { betas: (0.01, 15.0), temperatures, sweeps }
    }

    /// Only the end.
    pub fn cold(self) -> Self {
        Self { betas: (self.betas.0.max(2.0), self.betas.1), temperatures: self.temperatures.div_ceil(3), ..self }
    }
}

/// Steps of the table of accepted changes.
const CHANCES: usize = 256;

/// Anneals a tree and leaves the best one met.
pub(super) fn anneal(frame: &Frame, tree: &mut Rooted, schedule: Schedule, random: &mut Random, watch: &Watch<'_>) {
    let mut best = (tree.score(frame, 1.0), tree.clone());
    let mut accepted = [0.0; CHANCES];
    let mut set = vec![0; frame.words];
    for step in 0..schedule.temperatures {
        if watch.is_cancelled() {
            break;
        }
        let (first, last) = schedule.betas;
        let beta = first + (last - first) * f64::from(step) / f64::from(schedule.temperatures.max(2) - 1);
        // A change by a factor up to `u^(-1 / beta)` is accepted, the exponential rule solved for the factor.
        for (place, factor) in accepted.iter_mut().enumerate() {
            *factor = (-((place as f64 + 0.5) / CHANCES as f64).ln() / beta).exp2();
        }
        for _ in 0..schedule.sweeps {
            sweep(frame, tree, &accepted, random, &mut set);
        }
        let score = tree.score(frame, 1.0);
        if score.better_than(best.0) {
            best.0 = score;
            best.1.copy_from(tree);
        }
    }
    tree.copy_from(&best.1);
}

fn sweep(frame: &Frame, tree: &mut Rooted, accepted: &[f64; CHANCES], random: &mut Random, set: &mut [u64]) {
    let leaves = frame.leaves;
    for node in tree.inner() {
        let bits = random.bits();
        let [left, right] = tree.children(node);
        // One side is opened: a random one of those that can be.
        let (inner, outer) = match (tree.is_leaf(left), tree.is_leaf(right)) {
            (true, true) => continue,
            (false, true) => (left, right),
            (true, false) => (right, left),
            (false, false) if bits & 1 == 0 => (left, right),
            (false, false) => (right, left),
        };
        // Of its two tensors, `kept` stays inside and `moved` changes places with the outer one.
        let [a, b] = tree.children(inner);
        let (kept, moved) = if bits & 2 == 0 { (a, b) } else { (b, a) };

        let (sk, sm, so, sn) = (tree.set(kept), tree.set(moved), tree.set(outer), tree.set(node));
        let (mut closed, mut only, mut both) = (1.0, 1.0, 1.0);
        for word in 0..frame.words {
            let union = sk[word] | so[word];
            let result = union & (sn[word] | sm[word]);
            set[word] = result;
            closed *= frame.product(word, union & !result);
            only *= frame.product(word, result & !sm[word]);
            both *= frame.product(word, result & sm[word]);
        }
        let size = (only * both).min(f64::MAX);
        let (size_k, size_m, size_o) = (tree.sizes[kept], tree.sizes[moved], tree.sizes[outer]);
        let below = StepCost { flops: (closed * size).min(f64::MAX), left: size_k, right: size_o, result: size };
        let above =
            StepCost { flops: (size_m * only).min(f64::MAX), left: size, right: size_m, result: tree.sizes[node] };
        let (share_below, share_above) = (frame.objective.share(below), frame.objective.share(above));
        let old = tree.shares[inner - leaves] + tree.shares[node - leaves];
        if share_below + share_above > old * accepted[(bits >> 56) as usize] {
            continue;
        }
        tree.set_children(inner, [kept, outer]);
        tree.set_children(node, [inner, moved]);
        tree.put(inner, set, size);
        (tree.flops[inner - leaves], tree.flops[node - leaves]) = (below.flops, above.flops);
        (tree.shares[inner - leaves], tree.shares[node - leaves]) = (share_below, share_above);
    }
}
