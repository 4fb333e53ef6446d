//! Rows of the operations that move entries to other places.

use super::CoreOp;
use super::layout::{check_axes, check_count};
use super::row::{Derivative, Linearize, OpClass, OutputDType, Row, Transpose};
use crate::dtype::{DType, DTypeSet, ScalarValue};
use crate::error::Result;
use crate::extension::ShapeContext;
use crate::program::{ValueId, ValueMeta};
use crate::shape::SymDim;

const MOVEMENT: Row = Row {
    name: "",
    doc: "",
    class: OpClass::Movement,
    operands: &["x"],
    control: &[],
    dtypes: DTypeSet::ALL,
    output: OutputDType::Same,
    shape: embed_diag,
    derivative: Derivative::Zero(""),
};

pub(super) const EMBED_DIAG: Row = Row {
    name: "embed_diag",
    doc: "the last axis becomes the diagonal of two new last axes, zero elsewhere",
    derivative: Derivative::Linear(|t| {
        let rank = t.meta(0).shape.len() as u32;
        let op = CoreOp::ExtractDiag { axis_a: rank - 1, axis_b: rank };
        Ok(vec![Some(t.b.op(op, &[t.cotangent])?)])
    }),
    ..MOVEMENT
};
pub(super) const PAD: Row = Row {
    name: "pad",
    doc: "`interior` copies of the value between neighbours, then `low` and `high` copies at the ends; \
          negative ones remove entries",
    operands: &["x", "value"],
    shape: pad,
    derivative: Derivative::Multilinear(linear_in_data, pad_transpose),
    ..MOVEMENT
};
pub(super) const CONCATENATE: Row = Row {
    name: "concatenate",
    doc: "the operands one after the other along an axis",
    operands: &[],
    shape: concatenate,
    derivative: Derivative::Multilinear(linear_in_data, concatenate_transpose),
    ..MOVEMENT
};
const TRIANGLE: Row = Row {
    shape: triangle,
    derivative: Derivative::Linear(|t| Ok(vec![Some(t.b.op(t.op.clone(), &[t.cotangent])?)])),
    ..MOVEMENT
};
pub(super) const TRIL: Row = Row {
    name: "tril",
    doc: "x where the index on `column` less that on `row` is at most k, zero elsewhere",
    ..TRIANGLE
};
pub(super) const TRIU: Row = Row {
    name: "triu",
    doc: "x where the index on `column` less that on `row` is at least k, zero elsewhere",
    ..TRIANGLE
};

fn embed_diag(_: &CoreOp, ctx: &mut ShapeContext<'_>) -> Result<Vec<SymDim>> {
    let mut shape = ctx.input(0).shape.to_vec();
    let Some(last) = shape.last().cloned() else {
        return Err(ctx.shape_error(0, "at least one axis"));
    };
    shape.push(last);
    Ok(shape)
}

/// `low + n + max(n - 1, 0) * interior + high`.
pub(super) fn padded_extent(n: &SymDim, low: &SymDim, high: &SymDim, interior: u32) -> SymDim {
    let gaps =
        if interior == 0 { SymDim::constant(0) } else { (n - 1).maximum(&SymDim::constant(0)) * i64::from(interior) };
    low + n + gaps + high
}

fn pad(op: &CoreOp, ctx: &mut ShapeContext<'_>) -> Result<Vec<SymDim>> {
    let CoreOp::Pad { low, high, interior } = op else { return Ok(Vec::new()) };
    let shape = ctx.input(0).shape.clone();
    if !ctx.input(1).shape.is_empty() {
        return Err(ctx.shape_error(1, "[], a scalar"));
    }
    check_count("low", low.len(), ctx)?;
    check_count("high", high.len(), ctx)?;
    check_count("interior", interior.len(), ctx)?;
    let mut out = Vec::with_capacity(shape.len());
    for (axis, dim) in shape.iter().enumerate() {
        let extent = padded_extent(dim, &low[axis], &high[axis], interior[axis]);
        ctx.require_at_most(&SymDim::constant(0), &extent, "extent after padding")?;
        out.push(extent);
    }
    Ok(out)
}

fn triangle(op: &CoreOp, ctx: &mut ShapeContext<'_>) -> Result<Vec<SymDim>> {
    let (CoreOp::Tril { row, column, .. } | CoreOp::Triu { row, column, .. }) = op else { return Ok(Vec::new()) };
    let shape = &ctx.input(0).shape;
    check_axes(op.name(), &[*row, *column], shape.len())?;
    Ok(shape.to_vec())
}

/// An operation that is linear in all data operands together, zeros for the tangents that are absent.
pub(super) fn linear_in_data(l: &mut Linearize<'_>) -> Result<Option<ValueId>> {
    let mut tangents = Vec::with_capacity(l.inputs.len());
    for (i, (&input, &tangent)) in l.inputs.iter().zip(l.tangents).enumerate() {
        tangents.push(match tangent {
            Some(t) => t,
            None if l.op.row().control(i).is_some() => input,
            None => {
                let meta = l.b.meta(input).clone();
                l.b.zeros(&meta)?
            }
        });
    }
    l.b.op(l.op.clone(), &tangents).map(Some)
}

/// Undoes the ends first (negated padding), then takes every `interior + 1`-th entry.
fn pad_transpose(t: &mut Transpose<'_>) -> Result<Vec<Option<ValueId>>> {
    let CoreOp::Pad { low, high, interior } = t.op else { return Ok(vec![None, None]) };
    let negated = |d: &[SymDim]| d.iter().map(|d| -d.clone()).collect();
    let zero = t.b.zero_scalar(t.meta(0).dtype)?;
    let trimmed = CoreOp::Pad { low: negated(low), high: negated(high), interior: vec![0; interior.len()].into() };
    let trimmed = t.b.op(trimmed, &[t.cotangent, zero])?;
    let limit = t.b.meta(trimmed).shape.clone();
    let inner = t.b.op(
        CoreOp::Slice {
            start: vec![SymDim::constant(0); limit.len()].into(),
            limit,
            stride: interior.iter().map(|i| i + 1).collect(),
        },
        &[trimmed],
    )?;
    // With interior padding ceil(extent / stride) is n, also for n = 0; say so.
    let shape = t.meta(0).shape;
    let inner = t.b.reshape(inner, &shape)?;
    let value = if t.linear[1] {
        // the entries of the result that are copies of the value
        let absent = t.b.zeros(&ValueMeta { dtype: DType::Bool, shape })?;
        let present = t.b.constant(ScalarValue::Bool(true))?;
        let copies = t.b.op(t.op.clone(), &[absent, present])?;
        let zero = t.b.constant_like(t.cotangent, 0.0)?;
        let masked = t.b.select(copies, t.cotangent, zero)?;
        let axes: Vec<u32> = (0..interior.len() as u32).collect();
        Some(t.b.sum(masked, &axes)?)
    } else {
        None
    };
    Ok(vec![t.linear[0].then_some(inner), value])
}

fn concatenate(op: &CoreOp, ctx: &mut ShapeContext<'_>) -> Result<Vec<SymDim>> {
    let CoreOp::Concatenate { axis } = op else { return Ok(Vec::new()) };
    let mut shape = ctx.input(0).shape.to_vec();
    check_axes("concatenate", &[*axis], shape.len())?;
    for i in 1..ctx.input_count() {
        let other = ctx.input(i).shape.clone();
        if other.len() != shape.len() {
            return Err(ctx.shape_error(i, format!("{} but along axis {axis}", ctx.shape_text(0))));
        }
        for (d, dim) in other.iter().enumerate() {
            if d == *axis as usize {
                shape[d] = &shape[d] + dim;
            } else {
                ctx.require_equal(&shape[d], dim, "extents beside the concatenated axis")?;
            }
        }
    }
    Ok(shape)
}

fn concatenate_transpose(t: &mut Transpose<'_>) -> Result<Vec<Option<ValueId>>> {
    let CoreOp::Concatenate { axis } = t.op else { return Ok(Vec::new()) };
    let axis = *axis as usize;
    let mut cotangents = Vec::with_capacity(t.inputs.len());
    let mut begin = SymDim::constant(0);
    for i in 0..t.inputs.len() {
        let shape = t.meta(i).shape;
        let end = &begin + &shape[axis];
        if t.linear[i] {
            let mut start = vec![SymDim::constant(0); shape.len()];
            let mut limit = shape.to_vec();
            start[axis] = begin;
            limit[axis] = end.clone();
            let stride = vec![1; shape.len()].into();
            let op = CoreOp::Slice { start: start.into(), limit: limit.into(), stride };
            cotangents.push(Some(t.b.op(op, &[t.cotangent])?));
        } else {
            cotangents.push(None);
        }
        begin = end;
    }
    Ok(cotangents)
}
