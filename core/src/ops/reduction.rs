//! Rows of the operations that combine entries along axes.

use super::layout::check_axes;
use super::row::{Derivative, Linearize, OpClass, OutputDType, Row};
use super::{Comparison, CoreOp};
use crate::dtype::{DType, DTypeSet, ScalarValue};
use crate::error::{Error, Result};
use crate::extension::ShapeContext;
use crate::program::{ProgramBuilder, ValueId};
use crate::shape::SymDim;

const REDUCTION: Row = Row {
    name: "",
    doc: "",
    class: OpClass::Reduction,
    operands: &["x"],
    control: &[],
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
pub(super) const PROD: Row = Row {
    name: "prod",
    doc: "the product over axes, which vanish; 1 over none; integers wrap",
    dtypes: DTypeSet::NUMERIC,
    derivative: Derivative::Nonlinear(prod),
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
const TRUTH: Row =
    Row { dtypes: DTypeSet::BOOL, derivative: Derivative::Zero("its result is not a number"), ..REDUCTION };
pub(super) const ANY: Row =
    Row { name: "any", doc: "whether an entry over the axes, which vanish, is true; false over none", ..TRUTH };
pub(super) const ALL: Row =
    Row { name: "all", doc: "whether every entry over the axes, which vanish, is true; true over none", ..TRUTH };
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
    shape: scanned,
    derivative: Derivative::Linear(|t| {
        let CoreOp::CumSum { axis } = t.op else { return Ok(vec![None]) };
        let reverse = CoreOp::Reverse { axes: vec![*axis].into() };
        let value = t.b.op(reverse.clone(), &[t.cotangent])?;
        let value = t.b.op(t.op.clone(), &[value])?;
        Ok(vec![Some(t.b.op(reverse, &[value])?)])
    }),
    ..REDUCTION
};

pub(super) const CUM_PROD: Row = Row {
    name: "cumprod",
    doc: "the products of all entries up to each along an axis; integers wrap",
    dtypes: DTypeSet::NUMERIC,
    shape: scanned,
    derivative: Derivative::Nonlinear(|l| {
        let (CoreOp::CumProd { axis }, Some(tangent)) = (l.op, l.tangents[0]) else { return Ok(None) };
        // y[i] = x[i] y[i-1] with y[-1] = 1
        let before = shifted(l.b, l.output, *axis, 1, 1.0)?;
        let own = l.b.mul(before, tangent)?;
        l.b.linear_recurrence(l.inputs[0], own, *axis).map(Some)
    }),
    ..REDUCTION
};
pub(super) const LINEAR_RECURRENCE: Row = Row {
    name: "linear_recurrence",
    doc: "`z[0] = b[0]`, then `z[i] = a[i] z[i-1] + b[i]` along an axis; integers wrap",
    operands: &["a", "b"],
    dtypes: DTypeSet::NUMERIC,
    shape: |op, ctx| {
        ctx.equal_shapes()?;
        scanned(op, ctx)
    },
    derivative: Derivative::Multilinear(recurrence_tangent, |t| {
        let CoreOp::LinearRecurrence { axis } = t.op else { return Ok(vec![None, None]) };
        // b'[i] = z'[i] + conj(a[i+1]) b'[i+1]
        let reverse = CoreOp::Reverse { axes: vec![*axis].into() };
        let conjugate = t.b.conj(t.inputs[0])?;
        let next = shifted(t.b, conjugate, *axis, -1, 0.0)?;
        let next = t.b.op(reverse.clone(), &[next])?;
        let cotangent = t.b.op(reverse.clone(), &[t.cotangent])?;
        let value = t.b.linear_recurrence(next, cotangent, *axis)?;
        Ok(vec![None, Some(t.b.op(reverse, &[value])?)])
    }),
    ..REDUCTION
};

/// The axes of a reduction, checked.
fn axes_of(op: &CoreOp, ctx: &ShapeContext<'_>) -> Result<Vec<u32>> {
    let axes = match op {
        CoreOp::Sum { axes }
        | CoreOp::Prod { axes }
        | CoreOp::Max { axes }
        | CoreOp::Min { axes }
        | CoreOp::Any { axes }
        | CoreOp::All { axes } => axes.to_vec(),
        CoreOp::ArgMax { axis }
        | CoreOp::ArgMin { axis }
        | CoreOp::CumSum { axis }
        | CoreOp::CumProd { axis }
        | CoreOp::LinearRecurrence { axis } => vec![*axis],
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

fn scanned(op: &CoreOp, ctx: &mut ShapeContext<'_>) -> Result<Vec<SymDim>> {
    axes_of(op, ctx)?;
    Ok(ctx.input(0).shape.to_vec())
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

/// Entries moved along an axis by 1 or -1; what comes in is `fill`, what goes out is lost.
fn shifted(b: &mut ProgramBuilder, x: ValueId, axis: u32, by: i64, fill: f64) -> Result<ValueId> {
    let meta = b.meta(x).clone();
    let fill = b.constant(ScalarValue::from_f64(fill, meta.dtype))?;
    let along = |by: i64| (0..meta.rank() as u32).map(|i| SymDim::constant(if i == axis { by } else { 0 })).collect();
    b.op(CoreOp::Pad { low: along(by), high: along(-by), interior: vec![0; meta.rank()].into() }, &[x, fill])
}

/// One axis after the other. Along one, the derivative for an entry is the product of those before it times that of
/// those after it, which is right also where entries are 0.
fn prod(l: &mut Linearize<'_>) -> Result<Option<ValueId>> {
    let (CoreOp::Prod { axes }, Some(mut tangent)) = (l.op, l.tangents[0]) else { return Ok(None) };
    let mut x = l.inputs[0];
    let mut axes = axes.to_vec();
    axes.sort_unstable();
    while let Some(axis) = axes.pop() {
        let reverse = CoreOp::Reverse { axes: vec![axis].into() };
        let upto = l.b.cumprod(x, axis)?;
        let before = shifted(l.b, upto, axis, 1, 1.0)?;
        let reversed = l.b.op(reverse.clone(), &[x])?;
        let from = l.b.cumprod(reversed, axis)?;
        let after = shifted(l.b, from, axis, 1, 1.0)?;
        let after = l.b.op(reverse, &[after])?;
        let others = l.b.mul(before, after)?;
        let terms = l.b.mul(others, tangent)?;
        tangent = l.b.sum(terms, &[axis])?;
        x = l.b.prod(x, &[axis])?;
    }
    Ok(Some(tangent))
}

/// `dz[i] = a[i] dz[i-1] + (da[i] z[i-1] + db[i])`
fn recurrence_tangent(l: &mut Linearize<'_>) -> Result<Option<ValueId>> {
    let CoreOp::LinearRecurrence { axis } = l.op else { return Ok(None) };
    let mut driven = l.tangents[1];
    if let Some(t) = l.tangents[0] {
        let before = shifted(l.b, l.output, *axis, 1, 0.0)?;
        let own = l.b.mul(before, t)?;
        driven = Some(match driven {
            Some(b) => l.b.add(own, b)?,
            None => own,
        });
    }
    driven.map(|driven| l.b.linear_recurrence(l.inputs[0], driven, *axis)).transpose()
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
