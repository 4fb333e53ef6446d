//! Checkpointing: a subprogram whose intermediate values the reverse pass computes again instead of keeping them
//! (Griewank and Walther 2000, *Algorithm 799: Revolve*).

use std::any::Any;
use std::fmt;
use std::hash::Hasher;
use std::sync::Arc;

use super::{AdContext, jvp, transforms};
use crate::error::{Error, Result};
use crate::extension::{AliasDeclaration, EffectDeclaration, ExtensionOp, ShapeContext};
use crate::program::{CopySizes, Op, ProgramBuilder, SemanticProgram, SizeNames, ValueId, ValueMeta, sizes_of_call};

/// Calls a program so that its reverse pass keeps only the arguments and computes the rest again.
///
/// The call is one operation of the program; its derivatives are calls of the same kind. It becomes the operations
/// of `program` when it is [expanded](expand_checkpoints) for execution, where it shares none with its surroundings.
/// Its text form holds that of `program`.
///
/// # Errors
/// As [`ProgramBuilder::call`]; and when `program` has side effects, or an output whose shape depends on a size that it
/// reads off a value.
///
/// ```
/// use std::sync::Arc;
/// use tenferro_core::{ad, dtype::DType, program::ProgramBuilder};
/// let mut b = ProgramBuilder::new("wave");
/// let x = b.input("x", DType::F64, &[])?;
/// let y = b.sin(x)?;
/// let z = b.exp(y)?;
/// let wave = Arc::new(b.finish(&[(None, z)])?);
///
/// let mut b = ProgramBuilder::new("loss");
/// let x = b.input("x", DType::F64, &[])?;
/// let y = ad::checkpoint(&mut b, wave, &[x])?[0];
/// let loss = b.finish(&[(None, y)])?;
/// // The loss and its derivative, which computes sin and exp again.
/// let both = ad::value_and_grad(&loss, &[0], &ad::AdContext::new())?;
/// assert_eq!(both.nodes().iter().filter(|n| n.op.name() == "tenferro.checkpoint.v1").count(), 2);
/// # Ok::<(), tenferro_core::Error>(())
/// ```
pub fn checkpoint(
    b: &mut ProgramBuilder,
    program: impl Into<Arc<SemanticProgram>>,
    arguments: &[ValueId],
) -> Result<Vec<ValueId>> {
    b.extension(Checkpoint::new(program.into())?, arguments)
}

/// The program with every [checkpointed](checkpoint) call replaced by the operations it stands for, `None` if there
/// is none. Inputs, outputs and the sizes of axes are the same.
///
/// Operations inside and outside of a call are not shared, or what a reverse pass computes again would be found
/// computed already. For the same reason the result is to be executed as it stands.
///
/// # Errors
/// As the builder.
pub fn expand_checkpoints(program: &SemanticProgram) -> Result<Option<SemanticProgram>> {
    if !program.nodes().iter().any(|node| as_checkpoint(&node.op).is_some()) {
        return Ok(None);
    }
    let mut b = ProgramBuilder::new(program.name());
    let inputs = b.repeat_inputs(program)?;
    let outputs = expand_into(&mut b, program, &inputs, CopySizes::Repeated)?;
    let outputs: Vec<_> = program.outputs().iter().map(|o| o.name.as_deref()).zip(outputs).collect();
    b.finish(&outputs).map(Some)
}

fn expand_into(
    b: &mut ProgramBuilder,
    program: &SemanticProgram,
    arguments: &[ValueId],
    sizes: CopySizes<'_>,
) -> Result<Vec<ValueId>> {
    b.copy(program, arguments, sizes, &mut |b, op, inputs| match as_checkpoint(op) {
        Some(call) => b.isolated(|b| expand_into(b, &call.program, inputs, CopySizes::OfCall(""))),
        None => b.apply(op.clone(), inputs),
    })
}

fn as_checkpoint(op: &Op) -> Option<&Checkpoint> {
    match op {
        Op::Extension(op) => op.as_any().downcast_ref(),
        Op::Core(_) => None,
    }
}

/// The payload: the program that is called.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    program: Arc<SemanticProgram>,
}

impl Checkpoint {
    /// The family of checkpointed calls.
    pub const FAMILY_ID: &str = "tenferro.checkpoint.v1";

    /// A call of this program, which must have no side effects.
    pub fn new(program: Arc<SemanticProgram>) -> Result<Self> {
        let effectful = |op: &Op| matches!(op, Op::Extension(op) if op.effects() != EffectDeclaration::Declared(&[]));
        if let Some(node) = program.nodes().iter().find(|node| effectful(&node.op)) {
            let message = format!("computes `{}`, whose effects would happen twice", node.op.name());
            return Err(Error::argument("checkpoint", program.name().to_string(), message));
        }
        Ok(Self { program })
    }

    /// The tangents of the results: a call of the program's forward mode.
    pub fn push_forward(
        &self,
        b: &mut ProgramBuilder,
        inputs: &[ValueId],
        tangents: &[Option<ValueId>],
        ctx: &AdContext,
    ) -> Result<Vec<Option<ValueId>>> {
        let wrt: Vec<usize> = (0..tangents.len()).filter(|&i| tangents[i].is_some()).collect();
        let program = Arc::new(jvp(&self.program, &wrt, ctx)?);
        let arguments: Vec<ValueId> = inputs.iter().chain(tangents.iter().flatten()).copied().collect();
        let results = b.extension(Self { program }, &arguments)?;
        let mut of_floats = results.into_iter().skip(self.output_count());
        let float = |i| self.program.output_meta(i).dtype.is_float();
        Ok((0..self.output_count()).map(|i| if float(i) { of_floats.next() } else { None }).collect())
    }

    /// The cotangents of the active operands: a call of the program's reverse mode, which needs the operands only.
    pub fn pull_back(
        &self,
        b: &mut ProgramBuilder,
        inputs: &[ValueId],
        outputs: &[ValueId],
        active: &[bool],
        cotangents: &[Option<ValueId>],
        ctx: &AdContext,
    ) -> Result<Vec<Option<ValueId>>> {
        let wrt: Vec<usize> = (0..active.len()).filter(|&i| active[i]).collect();
        let (program, positions) = transforms::pull_back(&self.program, &wrt, ctx)?;
        let mut arguments = inputs.to_vec();
        for (&output, &cotangent) in outputs.iter().zip(cotangents) {
            let meta = b.meta(output).clone();
            if meta.dtype.is_float() {
                arguments.push(cotangent.map_or_else(|| b.zeros(&meta), Ok)?);
            }
        }
        let results = b.extension(Self { program: Arc::new(program) }, &arguments)?;
        let mut of_inputs = vec![None; inputs.len()];
        for (&input, position) in wrt.iter().zip(positions) {
            of_inputs[input] = position.map(|p| results[p]);
        }
        Ok(of_inputs)
    }
}

impl ExtensionOp for Checkpoint {
    fn family_id(&self) -> &'static str {
        Self::FAMILY_ID
    }
    fn payload_hash(&self, state: &mut dyn Hasher) {
        state.write_u128(self.program.fingerprint().0);
    }
    fn payload_eq(&self, other: &dyn ExtensionOp) -> bool {
        other.as_any().downcast_ref::<Self>().is_some_and(|o| o.program.fingerprint() == self.program.fingerprint())
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn input_count(&self) -> usize {
        self.program.inputs().len()
    }
    fn output_count(&self) -> usize {
        self.program.outputs().len()
    }
    fn effects(&self) -> EffectDeclaration {
        EffectDeclaration::Declared(&[])
    }
    fn aliases(&self) -> AliasDeclaration {
        AliasDeclaration::AllFresh
    }
    fn infer_output_meta(&self, ctx: &mut ShapeContext<'_>) -> Result<Vec<ValueMeta>> {
        let sizes = sizes_of_call(&self.program, "", ctx)?;
        let outputs = (0..self.output_count()).map(|i| (i, self.program.output_meta(i)));
        for (i, meta) in outputs {
            if meta.shape.iter().any(|dim| dim.sizes_needed() > sizes.len()) {
                let shape = SizeNames(self.program.sizes()).meta(meta);
                let message =
                    format!("is {shape}, but a size that is read off a value within the call is unknown outside");
                return Err(Error::argument(self.program.name().to_string(), format!("output {i}"), message));
            }
        }
        let of_call = |meta: &ValueMeta| {
            ValueMeta::new(meta.dtype, meta.shape.iter().map(|d| d.substitute(&sizes)).collect::<Vec<_>>())
        };
        Ok((0..self.output_count()).map(|i| of_call(self.program.output_meta(i))).collect())
    }
    fn fmt_payload(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Names and reasons are escaped, so every line of the text is its own.
        let text = self.program.to_string();
        f.write_str(&text.trim_end().replace('\n', "\n  "))
    }
}
