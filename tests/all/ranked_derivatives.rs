//! Derivatives of every operation for ranks 0 to 6, with extents 1 and 0 among them: the checks of
//! [`op_derivatives`](super::op_derivatives).

use std::collections::BTreeSet;

use tenferro::dtype::{DType, ScalarValue};
use tenferro::prelude::*;
use tenferro::program::ops::{CoreOp, OpClass};
use tenferro::program::shape::SymDim;
use tenferro::program::{Op, ProgramBuilder, SemanticProgram, ValueId, ValueMeta, composite};

use super::op_derivatives::{Build, Case, case, cases, check, dims, program};

type Shapes = &'static [&'static [usize]];

/// Two operands of each shape; an operation takes as many as it needs.
const FULL: [Shapes; 7] = [
    &[&[], &[]],
    &[&[3], &[3]],
    &[&[2, 3], &[2, 3]],
    &[&[2, 1, 3], &[2, 1, 3]],
    &[&[1, 2, 2, 2], &[1, 2, 2, 2]],
    &[&[2, 1, 2, 1, 2], &[2, 1, 2, 1, 2]],
    &[&[1, 2, 1, 2, 1, 2], &[1, 2, 1, 2, 1, 2]],
];
/// Without entries; the last axis of all but the first has some.
const EMPTY: [Shapes; 7] = [
    &[&[0], &[0]],
    &[&[0, 3], &[0, 3]],
    &[&[0, 1], &[0, 1]],
    &[&[2, 0, 3], &[2, 0, 3]],
    &[&[1, 2, 0, 2], &[1, 2, 0, 2]],
    &[&[2, 0, 2, 0, 2], &[2, 0, 2, 0, 2]],
    &[&[0, 2, 1, 2, 1, 2], &[0, 2, 1, 2, 1, 2]],
];

/// An operation for any rank from `least` on; `over_none` where the last axis may be empty.
struct Ranked {
    name: &'static str,
    least: usize,
    operands: usize,
    complex: bool,
    over_none: bool,
    build: Build,
}

fn ranked(name: &'static str, least: usize, operands: usize, complex: bool, over_none: bool, build: Build) -> Ranked {
    Ranked { name, least, operands, complex, over_none, build }
}

fn shape(b: &ProgramBuilder, v: &[ValueId]) -> Vec<SymDim> {
    b.meta(v[0]).shape.to_vec()
}

fn extents(b: &ProgramBuilder, v: &[ValueId]) -> Vec<i64> {
    shape(b, v).iter().map(|d| d.as_const().unwrap()).collect()
}

fn last(b: &ProgramBuilder, v: &[ValueId]) -> u32 {
    b.meta(v[0]).rank() as u32 - 1
}

fn all(b: &ProgramBuilder, v: &[ValueId]) -> Vec<u32> {
    (0..b.meta(v[0]).rank() as u32).collect()
}

/// Indices of the shape of the operand, backwards along the last axis.
fn backwards(b: &mut ProgramBuilder, v: &[ValueId]) -> tenferro_core::Result<ValueId> {
    let axis = last(b, v);
    let index = b.op(CoreOp::Iota { shape: shape(b, v).into(), axis, dtype: DType::I64 }, &[])?;
    b.op(CoreOp::Reverse { axes: vec![axis].into() }, &[index])
}

fn no_start(b: &mut ProgramBuilder, v: &[ValueId]) -> tenferro_core::Result<ValueId> {
    b.zeros(&ValueMeta::new(DType::I64, dims(&[b.meta(v[0]).rank() as i64])))
}

fn structured() -> Vec<Ranked> {
    vec![
        ranked("transpose", 0, 1, true, true, |b, v| {
            let axes: Vec<u32> = all(b, v).into_iter().rev().collect();
            b.transpose(v[0], &axes)
        }),
        ranked("reshape", 0, 1, true, true, |b, v| {
            let count = extents(b, v).iter().product::<i64>();
            b.reshape(v[0], &dims(&[1, count, 1]))
        }),
        ranked("broadcast_in_dim", 0, 1, true, true, |b, v| {
            let wide = [&dims(&[2])[..], &shape(b, v), &dims(&[3])].concat();
            let axes: Vec<u32> = all(b, v).iter().map(|a| a + 1).collect();
            b.broadcast_in_dim(v[0], &wide, &axes)
        }),
        ranked("slice", 0, 1, true, true, |b, v| {
            let limit = shape(b, v);
            let start = vec![0; limit.len()];
            let stride = vec![2; limit.len()].into();
            b.op(CoreOp::Slice { start: dims(&start), limit: limit.into(), stride }, &v[..1])
        }),
        ranked("reverse", 0, 1, true, true, |b, v| b.op(CoreOp::Reverse { axes: all(b, v).into() }, &v[..1])),
        ranked("embed_diag", 1, 1, true, true, |b, v| b.embed_diag(v[0], 0)),
        ranked("extract_diag", 2, 1, true, true, |b, v| b.extract_diag(v[0], 0, last(b, v), 1)),
        ranked("extract_diag of a square", 1, 1, true, true, |b, v| {
            let square = b.embed_diag(v[0], 0)?;
            let scaled = b.mul(square, square)?;
            b.extract_diag(scaled, last(b, v), last(b, v) + 1, 0)
        }),
        ranked("pad", 0, 1, true, true, |b, v| {
            let rank = shape(b, v).len();
            let value = b.constant(ScalarValue::one(b.meta(v[0]).dtype))?;
            let (low, high) = (dims(&vec![1; rank]), dims(&vec![2; rank]));
            b.op(CoreOp::Pad { low, high, interior: vec![1; rank].into() }, &[v[0], value])
        }),
        ranked("concatenate", 1, 2, true, true, |b, v| {
            b.op(CoreOp::Concatenate { axis: last(b, v) }, &[v[0], v[1], v[0]])
        }),
        ranked("tril", 2, 1, true, true, |b, v| b.tril(v[0], [0, last(b, v)], 0)),
        ranked("triu", 2, 1, true, true, |b, v| b.triu(v[0], [last(b, v), 0], i64::MIN)),
        ranked("gather", 1, 1, true, true, |b, v| {
            let indices = backwards(b, v)?;
            b.gather(v[0], indices, last(b, v))
        }),
        ranked("scatter", 1, 2, true, true, |b, v| {
            let indices = backwards(b, v)?;
            b.scatter(v[0], indices, v[1], last(b, v))
        }),
        ranked("scatter_add", 1, 2, true, true, |b, v| {
            let indices = backwards(b, v)?;
            b.scatter_add(v[0], indices, v[1], last(b, v))
        }),
        ranked("dynamic_slice", 0, 1, true, true, |b, v| {
            let starts = no_start(b, v)?;
            let part: Vec<i64> = extents(b, v).iter().map(|&n| n.min(1)).collect();
            b.dynamic_slice(v[0], starts, &dims(&part))
        }),
        ranked("dynamic_update_slice", 0, 2, true, true, |b, v| {
            let starts = no_start(b, v)?;
            b.dynamic_update_slice(v[0], v[1], starts)
        }),
        ranked("sum", 0, 1, true, true, |b, v| b.sum(v[0], &all(b, v))),
        ranked("sum over one", 1, 1, true, true, |b, v| b.sum(v[0], &[last(b, v)])),
        ranked("prod", 0, 1, true, true, |b, v| b.prod(v[0], &all(b, v))),
        ranked("max", 1, 1, false, false, |b, v| b.max(v[0], &[last(b, v)])),
        ranked("min", 1, 1, false, false, |b, v| b.min(v[0], &[last(b, v)])),
        ranked("cumsum", 1, 1, true, true, |b, v| b.cumsum(v[0], last(b, v))),
        ranked("cumprod", 1, 1, true, true, |b, v| b.cumprod(v[0], last(b, v))),
        ranked("linear_recurrence", 1, 2, true, true, |b, v| b.linear_recurrence(v[0], v[1], last(b, v))),
        ranked("mean", 1, 1, true, false, |b, v| composite::mean(b, v[0], &[last(b, v)])),
        ranked("var", 1, 1, true, false, |b, v| composite::var(b, v[0], &[last(b, v)], 0)),
        ranked("softmax", 1, 1, false, true, |b, v| composite::softmax(b, v[0], &[last(b, v)])),
        ranked("log_softmax", 1, 1, false, true, |b, v| composite::log_softmax(b, v[0], &[last(b, v)])),
        ranked("logsumexp", 1, 1, false, false, |b, v| composite::logsumexp(b, v[0], &[last(b, v)])),
        ranked("rms_norm", 1, 1, false, true, |b, v| composite::rms_norm(b, v[0], None, &[last(b, v)], 1e-5)),
        ranked("layer_norm", 1, 1, false, false, |b, v| {
            composite::layer_norm(b, v[0], None, None, &[last(b, v)], 1e-1)
        }),
        ranked("einsum of all", 0, 2, true, true, |b, v| {
            tenferro::einsum::einsum_of_values(b, "...,...->...", &v[..2])
        }),
        ranked("einsum", 1, 2, true, true, |b, v| tenferro::einsum::einsum_of_values(b, "...i,...j->i...j", &v[..2])),
    ]
}

/// Whether a program is of elementwise operations, and so for any shape.
fn is_elementwise(program: &SemanticProgram) -> bool {
    program.nodes().iter().all(|node| match &node.op {
        Op::Core(CoreOp::BroadcastInDim { .. }) => node.inputs.iter().all(|v| v.index() >= program.inputs().len()),
        Op::Core(op) => matches!(op.class(), OpClass::Elementwise | OpClass::Creation),
        Op::Extension(_) => false,
    })
}

fn elementwise() -> Vec<Ranked> {
    let of_any_shape = |case: &Case| {
        is_elementwise(&program(case, DType::F64)) && !case.shapes[0].is_empty() && !case.shapes[0].contains(&0)
    };
    let ranked = |c: Case| ranked(c.name, 0, c.shapes.len(), c.complex, true, c.build);
    cases().into_iter().filter(of_any_shape).map(ranked).collect()
}

fn check_ranks(ranked: &Ranked) {
    let mut session = Session::cpu();
    let fits = |shapes: &&Shapes| {
        shapes[0].len() >= ranked.least && (ranked.over_none || shapes[0].last().is_none_or(|&extent| extent > 0))
    };
    for shapes in FULL.iter().chain(&EMPTY).filter(fits) {
        let name: &'static str = ranked.name;
        let case = case(name, &shapes[..ranked.operands], ranked.complex, ranked.build);
        check(&case, if ranked.complex { DType::C64 } else { DType::F64 }, &mut session);
    }
}

#[test]
fn elementwise_operations_are_right_for_every_rank() {
    let elementwise = elementwise();
    assert!(elementwise.len() > 40, "{}", elementwise.len());
    elementwise.iter().for_each(check_ranks);
}

#[test]
fn structured_operations_are_right_for_every_rank() {
    structured().iter().for_each(check_ranks);
}

#[test]
fn every_operation_with_a_derivative_is_among_them() {
    let ranked: Vec<Ranked> = elementwise().into_iter().chain(structured()).collect();
    let mut names = BTreeSet::new();
    for ranked in &ranked {
        let shapes = &FULL[3][..ranked.operands];
        let case = case(ranked.name, shapes, ranked.complex, ranked.build);
        let program = program(&case, if ranked.complex { DType::C32 } else { DType::F32 });
        names.extend(program.nodes().iter().map(|node| node.op.name().to_string()));
    }
    let missing: Vec<_> = super::op_derivatives::operations().into_iter().filter(|op| !names.contains(op)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
