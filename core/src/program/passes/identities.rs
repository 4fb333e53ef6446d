//! Removes operations that change nothing and joins those that are one.
//!
//! Only what is exact: `x + 0.0` turns -0 into 0 and stays, `x + -0.0` and `x - 0.0` are x; products of complex numbers
//! by 1 stay, for their parts are multiplied by 0 too.

use super::rewrite::{Site, rewrite};
use crate::dtype::ScalarValue;
use crate::error::Result;
use crate::ops::CoreOp;
use crate::program::{Op, ProgramBuilder, SemanticProgram, ValueId};
use crate::shape::SymDim;

/// Runs the pass.
///
/// # Errors
/// None but for a program that is malformed.
pub fn run(program: &SemanticProgram) -> Result<SemanticProgram> {
    rewrite(program, simplified)
}

fn simplified(b: &mut ProgramBuilder, site: Site<'_>) -> Result<Option<ValueId>> {
    let inputs = site.inputs;
    Ok(match site.op {
        CoreOp::Mul if b.is_real_one(inputs[1]) => Some(inputs[0]),
        CoreOp::Mul if b.is_real_one(inputs[0]) => Some(inputs[1]),
        CoreOp::Div if b.is_real_one(inputs[1]) => Some(inputs[0]),
        CoreOp::Add if is(b, inputs[1], negative_zero) => Some(inputs[0]),
        CoreOp::Add if is(b, inputs[0], negative_zero) => Some(inputs[1]),
        CoreOp::Sub if is(b, inputs[1], |v| v == ScalarValue::zero(v.dtype())) => Some(inputs[0]),
        CoreOp::Convert(dtype) if b.meta(inputs[0]).dtype == *dtype => Some(inputs[0]),
        CoreOp::Neg | CoreOp::Not | CoreOp::Conj => inner(b, &site, |op| op == site.op).map(|(_, x)| x),
        CoreOp::Reverse { axes } if axes.is_empty() => Some(inputs[0]),
        CoreOp::Reverse { .. } => inner(b, &site, |op| op == site.op).map(|(_, x)| x),
        CoreOp::StopGradient => inner(b, &site, |op| op == site.op).map(|_| inputs[0]),
        CoreOp::Sum { axes } | CoreOp::Prod { axes } | CoreOp::Max { axes } | CoreOp::Min { axes }
            if axes.is_empty() =>
        {
            Some(inputs[0])
        }
        CoreOp::Transpose { axes } => {
            let (x, axes) = match inner(b, &site, |op| matches!(op, CoreOp::Transpose { .. })) {
                Some((CoreOp::Transpose { axes: first }, x)) => (x, axes.iter().map(|&a| first[a as usize]).collect()),
                _ => (inputs[0], axes.to_vec()),
            };
            Some(b.transpose(x, &axes)?)
        }
        CoreOp::Reshape { shape } => {
            let x = inner(b, &site, |op| matches!(op, CoreOp::Reshape { .. })).map_or(inputs[0], |(_, x)| x);
            Some(b.reshape(x, shape)?)
        }
        CoreOp::BroadcastInDim { shape, axes } => {
            let (x, axes) = match inner(b, &site, |op| matches!(op, CoreOp::BroadcastInDim { .. })) {
                Some((CoreOp::BroadcastInDim { axes: first, shape: between }, x))
                    if stretches(b, x, &first, &between) =>
                {
                    (x, first.iter().map(|&a| axes[a as usize]).collect())
                }
                _ => (inputs[0], axes.to_vec()),
            };
            Some(b.broadcast_in_dim(x, shape, &axes)?)
        }
        _ => None,
    })
}

/// The operation that makes the first operand, if `wanted`, and its own operand.
fn inner(b: &ProgramBuilder, site: &Site<'_>, wanted: impl Fn(&CoreOp) -> bool) -> Option<(CoreOp, ValueId)> {
    let node = b.maker(site.inputs[0])?;
    match &node.op {
        Op::Core(op) if wanted(op) => Some((op.clone(), node.inputs[0])),
        _ => None,
    }
}

/// Whether every axis of `x` that `between` has as 1 is 1 in `x` too, so that it may be stretched at once: an extent
/// that is only found to be 1 when inputs arrive may not.
fn stretches(b: &ProgramBuilder, x: ValueId, axes: &[u32], between: &[SymDim]) -> bool {
    let one = |dim: &SymDim| dim.as_const() == Some(1);
    b.meta(x).shape.iter().zip(axes).all(|(dim, &axis)| one(dim) || !one(&between[axis as usize]))
}

/// Whether every entry of a value is a known scalar that satisfies `wanted`.
fn is(b: &ProgramBuilder, value: ValueId, wanted: fn(ScalarValue) -> bool) -> bool {
    b.splat(value).is_some_and(wanted)
}

/// What added to any x gives x: -0, in integers 0.
fn negative_zero(value: ScalarValue) -> bool {
    match value {
        ScalarValue::C32(z) => (z.re.to_bits(), z.im.to_bits()) == ((-0.0f32).to_bits(), (-0.0f32).to_bits()),
        ScalarValue::C64(z) => (z.re.to_bits(), z.im.to_bits()) == ((-0.0f64).to_bits(), (-0.0f64).to_bits()),
        value => value == ScalarValue::from_f64(-0.0, value.dtype()),
    }
}
