//! What a contraction costs: the network a planner sees, and the cost of a plan.

use smallvec::SmallVec;

use crate::tree::Labels;

/// Tensors with sorted distinct labels, as they are once diagonals are taken and one-sided sums are done.
///
/// Extents are floating so that products saturate instead of overflowing.
pub(crate) struct Network {
    pub tensors: Vec<Labels>,
    /// Per label, whether the output has it.
    pub open: Vec<bool>,
    pub extents: Vec<f64>,
    /// Per tensor, whether a sum made it from its operand, so that it takes memory as results do.
    pub summed: Vec<bool>,
}

/// The number of elements, without overflow and without NaN: a zero extent beats any number of large ones.
pub(crate) fn product(extents: impl IntoIterator<Item = f64>) -> f64 {
    extents.into_iter().fold(1.0, |product: f64, extent| (product * extent).min(f64::MAX))
}

/// Number of live tensors that hold each label; the output counts as one that never goes away.
pub(crate) struct Holders(SmallVec<[u32; 16]>);

impl Holders {
    pub fn new<'a>(
        tensors: impl IntoIterator<Item = &'a [u32]>,
        output: impl IntoIterator<Item = u32>,
        labels: usize,
    ) -> Self {
        let mut count = SmallVec::from_elem(0, labels);
        for labels in tensors {
            labels.iter().for_each(|&label| count[label as usize] += 1);
        }
        output.into_iter().for_each(|label| count[label as usize] += 1);
        Self(count)
    }

    /// Whether something besides `taken` of the holders still wants the label.
    pub fn wanted_beyond(&self, label: u32, taken: u32) -> bool {
        self.0[label as usize] > taken
    }

    /// Replaces operands by their result.
    pub fn replace<'a>(&mut self, operands: impl IntoIterator<Item = &'a [u32]>, result: &[u32]) {
        for labels in operands {
            labels.iter().for_each(|&label| self.0[label as usize] -= 1);
        }
        result.iter().for_each(|&label| self.0[label as usize] += 1);
    }
}

/// The union of two sorted label lists; `visit` gets each label and whether it is on both.
pub(crate) fn union(left: &[u32], right: &[u32], mut visit: impl FnMut(u32, bool)) {
    let (mut i, mut j) = (0, 0);
    while i < left.len() || j < right.len() {
        let (a, b) = (left.get(i), right.get(j));
        match (a, b) {
            (Some(&a), Some(&b)) if a == b => {
                visit(a, true);
                i += 1;
                j += 1;
            }
            (Some(&a), b) if b.is_none_or(|&b| a < b) => {
                visit(a, false);
                i += 1;
            }
            (_, Some(&b)) => {
                visit(b, false);
                j += 1;
            }
            // The loop condition leaves at least one side.
            _ => return,
        }
    }
}

impl Network {
    pub fn holders(&self) -> Holders {
        let output = (0..self.open.len() as u32).filter(|&label| self.open[label as usize]);
        Holders::new(self.tensors.iter().map(|labels| labels.as_slice()), output, self.extents.len())
    }

    /// The labels of the result of contracting two tensors now, sorted.
    pub fn result(&self, holders: &Holders, left: &[u32], right: &[u32]) -> Labels {
        let mut labels = Labels::new();
        union(left, right, |label, shared| {
            if holders.wanted_beyond(label, 1 + u32::from(shared)) {
                labels.push(label);
            }
        });
        labels
    }

    /// The number of elements of that result.
    pub fn result_size(&self, holders: &Holders, left: &[u32], right: &[u32]) -> f64 {
        let mut size: f64 = 1.0;
        union(left, right, |label, shared| {
            if holders.wanted_beyond(label, 1 + u32::from(shared)) {
                size = (size * self.extents[label as usize]).min(f64::MAX);
            }
        });
        size
    }

    /// The number of index combinations of a set of labels.
    pub fn size(&self, labels: &[u32]) -> f64 {
        product(labels.iter().map(|&label| self.extents[label as usize]))
    }
}
