//! What a `primal_vjp` rule may read of the primal computation.

use crate::error::{Error, Result};
use crate::extension::ExtensionOp;
use crate::program::{ValueId, ValueMeta};

/// The operands and results of an operation that its reverse rule reads: what has to be kept for the reverse pass.
///
/// ```
/// use tenferro_core::ad::ResidualSpec;
/// let mask = ResidualSpec::input(0).with_output(0);
/// assert!(mask.has_input(0) && mask.has_output(0) && !mask.has_input(1));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResidualSpec {
    inputs: Vec<usize>,
    outputs: Vec<usize>,
}

impl ResidualSpec {
    /// Nothing is kept.
    pub const fn none() -> Self {
        Self { inputs: Vec::new(), outputs: Vec::new() }
    }

    /// Operand `i`.
    pub fn input(i: usize) -> Self {
        Self::none().with_input(i)
    }

    /// Result `i`.
    pub fn output(i: usize) -> Self {
        Self::none().with_output(i)
    }

    /// And operand `i`.
    #[must_use]
    pub fn with_input(mut self, i: usize) -> Self {
        self.inputs.push(i);
        self
    }

    /// And result `i`.
    #[must_use]
    pub fn with_output(mut self, i: usize) -> Self {
        self.outputs.push(i);
        self
    }

    /// Whether operand `i` is kept.
    pub fn has_input(&self, i: usize) -> bool {
        self.inputs.contains(&i)
    }

    /// Whether result `i` is kept.
    pub fn has_output(&self, i: usize) -> bool {
        self.outputs.contains(&i)
    }
}

/// What a [`PrimalVjpRule`](super::PrimalVjpRule) sees: the operation, its residuals and the cotangents.
pub struct PrimalVjpRequest<'a> {
    pub(super) op: &'a dyn ExtensionOp,
    pub(super) mask: ResidualSpec,
    pub(super) inputs: &'a [ValueId],
    pub(super) outputs: &'a [ValueId],
    pub(super) metas: Vec<ValueMeta>,
    pub(super) active: &'a [bool],
    pub(super) cotangents: &'a [Option<ValueId>],
}

impl PrimalVjpRequest<'_> {
    /// The operation.
    pub fn op(&self) -> &dyn ExtensionOp {
        self.op
    }

    /// Operand `i`, a residual.
    ///
    /// # Errors
    /// When the rule's [mask](super::PrimalVjpRule::residual_mask) does not declare it, with family and slot.
    pub fn primal_input_value(&self, i: usize) -> Result<ValueId> {
        self.residual("input", i, self.mask.has_input(i), self.inputs)
    }

    /// Result `i`, a residual.
    ///
    /// # Errors
    /// As [`primal_input_value`](Self::primal_input_value).
    pub fn primal_output_value(&self, i: usize) -> Result<ValueId> {
        self.residual("output", i, self.mask.has_output(i), self.outputs)
    }

    /// Dtype and shape of operand `i`, which are known whatever the mask.
    ///
    /// # Errors
    /// When there is no such operand.
    pub fn input_meta(&self, i: usize) -> Result<&ValueMeta> {
        self.metas[..self.inputs.len()].get(i).ok_or_else(|| self.refuse("input", i, "does not exist"))
    }

    /// Dtype and shape of result `i`, which are known whatever the mask.
    ///
    /// # Errors
    /// When there is no such result.
    pub fn output_meta(&self, i: usize) -> Result<&ValueMeta> {
        self.metas[self.inputs.len()..].get(i).ok_or_else(|| self.refuse("output", i, "does not exist"))
    }

    /// Which operands a cotangent is asked for.
    pub fn active_inputs(&self) -> &[bool] {
        self.active
    }

    /// The cotangents of the results, `None` where zero; at least one is present.
    pub fn cotangent_outputs(&self) -> &[Option<ValueId>] {
        self.cotangents
    }

    fn residual(&self, kind: &str, i: usize, declared: bool, values: &[ValueId]) -> Result<ValueId> {
        match values.get(i) {
            None => Err(self.refuse(kind, i, "does not exist")),
            Some(_) if !declared => {
                Err(self.refuse(kind, i, "is read by the `primal_vjp` rule, whose residual mask does not declare it"))
            }
            Some(&value) => Ok(value),
        }
    }

    fn refuse(&self, kind: &str, i: usize, message: &str) -> Error {
        Error::argument(self.op.family_id(), format!("{kind} {i}"), message)
    }
}
