//! What a run allocates, counted: a warmed-up `run_into` nothing, `run` its results alone.
#![allow(clippy::unwrap_used)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use tenferro::cpu::CpuEngine;
use tenferro::prelude::*;
use tenferro::program::ops::CoreOp;
use tenferro::program::{ProgramBuilder, ValueId};
use tenferro::runtime::{Engine, Runtime};
use tenferro::tensor::{Tensor, TensorRead};

struct Counting;

thread_local! {
    /// Of this thread, for tests run side by side.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The allocations of the third call; the first two warm up.
fn warm(mut call: impl FnMut()) -> usize {
    call();
    call();
    let before = ALLOCATIONS.get();
    call();
    ALLOCATIONS.get() - before
}

tenferro! {
    /// Forty operations.
    fn powers(x: f64[n]) -> f64[n] {
        let y = x;
        for i in 0..20 {
            y = y * x + x;
        }
        y
    }

    /// Products, reductions, views, broadcasts and scalars.
    fn layer(x: f64[n, d], w: f64[d, m], b: f64[m], s: f64) -> (y: f64[n, m], loss: f64) {
        let h[i, j] = x[i, k] * w[k, j] + b[j];
        let p[i, j] = softmax[j](h[i, j]);
        let turned[j, i] = tanh(p[i, j]) * s;
        let y[i, j] = turned[j, i] * p[i, j] - h[i, j];
        (y, mean(y * y))
    }

    #[grad(w, b)]
    fn mse(w: f64[d], b: f64, x: f64[n, d], y: f64[n]) -> f64 {
        let r[i] = x[i, j] * w[j] + b - y[i];
        mean(r * r)
    }
}

fn counting(shape: &[usize]) -> Tensor {
    let len = shape.iter().product::<usize>();
    Tensor::from_vec_col_major(shape, (0..len).map(|i| (i % 7) as f64 * 0.125 - 0.3).collect()).unwrap()
}

fn typed<const R: usize>(shape: [usize; R]) -> TypedTensor<f64, R> {
    counting(&shape).try_into_typed().unwrap()
}

#[test]
fn a_kernel_run_into_allocates_nothing() {
    let mut session = Session::cpu();
    let x = typed([100]);
    let mut y = x.clone();
    y.as_mut_slice().unwrap().fill(0.0);
    assert_eq!(warm(|| powers.run_into(&mut session, &x, &mut y).unwrap()), 0);
    assert_eq!(y, powers.run(&mut session, &x).unwrap());

    let (x, w, b) = (typed([5, 4]), typed([4, 6]), typed([6]));
    let (mut y, mut loss) = (typed([5, 6]), 0.0);
    assert_eq!(warm(|| layer.run_into(&mut session, &x, &w, &b, 2.0, &mut y, &mut loss).unwrap()), 0);
    let expected = layer.run(&mut session, &x, &w, &b, 2.0).unwrap();
    assert_eq!((&y, loss), (&expected.y, expected.loss));
    // A view, of strides of its own.
    let x = typed([4, 5]);
    let x = x.view().transpose([1, 0]).unwrap();
    assert_eq!(warm(|| layer.run_into(&mut session, &x, &w, &b, 2.0, &mut y, &mut loss).unwrap()), 0);
}

#[test]
fn a_profile_that_is_over_allocates_nothing() {
    let mut session = Session::cpu();
    let x = typed([100]);
    let mut y = x.map(|_| 0.0);
    let ((), profile) = session.profile(|session| powers.run_into(session, &x, &mut y).unwrap());
    assert_eq!(profile.runs()[0].commands.len(), 40);
    assert_eq!(warm(|| powers.run_into(&mut session, &x, &mut y).unwrap()), 0);
}

#[test]
fn a_kernel_run_allocates_its_results() {
    let mut session = Session::cpu();
    let x = typed([100]);
    // The list of results, and for a tensor its elements and their count of references.
    assert_eq!(warm(|| drop(powers.run(&mut session, &x).unwrap())), 3);
    let (w, b, x, y) = (typed([4]), 0.5, typed([5, 4]), typed([5]));
    // Scalars go back to the engine.
    assert_eq!(warm(|| _ = mse.run(&mut session, &w, b, &x, &y).unwrap()), 1);
    assert_eq!(warm(|| drop(mse.value_and_grad(&mut session, &w, b, &x, &y).unwrap())), 3);
}

/// Prepares a program of these inputs and returns the allocations of `run_into` and of `run`.
fn allocations(
    inputs: &[TensorRead<'_>],
    body: impl FnOnce(&mut ProgramBuilder, &[ValueId]) -> Vec<ValueId>,
) -> [usize; 2] {
    let mut b = ProgramBuilder::new("counted");
    let mut values = Vec::new();
    for (i, input) in inputs.iter().enumerate() {
        let shape: Vec<_> = input.shape().iter().map(|&extent| extent.into()).collect();
        values.push(b.input(format!("x{i}"), input.dtype(), &shape).unwrap());
    }
    let outputs: Vec<_> = body(&mut b, &values).into_iter().map(|value| (None, value)).collect();
    let program = Arc::new(b.finish(&outputs).unwrap());
    let runtime = Runtime::builder()
        .register_engine(tenferro::cpu::runtime_engine_registration())
        .and_then(|b| b.install_extension_module(tenferro::cpu::families::einsum::module()))
        .and_then(|b| b.build())
        .unwrap();
    let mut engine = CpuEngine::serial();
    let prepared = runtime.prepare(&program, inputs, &[engine.target()]).unwrap();
    let run = warm(|| drop(runtime.run(&mut [&mut engine], &prepared, inputs).unwrap()));
    let outputs = runtime.run(&mut [&mut engine], &prepared, inputs).unwrap();
    let mut outputs: Vec<Tensor> = outputs.into_iter().map(|o| o.into_tensor(&mut engine).unwrap()).collect();
    let expected = outputs.clone();
    outputs.iter_mut().for_each(|o| *o = Tensor::zeros(o.dtype(), o.shape()).unwrap());
    let mut into: Vec<&mut Tensor> = outputs.iter_mut().collect();
    let run_into = warm(|| runtime.run_into(&mut [&mut engine], &prepared, inputs, &mut into).unwrap());
    assert_eq!(outputs, expected);
    [run_into, run]
}

#[test]
fn a_program_of_forty_operations_allocates_its_result() {
    let x = [counting(&[16])];
    let inputs = x.each_ref().map(TensorRead::from);
    let counts = allocations(&inputs, |b, v| {
        let mut y = v[0];
        for _ in 0..20 {
            let product = b.mul(y, v[0]).unwrap();
            y = b.add(product, v[0]).unwrap();
        }
        vec![y]
    });
    assert_eq!(counts, [0, 3]);
}

#[test]
fn no_kind_of_operation_allocates() {
    let (a, m) = (counting(&[6, 5]), counting(&[5, 6]));
    let turned = m.view().transpose(&[1, 0]).unwrap();
    let indices = Tensor::from_vec_col_major([6, 5], (0..30).map(|i| i % 6).collect::<Vec<i64>>()).unwrap();
    let inputs = [TensorRead::from(&a), TensorRead::from(turned), TensorRead::from(&indices)];
    let [run_into, run] = allocations(&inputs, |b, v| {
        let (x, turned, indices) = (v[0], v[1], v[2]);
        let one = b.constant(1_i64.into()).unwrap();
        let zero = b.constant(0.0.into()).unwrap();
        let row = b.sum(x, &[0]).unwrap();
        let spread = b.broadcast_in_dim(row, &[6.into(), 5.into()], &[1]).unwrap();
        let smooth = b.mul(spread, turned).unwrap();
        let flat = b.reshape(turned, &[30.into()]).unwrap();
        let total = b.sum(flat, &[0]).unwrap();
        let most = b.max(turned, &[1]).unwrap();
        let best = b.op(CoreOp::ArgMax { axis: 1 }, &[turned]).unwrap();
        let cumulated = b.op(CoreOp::CumSum { axis: 1 }, &[turned]).unwrap();
        let joined = b.op(CoreOp::Concatenate { axis: 0 }, &[x, turned, x, smooth, x]).unwrap();
        let lower = b.op(CoreOp::Tril { row: 0, column: 1, k: 0 }, &[turned]).unwrap();
        let gathered = b.op(CoreOp::Gather { axis: 0 }, &[turned, indices]).unwrap();
        let scattered = b.op(CoreOp::ScatterAdd { axis: 0 }, &[x, indices, turned]).unwrap();
        let pad = CoreOp::Pad {
            low: vec![1.into(), 0.into()].into(),
            high: vec![0.into(), 2.into()].into(),
            interior: vec![1, 0].into(),
        };
        let padded = b.op(pad, &[turned, zero]).unwrap();
        let positive = b.op(CoreOp::Compare(tenferro::program::ops::Comparison::Gt), &[x, turned]).unwrap();
        let chosen = b.op(CoreOp::Select, &[positive, x, turned]).unwrap();
        let start = b.broadcast_in_dim(one, &[2.into()], &[]).unwrap();
        let window = b.op(CoreOp::DynamicSlice { sizes: vec![3.into(), 2.into()].into() }, &[x, start]).unwrap();
        vec![window, smooth, total, most, best, cumulated, joined, lower, gathered, scattered, padded, chosen]
    });
    assert_eq!(run_into, 0);
    // One list, and two for each result.
    assert_eq!(run, 1 + 2 * 12);
}

#[test]
fn no_contraction_allocates() {
    for (equation, shapes) in [
        ("ij,jk->ik", vec![vec![16, 16], vec![16, 16]]),
        ("ij,jk->ki", vec![vec![3, 2], vec![2, 4]]),
        ("bij,bjk->bik", vec![vec![3, 8, 9], vec![3, 9, 7]]),
        ("ijk,kjl->li", vec![vec![9, 8, 7], vec![7, 8, 6]]),
        ("ij,ij->", vec![vec![9, 8], vec![9, 8]]),
        ("ij,ij->ij", vec![vec![9, 8], vec![9, 8]]),
        ("ij,jk,kl,lm,mn,np,pq->iq", vec![vec![5, 5]; 7]),
        ("ij->ji", vec![vec![9, 8]]),
        ("ij->", vec![vec![9, 8]]),
        ("ij,jk->ikik", vec![vec![2, 3], vec![3, 4]]),
    ] {
        let tensors: Vec<Tensor> = shapes.iter().map(|shape: &Vec<usize>| counting(shape)).collect();
        let inputs: Vec<_> = tensors.iter().map(TensorRead::from).collect();
        let counts = allocations(&inputs, |b, v| vec![tenferro::einsum::einsum_of_values(b, equation, v).unwrap()]);
        assert_eq!(counts, [0, 3], "{equation}");
    }
    let (a, c) = (counting(&[7, 5]), counting(&[6, 7]));
    let turned = [&a, &c].map(|t| TensorRead::from(t.view().transpose(&[1, 0]).unwrap()));
    let counts = allocations(&turned, |b, v| vec![tenferro::einsum::einsum_of_values(b, "ij,jk->ik", v).unwrap()]);
    assert_eq!(counts, [0, 3]);
}
