//! Linearisation: a program and its tangents side by side.

use super::AdContext;
use super::checkpoint::Checkpoint;
use super::pullback::Pullback;
use super::rules::check_count;
use crate::error::{Error, Result};
use crate::extension::{EffectDeclaration, ExtensionRef};
use crate::ops::{Derivative, Linearize};
use crate::program::{CopySizes, Op, ProgramBuilder, SemanticProgram, ValueId};

/// What becomes of the tangents.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// They are results.
    Forward,
    /// They are transposed.
    Reverse,
}

/// The outputs of a program and their tangents, `None` where zero.
pub(super) struct Linearized {
    pub outputs: Vec<ValueId>,
    pub tangents: Vec<Option<ValueId>>,
}

/// Copies `program` into `b`, which repeats its inputs, and writes the tangents of its outputs; all that depends on
/// `tangents` is linear in them.
pub(super) fn linearize(
    b: &mut ProgramBuilder,
    program: &SemanticProgram,
    inputs: &[ValueId],
    tangents: &[Option<ValueId>],
    mode: Mode,
    ctx: &AdContext,
) -> Result<Linearized> {
    // Tangents by value of `program`; the copy visits its nodes in order.
    let mut known = tangents.to_vec();
    let mut nodes = program.nodes().iter();
    let outputs = b.copy(program, inputs, CopySizes::Repeated, &mut |b, op, operands| {
        let results = b.apply(op.clone(), operands)?;
        let Some(node) = nodes.next() else { return Ok(results) };
        let of_inputs: Vec<Option<ValueId>> = node.inputs.iter().map(|v| known[v.index()]).collect();
        if of_inputs.iter().all(Option::is_none) {
            known.extend(results.iter().map(|_| None));
            return Ok(results);
        }
        let of_outputs = match op {
            Op::Core(op) => vec![match op.row().derivative {
                Derivative::Zero(_) => None,
                Derivative::Linear(_) => of_inputs[0].map(|t| b.op(op.clone(), &[t])).transpose()?,
                Derivative::Multilinear(rule, _) | Derivative::Nonlinear(rule) => {
                    rule(&mut Linearize { b, op, inputs: operands, output: results[0], tangents: &of_inputs })?
                }
            }],
            Op::Extension(op) => extension(b, op, operands, &results, &of_inputs, mode, ctx)?,
        };
        known.extend(of_outputs);
        Ok(results)
    })?;
    let tangents = program.outputs().iter().map(|o| known[o.value.index()]).collect();
    Ok(Linearized { outputs, tangents })
}

fn extension(
    b: &mut ProgramBuilder,
    op: &ExtensionRef,
    inputs: &[ValueId],
    outputs: &[ValueId],
    tangents: &[Option<ValueId>],
    mode: Mode,
    ctx: &AdContext,
) -> Result<Vec<Option<ValueId>>> {
    let family = op.family_id();
    if op.effects() != EffectDeclaration::Declared(&[]) {
        return Err(Error::argument(family, "effects", "are not none, so it has no derivative"));
    }
    let checkpoint = op.as_any().downcast_ref::<Checkpoint>();
    if mode == Mode::Reverse && (checkpoint.is_some() || ctx.rules().reverses_whole(family)) {
        return Pullback::record(b, op, inputs, outputs, tangents);
    }
    let of_outputs = match checkpoint {
        Some(checkpoint) => checkpoint.push_forward(b, inputs, tangents, ctx)?,
        None => ctx.rules().linearize(family)?.linearize(b, &**op, inputs, outputs, tangents)?,
    };
    check_count(family, "linearize", outputs.len(), of_outputs.len())?;
    Ok(of_outputs)
}
