//! What was prepared lately, for calls that come again with shapes seen before.

use smallvec::SmallVec;

use crate::Result;
use crate::runtime::{Error, Prepared};
use crate::tensor::TensorRead;

/// How often a call begins anew because what was prepared is no longer what may run.
const ATTEMPTS: usize = 8;

/// Runs an attempt, and again where it was made with what is outdated: the runtime was reconfigured, by another thread
/// even since the attempt began, or strides changed that a kernel was chosen for. Nothing is computed before that is
/// known. The attempt is told whether it is another one, which has to prepare anew.
pub(crate) fn until_current<R>(mut attempt: impl FnMut(bool) -> Result<R>) -> Result<R> {
    let mut made = 0;
    loop {
        match attempt(made > 0) {
            Err(Error::StaleEpoch { .. } | Error::NotSpecialized { .. }) if made + 1 < ATTEMPTS => made += 1,
            result => return result,
        }
    }
}

/// What was prepared from one program for the last few dtypes and shapes of its inputs.
pub(crate) struct Recent {
    entries: SmallVec<[Entry; 1]>,
    /// The entry to be replaced next.
    oldest: usize,
    capacity: usize,
}

struct Entry {
    /// Of each input the dtype and rank as one word, and the extents.
    signature: SmallVec<[usize; 8]>,
    prepared: Prepared,
}

impl Default for Recent {
    /// Keeps as many shapes as alternate in practice: a training batch, the last one of an epoch, an evaluation.
    fn default() -> Self {
        Self::keeping(4)
    }
}

impl Recent {
    pub fn keeping(capacity: usize) -> Self {
        Self { entries: SmallVec::new(), oldest: 0, capacity }
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn position(&self, inputs: &[TensorRead<'_>]) -> Option<usize> {
        self.entries.iter().position(|entry| entry.fits(inputs))
    }

    pub fn prepared(&self, position: usize) -> &Prepared {
        &self.entries[position].prepared
    }

    pub fn forget(&mut self, position: usize) {
        self.entries.remove(position);
        self.oldest = 0;
    }

    /// Keeps what was prepared for these inputs; the oldest entry makes room.
    pub fn remember(&mut self, inputs: &[TensorRead<'_>], prepared: Prepared) -> &Prepared {
        let mut signature = SmallVec::new();
        for input in inputs {
            signature.push(head(input));
            signature.extend_from_slice(input.shape());
        }
        let entry = Entry { signature, prepared };
        if self.entries.len() < self.capacity {
            self.entries.push(entry);
            return &self.entries[self.entries.len() - 1].prepared;
        }
        let replaced = self.oldest;
        self.oldest = (replaced + 1) % self.capacity;
        self.entries[replaced] = entry;
        &self.entries[replaced].prepared
    }
}

impl Entry {
    fn fits(&self, inputs: &[TensorRead<'_>]) -> bool {
        let mut rest = &self.signature[..];
        let all = inputs.iter().all(|input| {
            let shape = input.shape();
            match rest.split_at_checked(1 + shape.len()) {
                Some((own, others)) if own[0] == head(input) && &own[1..] == shape => {
                    rest = others;
                    true
                }
                _ => false,
            }
        });
        all && rest.is_empty()
    }
}

/// Dtype and rank as one word.
fn head(input: &TensorRead<'_>) -> usize {
    input.shape().len() << 8 | input.dtype() as usize
}
