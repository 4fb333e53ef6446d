//! Rows of the movement operations that operands of indices steer.

use super::layout::{check_axes, check_count};
use super::movement::linear_in_data;
use super::row::{Derivative, OpClass, OutputDType, Row, Transpose};
use super::{Comparison, CoreOp};
use crate::dtype::{DType, DTypeSet};
use crate::error::Result;
use crate::extension::ShapeContext;
use crate::program::{ValueId, ValueMeta};
use crate::shape::SymDim;

type Cotangents = Result<Vec<Option<ValueId>>>;

const INDEXING: Row = Row {
    name: "",
    doc: "",
    class: OpClass::Movement,
    operands: &["x", "indices", "updates"],
    control: &[(1, DType::I64)],
    dtypes: DTypeSet::ALL,
    output: OutputDType::Same,
    shape: scatter,
    derivative: Derivative::Multilinear(linear_in_data, scatter_transpose),
};

pub(super) const GATHER: Row = Row {
    name: "gather",
    doc: "x with its index along an axis replaced by what `indices` holds there: along axis 0, `x[indices[i, j], j]`; \
          an index that is negative or beyond the extent is an error",
    operands: &["x", "indices"],
    shape: gather,
    derivative: Derivative::Multilinear(linear_in_data, gather_transpose),
    ..INDEXING
};
pub(super) const SCATTER: Row = Row {
    name: "scatter",
    doc: "x with entries replaced: along axis 0, `updates[i, j]` at `[indices[i, j], j]`; of several for one place the \
          last along the axis stays and alone has a gradient; an index that is negative or beyond the extent is an \
          error",
    ..INDEXING
};
pub(super) const SCATTER_ADD: Row = Row {
    name: "scatter_add",
    doc: "x with entries added to: along axis 0, `updates[i, j]` at `[indices[i, j], j]`, in their order along the \
          axis; integers wrap; an index that is negative or beyond the extent is an error",
    dtypes: DTypeSet::NUMERIC,
    derivative: Derivative::Multilinear(linear_in_data, scatter_add_transpose),
    ..INDEXING
};
pub(super) const DYNAMIC_SLICE: Row = Row {
    name: "dynamic_slice",
    doc: "the part of x that begins at `starts`, one for each axis, first clamped to where the part fits",
    operands: &["x", "starts"],
    shape: dynamic_slice,
    derivative: Derivative::Multilinear(linear_in_data, |t| {
        let zeros = t.meta(0);
        let zeros = t.b.zeros(&zeros)?;
        let x = t.b.op(CoreOp::DynamicUpdateSlice, &[zeros, t.cotangent, t.inputs[1]])?;
        Ok(vec![Some(x), None])
    }),
    ..INDEXING
};
pub(super) const DYNAMIC_UPDATE_SLICE: Row = Row {
    name: "dynamic_update_slice",
    doc: "x with the part that begins at `starts` replaced by `update`; starts, one for each axis, are first clamped \
          to where it fits",
    operands: &["x", "update", "starts"],
    control: &[(2, DType::I64)],
    shape: dynamic_update_slice,
    derivative: Derivative::Multilinear(linear_in_data, dynamic_update_slice_transpose),
    ..INDEXING
};

/// The axis of an operation along one.
fn axis_of(op: &CoreOp) -> u32 {
    match op {
        CoreOp::Gather { axis } | CoreOp::Scatter { axis } | CoreOp::ScatterAdd { axis } => *axis,
        _ => 0, // no other operation uses these rules
    }
}

/// The shape of the indices, which is that of x but along the axis.
fn gather(op: &CoreOp, ctx: &mut ShapeContext<'_>) -> Result<Vec<SymDim>> {
    let (name, axis) = (op.name(), axis_of(op));
    let (x, indices) = (&ctx.input(0).shape, &ctx.input(1).shape);
    check_axes(name, &[axis], x.len())?;
    if indices.len() != x.len() {
        return Err(ctx.shape_error(1, format!("{} but along axis {axis}", ctx.shape_text(0))));
    }
    for (d, (a, b)) in x.iter().zip(indices.iter()).enumerate() {
        if d != axis as usize {
            ctx.require_equal(a, b, "extents of x and indices beside the axis")?;
        }
    }
    Ok(indices.to_vec())
}

fn scatter(op: &CoreOp, ctx: &mut ShapeContext<'_>) -> Result<Vec<SymDim>> {
    let indices = gather(op, ctx)?;
    let updates = &ctx.input(2).shape;
    if updates.len() != indices.len() {
        return Err(ctx.shape_error(2, format!("{}, as `indices`", ctx.shape_text(1))));
    }
    for (a, b) in indices.iter().zip(updates.iter()) {
        ctx.require_equal(a, b, "extents of indices and updates")?;
    }
    Ok(ctx.input(0).shape.to_vec())
}

/// Operand `i` holds one start for each axis of x, and a part of these extents fits.
fn check_part(i: usize, sizes: &[SymDim], ctx: &mut ShapeContext<'_>) -> Result<()> {
    let (x, starts) = (&ctx.input(0).shape, &ctx.input(i).shape);
    let rank = SymDim::from(x.len());
    let [count] = &**starts else {
        return Err(ctx.shape_error(i, format!("[{rank}]")));
    };
    ctx.require_equal(count, &rank, "number of starts and of axes")?;
    for (size, extent) in sizes.iter().zip(x.iter()) {
        ctx.require_at_most(&SymDim::constant(0), size, "extent of the part")?;
        ctx.require_at_most(size, extent, "extents of the part and of x")?;
    }
    Ok(())
}

fn dynamic_slice(op: &CoreOp, ctx: &mut ShapeContext<'_>) -> Result<Vec<SymDim>> {
    let CoreOp::DynamicSlice { sizes } = op else { return Ok(Vec::new()) };
    check_count("sizes", sizes.len(), ctx)?;
    check_part(1, sizes, ctx)?;
    Ok(sizes.to_vec())
}

fn dynamic_update_slice(_: &CoreOp, ctx: &mut ShapeContext<'_>) -> Result<Vec<SymDim>> {
    let (x, update) = (&ctx.input(0).shape, &ctx.input(1).shape);
    if update.len() != x.len() {
        return Err(ctx.shape_error(1, format!("at most {}", ctx.shape_text(0))));
    }
    check_part(2, update, ctx)?;
    Ok(x.to_vec())
}

fn gather_transpose(t: &mut Transpose<'_>) -> Cotangents {
    let zeros = t.meta(0);
    let zeros = t.b.zeros(&zeros)?;
    let op = CoreOp::ScatterAdd { axis: axis_of(t.op) };
    Ok(vec![Some(t.b.op(op, &[zeros, t.inputs[1], t.cotangent])?), None])
}

fn scatter_add_transpose(t: &mut Transpose<'_>) -> Cotangents {
    let updates = match t.linear[2] {
        true => Some(t.b.op(CoreOp::Gather { axis: axis_of(t.op) }, &[t.cotangent, t.inputs[1]])?),
        false => None,
    };
    Ok(vec![t.linear[0].then_some(t.cotangent), None, updates])
}

/// What was overwritten has no gradient: entries of x, and updates that a later one replaced.
fn scatter_transpose(t: &mut Transpose<'_>) -> Cotangents {
    let (axis, indices) = (axis_of(t.op), t.inputs[1]);
    let updates = t.meta(2);
    let zeros = t.b.zeros(&updates)?;
    let mut cotangents = vec![None; 3];
    if t.linear[0] {
        cotangents[0] = Some(t.b.op(t.op.clone(), &[t.cotangent, indices, zeros])?);
    }
    if t.linear[2] {
        // Scattering the position along the axis tells which update stayed.
        let shape = updates.shape.clone();
        let position = t.b.op(CoreOp::Iota { shape, axis, dtype: DType::I64 }, &[])?;
        let none = ValueMeta::new(DType::I64, t.meta(0).shape);
        let none = t.b.zeros(&none)?;
        let stayed = t.b.op(t.op.clone(), &[none, indices, position])?;
        let stayed = t.b.op(CoreOp::Gather { axis }, &[stayed, indices])?;
        let stayed = t.b.compare(Comparison::Eq, stayed, position)?;
        let all = t.b.op(CoreOp::Gather { axis }, &[t.cotangent, indices])?;
        cotangents[2] = Some(t.b.select(stayed, all, zeros)?);
    }
    Ok(cotangents)
}

fn dynamic_update_slice_transpose(t: &mut Transpose<'_>) -> Cotangents {
    let (update, starts) = (t.meta(1), t.inputs[2]);
    let mut cotangents = vec![None; 3];
    if t.linear[0] {
        let zeros = t.b.zeros(&update)?;
        cotangents[0] = Some(t.b.op(t.op.clone(), &[t.cotangent, zeros, starts])?);
    }
    if t.linear[1] {
        cotangents[1] = Some(t.b.op(CoreOp::DynamicSlice { sizes: update.shape }, &[t.cotangent, starts])?);
    }
    Ok(cotangents)
}
