//! Steps that are prepared while the program runs: their kernels want to know sizes that are read off values.

use std::sync::Arc;

use smallvec::SmallVec;
use tenferro_core::program::{Op, ValueMeta};

use super::request::{LayoutOrigin, PrepareRequest};
use super::selection::{Candidates, Choice, Selector};
use super::specialization::{Askable, Signature, Specialization, SpecializationRequirements};
use crate::error::{Error, Result};
use crate::execute::Command;
use crate::snapshot::Snapshot;

/// An operation whose command is chosen once its sizes are known, by the configuration of the preparation. The engine
/// is chosen already, for results need a place.
pub(crate) struct Late {
    pub op: Op,
    pub inputs: Vec<ValueMeta>,
    pub origins: SmallVec<[LayoutOrigin; 4]>,
    pub outputs: Vec<ValueMeta>,
    /// The position of the engine among the targets.
    pub engine: usize,
    pub askable: Askable,
    pub snapshot: Arc<Snapshot>,
    pub engines: SmallVec<[usize; 2]>,
}

impl Late {
    /// The command for inputs and values that say this.
    pub fn prepare(&self, signature: &Signature<'_>) -> Result<Arc<dyn Command>> {
        let selector = Selector::new(&self.snapshot, &self.engines);
        let mut requirements = SpecializationRequirements::polymorphic();
        loop {
            let granted = Specialization::project(requirements, signature);
            let request = PrepareRequest {
                op: &self.op,
                inputs: self.inputs.iter().collect(),
                origins: self.origins.clone(),
                outputs: &self.outputs,
                granted: &granted,
                sizes: signature.sizes,
                askable: self.askable,
            };
            match selector.choose(&request, &Candidates::chosen(self.engine))? {
                Choice::Command { command, .. } => return Ok(command),
                Choice::NeedsSpecialization { wanted, .. } if wanted.sizes_needed() > signature.sizes.len() => {
                    let message = "it asks for a size that is not known yet".to_owned();
                    return Err(Error::Execution { op: self.op.name().to_owned(), message });
                }
                Choice::NeedsSpecialization { wanted, .. } => requirements = wanted.union(granted.requirements()),
            }
        }
    }
}
