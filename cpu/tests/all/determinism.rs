//! The same bits for every number of threads.

use std::sync::Arc;

use tenferro_core::ops::CoreOp;
use tenferro_core::program::SemanticProgram;
use tenferro_core::{DType, Tensor};
use tenferro_cpu::CpuEngine;
use tenferro_einsum::{EinsumNotation, EinsumOp};

use crate::all::einsum::einsum_program;
use crate::all::support::{Noise, assert_same, run_on, single_op};

fn check(program: &Arc<SemanticProgram>, inputs: &[Tensor], what: &str) {
    let serial = run_on(&mut CpuEngine::serial(), program, inputs);
    for threads in [2, 3] {
        let pooled = run_on(&mut CpuEngine::with_threads(threads).unwrap(), program, inputs);
        assert_same(&pooled, &serial, &|| format!("{what} on {threads} threads"));
    }
}

#[test]
fn operations_do_not_depend_on_threads() {
    let mut noise = Noise::new(41);
    for shape in [&[150_000][..], &[3, 40_000], &[40_000, 3], &[300, 501], &[44, 45, 46]] {
        for way in [0, 1, 4] {
            let x = noise.laid_out(DType::F64, shape, way);
            let y = noise.laid_out(DType::F64, shape, way + 1);
            check(&single_op(&CoreOp::Mul, &[x.clone(), y.clone()]).unwrap(), &[x.clone(), y], "mul");
            let inputs = [x];
            for axes in 0..1_u32 << shape.len() {
                let axes: Vec<u32> = (0..shape.len() as u32).filter(|axis| axes >> axis & 1 == 1).collect();
                let sum = CoreOp::Sum { axes: axes.into() };
                check(&single_op(&sum, &inputs).unwrap(), &inputs, &format!("{sum:?} {shape:?}"));
            }
            for op in [CoreOp::CumSum { axis: 0 }, CoreOp::ArgMax { axis: shape.len() as u32 - 1 }] {
                check(&single_op(&op, &inputs).unwrap(), &inputs, &format!("{op:?} {shape:?}"));
            }
        }
    }
}

#[test]
fn moves_by_indices_do_not_depend_on_threads() {
    let mut noise = Noise::new(43);
    for (shape, taken, axis) in [
        ([50, 3, 100], [50, 40, 100], 1),
        ([7, 300, 40], [9, 300, 40], 0),
        ([60, 50, 9], [60, 50, 30], 2),
        ([9, 1, 1], [100_000, 1, 1], 0),
        ([3, 1, 50_000], [2, 1, 50_000], 0),
    ] {
        let x = noise.tensor(DType::F64, &shape);
        let count = taken.iter().product();
        let entries: Vec<i64> = (0..count).map(|_| noise.below(shape[axis]) as i64).collect();
        let each = Tensor::from_vec_col_major(taken, entries.clone()).unwrap();
        let list = Tensor::from_vec_col_major([taken[axis]], entries[..taken[axis]].to_vec()).unwrap();
        let updates = noise.laid_out(DType::F64, &taken, 1);
        for indices in [each, list.broadcast_in_dim(&taken, &[axis]).unwrap()] {
            let axis = axis as u32;
            let mut inputs = vec![x.clone(), indices, updates.clone()];
            for op in [CoreOp::Scatter { axis }, CoreOp::ScatterAdd { axis }, CoreOp::Gather { axis }] {
                inputs.truncate(op.row().operands.len());
                check(&single_op(&op, &inputs).unwrap(), &inputs, &format!("{op:?} {shape:?}"));
            }
        }
    }
    let inputs = [noise.tensor(DType::F64, &[900, 800])];
    check(&single_op(&CoreOp::Tril { row: 1, column: 0, k: 5 }, &inputs).unwrap(), &inputs, "tril");
}

#[test]
fn contractions_do_not_depend_on_threads() {
    let mut noise = Noise::new(42);
    let floats = [DType::F32, DType::F64, DType::C64];
    let all = [DType::F32, DType::C32, DType::I64];
    for (notation, shapes, dtypes) in [
        ("ij,jk->ik", &[&[301, 203][..], &[203, 257]][..], floats),
        ("ij,jk->ki", &[&[500, 20], &[20, 450]], floats),
        ("bij,bjk->bik", &[&[40, 50, 60], &[40, 60, 50]], floats),
        ("ibj,jlk->ilbk", &[&[20, 21, 22], &[22, 23, 24]], floats),
        ("ij,jk->ik", &[&[50, 60], &[60, 70]], all),
        ("ijb,jkb->ikb", &[&[7, 6, 500], &[6, 8, 500]], all),
        ("ij,j->i", &[&[450, 400], &[400]], all),
        ("ji,j->i", &[&[450, 400], &[450]], all),
        ("i,i->", &[&[200_000], &[200_000]], all),
        ("i,j->ij", &[&[350], &[250]], all),
    ] {
        for dtype in dtypes {
            let op = EinsumOp::concrete(&EinsumNotation::parse(notation).unwrap(), shapes).unwrap();
            let inputs: Vec<Tensor> = shapes.iter().map(|shape| noise.tensor(dtype, shape)).collect();
            check(&einsum_program(op, &inputs), &inputs, &format!("{notation} {dtype}"));
        }
    }
}
