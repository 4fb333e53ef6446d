//! Derivatives: an einsum is linear in each operand, and the gradient of an einsum is an einsum.

use std::collections::HashSet;
use std::sync::Arc;

use tenferro_core::ad::{LinearTransposeRule, LinearizeRule, SemanticExtensionRuleSet};
use tenferro_core::extension::ExtensionOp;
use tenferro_core::program::{ProgramBuilder, ValueId};
use tenferro_core::shape::SymDim;
use tenferro_core::{Error, Result};

use crate::apply::apply;
use crate::op::{EinsumOp, FAMILY_ID};
use crate::planning::{EinsumOptimize, path};

/// The derivative rules of the family, for an [`AdContext`](tenferro_core::ad::AdContext).
///
/// # Errors
/// None in practice: the set refuses a malformed family id, and this one is not.
pub fn ad_rules() -> Result<SemanticExtensionRuleSet> {
    SemanticExtensionRuleSet::new().with_linearize(Arc::new(EinsumRules))?.with_linear_transpose(Arc::new(EinsumRules))
}

struct EinsumRules;

impl LinearizeRule for EinsumRules {
    fn family_id(&self) -> &'static str {
        FAMILY_ID
    }

    /// Product rule: one term per operand that moves, with its tangent in its place.
    fn linearize(
        &self,
        b: &mut ProgramBuilder,
        op: &dyn ExtensionOp,
        inputs: &[ValueId],
        _outputs: &[ValueId],
        tangents: &[Option<ValueId>],
    ) -> Result<Vec<Option<ValueId>>> {
        let op = payload(op)?;
        let mut sum = None;
        for (moving, tangent) in tangents.iter().enumerate() {
            let Some(tangent) = *tangent else { continue };
            let mut operands = inputs.to_vec();
            operands[moving] = tangent;
            let term = apply(b, op.clone(), &operands)?;
            sum = Some(match sum {
                None => term,
                Some(sum) => b.add(sum, term)?,
            });
        }
        Ok(vec![sum])
    }
}

impl LinearTransposeRule for EinsumRules {
    fn family_id(&self) -> &'static str {
        FAMILY_ID
    }

    fn transpose(
        &self,
        b: &mut ProgramBuilder,
        op: &dyn ExtensionOp,
        inputs: &[ValueId],
        linear: &[bool],
        cotangents: &[Option<ValueId>],
    ) -> Result<Vec<Option<ValueId>>> {
        let op = payload(op)?;
        let mut result = vec![None; inputs.len()];
        let Some(&Some(cotangent)) = cotangents.first() else { return Ok(result) };
        let active: Vec<usize> = (0..inputs.len()).filter(|&operand| linear[operand]).collect();
        match active[..] {
            [] => {}
            [active] => result[active] = Some(operand_cotangent(b, op, inputs, active, cotangent)?),
            _ => {
                let message = format!("{active:?} are linear together, but an einsum is linear in one at a time");
                return Err(Error::argument(format!("einsum {op}"), "operands", message));
            }
        }
        Ok(result)
    }
}

fn payload(op: &dyn ExtensionOp) -> Result<&EinsumOp> {
    op.as_any().downcast_ref().ok_or_else(|| Error::argument(FAMILY_ID, "payload", format!("is no einsum: {op:?}")))
}

/// The cotangent of one operand: the einsum of the output's cotangent with the conjugates of the other operands, onto
/// the operand's own labels.
///
/// * An axis that stretches was read at every value of its label, so that label is summed, and the axis comes back with
///   extent 1.
/// * A label that nothing else carries was summed over this operand alone: the cotangent is the same all along it.
/// * A label on several axes was read on their diagonal, so that is where the cotangent goes.
fn operand_cotangent(
    b: &mut ProgramBuilder,
    op: &EinsumOp,
    inputs: &[ValueId],
    active: usize,
    cotangent: ValueId,
) -> Result<ValueId> {
    // The seed of a gradient is the scalar 1; where the order is free it need not be multiplied by.
    let seeded =
        b.is_one(cotangent) && op.output.is_empty() && inputs.len() > 1 && op.plan.fixed(inputs.len()).is_none();
    let mut operands = if seeded { Vec::new() } else { vec![cotangent] };
    for (_, &value) in inputs.iter().enumerate().filter(|&(operand, _)| operand != active) {
        operands.push(b.conj(value)?);
    }
    let shape = b.meta(inputs[active]).shape.clone();
    let labels = &op.inputs[active];
    let label_at = |axes: &[usize]| -> Vec<u32> { axes.iter().map(|&axis| labels[axis]).collect() };
    // The axes that walk along their label; of these, one per label; and the labels that the other operands know.
    let walking: Vec<usize> = (0..labels.len()).filter(|&axis| !op.stretches(active, axis)).collect();
    let first: Vec<usize> = walking
        .iter()
        .copied()
        .filter(|&axis| !walking.iter().any(|&a| a < axis && labels[a] == labels[axis]))
        .collect();
    let known = carried_by_others(op, active);
    let is_known = |axis: &usize| known.contains(&labels[*axis]);

    let constant_diagonal = walking.iter().any(|axis| !is_known(axis) && !first.contains(axis));
    if !constant_diagonal {
        let axes: Vec<usize> = walking.into_iter().filter(is_known).collect();
        let value = apply(b, backward(op, active, label_at(&axes), seeded), &operands)?;
        return spread(b, value, &shape, &axes);
    }
    // The cotangent along the diagonal has to be whole before it is put in place.
    let axes: Vec<usize> = first.iter().copied().filter(is_known).collect();
    let value = apply(b, backward(op, active, label_at(&axes), seeded), &operands)?;
    let extents: Vec<SymDim> = first.iter().map(|&axis| shape[axis].clone()).collect();
    let places: Vec<usize> = (0..first.len()).filter(|&place| is_known(&first[place])).collect();
    let value = spread(b, value, &extents, &places)?;
    let embed = EinsumOp::canonical(vec![label_at(&first)], label_at(&walking), Vec::new(), EinsumOptimize::Auto);
    let value = apply(b, embed, &[value])?;
    spread(b, value, &shape, &walking)
}

/// The labels that the output or another operand carries at full extent.
fn carried_by_others(op: &EinsumOp, active: usize) -> HashSet<u32> {
    let mut carried: HashSet<u32> = op.output.iter().copied().collect();
    for (operand, labels) in op.inputs.iter().enumerate().filter(|&(operand, _)| operand != active) {
        carried.extend((0..labels.len()).filter(|&axis| !op.stretches(operand, axis)).map(|axis| labels[axis]));
    }
    carried
}

/// The einsum of the cotangent, in front unless it is the `seeded` scalar 1, with the other operands, onto `output`;
/// contracted along the same tree, the same labels sliced, or planned by the same method for the same goal.
fn backward(op: &EinsumOp, active: usize, output: Vec<u32>, seeded: bool) -> EinsumOp {
    let count = op.inputs.len();
    let mut inputs = if seeded { Vec::new() } else { vec![op.output.to_vec()] };
    let others = op.inputs.iter().enumerate().filter(|&(operand, _)| operand != active);
    inputs.extend(others.map(|(_, labels)| labels.to_vec()));
    let place = |operand: u32| operand + u32::from((operand as usize) < active) - u32::from(seeded);
    let stretch = op.stretch.iter().filter(|&&(operand, _)| operand as usize != active);
    let stretch = stretch.map(|&(operand, axis)| (place(operand), axis)).collect();
    let plan = match (op.plan.fixed(count), &op.plan) {
        (None, plan) => plan.clone(),
        (Some(pairs), EinsumOptimize::Tree { slices, .. }) => {
            let pairs = path::rerooted(&pairs, count, active).into_iter();
            let pairs = pairs.map(|(left, right)| (left as u32, right as u32)).collect();
            EinsumOptimize::Tree { pairs, slices: slices.clone() }
        }
        (Some(pairs), _) => {
            EinsumOptimize::Path(path::to_positions(&path::rerooted(&pairs, count, active), count).into())
        }
    };
    EinsumOp { goal: op.goal, ..EinsumOp::canonical(inputs, output, stretch, plan) }
}

/// Makes axis `i` of `value` axis `axes[i]` of a value of this shape, repeating it along the axes that are missing.
fn spread(b: &mut ProgramBuilder, value: ValueId, shape: &[SymDim], axes: &[usize]) -> Result<ValueId> {
    if axes.len() == shape.len() {
        return Ok(value);
    }
    let axes: Vec<u32> = axes.iter().map(|&axis| axis as u32).collect();
    b.broadcast_in_dim(value, shape, &axes)
}
