//! Linearisation: a program and its tangents side by side.

use super::AdContext;
use crate::error::{Error, Result};
use crate::extension::EffectDeclaration;
use crate::ops::{Derivative, Linearize};
use crate::program::{Op, ProgramBuilder, SemanticProgram, ValueId};

/// The outputs of a program and their tangents, `None` where zero.
pub(super) struct Linearized {
    pub outputs: Vec<ValueId>,
    pub tangents: Vec<Option<ValueId>>,
}

/// Copies `program` into `b` and writes the tangents of its outputs; all that depends on `tangents` is linear in
/// them.
pub(super) fn linearize(
    b: &mut ProgramBuilder,
    program: &SemanticProgram,
    inputs: &[ValueId],
    tangents: &[Option<ValueId>],
    ctx: &AdContext,
) -> Result<Linearized> {
    // Tangents by value of `program`; the copy visits its nodes in order.
    let mut known = tangents.to_vec();
    let mut nodes = program.nodes().iter();
    let outputs = b.copy(program, inputs, &mut |b, copied| {
        let Some(node) = nodes.next() else { return Ok(()) };
        let of_inputs: Vec<Option<ValueId>> = node.inputs.iter().map(|v| known[v.index()]).collect();
        if of_inputs.iter().all(Option::is_none) {
            known.extend(copied.outputs.iter().map(|_| None));
            return Ok(());
        }
        let of_outputs = match copied.op {
            Op::Core(op) => vec![match op.row().derivative {
                Derivative::Zero(_) => None,
                Derivative::Linear(_) => of_inputs[0].map(|t| b.op(op.clone(), &[t])).transpose()?,
                Derivative::Multilinear(rule, _) | Derivative::Nonlinear(rule) => rule(&mut Linearize {
                    b,
                    op,
                    inputs: copied.inputs,
                    output: copied.outputs[0],
                    tangents: &of_inputs,
                })?,
            }],
            Op::Extension(op) => {
                let family = op.family_id();
                if op.effects() != EffectDeclaration::Declared(&[]) {
                    let message = format!("has effects; derivatives of `{family}` are not defined");
                    return Err(Error::argument(family, "effects", message));
                }
                let rule = ctx.rules().linearize(family)?;
                let tangents = rule.linearize(b, &**op, copied.inputs, copied.outputs, &of_inputs)?;
                check_count(family, "linearize", tangents.len(), copied.outputs.len())?;
                tangents
            }
        };
        known.extend(of_outputs);
        Ok(())
    })?;
    let tangents = program.outputs().iter().map(|o| known[o.value.index()]).collect();
    Ok(Linearized { outputs, tangents })
}

/// A rule answers for every value it was asked about.
pub(super) fn check_count(family: &str, role: &str, actual: usize, expected: usize) -> Result<()> {
    if actual == expected {
        return Ok(());
    }
    let message = format!("gave {actual} values where {expected} were asked for");
    Err(Error::argument(family.to_string(), format!("{role} rule"), message))
}
