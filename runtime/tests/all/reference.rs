//! The reference engine where the reference data says nothing: integers, conversions, indices,
//! repeated and stretched labels.

use std::sync::Arc;

use tenferro_core::ops::CoreOp;
use tenferro_core::program::ProgramBuilder;
use tenferro_core::{Complex64, DType, ScalarValue, Tensor, TensorRead};
use tenferro_einsum::{EinsumNotation, EinsumOp};

use super::support::*;

/// One operation on tensors of constant shapes.
fn apply(op: CoreOp, inputs: &[&Tensor]) -> Tensor {
    let mut b = ProgramBuilder::new("op");
    let mut values = Vec::new();
    for (i, x) in inputs.iter().enumerate() {
        let shape: Vec<_> = x.shape().iter().map(|&extent| extent.into()).collect();
        values.push(b.input(format!("x{i}"), x.dtype(), &shape).unwrap());
    }
    let output = b.op(op, &values).unwrap();
    let program = Arc::new(b.finish(&[(None, output)]).unwrap());
    let inputs: Vec<_> = inputs.iter().map(|&x| TensorRead::from(x)).collect();
    run(&program, &inputs).remove(0).view().to_tensor().unwrap()
}

fn integers(values: &[i64]) -> Tensor {
    Tensor::from_vec_col_major([values.len()], values.to_vec()).unwrap()
}

fn result<T: tenferro_core::Scalar>(op: CoreOp, inputs: &[&Tensor]) -> Vec<T> {
    apply(op, inputs).to_vec_col_major().unwrap()
}

#[test]
fn integers_wrap_and_division_by_zero_is_defined() {
    let (a, b) = (integers(&[7, -7, 7, i64::MIN, i64::MAX]), integers(&[2, 2, 0, -1, 2]));
    let inputs = [&a, &b];
    assert_eq!(result::<i64>(CoreOp::Div, &inputs), [3, -3, 0, i64::MIN, i64::MAX / 2]);
    assert_eq!(result::<i64>(CoreOp::Rem, &inputs), [1, -1, 7, 0, 1]);
    assert_eq!(result::<i64>(CoreOp::Mul, &inputs), [14, -14, 0, i64::MIN, -2]);
    assert_eq!(result::<i64>(CoreOp::Neg, &inputs[..1]), [-7, 7, -7, i64::MIN, -i64::MAX]);
    assert_eq!(result::<i64>(CoreOp::Abs, &inputs[..1]), [7, 7, 7, i64::MIN, i64::MAX]);
}

#[test]
fn conversions() {
    let x = vector(&[-2.7, 0.0, 1e30, f64::NAN]);
    assert_eq!(result::<i64>(CoreOp::Convert(DType::I64), &[&x]), [-2, 0, i64::MAX, 0]);
    assert_eq!(result::<i32>(CoreOp::Convert(DType::I32), &[&x]), [-2, 0, i32::MAX, 0]);
    assert_eq!(result::<bool>(CoreOp::Convert(DType::Bool), &[&x]), [true, false, true, true]);
    let z = Tensor::from_vec_col_major([2], vec![Complex64::new(1.5, 2.0), Complex64::new(0.0, 1.0)]).unwrap();
    assert_eq!(result::<f64>(CoreOp::Convert(DType::F64), &[&z]), [1.5, 0.0]);
    assert_eq!(result::<bool>(CoreOp::Convert(DType::Bool), &[&z]), [true, true]);
    let truth = Tensor::from_vec_col_major([2], vec![true, false]).unwrap();
    assert_eq!(result::<f64>(CoreOp::Convert(DType::F64), &[&truth]), [1.0, 0.0]);
    let large = integers(&[(1 << 53) + 1, i64::MAX]);
    assert_eq!(result::<i64>(CoreOp::Convert(DType::I64), &[&large]), [(1 << 53) + 1, i64::MAX]);
    assert_eq!(result::<i32>(CoreOp::Convert(DType::I32), &[&large]), [i32::MAX, i32::MAX]);
}

#[test]
fn nan_wins() {
    let (a, b) = (vector(&[f64::NAN, 1.0, 2.0]), vector(&[1.0, f64::NAN, 3.0]));
    let larger = result::<f64>(CoreOp::Maximum, &[&a, &b]);
    assert!(larger[0].is_nan() && larger[1].is_nan() && larger[2] == 3.0);
    let smaller = result::<f64>(CoreOp::Minimum, &[&a, &b]);
    assert!(smaller[0].is_nan() && smaller[1].is_nan() && smaller[2] == 2.0);
    assert_eq!(result::<i64>(CoreOp::ArgMax { axis: 0 }, &[&b]), [1]);
    assert_eq!(result::<i64>(CoreOp::ArgMin { axis: 0 }, &[&b]), [1]);
    assert!(result::<f64>(CoreOp::Max { axes: vec![0].into() }, &[&b])[0].is_nan());
}

#[test]
fn the_first_winner_counts() {
    let x = Tensor::from_vec_row_major([2, 4], vec![1.0, 3.0, 3.0, 0.0, 5.0, 0.0, 0.0, 5.0]).unwrap();
    assert_eq!(result::<i64>(CoreOp::ArgMax { axis: 1 }, &[&x]), [1, 0]);
    assert_eq!(result::<i64>(CoreOp::ArgMin { axis: 1 }, &[&x]), [3, 1]);
    assert_eq!(result::<i64>(CoreOp::ArgMin { axis: 0 }, &[&x]), [0, 1, 1, 0]);
}

#[test]
fn extremes_of_nothing() {
    let none = Tensor::zeros(DType::I32, [0, 2]).unwrap();
    assert_eq!(result::<i32>(CoreOp::Max { axes: vec![0].into() }, &[&none]), [i32::MIN; 2]);
    assert_eq!(result::<i32>(CoreOp::Min { axes: vec![0].into() }, &[&none]), [i32::MAX; 2]);
}

#[test]
fn running_sums_along_any_axis() {
    let x = counting(&[2, 3]);
    assert_eq!(result::<f64>(CoreOp::CumSum { axis: 0 }, &[&x]), [1.0, 3.0, 3.0, 7.0, 5.0, 11.0]);
    assert_eq!(result::<f64>(CoreOp::CumSum { axis: 1 }, &[&x]), [1.0, 2.0, 4.0, 6.0, 9.0, 12.0]);
    let none = Tensor::zeros(DType::F64, [3, 0]).unwrap();
    assert!(result::<f64>(CoreOp::CumSum { axis: 1 }, &[&none]).is_empty());
}

#[test]
fn iota_counts_along_its_axis() {
    let iota = |axis, dtype| CoreOp::Iota { shape: vec![2.into(), 3.into()].into(), axis, dtype };
    assert_eq!(result::<i64>(iota(0, DType::I64), &[]), [0, 1, 0, 1, 0, 1]);
    assert_eq!(result::<f64>(iota(1, DType::F64), &[]), [0.0, 0.0, 1.0, 1.0, 2.0, 2.0]);
}

#[test]
fn padding_depends_on_sizes() {
    let program = program(&[("x", &["n"]), ("y", &["m"])], |b, v, s| {
        let zero = b.constant(ScalarValue::F64(9.0)).unwrap();
        let op = CoreOp::Pad { low: vec![s[1].clone()].into(), high: vec![0.into()].into(), interior: vec![0].into() };
        vec![b.op(op, &[v[0], zero]).unwrap()]
    });
    for m in [0, 2] {
        let inputs = [vector(&[1.0, 2.0]), counting(&[m])];
        let expected: Vec<f64> = std::iter::repeat_n(9.0, m).chain([1.0, 2.0]).collect();
        assert_eq!(values(&run(&program, &reads(&inputs))[0]), expected);
    }
}

fn einsum(equation: &str, inputs: &[Tensor]) -> Tensor {
    let shapes: Vec<_> = inputs.iter().map(Tensor::shape).collect();
    let op = EinsumOp::concrete(&EinsumNotation::parse(equation).unwrap(), &shapes).unwrap();
    let mut b = ProgramBuilder::new("einsum");
    let mut operands = Vec::new();
    for (i, x) in inputs.iter().enumerate() {
        let shape: Vec<_> = x.shape().iter().map(|&extent| extent.into()).collect();
        operands.push(b.input(format!("x{i}"), x.dtype(), &shape).unwrap());
    }
    let output = b.extension(op, &operands).unwrap()[0];
    let program = Arc::new(b.finish(&[(None, output)]).unwrap());
    run(&program, &reads(inputs)).remove(0).view().to_tensor().unwrap()
}

#[test]
fn repeated_output_labels_fill_the_diagonal() {
    let v = vector(&[2.0, 3.0]);
    let vec = |t: Tensor| t.to_vec_col_major::<f64>().unwrap();
    assert_eq!(vec(einsum("i->ii", std::slice::from_ref(&v))), [2.0, 0.0, 0.0, 3.0]);
    assert_eq!(vec(einsum("i,i->ii", &[v.clone(), v.clone()])), [4.0, 0.0, 0.0, 9.0]);
    assert_eq!(vec(einsum("i,i,i->ii", &[v.clone(), v.clone(), v])), [8.0, 0.0, 0.0, 27.0]);
}

#[test]
fn integer_einsum_wraps() {
    let (a, b) = (integers(&[i64::MAX, 2]), integers(&[2, 3]));
    assert_eq!(einsum("i,i->", &[a, b]).to_vec_col_major::<i64>().unwrap(), [4]);
}

#[test]
fn strided_operands_are_read_where_they_lie() {
    let program = product();
    let a = counting(&[3, 2]);
    let b = counting(&[2, 3]);
    let turned = TensorRead::from(a.view().transpose(&[1, 0]).unwrap().reverse(&[1]).unwrap());
    let inputs = [turned, TensorRead::from(b.view().transpose(&[1, 0]).unwrap())];
    // [[3, 2, 1], [6, 5, 4]] times [[1, 2], [3, 4], [5, 6]]
    assert_eq!(values(&run(&program, &inputs)[0]), [14.0, 41.0, 20.0, 56.0]);
}
