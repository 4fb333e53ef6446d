//! Rows of the operations whose result is a view of the operand.

use super::CoreOp;
use super::row::{Derivative, OpClass, OutputDType, Row, Transpose};
use crate::dtype::DTypeSet;
use crate::error::{self, Error, Result};
use crate::extension::ShapeContext;
use crate::program::ValueId;
use crate::shape::SymDim;

type Cotangents = Result<Vec<Option<ValueId>>>;

const LAYOUT: Row = Row {
    name: "",
    doc: "",
    class: OpClass::Layout,
    operands: &["x"],
    control: &[],
    dtypes: DTypeSet::ALL,
    output: OutputDType::Same,
    shape: |_, ctx| Ok(ctx.input(0).shape.to_vec()),
    derivative: Derivative::Zero("it stops gradients"),
};

pub(super) const STOP_GRADIENT: Row =
    Row { name: "stop_gradient", doc: "x itself, a constant to derivatives", ..LAYOUT };
pub(super) const TRANSPOSE: Row = Row {
    name: "transpose",
    doc: "axis i of the result is axis `axes[i]` of x",
    shape: transpose,
    derivative: Derivative::Linear(|t| {
        let CoreOp::Transpose { axes } = t.op else { return Ok(vec![None]) };
        let mut inverse = vec![0u32; axes.len()];
        for (i, &axis) in axes.iter().enumerate() {
            inverse[axis as usize] = i as u32;
        }
        one(t.b.transpose(t.cotangent, &inverse))
    }),
    ..LAYOUT
};
pub(super) const RESHAPE: Row = Row {
    name: "reshape",
    doc: "the same entries in column-major order under another shape",
    shape: reshape,
    derivative: Derivative::Linear(|t| {
        let shape = t.meta(0).shape;
        one(t.b.reshape(t.cotangent, &shape))
    }),
    ..LAYOUT
};
pub(super) const BROADCAST_IN_DIM: Row = Row {
    name: "broadcast_in_dim",
    doc: "axis i of x becomes axis `axes[i]` of the result; extents 1 and missing axes repeat",
    shape: broadcast_in_dim,
    derivative: Derivative::Linear(broadcast_transpose),
    ..LAYOUT
};
pub(super) const SLICE: Row = Row {
    name: "slice",
    doc: "indices `start, start + stride, .. < limit` on every axis",
    shape: slice,
    derivative: Derivative::Linear(slice_transpose),
    ..LAYOUT
};
pub(super) const REVERSE: Row = Row {
    name: "reverse",
    doc: "backwards along axes",
    shape: reverse,
    derivative: Derivative::Linear(|t| one(t.b.op(t.op.clone(), &[t.cotangent]))),
    ..LAYOUT
};
pub(super) const EXTRACT_DIAG: Row = Row {
    name: "extract_diag",
    doc: "the diagonal of two axes, which vanish; it becomes the last axis",
    shape: extract_diag,
    derivative: Derivative::Linear(extract_diag_transpose),
    ..LAYOUT
};

fn one(value: Result<ValueId>) -> Cotangents {
    value.map(|v| vec![Some(v)])
}

/// Every axis of `axes` is below `rank` and none occurs twice.
pub(super) fn check_axes(op: &'static str, axes: &[u32], rank: usize) -> Result<()> {
    let axes: Vec<usize> = axes.iter().map(|&axis| axis as usize).collect();
    error::check_axes(op, "axes", &axes, rank)
}

/// The attribute `list` has one entry for each axis of the first operand.
pub(super) fn check_count(list: &'static str, count: usize, ctx: &ShapeContext<'_>) -> Result<()> {
    match count == ctx.input(0).rank() {
        true => Ok(()),
        false => Err(ctx.shape_error(0, format!("an axis for each entry of `{list}`, which has {count}"))),
    }
}

fn transpose(op: &CoreOp, ctx: &mut ShapeContext<'_>) -> Result<Vec<SymDim>> {
    let CoreOp::Transpose { axes } = op else { return Ok(Vec::new()) };
    let shape = &ctx.input(0).shape;
    check_count("axes", axes.len(), ctx)?;
    check_axes("transpose", axes, shape.len())?;
    Ok(axes.iter().map(|&a| shape[a as usize].clone()).collect())
}

fn reshape(op: &CoreOp, ctx: &mut ShapeContext<'_>) -> Result<Vec<SymDim>> {
    let CoreOp::Reshape { shape } = op else { return Ok(Vec::new()) };
    let count = |dims: &[SymDim]| dims.iter().fold(SymDim::constant(1), |n, d| &n * d);
    let (from, to) = (count(&ctx.input(0).shape), count(shape));
    ctx.require_equal(&from, &to, "number of entries before and after reshape")
        .map_err(|_| ctx.shape_error(0, format!("as many entries as {} has", ctx.dims_text(shape))))?;
    Ok(shape.to_vec())
}

fn broadcast_in_dim(op: &CoreOp, ctx: &mut ShapeContext<'_>) -> Result<Vec<SymDim>> {
    let CoreOp::BroadcastInDim { shape, axes } = op else { return Ok(Vec::new()) };
    let from = ctx.input(0).shape.clone();
    check_count("axes", axes.len(), ctx)?;
    check_axes("broadcast_in_dim", axes, shape.len())?;
    for (dim, &axis) in from.iter().zip(axes.iter()) {
        if dim.as_const() != Some(1) {
            ctx.require_equal(dim, &shape[axis as usize], "extent of a broadcast axis").map_err(|_| {
                ctx.shape_error(0, format!("extents 1 or those of {} on its axes {axes:?}", ctx.dims_text(shape)))
            })?;
        }
    }
    Ok(shape.to_vec())
}

/// The one place where broadcasting is undone: sums over what was repeated.
fn broadcast_transpose(t: &mut Transpose<'_>) -> Cotangents {
    let CoreOp::BroadcastInDim { shape, axes } = t.op else { return Ok(vec![None]) };
    let target = t.meta(0).shape;
    // An axis is summed when the operand lacks it or was stretched along it, which only a constant 1 is.
    let single = |dim: &SymDim| dim.as_const() == Some(1);
    let kept =
        |i: u32| axes.iter().position(|&a| a == i).is_some_and(|p| !single(&target[p]) || single(&shape[i as usize]));
    let summed: Vec<u32> = (0..shape.len() as u32).filter(|&i| !kept(i)).collect();
    let mut value = t.cotangent;
    if !summed.is_empty() {
        value = t.b.sum(value, &summed)?;
    }
    // The kept axes stand in the result's order; bring them to the operand's.
    let mut order: Vec<u32> = axes.iter().copied().filter(|&a| kept(a)).collect();
    let sorted = {
        let mut s = order.clone();
        s.sort_unstable();
        s
    };
    for axis in &mut order {
        *axis = sorted.iter().position(|s| s == axis).unwrap_or(0) as u32;
    }
    value = t.b.transpose(value, &order)?;
    one(t.b.reshape(value, &target))
}

fn slice(op: &CoreOp, ctx: &mut ShapeContext<'_>) -> Result<Vec<SymDim>> {
    let CoreOp::Slice { start, limit, stride } = op else { return Ok(Vec::new()) };
    let shape = ctx.input(0).shape.clone();
    check_count("start", start.len(), ctx)?;
    check_count("limit", limit.len(), ctx)?;
    check_count("stride", stride.len(), ctx)?;
    let mut out = Vec::with_capacity(shape.len());
    for (axis, dim) in shape.iter().enumerate() {
        let step = stride[axis];
        if step == 0 {
            return Err(Error::argument("slice", "stride", format!("is 0 on axis {axis}")));
        }
        ctx.require_at_most(&SymDim::constant(0), &start[axis], "start of a slice")?;
        ctx.require_at_most(&start[axis], &limit[axis], "start and limit of a slice")?;
        ctx.require_at_most(&limit[axis], dim, "limit of a slice")?;
        let step = i64::from(step);
        out.push((&limit[axis] - &start[axis] + (step - 1)).div(&step.into()));
    }
    Ok(out)
}

fn slice_transpose(t: &mut Transpose<'_>) -> Cotangents {
    let CoreOp::Slice { start, stride, .. } = t.op else { return Ok(vec![None]) };
    let extents = t.meta(0).shape;
    let taken = t.b.meta(t.cotangent).shape.clone();
    let interior: Vec<u32> = stride.iter().map(|s| s - 1).collect();
    let mut high = Vec::with_capacity(extents.len());
    for axis in 0..extents.len() {
        let covered = super::movement::padded_extent(&taken[axis], &start[axis], &0.into(), interior[axis]);
        high.push(&extents[axis] - &covered);
    }
    let zero = t.b.zero_scalar(t.meta(0).dtype)?;
    let op = CoreOp::Pad { low: start.clone(), high: high.into(), interior: interior.into() };
    one(t.b.op(op, &[t.cotangent, zero]))
}

fn reverse(op: &CoreOp, ctx: &mut ShapeContext<'_>) -> Result<Vec<SymDim>> {
    let CoreOp::Reverse { axes } = op else { return Ok(Vec::new()) };
    check_axes("reverse", axes, ctx.input(0).shape.len())?;
    Ok(ctx.input(0).shape.to_vec())
}

fn extract_diag(op: &CoreOp, ctx: &mut ShapeContext<'_>) -> Result<Vec<SymDim>> {
    let CoreOp::ExtractDiag { axis_a, axis_b } = op else { return Ok(Vec::new()) };
    let shape = ctx.input(0).shape.clone();
    check_axes("extract_diag", &[*axis_a, *axis_b], shape.len())?;
    let (a, b) = (*axis_a as usize, *axis_b as usize);
    ctx.require_equal(&shape[a], &shape[b], "the two axes of a diagonal")?;
    let mut out: Vec<SymDim> =
        shape.iter().enumerate().filter(|(i, _)| *i != a && *i != b).map(|(_, d)| d.clone()).collect();
    out.push(shape[a].clone());
    Ok(out)
}

fn extract_diag_transpose(t: &mut Transpose<'_>) -> Cotangents {
    let CoreOp::ExtractDiag { axis_a, axis_b } = t.op else { return Ok(vec![None]) };
    let rank = t.meta(0).shape.len() as u32;
    let embedded = t.b.op(CoreOp::EmbedDiag, &[t.cotangent])?;
    // The two diagonal axes stand last; bring them home.
    let mut others = 0..rank - 2;
    let order: Vec<u32> = (0..rank)
        .map(|i| match i {
            i if i == *axis_a => rank - 2,
            i if i == *axis_b => rank - 1,
            _ => others.next().unwrap_or(0),
        })
        .collect();
    one(t.b.transpose(embedded, &order))
}
