//! Equations that are known to go wrong in einsum implementations, through every front end.

use std::sync::Arc;

use tenferro::ad::AdContext;
use tenferro::einsum::{self, ConcreteEinsum};
use tenferro::prelude::*;
use tenferro::program::{ProgramBuilder, SemanticProgram};
use tenferro::tensor::TensorRead;

/// Entries 1, 2, 3, .. in row-major order.
fn counting(shape: &[usize]) -> Tensor {
    let len: usize = shape.iter().product();
    Tensor::from_vec_row_major(shape, (1..=len).map(|i| i as f64).collect()).unwrap()
}

fn traced(equation: &str, tensors: &[Tensor]) -> SemanticProgram {
    let mut b = ProgramBuilder::new("traced");
    let mut values = Vec::new();
    for (i, tensor) in tensors.iter().enumerate() {
        let shape: Vec<_> = tensor.shape().iter().map(|&n| n.into()).collect();
        values.push(b.input(format!("x{i}"), tensor.dtype(), &shape).unwrap());
    }
    let output = einsum::einsum_of_values(&mut b, equation, &values).unwrap();
    b.finish(&[(None, output)]).unwrap()
}

/// Checks a call, a prepared einsum, and a program of the equation with its marks.
#[track_caller]
fn check(equation: &str, marked: &str, shapes: &[&[usize]], shape: &[usize], expected: &[f64]) {
    let tensors: Vec<Tensor> = shapes.iter().map(|shape| counting(shape)).collect();
    let reads: Vec<&Tensor> = tensors.iter().collect();
    for mut session in [Session::cpu(), Session::reference()] {
        let called = einsum(&mut session, equation, &reads).unwrap();
        let prepared = ConcreteEinsum::new(equation).unwrap().run(&mut session, &reads).unwrap();
        let inputs: Vec<TensorRead<'_>> = tensors.iter().map(TensorRead::from).collect();
        let run = session.run(Arc::new(traced(marked, &tensors)), &inputs).unwrap().remove(0);
        for value in [called, prepared, run] {
            assert_eq!(value.shape(), shape, "{equation}");
            assert_eq!(value.to_vec_row_major::<f64>().unwrap(), expected, "{equation}");
        }
    }
}

#[test]
fn three_operands_stretch_plain_labels() {
    check("ij,jk,kl->il", "i#j,jk,kl->il", &[&[2, 1], &[3, 2], &[2, 2]], &[2, 2], &[45.0, 66.0, 90.0, 132.0]);
    // j stretches on the last of three.
    check("ij,jk,jk->ik", "ij,jk,#jk->ik", &[&[1, 2], &[2, 2], &[1, 2]], &[1, 2], &[7.0, 20.0]);
}

#[test]
fn three_operands_stretch_batches() {
    let expected = [1.0, 4.0, 9.0, 16.0];
    let shapes: &[&[usize]] = &[&[1, 1, 1], &[4, 1, 1], &[4, 1, 1]];
    check("...ij,...jk,...kl->...il", "...ij,...jk,...kl->...il", shapes, &[4, 1, 1], &expected);
    let shapes: &[&[usize]] = &[&[1, 2, 1], &[3, 1, 1], &[2, 1]];
    let expected = [1.0, 2.0, 2.0, 4.0, 2.0, 4.0, 4.0, 8.0, 3.0, 6.0, 6.0, 12.0];
    check(
        "...i,...i,...i->...",
        "...i,...i,...i->...",
        &[&[1, 2, 1], &[3, 1, 1], &[1, 1]],
        &[3, 2],
        &[1.0, 2.0, 2.0, 4.0, 3.0, 6.0],
    );
    check("...i,...j,kj->...ki", "...i,...j,k#j->...ki", shapes, &[3, 2, 2, 1], &expected);
}

#[test]
fn two_operands_write_on_the_diagonal() {
    check("i,i->ii", "i,i->ii", &[&[2], &[2]], &[2, 2], &[1.0, 0.0, 0.0, 4.0]);
}

#[test]
fn three_operands_write_on_the_diagonal() {
    check("i,i,i->ii", "i,i,i->ii", &[&[2], &[2], &[2]], &[2, 2], &[1.0, 0.0, 0.0, 8.0]);
}

#[test]
fn integers_contract_and_wrap() {
    for mut session in [Session::cpu(), Session::reference()] {
        let a = Tensor::from_vec_row_major([2, 2], vec![1_i64 << 62, 2, 3, -4]).unwrap();
        let square = einsum(&mut session, "ij,jk->ik", &[&a, &a]).unwrap();
        let wrapped = (1_i64 << 62).wrapping_mul(1 << 62).wrapping_add(6);
        assert_eq!(square.get::<i64>(&[0, 0]).unwrap(), wrapped);
        assert_eq!(square.get::<i64>(&[1, 1]).unwrap(), 22);
        let cube = einsum(&mut session, "ij,jk,kl->il", &[&a, &a, &a]).unwrap();
        assert_eq!(cube, einsum(&mut session, "ij,jk->ik", &[&square, &a]).unwrap());
        let b = Tensor::from_vec_col_major([2], vec![7_i32, -9]).unwrap();
        assert_eq!(einsum(&mut session, "i,i->", &[&b, &b]).unwrap().item::<i32>().unwrap(), 130);
    }
}

#[test]
fn the_gradient_of_a_stretched_label_is_summed_back() {
    let tensors = [counting(&[2, 1]), Tensor::from_vec_row_major([3, 2], vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0]).unwrap()];
    let context = AdContext::new().with_rules(&einsum::ad_rules().unwrap());
    for equation in ["i#j,jk->ik", "i#j,jk,->ik"] {
        let mut tensors = tensors.to_vec();
        if equation.matches(',').count() == 2 {
            tensors.push(Tensor::scalar(1.0));
        }
        let vjp = tenferro::ad::vjp(&traced(equation, &tensors), &[0], &context).unwrap();
        tensors.push(Tensor::full([2, 2], 1.0).unwrap());
        for mut session in [Session::cpu(), Session::reference()] {
            let inputs: Vec<TensorRead<'_>> = tensors.iter().map(TensorRead::from).collect();
            let gradient = session.run(Arc::new(vjp.clone()), &inputs).unwrap().remove(1);
            assert_eq!(gradient.shape(), [2, 1]);
            assert_eq!(gradient.as_slice::<f64>().unwrap(), [21.0, 21.0]);
        }
    }
}
