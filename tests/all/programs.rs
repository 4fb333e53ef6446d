//! Faults that whole programs once had: each a test of its kind, on both engines.

use std::sync::Arc;

use tenferro::ad::{self, AdContext};
use tenferro::prelude::*;
use tenferro::program::ProgramBuilder;
use tenferro::program::ops::CoreOp;
use tenferro::program::shape::SymDim;

fn sessions() -> [Session; 2] {
    [Session::reference(), Session::cpu()]
}

tenferro! {
    /// The extent of `x` equals a literal by a guard, not by its name.
    fn shifted(b: f64[3, k], x: f64[n]) -> f64 {
        let y[i, j] = b[i, j] + x[i];
        sum(y * y)
    }
}

#[test]
fn a_gradient_passes_a_broadcast_whose_extents_agree_by_a_guard() {
    let b = TypedTensor::from_rows([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    let x = TypedTensor::from_vec(vec![1.0, 0.0, -1.0]);
    for mut session in sessions() {
        let (db, dx) = shifted.grad(&mut session, &b, &x).unwrap();
        assert_eq!(db.to_vec_col_major(), [4.0, 6.0, 8.0, 6.0, 8.0, 10.0]);
        assert_eq!(dx.to_vec_col_major(), [10.0, 14.0, 18.0]);
        let short = TypedTensor::from_vec(vec![1.0, 0.0]);
        let error = shifted.grad(&mut session, &b, &short).unwrap_err().to_string();
        assert!(error.contains("n == 3"), "{error}");
    }
}

#[test]
fn a_strided_value_is_reshaped() {
    let mut b = ProgramBuilder::new("flatten");
    let (n, m) = (b.size("n"), b.size("m"));
    let x = b.input("x", DType::F64, &[n.clone(), m.clone()]).unwrap();
    let turned = b.transpose(x, &[1, 0]).unwrap();
    let flat = b.reshape(turned, &[n * m]).unwrap();
    let double = b.add(flat, flat).unwrap();
    let program = Arc::new(b.finish(&[(None, flat), (None, double)]).unwrap());
    let x = Tensor::from_vec_col_major([2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let strided = x.transpose(&[1, 0]).unwrap();
    for mut session in sessions() {
        let results = session.run(&program, &[(&x).into()]).unwrap();
        assert_eq!(results[0].to_vec_col_major::<f64>().unwrap(), [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
        assert_eq!(results[1].to_vec_col_major::<f64>().unwrap(), [2.0, 6.0, 10.0, 4.0, 8.0, 12.0]);
        let results = session.run(&program, &[(&strided).into()]).unwrap();
        assert_eq!(results[0].to_vec_col_major::<f64>().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }
}

#[test]
fn an_input_is_differentiated_by_once() {
    let mut b = ProgramBuilder::new("f");
    let x = b.input("x", DType::F64, &[]).unwrap();
    let program = b.finish(&[(None, x)]).unwrap();
    let error = ad::grad(&program, &[0, 0], &AdContext::new()).unwrap_err().to_string();
    assert!(error.contains("twice"), "{error}");
}

#[test]
fn the_maximum_of_nothing_has_derivative_zero() {
    let mut b = ProgramBuilder::new("f");
    let x = b.input("x", DType::F64, &[SymDim::constant(2), SymDim::constant(0)]).unwrap();
    let y = b.max(x, &[1]).unwrap();
    let jvp = ad::jvp(&b.finish(&[(None, y)]).unwrap(), &[0], &AdContext::new()).unwrap();
    let empty = Tensor::zeros(DType::F64, [2, 0]).unwrap();
    for mut session in sessions() {
        let results = session.run(Arc::new(jvp.clone()), &[(&empty).into(), (&empty).into()]).unwrap();
        assert_eq!(results[0].to_vec_col_major::<f64>().unwrap(), [f64::NEG_INFINITY; 2]);
        assert_eq!(results[1].to_vec_col_major::<f64>().unwrap(), [0.0; 2]);
    }
}

#[test]
fn an_infinite_cotangent_stays_where_it_is() {
    let mut b = ProgramBuilder::new("f");
    let x = b.input("x", DType::F64, &[SymDim::constant(2)]).unwrap();
    let value = b.input("value", DType::F64, &[]).unwrap();
    let pad = CoreOp::Pad { low: vec![1.into()].into(), high: vec![0.into()].into(), interior: vec![0].into() };
    let y = b.op(pad, &[x, value]).unwrap();
    let vjp = ad::vjp(&b.finish(&[(None, y)]).unwrap(), &[0, 1], &AdContext::new()).unwrap();
    let x = Tensor::from_vec_col_major([2], vec![1.0, 2.0]).unwrap();
    let ct = Tensor::from_vec_col_major([3], vec![4.0, f64::INFINITY, 5.0]).unwrap();
    for mut session in sessions() {
        let value = Tensor::scalar(0.0);
        let inputs = [(&x).into(), (&value).into(), (&ct).into()];
        let results = session.run(Arc::new(vjp.clone()), &inputs).unwrap();
        assert_eq!(results[1].to_vec_col_major::<f64>().unwrap(), [f64::INFINITY, 5.0]);
        assert_eq!(results[2].item::<f64>().unwrap(), 4.0);
    }
}
