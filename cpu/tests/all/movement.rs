//! Operations that move entries, and copies, against the reference engine.

use tenferro_core::ops::CoreOp;
use tenferro_core::shape::SymDim;
use tenferro_core::{DType, Tensor};
use tenferro_cpu::CpuEngine;
use tenferro_runtime::Engine;

use crate::all::support::{Noise, SHAPES, WAYS, assert_same, program, run_both, single_op};

fn check(op: &CoreOp, inputs: &[Tensor]) {
    let program = single_op(op, inputs).unwrap();
    let (actual, expected) = run_both(&program, inputs);
    assert_same(&actual, &expected, &|| format!("{op:?} {:?}", inputs.iter().map(Tensor::layout).collect::<Vec<_>>()));
}

#[test]
fn copies_keep_every_entry() {
    let mut noise = Noise::new(21);
    let mut engine = CpuEngine::with_threads(2).unwrap();
    let mut check = |dtype, shape: &[usize], way| {
        let x = noise.laid_out(dtype, shape, way);
        let mut copy = engine.allocate(dtype, shape).unwrap();
        engine.copy(&x.view(), &mut copy).unwrap();
        assert_same(&copy, &x, &|| format!("{dtype} {:?}", x.layout()));
        engine.recycle(copy);
    };
    for way in 0..WAYS {
        for shape in SHAPES {
            DType::ALL.into_iter().for_each(|dtype| check(dtype, shape, way));
        }
        for shape in [&[400, 401][..], &[54, 54, 54], &[3, 5, 7, 11, 13, 9], &[2, 80_000], &[80_000, 2]] {
            check(DType::F64, shape, way);
        }
    }
}

#[test]
fn every_permutation_is_copied() {
    let mut noise = Noise::new(22);
    let mut engine = CpuEngine::serial();
    let x = noise.tensor(DType::F32, &[19, 66, 5, 17]);
    for code in 0..256 {
        let axes = [code % 4, code / 4 % 4, code / 16 % 4, code / 64];
        let Ok(permuted) = x.transpose(&axes) else { continue };
        let mut copy = engine.allocate(DType::F32, permuted.shape()).unwrap();
        engine.copy(&permuted.view(), &mut copy).unwrap();
        assert_same(&copy, &permuted, &|| format!("{axes:?}"));
    }
}

#[test]
fn a_copy_keeps_the_order_of_entries_and_needs_as_many() {
    let mut engine = CpuEngine::serial();
    let x = Tensor::from_vec_col_major([2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap().transpose(&[1, 0]).unwrap();
    let mut y = Tensor::zeros(DType::F64, [6]).unwrap();
    engine.copy(&x.view(), &mut y).unwrap();
    assert_eq!(y.as_slice::<f64>().unwrap(), [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);

    let mut y = Tensor::zeros(DType::F64, [3, 3]).unwrap();
    let error = engine.copy(&x.view(), &mut y).unwrap_err().to_string();
    assert!(error.contains("[3, 2]") && error.contains("[3, 3]"), "{error}");
    let mut y = Tensor::zeros(DType::F32, [3, 2]).unwrap();
    assert!(engine.copy(&x.view(), &mut y).is_err());
}

#[test]
fn padding_agrees() {
    let mut noise = Noise::new(23);
    let dims = |values: &[i64]| values.iter().map(|&v| SymDim::constant(v)).collect::<Vec<_>>().into();
    for _ in 0..400 {
        let rank = noise.below(4);
        let shape: Vec<usize> = (0..rank).map(|_| noise.below(6)).collect();
        let interior: Vec<u32> = (0..rank).map(|_| noise.below(3) as u32).collect();
        let mut ends = || -> Vec<i64> { (0..rank).map(|_| noise.below(9) as i64 - 4).collect() };
        let op = CoreOp::Pad { low: dims(&ends()), high: dims(&ends()), interior: interior.into() };
        let dtype = DType::ALL[noise.below(7)];
        let way = noise.below(WAYS);
        let x = noise.laid_out(dtype, &shape, way);
        let inputs = [x, Tensor::scalar(noise.scalar(dtype))];
        // Not every padding leaves an extent of at least 0.
        if single_op(&op, &inputs).is_ok() {
            check(&op, &inputs);
        }
    }
}

#[test]
fn concatenation_agrees() {
    let mut noise = Noise::new(24);
    for dtype in DType::ALL {
        for axis in 0..3_u32 {
            let mut part = |extent, way| {
                let mut shape = [3, 4, 5];
                shape[axis as usize] = extent;
                noise.laid_out(dtype, &shape, way)
            };
            let inputs = [part(2, 0), part(0, 0), part(1, 1), part(70, 3), part(3, 4)];
            check(&CoreOp::Concatenate { axis }, &inputs);
        }
    }
}

#[test]
fn diagonals_are_embedded() {
    let mut noise = Noise::new(25);
    for shape in [&[0][..], &[1], &[4], &[3, 5], &[2, 3, 40]] {
        for dtype in DType::ALL {
            for way in 0..WAYS {
                check(&CoreOp::EmbedDiag, &[noise.laid_out(dtype, shape, way)]);
            }
        }
    }
}

#[test]
fn iota_counts_along_its_axis() {
    for dtype in DType::ALL.into_iter().filter(|&dtype| dtype != DType::Bool) {
        for shape in [&[4][..], &[0], &[2, 3], &[2, 0, 3], &[2, 3, 4]] {
            for axis in 0..shape.len() as u32 {
                let dims: Vec<SymDim> = shape.iter().map(|&n| n.into()).collect();
                let program = program(&[], |b, _| b.op(CoreOp::Iota { shape: dims.into(), axis, dtype }, &[])).unwrap();
                let (actual, expected) = run_both(&program, &[]);
                assert_same(&actual, &expected, &|| format!("{shape:?} {axis}"));
            }
        }
    }
}
