//! The same bits for every number of threads.

use std::sync::Arc;

use tenferro_core::ops::CoreOp;
use tenferro_core::program::SemanticProgram;
use tenferro_core::{DType, Tensor};
use tenferro_cpu::CpuEngine;
use tenferro_einsum::{EinsumNotation, EinsumOp};

use crate::einsum::einsum_program;
use crate::support::{Noise, assert_same, run_on, single_op};

fn check(program: &Arc<SemanticProgram>, inputs: &[Tensor], what: &str) {
    let serial = run_on(&mut CpuEngine::serial(), program, inputs);
    for threads in [2, 3, 5] {
        let pooled = run_on(&mut CpuEngine::with_threads(threads).unwrap(), program, inputs);
        assert_same(&pooled, &serial, &|| format!("{what} on {threads} threads"));
    }
}

#[test]
fn operations_do_not_depend_on_threads() {
    let mut noise = Noise::new(41);
    for shape in [&[400_000][..], &[3, 100_000], &[100_000, 3], &[500, 601], &[64, 65, 66], &[2, 70_000, 3]] {
        for way in 0..6 {
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
fn contractions_do_not_depend_on_threads() {
    let mut noise = Noise::new(42);
    for (notation, shapes) in [
        ("ij,jk->ik", &[&[301, 203][..], &[203, 257]][..]),
        ("ij,jk->ki", &[&[1000, 20], &[20, 700]]),
        ("ij,j->i", &[&[900, 800], &[800]]),
        ("ji,j->i", &[&[900, 800], &[900]]),
        ("i,i->", &[&[500_000], &[500_000]]),
        ("i,j->ij", &[&[700], &[900]]),
        ("bij,bjk->bik", &[&[40, 50, 60], &[40, 60, 50]]),
        ("ijb,jkb->ikb", &[&[20, 20, 500], &[20, 20, 500]]),
        ("ibj,jlk->ilbk", &[&[30, 31, 32], &[32, 33, 34]]),
    ] {
        for dtype in [DType::F32, DType::F64, DType::C64, DType::I64] {
            let op = EinsumOp::concrete(&EinsumNotation::parse(notation).unwrap(), shapes).unwrap();
            let inputs: Vec<Tensor> = shapes.iter().map(|shape| noise.tensor(dtype, shape)).collect();
            check(&einsum_program(op, &inputs), &inputs, &format!("{notation} {dtype}"));
        }
    }
}
