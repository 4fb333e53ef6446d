//! What a cache entry is found by.

use std::hash::{Hash, Hasher};

use smallvec::SmallVec;
use tenferro_core::program::Fingerprint;

use super::specialization::Specialization;

/// The key of an entry. All else — lowering, kernels, placement, buffers — follows from it, so a
/// hit neither lowers nor selects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    pub fingerprint: Fingerprint,
    pub epoch: u64,
    /// The targets, as positions among the registrations of the epoch's configuration.
    pub engines: SmallVec<[usize; 2]>,
    pub specialization: Specialization,
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // The fingerprint is a hash already: one half of it and what varies under it suffice.
        state.write_u64(self.fingerprint.0 as u64);
        state.write_u64(self.epoch);
        self.specialization.hash(state);
    }
}
