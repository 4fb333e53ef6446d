//! Transposition: the linear part of a builder is read backwards.

use super::AdContext;
use super::pullback::Pullback;
use super::rules::check_count;
use crate::error::{Error, Result};
use crate::ops::{Derivative, Transpose};
use crate::program::{Op, ProgramBuilder, ValueId};

/// Cotangents of the linear inputs, given cotangents of values that depend linearly on them.
///
/// `linear_inputs` are placeholders; every node of `b` from `first_node` on that depends on one is linear in it.
pub(super) fn transpose(
    b: &mut ProgramBuilder,
    linear_inputs: &[ValueId],
    first_node: usize,
    seeds: &[(ValueId, ValueId)],
    ctx: &AdContext,
) -> Result<Vec<Option<ValueId>>> {
    let mut linear = vec![false; b.value_count()];
    for v in linear_inputs {
        linear[v.index()] = true;
    }
    let end = b.nodes().len();
    for node in &b.nodes()[first_node..] {
        if node.inputs.iter().any(|v| linear[v.index()]) {
            node.outputs().for_each(|v| linear[v.index()] = true);
        }
    }
    let mut cotangents: Vec<Option<ValueId>> = vec![None; b.value_count()];
    for &(value, cotangent) in seeds {
        accumulate(b, &mut cotangents[value.index()], cotangent)?;
    }
    for i in (first_node..end).rev() {
        let node = b.nodes()[i].clone();
        let of_outputs: Vec<Option<ValueId>> = node.outputs().map(|v| cotangents[v.index()]).collect();
        if !linear[node.first_output.index()] || of_outputs.iter().all(Option::is_none) {
            continue;
        }
        let of_inputs_linear: Vec<bool> = node.inputs.iter().map(|v| linear[v.index()]).collect();
        let of_inputs = match &node.op {
            Op::Core(op) => {
                let (Derivative::Linear(rule) | Derivative::Multilinear(_, rule), Some(cotangent)) =
                    (op.row().derivative, of_outputs[0])
                else {
                    let message = format!("a linearisation wrote `{}`, which is not linear", op.name());
                    return Err(Error::Malformed { program: "derivative".to_string(), message });
                };
                rule(&mut Transpose { b, op, inputs: &node.inputs, linear: &of_inputs_linear, cotangent })?
            }
            Op::Extension(op) => match op.as_any().downcast_ref::<Pullback>() {
                Some(pullback) => pullback.transpose(b, &node.inputs, &of_outputs, ctx)?,
                None => {
                    let rule = ctx.rules().linear_transpose(op.family_id())?;
                    rule.transpose(b, &**op, &node.inputs, &of_inputs_linear, &of_outputs)?
                }
            },
        };
        check_count(node.op.name(), "transpose", node.inputs.len(), of_inputs.len())?;
        for (input, cotangent) in node.inputs.iter().zip(of_inputs) {
            match cotangent {
                Some(c) if linear[input.index()] => accumulate(b, &mut cotangents[input.index()], c)?,
                _ => {}
            }
        }
    }
    Ok(linear_inputs.iter().map(|v| cotangents[v.index()]).collect())
}

fn accumulate(b: &mut ProgramBuilder, slot: &mut Option<ValueId>, cotangent: ValueId) -> Result<()> {
    *slot = Some(match *slot {
        Some(sum) => b.add(sum, cotangent)?,
        None => cotangent,
    });
    Ok(())
}
