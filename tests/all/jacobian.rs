//! Jacobians and Hessians against what is known of the functions.

use std::sync::Arc;

use tenferro::ad::AdContext;
use tenferro::einsum;
use tenferro::prelude::*;
use tenferro::program::{ProgramBuilder, SemanticProgram, composite};

fn context() -> AdContext {
    AdContext::new().with_rules(&einsum::ad_rules().unwrap())
}

fn matrix(shape: [usize; 2], seed: f64) -> Tensor {
    let entries = (0..shape[0] * shape[1]).map(|i| (seed + i as f64 * 1.7).sin()).collect();
    Tensor::from_vec_col_major(shape, entries).unwrap()
}

/// `tanh(a x)`: its Jacobian by x is `diag(1 - y^2) a`, by a it is `(1 - y_i^2) x_k` at `[i, i, k]`.
fn saturated() -> SemanticProgram {
    let mut b = ProgramBuilder::new("saturated");
    let [m, n] = ["m", "n"].map(|name| b.size(name));
    let a = b.input("a", DType::F64, &[m, n.clone()]).unwrap();
    let x = b.input("x", DType::F64, &[n]).unwrap();
    let product = einsum::einsum_of_values(&mut b, "ij,j->i", &[a, x]).unwrap();
    let y = b.tanh(product).unwrap();
    b.finish(&[(None, y)]).unwrap()
}

#[test]
fn both_modes_give_the_known_jacobian() {
    // More rows, as many, more columns, one row, none of either.
    for (m, n) in [(4, 2), (3, 3), (2, 5), (1, 4), (0, 3), (3, 0)] {
        let a = matrix([m, n], 0.3);
        let x = matrix([n, 1], 0.9).reshape(&[n]).unwrap();
        for mut session in [Session::reference(), Session::cpu()] {
            let y = session.run(Arc::new(saturated()), &[(&a).into(), (&x).into()]).unwrap().remove(0);
            let reads = [(&a).into(), (&x).into()];
            let jacobians = session.jacobian(&saturated(), &[1, 0], &reads, &context()).unwrap();
            let [by_x, by_a] = &jacobians[0][..] else { panic!("{jacobians:?}") };
            assert_eq!((by_x.shape(), by_a.shape()), (&[m, n][..], &[m, m, n][..]));
            let slope = |i: usize| 1.0 - y.get::<f64>(&[i]).unwrap().powi(2);
            for i in 0..m {
                for k in 0..n {
                    let expected = slope(i) * a.get::<f64>(&[i, k]).unwrap();
                    assert!((by_x.get::<f64>(&[i, k]).unwrap() - expected).abs() < 1e-14);
                    for j in 0..m {
                        let expected = if i == j { slope(i) * x.get::<f64>(&[k]).unwrap() } else { 0.0 };
                        assert!((by_a.get::<f64>(&[i, j, k]).unwrap() - expected).abs() < 1e-14);
                    }
                }
            }
        }
    }
}

#[test]
fn hessians_have_a_block_for_each_pair() {
    // f = (sum_i x_i^2 y_i) s: by x diag(2 y s), by x and y diag(2 x s), by x and s 2 x y.
    let mut b = ProgramBuilder::new("f");
    let n = b.size("n");
    let x = b.input("x", DType::F64, std::slice::from_ref(&n)).unwrap();
    let y = b.input("y", DType::F64, &[n]).unwrap();
    let s = b.input("s", DType::F64, &[]).unwrap();
    let sum = einsum::einsum_of_values(&mut b, "i,i,i,->", &[x, x, y, s]).unwrap();
    let f = b.finish(&[(None, sum)]).unwrap();
    let [x, y] = [[1.0, -2.0], [0.5, 4.0]];
    let tensors = [
        Tensor::from_vec_col_major([2], x.to_vec()).unwrap(),
        Tensor::from_vec_col_major([2], y.to_vec()).unwrap(),
        Tensor::scalar(3.0),
    ];
    let reads: Vec<_> = tensors.iter().map(|t| t.into()).collect();
    let h = Session::cpu().hessian(&f, &[0, 1, 2], &reads, &context()).unwrap();
    let block = |i: usize, j: usize| h[i][j].to_vec_col_major::<f64>().unwrap();
    assert_eq!(block(0, 0), [2.0 * y[0] * 3.0, 0.0, 0.0, 2.0 * y[1] * 3.0]);
    assert_eq!(block(0, 1), [2.0 * x[0] * 3.0, 0.0, 0.0, 2.0 * x[1] * 3.0]);
    assert_eq!(block(1, 0), block(0, 1));
    assert_eq!(block(1, 1), [0.0; 4]);
    assert_eq!(block(0, 2), [2.0 * x[0] * y[0], 2.0 * x[1] * y[1]]);
    assert_eq!(block(2, 0), block(0, 2));
    assert_eq!((block(1, 2), block(2, 2)), (vec![1.0, 4.0], vec![0.0]));
    assert_eq!(h[2][2].rank(), 0);
}

#[test]
fn every_floating_point_output_has_a_row_in_its_own_dtype() {
    let mut b = ProgramBuilder::new("several");
    let n = b.size("n");
    let x = b.input("x", DType::F32, &[n]).unwrap();
    let place = b.op(tenferro::program::ops::CoreOp::ArgMax { axis: 0 }, &[x]).unwrap();
    let wide = b.convert(x, DType::F64).unwrap();
    let phase = b.convert(x, DType::C64).unwrap();
    let turned = b.exp(phase).unwrap();
    let mean = composite::mean(&mut b, wide, &[0]).unwrap();
    let program = b.finish(&[(None, place), (None, mean), (None, turned)]).unwrap();
    let x = Tensor::from_vec_col_major([2], vec![0.0f32, 1.0]).unwrap();
    let jacobians = Session::cpu().jacobian(&program, &[0], &[(&x).into()], &AdContext::new()).unwrap();
    assert_eq!(jacobians.len(), 2);
    assert_eq!(jacobians[0][0].to_vec_col_major::<f64>().unwrap(), [0.5, 0.5]);
    assert_eq!((jacobians[1][0].dtype(), jacobians[1][0].shape()), (DType::C64, &[2, 2][..]));
}

#[test]
fn a_derivative_by_a_complex_number_is_refused() {
    let mut b = ProgramBuilder::new("f");
    let z = b.input("z", DType::C64, &[]).unwrap();
    let y = b.conj(z).unwrap();
    let program = b.finish(&[(None, y)]).unwrap();
    let z = Tensor::zeros(DType::C64, []).unwrap();
    let error = Session::cpu().jacobian(&program, &[0], &[(&z).into()], &AdContext::new()).unwrap_err();
    assert!(error.to_string().contains("jacobian: `z` is c64, expected f32 or f64"), "{error}");
    let error = Session::cpu().hessian(&saturated(), &[1], &[], &context()).unwrap_err();
    assert!(error.to_string().contains("must be a real scalar"), "{error}");
}
