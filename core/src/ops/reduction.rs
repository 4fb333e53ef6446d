//! Rows of the operations that combine entries along axes.

use super::layout::check_axes;
use super::row::{Derivative, Linearize, OpClass, OutputDType, Row};
use super::{Comparison, CoreOp};
use crate::dtype::{DType, DTypeSet};
use crate::error::{Error, Result};
use crate::extension::ShapeContext;
use crate::program::ValueId;
use crate::shape::SymDim;

const REDUCTION: Row = Row {
    name: "",
    doc: "",
    class: OpClass::Reduction,
    operands: &["x"],
    dtypes: DTypeSet::ORDERED,
    output: OutputDType::Same,
    shape: reduced,
    derivative: Derivative::Nonlinear(extremum),
};

pub(super) const SUM: Row = Row {
    name: "sum",
    doc: "the sum over axes, which vanish; 0 over none; integers wrap",
    dtypes: DTypeSet::NUMERIC,
    derivative: Derivative::Linear(|t| {
        let CoreOp::Sum { axes } = t.op else { return Ok(vec![None]) };
        let shape = t.meta(0).shape;
        let kept: Vec<u32> = (0..shape.len() as u32).filter(|a| !axes.contains(a)).collect();
        Ok(vec![Some(t.b.broadcast_in_dim(t.cotangent, &shape, &kept)?)])
    }),
    ..REDUCTION
};
pub(super) const MAX: Row = Row {
    name: "max",
    doc: "the largest over axes, which vanish; NaN if any is; -inf (least integer) over none; \
          ties share the gradient equally",
    ..REDUCTION
};
pub(super) const MIN: Row = Row {
    name: "min",
    doc: "the smallest over axes, which vanish; NaN if any is; inf (largest integer) over none; \
          ties share the gradient equally",
    ..REDUCTION
};
const ARG: Row = Row {
    output: OutputDType::Fixed(DType::I64),
    shape: arg,
    derivative: Derivative::Zero("its result is an index"),
    ..REDUCTION
};
pub(super) const ARG_MAX: Row =
    Row { name: "argmax", doc: "the index of the largest along an axis, the first of several; a NaN wins", ..ARG };
pub(super) const ARG_MIN: Row =
    Row { name: "argmin", doc: "the index of the smallest along an axis, the first of several; a NaN wins", ..ARG };
pub(super) const CUM_SUM: Row = Row {
    name: "cumsum",
    doc: "the sums of all entries up to each along an axis; integers wrap",
    dtypes: DTypeSet::NUMERIC,
    shape: |op, ctx| {
        axes_of(op, ctx)?;
        Ok(ctx.input(0).shape.to_vec())
    },
    derivative: Derivative::Linear(|t| {
        let CoreOp::CumSum { axis } = t.op else { return Ok(vec![None]) };
        let reverse = CoreOp::Reverse { axes: vec![*axis].into() };
        let value = t.b.op(reverse.clone(), &[t.cotangent])?;
        let value = t.b.op(t.op.clone(), &[value])?;
        Ok(vec![Some(t.b.op(reverse, &[value])?)])
    }),
    ..REDUCTION
};

/// The axes of a reduction, checked.
fn axes_of(op: &CoreOp, ctx: &ShapeContext<'_>) -> Result<Vec<u32>> {
    let axes = match op {
        CoreOp::Sum { axes } | CoreOp::Max { axes } | CoreOp::Min { axes } => axes.to_vec(),
        CoreOp::ArgMax { axis } | CoreOp::ArgMin { axis } | CoreOp::CumSum { axis } => vec![*axis],
        _ => Vec::new(),
    };
    check_axes(op.name(), &axes, ctx.input(0).shape.len())?;
    Ok(axes)
}

fn reduced(op: &CoreOp, ctx: &mut ShapeContext<'_>) -> Result<Vec<SymDim>> {
    let axes = axes_of(op, ctx)?;
    let shape = &ctx.input(0).shape;
    Ok((0..shape.len()).filter(|&i| !axes.contains(&(i as u32))).map(|i| shape[i].clone()).collect())
}

fn arg(op: &CoreOp, ctx: &mut ShapeContext<'_>) -> Result<Vec<SymDim>> {
    let axes = axes_of(op, ctx)?;
    let extent = ctx.input(0).shape[axes[0] as usize].clone();
    if extent.as_const() == Some(0) {
        return Err(Error::argument(op.name(), "x", format!("axis {} has extent 0: there is no index", axes[0])));
    }
    ctx.require_at_most(&SymDim::constant(1), &extent, "an index needs at least one entry")?;
    reduced(op, ctx)
}

/// The winners along the axes share the tangent equally.
fn extremum(l: &mut Linearize<'_>) -> Result<Option<ValueId>> {
    let (CoreOp::Max { axes } | CoreOp::Min { axes }, Some(tangent)) = (l.op, l.tangents[0]) else {
        return Ok(None);
    };
    let x = l.inputs[0];
    let shape = l.b.meta(x).shape.clone();
    let kept: Vec<u32> = (0..shape.len() as u32).filter(|a| !axes.contains(a)).collect();
    let best = l.b.broadcast_in_dim(l.output, &shape, &kept)?;
    let wins = l.b.compare(Comparison::Eq, x, best)?;
    let zero = l.b.constant_like(x, 0.0)?;
    let one = l.b.constant_like(x, 1.0)?;
    let mask = l.b.select(wins, one, zero)?;
    let count = l.b.sum(mask, axes)?;
    // nobody wins over nothing, where the result is constant, and where it is NaN, as the derivative is then
    let number = l.b.compare(Comparison::Eq, l.output, l.output)?;
    let least = l.b.convert(number, l.b.meta(count).dtype)?;
    let count = l.b.maximum(count, least)?;
    let masked = l.b.mul(mask, tangent)?;
    let total = l.b.sum(masked, axes)?;
    l.b.div(total, count).map(Some)
}
