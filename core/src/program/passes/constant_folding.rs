//! Computes operations whose operands are known: scalars, and scalars repeated over a shape.
//!
//! Only operations that are exact or rounded correctly are computed here, for these are the same on every engine:
//! arithmetic of reals and integers, comparisons, logic, conversions among reals. A selection by a known condition is
//! its branch, and a view of a repeated scalar is the scalar repeated.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::rewrite::{Site, rewrite};
use crate::dtype::{DType, ScalarValue};
use crate::error::Result;
use crate::ops::{Comparison, CoreOp, OpClass};
use crate::program::{ProgramBuilder, SemanticProgram, ValueId};

/// Runs the pass.
///
/// # Errors
/// None but for a program that is malformed.
pub fn run(program: &SemanticProgram) -> Result<SemanticProgram> {
    rewrite(program, folded)
}

fn folded(b: &mut ProgramBuilder, site: Site<'_>) -> Result<Option<ValueId>> {
    if let (CoreOp::Select, Some(ScalarValue::Bool(condition))) =
        (site.op, site.inputs.first().and_then(|&c| b.splat(c)))
    {
        return Ok(Some(site.inputs[if condition { 1 } else { 2 }]));
    }
    let Some(operands) = site.inputs.iter().map(|&v| b.splat(v)).collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let value = match (site.op.class(), &*operands) {
        (OpClass::Elementwise, operands) => evaluate(site.op, operands),
        (OpClass::Layout, [value]) => Some(*value),
        (OpClass::Creation, []) => known_size(site.op),
        _ => None,
    };
    let Some(value) = value else { return Ok(None) };
    let scalar = b.constant(value)?;
    b.broadcast_in_dim(scalar, &site.meta.shape, &[]).map(Some)
}

/// A size without unknowns, if the dtype holds it exactly.
fn known_size(op: &CoreOp) -> Option<ScalarValue> {
    let CoreOp::SizeValue { dim, dtype } = op else { return None };
    let extent = dim.as_const().filter(|extent| extent.unsigned_abs() < 1 << 24)?;
    Some(ScalarValue::from_f64(extent as f64, *dtype))
}

/// The result of an elementwise operation on known scalars, for the operations that are computed here.
fn evaluate(op: &CoreOp, operands: &[ScalarValue]) -> Option<ScalarValue> {
    use ScalarValue::{Bool, F32, F64, I32, I64};
    match (op, operands) {
        (CoreOp::Convert(dtype), &[x]) => convert(x, *dtype),
        (CoreOp::Not, &[Bool(x)]) => Some(Bool(!x)),
        (CoreOp::And, &[Bool(x), Bool(y)]) => Some(Bool(x && y)),
        (CoreOp::Or, &[Bool(x), Bool(y)]) => Some(Bool(x || y)),
        (CoreOp::Compare(relation), &[x, y]) => match (x, y) {
            (F32(x), F32(y)) => Some(Bool(compare(*relation, x, y))),
            (F64(x), F64(y)) => Some(Bool(compare(*relation, x, y))),
            (I32(x), I32(y)) => Some(Bool(compare(*relation, x, y))),
            (I64(x), I64(y)) => Some(Bool(compare(*relation, x, y))),
            _ => None,
        },
        (op, &[F32(x)]) => float(op, x, x).map(F32),
        (op, &[F32(x), F32(y)]) => float(op, x, y).map(F32),
        (op, &[F64(x)]) => float(op, x, x).map(F64),
        (op, &[F64(x), F64(y)]) => float(op, x, y).map(F64),
        (op, &[I32(x)]) => integer(op, x.into(), x.into()).map(|z| I32(z as i32)),
        (op, &[I32(x), I32(y)]) => integer(op, x.into(), y.into()).map(|z| I32(z as i32)),
        (op, &[I64(x)]) => integer(op, x.into(), x.into()).map(|z| I64(z as i64)),
        (op, &[I64(x), I64(y)]) => integer(op, x.into(), y.into()).map(|z| I64(z as i64)),
        _ => None,
    }
}

fn compare<T: PartialOrd>(relation: Comparison, x: T, y: T) -> bool {
    match relation {
        Comparison::Eq => x == y,
        Comparison::Ne => x != y,
        Comparison::Lt => x < y,
        Comparison::Le => x <= y,
        Comparison::Gt => x > y,
        Comparison::Ge => x >= y,
    }
}

/// An operation on one float (`y` is then unused) or two.
fn float<T>(op: &CoreOp, x: T, y: T) -> Option<T>
where
    T: Neg<Output = T> + Add<Output = T> + Sub<Output = T> + Mul<Output = T> + Div<Output = T>,
{
    Some(match op {
        CoreOp::Neg => -x,
        CoreOp::Add => x + y,
        CoreOp::Sub => x - y,
        CoreOp::Mul => x * y,
        CoreOp::Div => x / y,
        _ => return None,
    })
}

/// An operation on one integer or two, before it wraps to its dtype.
fn integer(op: &CoreOp, x: i128, y: i128) -> Option<i128> {
    Some(match op {
        CoreOp::Neg => -x,
        CoreOp::Add => x + y,
        CoreOp::Sub => x - y,
        CoreOp::Mul => x * y,
        CoreOp::Div if y == 0 => 0,
        CoreOp::Div => x / y,
        _ => return None,
    })
}

fn convert(x: ScalarValue, dtype: DType) -> Option<ScalarValue> {
    match (x, dtype) {
        (x, dtype) if x.dtype() == dtype => Some(x),
        (ScalarValue::F32(x), DType::F64) => Some(ScalarValue::F64(x.into())),
        (ScalarValue::F64(x), DType::F32) => Some(ScalarValue::F32(x as f32)),
        (ScalarValue::I32(x), DType::I64) => Some(ScalarValue::I64(x.into())),
        (ScalarValue::I32(x), DType::F64) => Some(ScalarValue::F64(x.into())),
        (ScalarValue::Bool(x), DType::F32 | DType::F64 | DType::I32 | DType::I64) => {
            Some(ScalarValue::from_f64(x.into(), dtype))
        }
        _ => None,
    }
}
