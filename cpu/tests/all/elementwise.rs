//! Elementwise operations: the same bits as the reference engine, for every layout of the operands.

use tenferro_core::ops::{Comparison, CoreOp};
use tenferro_core::{DType, DTypeSet, ScalarValue, Tensor, with_dtype};

use crate::all::support::{Noise, SHAPES, WAYS, assert_same, run_both, single_op};

fn unary() -> Vec<CoreOp> {
    use CoreOp::*;
    let mut ops = vec![
        Neg, Abs, Sign, Exp, Expm1, Log, Log1p, Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Sqrt, Rsqrt, Cbrt,
        Erf, Erfc, Floor, Ceil, Round, Conj, Real, Imag, Not, IsFinite,
    ];
    ops.extend(DType::ALL.map(Convert));
    ops
}

fn binary() -> Vec<CoreOp> {
    use Comparison::*;
    use CoreOp::*;
    let mut ops = vec![Add, Sub, Mul, Div, Rem, Pow, Atan2, Complex, Maximum, Minimum, And, Or];
    ops.extend([Eq, Ne, Lt, Le, Gt, Ge].map(Compare));
    ops
}

fn check(op: &CoreOp, inputs: &[Tensor]) {
    let program = single_op(op, inputs).unwrap();
    let (actual, expected) = run_both(&program, inputs);
    assert_same(&actual, &expected, &|| {
        let layouts: Vec<_> = inputs.iter().map(|x| (x.dtype(), x.layout())).collect();
        format!("{op:?} {layouts:?}")
    });
}

#[test]
fn unary_operations_agree_for_all_dtypes_and_layouts() {
    let mut noise = Noise::new(1);
    for op in unary() {
        for dtype in op.row().dtypes.iter() {
            for (i, shape) in SHAPES.iter().enumerate() {
                let x = noise.laid_out(dtype, shape, i);
                check(&op, &[x]);
            }
        }
    }
}

#[test]
fn binary_operations_agree_for_all_dtypes_and_layouts() {
    let mut noise = Noise::new(2);
    for op in binary() {
        for dtype in op.row().dtypes.iter() {
            for (i, shape) in SHAPES.iter().enumerate() {
                let a = noise.laid_out(dtype, shape, i);
                let b = noise.laid_out(dtype, shape, i / 2 + 1);
                check(&op, &[a, b]);
            }
        }
    }
}

#[test]
fn every_pair_of_layouts_agrees() {
    let mut noise = Noise::new(3);
    for shape in SHAPES {
        for way_a in 0..WAYS {
            for way_b in 0..WAYS {
                let a = noise.laid_out(DType::F64, shape, way_a);
                let b = noise.laid_out(DType::F64, shape, way_b);
                let condition = noise.laid_out(DType::Bool, shape, way_a + way_b);
                check(&CoreOp::Sub, &[a.clone(), b.clone()]);
                check(&CoreOp::Select, &[condition, a, b]);
            }
        }
    }
}

#[test]
fn select_agrees_for_all_dtypes() {
    let mut noise = Noise::new(4);
    for dtype in DType::ALL {
        let condition = noise.tensor(DType::Bool, &[5, 6]);
        let a = noise.laid_out(dtype, &[5, 6], 1);
        let b = noise.laid_out(dtype, &[5, 6], 4);
        check(&CoreOp::Select, &[condition, a, b]);
    }
}

#[test]
fn special_values_agree() {
    for dtype in DTypeSet::NUMERIC.iter() {
        let values = [0.0, -0.0, 1.0, -1.0, 0.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e300, 3e9, -3e9, 5e-324];
        let pairs = values.iter().flat_map(|&a| values.map(|b| (a, b)));
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.unzip();
        let tensor = |values: &[f64]| {
            with_dtype!(dtype, T => {
                let values: Vec<T> = values
                    .iter()
                    .map(|&x| tenferro_core::Scalar::from_value(ScalarValue::from_f64(x, dtype)).unwrap())
                    .collect();
                Tensor::from_vec_col_major([values.len()], values).unwrap()
            })
        };
        let (a, b) = (tensor(&a), tensor(&b));
        for op in unary().iter().filter(|op| op.row().dtypes.contains(dtype)) {
            check(op, std::slice::from_ref(&a));
        }
        for op in binary().iter().filter(|op| op.row().dtypes.contains(dtype)) {
            check(op, &[a.clone(), b.clone()]);
        }
    }
}
