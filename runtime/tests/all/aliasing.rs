//! Results that are inputs, views, each other, or nothing; and results brought to the caller's
//! tensors.

use std::sync::Arc;

use tenferro_core::program::{ProgramBuilder, SemanticProgram};
use tenferro_core::{DType, ScalarValue, Tensor, TensorRead};
use tenferro_runtime::reference::ReferenceEngine;
use tenferro_runtime::{Engine, Output};

use super::support::*;

/// Runs into tensors that are ready to be written, and into ones that are shared; both must hold
/// what `run` gives.
fn check_into(program: &Arc<SemanticProgram>, inputs: &[TensorRead<'_>]) {
    let (runtime, mut engine) = (runtime(), ReferenceEngine::new());
    let prepared = runtime.prepare(program, inputs, &[engine.target()]).unwrap();
    let expected = runtime.run(&mut [&mut engine], &prepared, inputs).unwrap();
    let fresh: Vec<Tensor> = expected.iter().map(|o| Tensor::zeros(o.dtype(), o.shape()).unwrap()).collect();
    for shared in [None, Some(fresh.clone())] {
        let mut tensors: Vec<Tensor> = expected.iter().map(|o| Tensor::zeros(o.dtype(), o.shape()).unwrap()).collect();
        let kept = shared.is_some().then(|| tensors.clone());
        let mut outputs: Vec<&mut Tensor> = tensors.iter_mut().collect();
        runtime.run_into(&mut [&mut engine], &prepared, inputs, &mut outputs).unwrap();
        for (tensor, output) in tensors.iter().zip(&expected) {
            assert_eq!(tensor.to_vec_col_major::<f64>().unwrap(), values(output));
        }
        for tensor in kept.iter().flatten() {
            assert!(tensor.to_vec_col_major::<f64>().unwrap().iter().all(|&x| x == 0.0));
        }
    }
}

#[test]
fn experiment_6_an_input_is_returned_without_a_copy() {
    let program = program(&[("x", &["n"])], |b, v, s| {
        let same = b.reshape(v[0], &[s[0].clone()]).unwrap();
        let square = b.mul(v[0], v[0]).unwrap();
        vec![v[0], same, square]
    });
    let x = [vector(&[1.0, 2.0])];
    let inputs = reads(&x);
    let outputs = run(&program, &inputs);
    assert!(matches!(outputs[0], Output::Borrowed(_)));
    assert!(matches!(outputs[1], Output::Borrowed(_)));
    assert!(matches!(outputs[2], Output::Owned(_)));
    let Output::Borrowed(view) = &outputs[0] else { unreachable!() };
    assert_eq!(view.as_slice::<f64>().unwrap().as_ptr(), x[0].as_slice::<f64>().unwrap().as_ptr());
    for output in outputs {
        let shape = output.shape().to_vec();
        let tensor = output.into_tensor(&mut ReferenceEngine::new()).unwrap();
        assert_eq!(tensor.shape(), shape);
        assert!(!std::ptr::eq(tensor.as_slice::<f64>().unwrap(), x[0].as_slice::<f64>().unwrap()));
    }
    check_into(&program, &inputs);
}

#[test]
fn a_borrowed_output_outlives_engine_and_program() {
    let x = counting(&[2, 3]);
    let output = {
        let program = program(&[("x", &["n", "m"])], |b, v, _| vec![b.transpose(v[0], &[1, 0]).unwrap()]);
        run(&program, &[TensorRead::from(&x)]).remove(0)
    };
    assert!(matches!(output, Output::Borrowed(_)));
    assert_eq!(output.shape(), [3, 2]);
    assert_eq!(values(&output), [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
}

#[test]
fn a_view_of_a_computed_value_is_made_compact() {
    let program = program(&[("x", &["n", "m"])], |b, v, s| {
        let double = b.add(v[0], v[0]).unwrap();
        let turned = b.transpose(double, &[1, 0]).unwrap();
        let repeated = b.broadcast_in_dim(double, &[s[0].clone(), s[1].clone(), 2.into()], &[0, 1]).unwrap();
        vec![turned, double, repeated]
    });
    let x = [counting(&[2, 3])];
    let outputs = run(&program, &reads(&x));
    assert_eq!(values(&outputs[0]), [2.0, 6.0, 10.0, 4.0, 8.0, 12.0]);
    assert_eq!(values(&outputs[1]), [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
    assert_eq!(outputs[2].shape(), [2, 3, 2]);
    assert!(outputs.iter().all(|output| output.view().layout().is_contiguous()));
    check_into(&program, &reads(&x));
}

#[test]
fn one_value_returned_twice_is_two_results() {
    let program = program(&[("x", &["n"])], |b, v, s| {
        let double = b.add(v[0], v[0]).unwrap();
        let flat = b.reshape(double, &[s[0].clone(), 1.into()]).unwrap();
        vec![double, double, flat, v[0], v[0]]
    });
    let x = [vector(&[1.0, 2.0])];
    let inputs = reads(&x);
    let mut outputs = run(&program, &inputs);
    let Output::Owned(first) = &mut outputs[0] else { unreachable!() };
    first.as_mut_slice::<f64>().unwrap()[0] = 7.0;
    assert_eq!(values(&outputs[0]), [7.0, 4.0]);
    assert_eq!(values(&outputs[1]), [2.0, 4.0]);
    assert_eq!(values(&outputs[2]), [2.0, 4.0]);
    assert_eq!(outputs[2].shape(), [2, 1]);
    check_into(&program, &inputs);
}

#[test]
fn constants_and_sizes_are_results() {
    let program = program(&[("x", &["n", "m"])], |b, _, s| {
        let two = b.constant(ScalarValue::F64(2.0)).unwrap();
        let count = b.size_value(&(&s[0] * &s[1]), DType::F64).unwrap();
        let row = b.broadcast_in_dim(two, &[s[1].clone()], &[]).unwrap();
        vec![two, count, row, two]
    });
    let x = [counting(&[2, 3])];
    let outputs = run(&program, &reads(&x));
    assert_eq!(values(&outputs[0]), [2.0]);
    assert_eq!(values(&outputs[1]), [6.0]);
    assert_eq!(values(&outputs[2]), [2.0, 2.0, 2.0]);
    assert!(outputs.iter().all(|output| matches!(output, Output::Owned(_))));
    check_into(&program, &reads(&x));
}

#[test]
fn a_changed_constant_stays_constant() {
    let (runtime, mut engine) = (runtime(), ReferenceEngine::new());
    let program = program(&[], |b, _, _| vec![b.constant(ScalarValue::F64(2.0)).unwrap()]);
    let prepared = runtime.prepare(&program, &[], &[engine.target()]).unwrap();
    for _ in 0..2 {
        let mut outputs = runtime.run(&mut [&mut engine], &prepared, &[]).unwrap();
        assert_eq!(values(&outputs[0]), [2.0]);
        let Output::Owned(tensor) = &mut outputs[0] else { unreachable!() };
        tensor.as_mut_slice::<f64>().unwrap()[0] = 3.0;
    }
}

#[test]
fn strided_inputs_are_read_in_place() {
    let program = program(&[("x", &["n", "m"])], |b, v, s| {
        let flat = b.reshape(v[0], &[&s[0] * &s[1]]).unwrap();
        let double = b.add(flat, flat).unwrap();
        vec![double, b.sum(v[0], &[0]).unwrap(), flat]
    });
    let x = counting(&[3, 2]);
    let straight = x.reshape(&[2, 3]).unwrap();
    let turned = x.view().transpose(&[1, 0]).unwrap();
    let (runtime, mut engine) = (runtime(), ReferenceEngine::new());
    let inputs = [TensorRead::from(&straight)];
    let prepared = runtime.prepare(&program, &inputs, &[engine.target()]).unwrap();
    // One preparation, two bindings: the reshape is a view of one input and a copy of the other.
    for _ in 0..2 {
        let outputs = runtime.run(&mut [&mut engine], &prepared, &[TensorRead::from(&straight)]).unwrap();
        assert_eq!(values(&outputs[0]), [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
        assert!(matches!(outputs[2], Output::Borrowed(_)));
        let outputs = runtime.run(&mut [&mut engine], &prepared, &[TensorRead::from(turned.clone())]).unwrap();
        assert_eq!(values(&outputs[0]), [2.0, 8.0, 4.0, 10.0, 6.0, 12.0]);
        assert_eq!(values(&outputs[1]), [5.0, 7.0, 9.0]);
        assert!(matches!(outputs[2], Output::Owned(_)));
    }
    check_into(&program, &[TensorRead::from(&straight)]);
    check_into(&program, &[TensorRead::from(turned)]);
}

#[test]
fn layout_operations_are_views() {
    let mut b = ProgramBuilder::new("views");
    let n = b.size("n");
    let x = b.input("x", DType::F64, &[n.clone(), n.clone()]).unwrap();
    let one = tenferro_core::shape::SymDim::constant(1);
    let slice = tenferro_core::ops::CoreOp::Slice {
        start: vec![one.clone(), 0.into()].into(),
        limit: vec![n.clone(), n.clone()].into(),
        stride: vec![1, 2].into(),
    };
    let slice = b.op(slice, &[x]).unwrap();
    let reverse = b.op(tenferro_core::ops::CoreOp::Reverse { axes: vec![0].into() }, &[slice]).unwrap();
    let diagonal = b.op(tenferro_core::ops::CoreOp::ExtractDiag { axis_a: 0, axis_b: 1 }, &[x]).unwrap();
    let stopped = b.stop_gradient(diagonal).unwrap();
    let program = Arc::new(b.finish(&[(None, reverse), (None, stopped)]).unwrap());
    let x = counting(&[3, 3]);
    let inputs = [TensorRead::from(&x)];
    let (runtime, mut engine) = (runtime(), ReferenceEngine::new());
    let prepared = runtime.prepare(&program, &inputs, &[engine.target()]).unwrap();
    assert_eq!(prepared.commands().count(), 0);
    let outputs = runtime.run(&mut [&mut engine], &prepared, &inputs).unwrap();
    assert_eq!(values(&outputs[0]), [3.0, 2.0, 9.0, 8.0]);
    assert_eq!(values(&outputs[1]), [1.0, 5.0, 9.0]);
    check_into(&program, &inputs);
}

#[test]
fn nothing_and_single_entries() {
    let program = program(&[("x", &["n", "m"])], |b, v, s| {
        let total = b.sum(v[0], &[0, 1]).unwrap();
        let rows = b.sum(v[0], &[1]).unwrap();
        let most = b.max(v[0], &[1]).unwrap();
        let flat = b.reshape(v[0], &[&s[0] * &s[1]]).unwrap();
        let exp = b.exp(flat).unwrap();
        vec![total, rows, most, exp]
    });
    for (shape, total, rows) in [([0, 3], 0.0, 0), ([3, 0], 0.0, 3), ([0, 0], 0.0, 0), ([1, 1], 1.0, 1)] {
        let x = [counting(&shape)];
        let outputs = run(&program, &reads(&x));
        assert_eq!(values(&outputs[0]), [total]);
        assert_eq!(values(&outputs[1]), vec![total; rows]);
        if shape == [3, 0] {
            assert_eq!(values(&outputs[2]), [f64::NEG_INFINITY; 3]);
        }
        assert_eq!(outputs[3].shape(), [shape[0] * shape[1]]);
        check_into(&program, &reads(&x));
    }
}

#[test]
fn an_output_may_be_read_again() {
    let program = program(&[("x", &["n"])], |b, v, _| {
        let a = b.add(v[0], v[0]).unwrap();
        let c = b.mul(a, a).unwrap();
        let d = b.add(c, a).unwrap();
        vec![a, d, c]
    });
    let x = [vector(&[1.0, 2.0])];
    let outputs = run(&program, &reads(&x));
    assert_eq!(values(&outputs[0]), [2.0, 4.0]);
    assert_eq!(values(&outputs[1]), [6.0, 20.0]);
    assert_eq!(values(&outputs[2]), [4.0, 16.0]);
    check_into(&program, &reads(&x));
}

#[test]
fn the_callers_tensor_is_computed_in_place() {
    let (runtime, mut engine) = (runtime(), ReferenceEngine::new());
    let program = program(&[("x", &["n"])], |b, v, _| {
        let a = b.add(v[0], v[0]).unwrap();
        let c = b.exp(a).unwrap();
        vec![b.add(c, a).unwrap()]
    });
    let x = [vector(&[0.0, 1.0])];
    let prepared = runtime.prepare(&program, &reads(&x), &[engine.target()]).unwrap();
    let mut y = Tensor::zeros(DType::F64, [2]).unwrap();
    let before = y.as_slice::<f64>().unwrap().as_ptr();
    runtime.run_into(&mut [&mut engine], &prepared, &reads(&x), &mut [&mut y]).unwrap();
    assert_eq!(y.as_slice::<f64>().unwrap().as_ptr(), before);
    assert_eq!(y.to_vec_col_major::<f64>().unwrap(), [1.0, 2.0_f64.exp() + 2.0]);
}
