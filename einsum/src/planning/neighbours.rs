//! Which tensors share a label, where a label may be on any number of them.

use smallvec::SmallVec;

/// The most tensors with a label that a new one is paired with: with all of them, one label on `n` tensors would make
/// `n^2` pairs.
const MOST: usize = 128;

/// Per label, the live tensors that have it.
pub(super) struct Neighbours(Vec<SmallVec<[u32; 4]>>);

impl Neighbours {
    pub fn new(labels: usize) -> Self {
        Self(vec![SmallVec::new(); labels])
    }

    pub fn add(&mut self, number: u32, labels: &[u32]) {
        labels.iter().for_each(|&label| self.0[label as usize].push(number));
    }

    pub fn remove(&mut self, number: u32, labels: &[u32]) {
        for &label in labels {
            let holders = &mut self.0[label as usize];
            if let Some(place) = holders.iter().position(|&other| other == number) {
                holders.swap_remove(place);
            }
        }
    }

    /// The number of tensors with a label.
    pub fn count(&self, label: u32) -> usize {
        self.0[label as usize].len()
    }

    /// The tensors with a label; of very many, the last ones.
    pub fn with(&self, label: u32) -> &[u32] {
        let holders = &self.0[label as usize];
        &holders[holders.len().saturating_sub(MOST)..]
    }
}
