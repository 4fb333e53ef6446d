//! Reductions and scans against the reference engine, and the accuracy of sums.

use tenferro_core::ops::CoreOp;
use tenferro_core::{DType, DTypeSet, Tensor};
use tenferro_cpu::CpuEngine;

use crate::all::support::{Noise, SHAPES, WAYS, assert_near, assert_same, run_both, run_on, single_op, tolerance};

/// Every set of axes.
fn subsets(rank: usize) -> impl Iterator<Item = Vec<u32>> {
    (0..1_u32 << rank).map(move |set| (0..rank as u32).filter(|axis| set >> axis & 1 == 1).collect())
}

fn check(op: &CoreOp, x: &Tensor, tolerance: f64) {
    let program = single_op(op, std::slice::from_ref(x)).unwrap();
    let (actual, expected) = run_both(&program, std::slice::from_ref(x));
    let what = || format!("{op:?} {} {:?}", x.dtype(), x.layout());
    if tolerance == 0.0 {
        assert_same(&actual, &expected, &what);
    } else {
        assert_near(&actual, &expected, tolerance, &what);
    }
}

#[test]
fn sums_and_extrema_agree_over_all_axes_and_layouts() {
    let mut noise = Noise::new(11);
    for shape in SHAPES {
        for axes in subsets(shape.len()) {
            for way in 0..WAYS {
                let x = noise.laid_out(DType::F64, shape, way);
                check(&CoreOp::Sum { axes: axes.clone().into() }, &x, 1e-11);
                check(&CoreOp::Max { axes: axes.clone().into() }, &x, 0.0);
            }
        }
    }
}

#[test]
fn reductions_agree_for_all_dtypes() {
    let mut noise = Noise::new(12);
    for shape in [&[][..], &[0, 3], &[3, 0], &[2500], &[50, 60], &[3, 200, 4], &[1200, 3], &[100, 1, 7, 2]] {
        for axes in subsets(shape.len()) {
            for op in [
                CoreOp::Sum { axes: axes.clone().into() },
                CoreOp::Max { axes: axes.clone().into() },
                CoreOp::Min { axes: axes.clone().into() },
                CoreOp::Any { axes: axes.clone().into() },
                CoreOp::All { axes: axes.clone().into() },
            ] {
                for dtype in op.row().dtypes.iter() {
                    let way = noise.below(WAYS);
                    let x = noise.laid_out(dtype, shape, way);
                    let exact = !matches!(op, CoreOp::Sum { .. });
                    check(&op, &x, if exact { 0.0 } else { tolerance(dtype) });
                }
            }
        }
    }
}

/// Factors of modulus 1 or 0, so that products of many stay within bounds; integers wrap.
fn factors(noise: &mut Noise, dtype: DType, shape: &[usize]) -> Tensor {
    let x = noise.tensor(dtype, shape);
    let signs = single_op(&CoreOp::Sign, std::slice::from_ref(&x)).unwrap();
    run_on(&mut CpuEngine::serial(), &signs, &[x])
}

#[test]
fn products_and_recurrences_agree() {
    let mut noise = Noise::new(14);
    for shape in [&[7][..], &[0, 4], &[4, 0], &[3000], &[3, 1, 40, 4]] {
        let backwards: Vec<usize> = (0..shape.len()).rev().collect();
        for dtype in DTypeSet::NUMERIC.iter() {
            let a = factors(&mut noise, dtype, shape);
            for axes in subsets(shape.len()) {
                check(&CoreOp::Prod { axes: axes.into() }, &a, tolerance(dtype));
            }
            for axis in 0..shape.len() as u32 {
                check(&CoreOp::CumProd { axis }, &a, tolerance(dtype));
                let inputs = [a.reverse(&backwards).unwrap(), noise.laid_out(dtype, shape, 1)];
                let program = single_op(&CoreOp::LinearRecurrence { axis }, &inputs).unwrap();
                let (actual, expected) = run_both(&program, &inputs);
                let what = || format!("recurrence along axis {axis} of {dtype} {shape:?}");
                assert_near(&actual, &expected, tolerance(dtype), &what);
            }
        }
    }
}

#[test]
fn positions_and_running_sums_agree() {
    let mut noise = Noise::new(13);
    for shape in SHAPES.iter().filter(|shape| !shape.is_empty()) {
        for axis in 0..shape.len() as u32 {
            for op in
                [CoreOp::ArgMax { axis }, CoreOp::ArgMin { axis }, CoreOp::CumSum { axis }, CoreOp::CumProd { axis }]
            {
                for dtype in op.row().dtypes.iter() {
                    let sums = matches!(op, CoreOp::CumSum { .. });
                    if !sums && shape[axis as usize] == 0 {
                        continue;
                    }
                    for way in [0, noise.below(WAYS)] {
                        let x = noise.laid_out(dtype, shape, way);
                        check(&op, &x, if sums { tolerance(dtype) } else { 0.0 });
                    }
                }
            }
        }
    }
}

#[test]
fn nan_wins_wherever_it_is() {
    for len in [1, 5, 100, 2000, 70_000] {
        for place in [0, len / 2, len - 1] {
            let mut values = vec![1.0_f64; len];
            values[place] = f64::NAN;
            let x = Tensor::from_vec_col_major([len], values).unwrap();
            for op in [
                CoreOp::Max { axes: vec![0].into() },
                CoreOp::Min { axes: vec![0].into() },
                CoreOp::ArgMax { axis: 0 },
                CoreOp::ArgMin { axis: 0 },
            ] {
                check(&op, &x, 0.0);
            }
        }
    }
}

#[test]
fn integers_wrap() {
    let x = Tensor::from_vec_col_major([4], vec![i64::MAX, 1, i64::MAX, 5]).unwrap();
    check(&CoreOp::Sum { axes: vec![0].into() }, &x, 0.0);
    let x = Tensor::from_vec_col_major([3], vec![i32::MAX, 1, i32::MAX]).unwrap();
    check(&CoreOp::Sum { axes: vec![0].into() }, &x, 0.0);
    check(&CoreOp::CumSum { axis: 0 }, &x, 0.0);
}

#[test]
fn long_sums_keep_their_digits() {
    // Adding a million times 0.1 one by one loses five digits of an f32; pairwise sums lose one.
    let x = Tensor::from_vec_col_major([1 << 20], vec![0.1_f32; 1 << 20]).unwrap();
    let columns = x.reshape(&[2, 1 << 19]).unwrap();
    for (x, axis) in [(x, 0), (columns, 1)] {
        let program = single_op(&CoreOp::Sum { axes: vec![axis].into() }, std::slice::from_ref(&x)).unwrap();
        let sum = run_on(&mut CpuEngine::serial(), &program, std::slice::from_ref(&x));
        let exact = 0.1_f32 * x.shape()[axis as usize] as f32;
        for sum in sum.to_vec_col_major::<f32>().unwrap() {
            assert!((sum - exact).abs() <= 1e-6 * exact, "{sum} {exact}");
        }
    }
}
