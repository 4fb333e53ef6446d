//! Sizes that are read off data: truncation by a rank that the program computes, on both engines, with derivatives.

use std::sync::Arc;

use tenferro::ad::{self, AdContext};
use tenferro::cpu::CpuEngine;
use tenferro::einsum;
use tenferro::prelude::*;
use tenferro::program::ops::{Comparison, CoreOp};
use tenferro::program::{ProgramBuilder, SemanticProgram, ValueId};
use tenferro::runtime::reference::{self, ReferenceEngine};
use tenferro::runtime::{Engine, Output, Runtime};
use tenferro::tensor::{Tensor, TensorRead};

type Core<T> = tenferro_core::Result<T>;

fn context() -> AdContext {
    AdContext::new().with_rules(&einsum::ad_rules().unwrap())
}

fn sessions() -> [Session; 3] {
    [Session::cpu(), Session::cpu_with_threads(2).unwrap(), Session::reference()]
}

/// How many entries of `s` are above `threshold`, as an integer.
fn count_above(b: &mut ProgramBuilder, s: ValueId, threshold: ValueId, dtype: DType) -> Core<ValueId> {
    let shape = b.meta(s).shape.to_vec();
    let threshold = b.broadcast_in_dim(threshold, &shape, &[])?;
    let above = b.compare(Comparison::Gt, s, threshold)?;
    let ones = b.convert(above, dtype)?;
    b.sum(ones, &[0])
}

/// `u[:, :k] diag(s[:k]) v[:, :k]^T`, where `k` entries of `s` are above the threshold, and `s[:k]` filled up with
/// zeros.
fn low_rank() -> Core<SemanticProgram> {
    let mut b = ProgramBuilder::new("low_rank");
    let [n, p, m] = [b.size("n"), b.size("p"), b.size("m")];
    let u = b.input("u", DType::F64, &[n, m.clone()])?;
    let s = b.input("s", DType::F64, std::slice::from_ref(&m))?;
    let v = b.input("v", DType::F64, &[p, m])?;
    let threshold = b.input("threshold", DType::F64, &[])?;
    let rank = count_above(&mut b, s, threshold, DType::I64)?;
    let left = b.dynamic_truncate(u, rank, 1)?;
    let middle = b.dynamic_truncate(s, rank, 0)?;
    let right = b.dynamic_truncate(v, rank, 1)?;
    let product = einsum::einsum_of_values(&mut b, "ik,k,jk->ij", &[left, middle, right])?;
    let kept = b.pad_to_match(middle, s, 0)?;
    b.finish(&[(Some("product"), product), (Some("kept"), kept)])
}

/// `sum(product^3) + sum(kept^2 s) + k sum(s[:k])`: all that a derivative may go through.
fn loss() -> Core<SemanticProgram> {
    let mut b = ProgramBuilder::new("loss");
    let [n, p, m] = [b.size("n"), b.size("p"), b.size("m")];
    let u = b.input("u", DType::F64, &[n, m.clone()])?;
    let s = b.input("s", DType::F64, std::slice::from_ref(&m))?;
    let v = b.input("v", DType::F64, &[p, m])?;
    let threshold = b.input("threshold", DType::F64, &[])?;
    let low = b.call(&low_rank()?, &[u, s, v, threshold])?;
    let square = b.mul(low[0], low[0])?;
    let cube = b.mul(square, low[0])?;
    let first = b.sum(cube, &[0, 1])?;
    let square = b.mul(low[1], low[1])?;
    let weighed = b.mul(square, s)?;
    let second = b.sum(weighed, &[0])?;
    let rank = count_above(&mut b, s, threshold, DType::I64)?;
    let head = b.dynamic_truncate(s, rank, 0)?;
    let extent = b.meta(head).shape[0].clone();
    let count = b.size_value(&extent, DType::F64)?;
    let sum = b.sum(head, &[0])?;
    let third = b.mul(count, sum)?;
    let sum = b.add(first, second)?;
    let loss = b.add(sum, third)?;
    b.finish(&[(Some("loss"), loss)])
}

fn tensor(shape: &[usize], seed: u64) -> Tensor {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let len: usize = shape.iter().product();
    Tensor::from_vec_col_major(shape, (0..len).map(|_| next()).collect::<Vec<f64>>()).unwrap()
}

fn vector(values: &[f64]) -> Tensor {
    Tensor::from_vec_col_major([values.len()], values.to_vec()).unwrap()
}

fn number(value: f64) -> Tensor {
    Tensor::from_vec_col_major([], vec![value]).unwrap()
}

fn floats(tensor: &Tensor) -> Vec<f64> {
    tensor.to_vec_col_major().unwrap()
}

fn reads(inputs: &[Tensor]) -> Vec<TensorRead<'_>> {
    inputs.iter().map(TensorRead::from).collect()
}

const DECREASING: [f64; 5] = [2.0, 1.5, 1.0, 0.5, 0.25];

/// Inputs for which `rank` entries of `s` are above the threshold.
fn inputs(rank: usize) -> Vec<Tensor> {
    let threshold = [3.0, 1.75, 1.25, 0.75, 0.3, 0.0][rank];
    vec![tensor(&[4, 5], 1), vector(&DECREASING), tensor(&[3, 5], 2), number(threshold)]
}

/// What `low_rank` is to compute, by plain loops.
fn expected(inputs: &[Tensor], rank: usize) -> [Vec<f64>; 2] {
    let (u, s, v) = (floats(&inputs[0]), floats(&inputs[1]), floats(&inputs[2]));
    let entry = |i: usize, j: usize| (0..rank).map(|k| u[i + 4 * k] * s[k] * v[j + 3 * k]).sum();
    let product = (0..3).flat_map(|j| (0..4).map(move |i| (i, j))).map(|(i, j)| entry(i, j)).collect();
    [product, s.iter().enumerate().map(|(k, s)| if k < rank { *s } else { 0.0 }).collect()]
}

#[track_caller]
fn assert_close(actual: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(actual.len(), expected.len());
    for (a, e) in actual.iter().zip(expected) {
        assert!((a - e).abs() <= tolerance * (1.0 + e.abs()), "{actual:?} instead of {expected:?}");
    }
}

#[test]
fn every_rank_in_any_order_with_one_preparation() {
    let program = Arc::new(low_rank().unwrap());
    for mut session in sessions() {
        let mut preparations = None;
        for rank in [2, 5, 0, 1, 2, 3, 0, 5, 4, 2] {
            let inputs = inputs(rank);
            let outputs = session.run(&program, &reads(&inputs)).unwrap();
            let [product, kept] = expected(&inputs, rank);
            assert_eq!((outputs[0].shape(), outputs[1].shape()), (&[4, 3][..], &[5][..]));
            assert_close(&floats(&outputs[0]), &product, 1e-14);
            assert_eq!(floats(&outputs[1]), kept, "rank {rank}");
            let now = session.runtime().prepared_cache_stats().preparations;
            assert_eq!(*preparations.get_or_insert(now), now, "rank {rank} needs no other preparation");
        }
        let empty = [tensor(&[4, 0], 1), vector(&[]), tensor(&[3, 0], 2), number(0.0)];
        let outputs = session.run(&program, &reads(&empty)).unwrap();
        assert_eq!(floats(&outputs[0]), [0.0; 12]);
    }
}

#[test]
fn strided_inputs_and_views_of_them() {
    // The columns in reverse order, so that what is kept is a view of a view.
    let program = Arc::new(low_rank().unwrap());
    for mut session in sessions() {
        for rank in [0, 3, 5] {
            let inputs = inputs(rank);
            let mut backwards = floats(&inputs[1]);
            backwards.reverse();
            let backwards = vector(&backwards);
            let s = backwards.view().reverse(&[0]).unwrap();
            let u = tensor(&[5, 4], 7);
            let transposed = u.view().transpose(&[1, 0]).unwrap();
            let reads = [
                TensorRead::from(transposed.clone()),
                TensorRead::from(s),
                TensorRead::from(&inputs[2]),
                TensorRead::from(&inputs[3]),
            ];
            let outputs = session.run(&program, &reads).unwrap();
            let compact = Tensor::from_vec_col_major([4, 5], transposed.to_vec_col_major::<f64>().unwrap()).unwrap();
            let [product, kept] = expected(&[compact, inputs[1].clone(), inputs[2].clone()], rank);
            assert_close(&floats(&outputs[0]), &product, 1e-14);
            assert_eq!(floats(&outputs[1]), kept);
        }
    }
}

/// Heads of two vectors by a count that is an input, and its own number.
fn heads(dtype: DType) -> Arc<SemanticProgram> {
    let mut b = ProgramBuilder::new("heads");
    let [n, m] = [b.size("n"), b.size("m")];
    let x = b.input("x", DType::F64, &[n]).unwrap();
    let y = b.input("y", DType::F64, &[m]).unwrap();
    let count = b.input("count", dtype, &[]).unwrap();
    let head = b.dynamic_truncate(x, count, 0).unwrap();
    let other = b.dynamic_truncate(y, count, 0).unwrap();
    let sum = b.add(head, other).unwrap();
    let extent = b.shape_of(sum).unwrap();
    Arc::new(b.finish(&[(Some("head"), head), (Some("sum"), sum), (Some("extent"), extent)]).unwrap())
}

fn count(dtype: DType, value: i64) -> Tensor {
    match dtype {
        DType::I32 => Tensor::from_vec_col_major([], vec![value as i32]).unwrap(),
        _ => Tensor::from_vec_col_major([], vec![value]).unwrap(),
    }
}

#[test]
fn a_count_may_be_an_input_and_is_refused_out_of_bounds() {
    for dtype in [DType::I32, DType::I64] {
        let program = heads(dtype);
        for mut session in sessions() {
            let mut run = |x: usize, y: usize, value| {
                let inputs = [tensor(&[x], 1), tensor(&[y], 2), count(dtype, value)];
                session.run(&program, &reads(&inputs)).map(|outputs| (inputs, outputs))
            };
            for k in [0, 1, 3] {
                let (inputs, outputs) = run(4, 3, k).unwrap();
                let k = k as usize;
                let (x, y) = (floats(&inputs[0]), floats(&inputs[1]));
                assert_eq!(floats(&outputs[0]), x[..k]);
                assert_eq!(floats(&outputs[1]), x[..k].iter().zip(&y).map(|(x, y)| x + y).collect::<Vec<_>>());
                assert_eq!(outputs[2].as_slice::<i64>().unwrap(), [k as i64]);
            }
            let mut error = |x, y, k| run(x, y, k).unwrap_err().to_string();
            assert_eq!(error(4, 3, 5), "heads: size `k` is 5 (the value of count), but at most n = 4");
            assert_eq!(error(4, 3, -1), "heads: size `k` is -1 (the value of count), but not negative");
            assert_eq!(error(4, 3, 4), "heads: size `k` needs k <= m, but m = 3, k = 4");
        }
    }
    let mut session = Session::cpu();
    let inputs = [tensor(&[4], 1), tensor(&[4], 2), count(DType::I64, i64::MIN)];
    let error = session.run(heads(DType::I64), &reads(&inputs)).unwrap_err().to_string();
    assert!(error.contains("is -9223372036854775808"), "{error}");
}

#[test]
fn outputs_of_the_caller_have_the_shape_that_the_data_gives() {
    let program = heads(DType::I64);
    let (runtime, mut engine) = (reference_runtime(), ReferenceEngine::new());
    let inputs = [tensor(&[4], 1), tensor(&[4], 2), count(DType::I64, 3)];
    let prepared = runtime.prepare(&program, &reads(&inputs), &[engine.target()]).unwrap();
    let mut into = |extent: usize, last: usize| {
        let mut head = Tensor::zeros(DType::F64, [extent]).unwrap();
        let mut sum = Tensor::zeros(DType::F64, [extent]).unwrap();
        let mut extents = Tensor::zeros(DType::I64, [last]).unwrap();
        let mut outputs = [&mut head, &mut sum, &mut extents];
        let done = runtime.run_into(&mut [&mut engine], &prepared, &reads(&inputs), &mut outputs);
        done.map(|()| [floats(&head), floats(&sum)]).map_err(|error| error.to_string())
    };
    let (x, y) = (floats(&inputs[0]), floats(&inputs[1]));
    let sum: Vec<f64> = x.iter().zip(&y).take(3).map(|(x, y)| x + y).collect();
    assert_eq!(into(3, 1).unwrap(), [x[..3].to_vec(), sum]);
    assert_eq!(
        into(4, 1).unwrap_err(),
        "Runtime::run_into: output `head` of heads: expected f64[3] (declared f64[k]), got f64[4]"
    );
    assert!(into(3, 2).unwrap_err().contains("output `extent` of heads"));
}

/// Value and gradients of `loss` and what central differences say of them.
#[test]
fn gradients_are_those_at_a_fixed_rank() {
    let program = loss().unwrap();
    let gradient = Arc::new(ad::value_and_grad(&program, &[0, 1, 2, 3], &context()).unwrap());
    let program = Arc::new(program);
    for mut session in [Session::cpu(), Session::reference()] {
        for rank in 0..=5 {
            let inputs = inputs(rank);
            let outputs = session.run(&gradient, &reads(&inputs)).unwrap();
            let mut at = |i: usize, j: usize, h: f64| {
                let mut inputs = inputs.clone();
                let mut values = floats(&inputs[i]);
                values[j] += h;
                inputs[i] = Tensor::from_vec_col_major(inputs[i].shape(), values).unwrap();
                floats(&session.run(&program, &reads(&inputs)).unwrap()[0])[0]
            };
            for i in 0..4 {
                let h = 1e-5;
                let differences: Vec<f64> =
                    (0..inputs[i].len()).map(|j| (at(i, j, h) - at(i, j, -h)) / (2.0 * h)).collect();
                assert_eq!(outputs[1 + i].shape(), inputs[i].shape());
                assert_close(&floats(&outputs[1 + i]), &differences, 1e-8);
            }
            // Nothing beyond the rank has a gradient.
            assert!(floats(&outputs[1])[4 * rank..].iter().all(|g| *g == 0.0));
        }
    }
}

#[test]
fn forward_and_second_derivatives_agree_with_differences() {
    let program = loss().unwrap();
    let jvp = Arc::new(ad::jvp(&program, &[0, 1, 2], &context()).unwrap());
    let gradient = Arc::new(ad::grad(&program, &[0, 1, 2], &context()).unwrap());
    let hvp = Arc::new(ad::hvp(&program, &[0, 1, 2], &context()).unwrap());
    for mut session in [Session::cpu(), Session::reference()] {
        for rank in [0, 2, 5] {
            let inputs = inputs(rank);
            let directions = [tensor(&[4, 5], 11), tensor(&[5], 12), tensor(&[3, 5], 13)];
            let all: Vec<Tensor> = inputs.iter().chain(&directions).cloned().collect();
            let gradients = session.run(&gradient, &reads(&inputs)).unwrap();
            let slope: f64 = gradients
                .iter()
                .zip(&directions)
                .map(|(g, d)| floats(g).iter().zip(floats(d)).map(|(g, d)| g * d).sum::<f64>())
                .sum();
            let forward = session.run(&jvp, &reads(&all)).unwrap();
            assert_close(&floats(&forward[1]), &[slope], 1e-12);

            let second = session.run(&hvp, &reads(&all)).unwrap();
            let mut at = |h: f64| {
                let mut moved = inputs.clone();
                for (x, d) in moved.iter_mut().zip(&directions) {
                    let values = floats(x).iter().zip(floats(d)).map(|(x, d)| x + h * d).collect::<Vec<f64>>();
                    *x = Tensor::from_vec_col_major(x.shape(), values).unwrap();
                }
                session.run(&gradient, &reads(&moved)).unwrap()
            };
            let h = 1e-5;
            let (ahead, behind) = (at(h), at(-h));
            let products = &second[second.len() - 3..];
            for ((product, ahead), behind) in products.iter().zip(&ahead).zip(&behind) {
                let difference: Vec<f64> =
                    floats(ahead).iter().zip(floats(behind)).map(|(a, b)| (a - b) / (2.0 * h)).collect();
                assert_close(&floats(product), &difference, 1e-7);
            }
        }
    }
}

#[test]
fn cotangents_must_have_the_extent_that_the_data_gives() {
    let mut b = ProgramBuilder::new("head");
    let n = b.size("n");
    let x = b.input("x", DType::F64, &[n]).unwrap();
    let threshold = b.input("threshold", DType::F64, &[]).unwrap();
    let rank = count_above(&mut b, x, threshold, DType::I32).unwrap();
    let head = b.dynamic_truncate(x, rank, 0).unwrap();
    let square = b.mul(head, head).unwrap();
    let program = b.finish(&[(None, square)]).unwrap();
    let vjp = Arc::new(ad::vjp(&program, &[0], &context()).unwrap());
    for mut session in sessions() {
        for rank in [0, 2, 5] {
            let threshold = floats(&inputs(rank)[3])[0];
            let mut run = |extent: usize| {
                let inputs = [vector(&DECREASING), number(threshold), vector(&vec![1.0; extent])];
                session.run(&vjp, &reads(&inputs))
            };
            let outputs = run(rank).unwrap();
            let expected: Vec<f64> =
                DECREASING.iter().enumerate().map(|(i, x)| if i < rank { 2.0 * x } else { 0.0 }).collect();
            assert_eq!(floats(&outputs[1]), expected);
            let error = run(rank + 1).unwrap_err().to_string();
            let (known, given) =
                (format!("size `k`: {rank} as the value of %"), format!("{} on axis 0 of `ct`", rank + 1));
            assert!(error.contains(&known) && error.contains(&given), "{error}");
        }
    }
}

#[test]
fn jacobians_have_the_extents_that_the_data_gives() {
    // x[:k]^2, where k entries are above 0.75.
    let mut b = ProgramBuilder::new("head");
    let x = b.input("x", DType::F64, &[5.into()]).unwrap();
    let threshold = b.constant(tenferro::dtype::ScalarValue::F64(0.75)).unwrap();
    let rank = count_above(&mut b, x, threshold, DType::I64).unwrap();
    let head = b.dynamic_truncate(x, rank, 0).unwrap();
    let square = b.mul(head, head).unwrap();
    let program = b.finish(&[(None, square)]).unwrap();
    for mut session in sessions() {
        let x = vector(&DECREASING);
        let jacobian = session.jacobian(&program, &[0], &[(&x).into()], &context()).unwrap().remove(0).remove(0);
        assert_eq!(jacobian.shape(), [3, 5]);
        let expected: Vec<f64> = (0..15).map(|i| if i % 3 == i / 3 { 2.0 * DECREASING[i / 3] } else { 0.0 }).collect();
        assert_eq!(floats(&jacobian), expected);
    }
}

#[test]
fn checkpoints_truncate_within_and_by_their_callers_sizes() {
    // Within: the sum of squares of what is above the threshold. By the caller's: an argument that is truncated.
    let mut b = ProgramBuilder::new("energy");
    let n = b.size("n");
    let s = b.input("s", DType::F64, &[n]).unwrap();
    let threshold = b.input("threshold", DType::F64, &[]).unwrap();
    let rank = count_above(&mut b, s, threshold, DType::I64).unwrap();
    let head = b.dynamic_truncate(s, rank, 0).unwrap();
    let sine = b.sin(head).unwrap();
    let square = b.mul(sine, head).unwrap();
    let energy = b.sum(square, &[0]).unwrap();
    let energy = Arc::new(b.finish(&[(Some("energy"), energy)]).unwrap());
    let outer = |checkpointed: bool| {
        let mut b = ProgramBuilder::new("outer");
        let n = b.size("n");
        let s = b.input("s", DType::F64, &[n]).unwrap();
        let low = b.input("low", DType::F64, &[]).unwrap();
        let high = b.input("high", DType::F64, &[]).unwrap();
        let rank = count_above(&mut b, s, low, DType::I64).unwrap();
        let head = b.dynamic_truncate(s, rank, 0).unwrap();
        let exp = b.exp(head).unwrap();
        let result = match checkpointed {
            true => ad::checkpoint(&mut b, energy.clone(), &[exp, high]).unwrap(),
            false => b.call(&energy, &[exp, high]).unwrap(),
        };
        b.finish(&[(Some("energy"), result[0])]).unwrap()
    };
    let gradient = |checkpointed| Arc::new(ad::value_and_grad(&outer(checkpointed), &[0], &context()).unwrap());
    let (checkpointed, inline) = (gradient(true), gradient(false));
    for mut session in sessions() {
        for (low, high) in [(0.75, 3.0), (0.3, 0.0), (5.0, 0.0), (0.0, 9.0)] {
            let inputs = [vector(&DECREASING), number(low), number(high)];
            let outputs = [&checkpointed, &inline].map(|program| session.run(program, &reads(&inputs)).unwrap());
            assert_eq!(floats(&outputs[0][0]), floats(&outputs[1][0]));
            assert_close(&floats(&outputs[0][1]), &floats(&outputs[1][1]), 1e-14);
        }
        // The energy alone, into tensors of the caller.
        let program = Arc::new(outer(true));
        let inputs = [vector(&DECREASING), number(0.75), number(3.0)];
        let expected = floats(&session.run(&program, &reads(&inputs)).unwrap()[0]);
        let prepared = session.runtime().prepare(&program, &reads(&inputs), &[session.target().clone()]).unwrap();
        let runtime = session.runtime().clone();
        let mut energy = number(0.0);
        runtime.run_into(&mut [session.engine()], &prepared, &reads(&inputs), &mut [&mut energy]).unwrap();
        assert_eq!(floats(&energy), expected);
    }
}

#[test]
fn passes_keep_what_is_computed() {
    use tenferro::program::passes::{CompilerOptions, compile};
    let program = ad::value_and_grad(&loss().unwrap(), &[0, 1], &context()).unwrap();
    let compiled = Arc::new(compile(&program, &CompilerOptions::default()).unwrap());
    let program = Arc::new(program);
    let mut session = Session::reference();
    for rank in [0, 3, 5] {
        let inputs = inputs(rank);
        let [before, after] = [&program, &compiled].map(|p| session.run(p, &reads(&inputs)).unwrap());
        for (before, after) in before.iter().zip(&after) {
            assert_close(&floats(after), &floats(before), 1e-14);
        }
    }
}

fn reference_runtime() -> Runtime {
    let builder = Runtime::builder().register_engine(reference::registration()).unwrap();
    builder.install_extension_module(reference::module()).unwrap().build().unwrap()
}

fn cpu_runtime() -> Runtime {
    let builder = Runtime::builder().register_engine(tenferro::cpu::runtime_engine_registration()).unwrap();
    builder.install_extension_module(tenferro::cpu::families::einsum::module()).unwrap().build().unwrap()
}

#[test]
fn threads_share_one_preparation() {
    let program = Arc::new(low_rank().unwrap());
    fn check<E: Engine>(program: &Arc<SemanticProgram>, runtime: &Runtime, new: fn() -> E) {
        let target = new().target();
        let prepared = runtime.prepare(program, &reads(&inputs(2)), &[target]).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let prepared = prepared.clone();
                scope.spawn(move || {
                    let mut engine = new();
                    for round in 0..30 {
                        let rank = (thread + round) % 6;
                        let inputs = inputs(rank);
                        let reads = reads(&inputs);
                        let outputs = runtime.run(&mut [&mut engine], &prepared, &reads).unwrap();
                        let values = |output: &Output<'_>| output.view().to_vec_col_major::<f64>().unwrap();
                        let [product, kept] = expected(&inputs, rank);
                        assert_close(&values(&outputs[0]), &product, 1e-14);
                        assert_eq!(values(&outputs[1]), kept);
                    }
                });
            }
        });
    }
    check(&program, &reference_runtime(), ReferenceEngine::new);
    check(&program, &cpu_runtime(), CpuEngine::serial);
}

#[test]
fn static_tables_hold_what_the_builder_makes() {
    use tenferro::__private::program::{Size, size, size_of, size_of_value};
    static SIZES: [Size; 3] = [size_of("n", 0, 0, 1, 0), size_of("m", 1, 0, 1, 0), size_of_value("k", 2, size::<0>())];
    assert_eq!(SIZES[..], *heads(DType::I64).sizes());
}

#[test]
fn sizes_of_sizes_are_read_one_after_the_other() {
    // The first k of x, of which the first l are kept, l the number of positive ones; padding of both kinds of slices.
    let mut b = ProgramBuilder::new("twice");
    let n = b.size("n");
    let x = b.input("x", DType::F64, &[n]).unwrap();
    let count = b.input("count", DType::I64, &[]).unwrap();
    let head = b.dynamic_truncate(x, count, 0).unwrap();
    let zero = b.constant(tenferro::dtype::ScalarValue::F64(0.0)).unwrap();
    let positive = count_above(&mut b, head, zero, DType::I64).unwrap();
    let kept = b.dynamic_truncate(head, positive, 0).unwrap();
    let kept = b.exp(kept).unwrap();
    let back = b.pad_to_match(kept, head, 0).unwrap();
    let whole = b.pad_to_match(back, x, 0).unwrap();
    // What is beyond both.
    let (k, n) = (b.meta(head).shape[0].clone(), b.meta(x).shape[0].clone());
    let tail = CoreOp::Slice { start: vec![k].into(), limit: vec![n].into(), stride: vec![2].into() };
    let tail = b.op(tail, &[x]).unwrap();
    let program = Arc::new(b.finish(&[(None, whole), (None, kept), (None, tail)]).unwrap());
    let x = [1.0, -1.0, 2.0, 3.0, -2.0, 0.5];
    for mut session in sessions() {
        for k in 0..=6 {
            let inputs = [vector(&x), count_of(k)];
            let outputs = session.run(&program, &reads(&inputs)).unwrap();
            let l = x[..k].iter().filter(|x| **x > 0.0).count();
            let exp: Vec<f64> = x[..l].iter().map(|x| x.exp()).collect();
            let padded: Vec<f64> = exp.iter().copied().chain(std::iter::repeat(0.0)).take(6).collect();
            assert_close(&floats(&outputs[0]), &padded, 1e-15);
            assert_close(&floats(&outputs[1]), &exp, 1e-15);
            assert_eq!(floats(&outputs[2]), x[k..].iter().step_by(2).copied().collect::<Vec<_>>());
        }
    }
}

fn count_of(value: usize) -> Tensor {
    count(DType::I64, value as i64)
}

/// `sum(truncate(y, c1)^2) + sum(truncate(x, c2)^2)`: the gradient for one of `x` and `y` needs but one of the sizes.
fn two_truncations() -> SemanticProgram {
    let mut b = ProgramBuilder::new("two_truncations");
    let [n, m] = [b.size("n"), b.size("m")];
    let x = b.input("x", DType::F64, &[n]).unwrap();
    let y = b.input("y", DType::F64, &[m]).unwrap();
    let [c1, c2] = ["c1", "c2"].map(|name| b.input(name, DType::I64, &[]).unwrap());
    let [of_y, of_x] = [(y, c1), (x, c2)].map(|(v, count)| {
        let kept = b.dynamic_truncate(v, count, 0).unwrap();
        let square = b.mul(kept, kept).unwrap();
        b.sum(square, &[0]).unwrap()
    });
    let loss = b.add(of_y, of_x).unwrap();
    b.finish(&[(None, loss)]).unwrap()
}

#[test]
fn second_derivatives_keep_apart_the_sizes_that_the_gradient_numbers_anew() {
    let program = two_truncations();
    let count = |value: i64| Tensor::from_vec_col_major([], vec![value]).unwrap();
    let (x, y) = (tensor(&[5], 1), tensor(&[2], 2));
    let (dx, dy) = (tensor(&[5], 3), tensor(&[2], 4));
    let doubled = |v: &Tensor, kept: usize| -> Vec<f64> {
        floats(v).iter().enumerate().map(|(i, v)| if i < kept { 2.0 * v } else { 0.0 }).collect()
    };
    for wrt in [vec![0], vec![1], vec![0, 1], vec![1, 0]] {
        let hvp = ad::hvp(&program, &wrt, &context()).unwrap();
        assert_eq!(hvp.name(), "hvp_two_truncations");
        hvp.verify().unwrap();
        let hvp = Arc::new(hvp);
        for mut session in sessions() {
            let mut given = vec![x.clone(), y.clone(), count(1), count(4)];
            given.extend(wrt.iter().map(|&i| [&dx, &dy][i].clone()));
            let products = session.run(&hvp, &reads(&given)).unwrap();
            for (&i, product) in wrt.iter().zip(&products) {
                assert_eq!(floats(product), [doubled(&dx, 4), doubled(&dy, 1)][i], "{wrt:?}");
            }
        }
    }
}
