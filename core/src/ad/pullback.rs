//! Operations that reverse mode takes as a whole.

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};

use super::checkpoint::Checkpoint;
use super::rules::check_count;
use super::{AdContext, PrimalVjpRequest};
use crate::error::Result;
use crate::extension::{AliasDeclaration, EffectDeclaration, ExtensionOp, ExtensionRef, ShapeContext};
use crate::program::{ProgramBuilder, ValueId, ValueMeta};

/// The linear map from the tangents of an operation's active operands to those of its results, known only by its
/// transpose.
///
/// It stands for the map between linearisation and transposition; nothing that is computed depends on it, so it is
/// dropped from the finished program, and has no text form to be read back. Operands: the tangents, then the
/// operation's operands and results.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Pullback {
    op: ExtensionRef,
    active: Vec<bool>,
}

impl Pullback {
    /// Writes the map; returns the tangents of the results.
    pub fn record(
        b: &mut ProgramBuilder,
        op: &ExtensionRef,
        inputs: &[ValueId],
        outputs: &[ValueId],
        tangents: &[Option<ValueId>],
    ) -> Result<Vec<Option<ValueId>>> {
        let active = tangents.iter().map(Option::is_some).collect();
        let operands: Vec<ValueId> = tangents.iter().flatten().chain(inputs).chain(outputs).copied().collect();
        let results = b.extension(Self { op: op.clone(), active }, &operands)?;
        Ok(results.into_iter().map(|t| b.meta(t).dtype.is_float().then_some(t)).collect())
    }

    /// The cotangents of this node's operands, given those of its results.
    pub fn transpose(
        &self,
        b: &mut ProgramBuilder,
        operands: &[ValueId],
        cotangents: &[Option<ValueId>],
        ctx: &AdContext,
    ) -> Result<Vec<Option<ValueId>>> {
        let (inputs, outputs) = operands[self.active_count()..].split_at(self.op.input_count());
        let of_inputs = if let Some(checkpoint) = self.op.as_any().downcast_ref::<Checkpoint>() {
            checkpoint.pull_back(b, inputs, outputs, &self.active, cotangents, ctx)?
        } else {
            let rule = ctx.rules().primal_vjp(self.op.family_id())?;
            let request = PrimalVjpRequest {
                op: &*self.op,
                mask: rule.residual_mask(),
                inputs,
                outputs,
                metas: inputs.iter().chain(outputs).map(|&v| b.meta(v).clone()).collect(),
                active: &self.active,
                cotangents,
            };
            rule.primal_vjp(b, &request)?
        };
        check_count(self.op.family_id(), "primal_vjp", inputs.len(), of_inputs.len())?;
        let mut all: Vec<_> = of_inputs.into_iter().zip(&self.active).filter(|(_, a)| **a).map(|(c, _)| c).collect();
        all.resize(operands.len(), None);
        Ok(all)
    }

    fn active_count(&self) -> usize {
        self.active.iter().filter(|a| **a).count()
    }
}

impl ExtensionOp for Pullback {
    fn family_id(&self) -> &'static str {
        "tenferro.pullback.v1"
    }
    fn payload_hash(&self, mut state: &mut dyn Hasher) {
        self.hash(&mut state);
    }
    fn payload_eq(&self, other: &dyn ExtensionOp) -> bool {
        other.as_any().downcast_ref() == Some(self)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn input_count(&self) -> usize {
        self.active_count() + self.op.input_count() + self.op.output_count()
    }
    fn output_count(&self) -> usize {
        self.op.output_count()
    }
    fn effects(&self) -> EffectDeclaration {
        EffectDeclaration::Declared(&[])
    }
    fn aliases(&self) -> AliasDeclaration {
        AliasDeclaration::AllFresh
    }
    fn infer_output_meta(&self, ctx: &mut ShapeContext<'_>) -> Result<Vec<ValueMeta>> {
        Ok((ctx.input_count() - self.output_count()..ctx.input_count()).map(|i| ctx.input(i).clone()).collect())
    }
    fn fmt_payload(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.op.family_id())
    }
}
