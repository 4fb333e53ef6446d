//! Makes one operation of two where a family says how ([`ExtensionOp::absorb`]), so that nested einsums become one of
//! all their operands, whose order of contraction the planner chooses as a whole.
//!
//! Only a result that is used once is absorbed: one that is used again would be computed again. For the same reason
//! this pass belongs after a derivative is made, not before: the reverse of two nested operations shares what the inner
//! one computed, that of one flat operation does not.
//!
//! Values change by rounding, and where infinities or NaN take part: `(a + b) c` is not `a c + b c` then. Integers stay
//! as they are.

use super::dead_code;
use super::rewrite::rewrite_nodes;
use crate::error::Result;
#[cfg(doc)]
use crate::extension::ExtensionOp;
use crate::extension::{EffectDeclaration, ExtensionRef};
use crate::program::{Op, ProgramBuilder, SemanticProgram, ValueId};

/// Runs the pass.
///
/// # Errors
/// When an operation that a family gives in place of two does not accept their operands.
pub fn run(program: &SemanticProgram) -> Result<SemanticProgram> {
    // Uses count where equal operations are one and what no output needs is gone.
    let program = &dead_code::run(program)?;
    let mut uses = vec![0usize; program.values().len()];
    let used = program.nodes().iter().flat_map(|node| node.inputs.iter());
    let read_off = program.value_sizes().map(|size| size.value);
    used.copied().chain(program.outputs().iter().map(|o| o.value)).chain(read_off).for_each(|v| uses[v.index()] += 1);

    rewrite_nodes(program, |b, node, inputs| {
        let Op::Extension(op) = &node.op else { return Ok(None) };
        let (mut op, mut absorbed) = (op.clone(), false);
        let mut operands = Vec::with_capacity(inputs.len());
        for (&old, &new) in node.inputs.iter().zip(inputs) {
            match (uses[old.index()] == 1).then(|| absorb(b, &op, operands.len(), new)).flatten() {
                Some((fused, others)) => {
                    (op, absorbed) = (fused, true);
                    operands.extend(others);
                }
                None => operands.push(new),
            }
        }
        if absorbed { b.node(Op::Extension(op), &operands).map(Some) } else { Ok(None) }
    })
}

/// The operation in place of `op` and of the one that makes its operand `operand`, and the operands of the latter.
fn absorb(
    b: &ProgramBuilder,
    op: &ExtensionRef,
    operand: usize,
    value: ValueId,
) -> Option<(ExtensionRef, Vec<ValueId>)> {
    let maker = b.maker(value)?;
    let Op::Extension(producer) = &maker.op else { return None };
    let pure = |op: &ExtensionRef| op.effects() == EffectDeclaration::Declared(&[]);
    let fused = (maker.output_count == 1 && pure(op) && pure(producer)).then(|| op.absorb(operand, &**producer))??;
    Some((fused, maker.inputs.to_vec()))
}
