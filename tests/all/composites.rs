//! Composite functions at the extremes: large, infinite, subnormal numbers and NaN; values and first derivatives.

use std::sync::Arc;

use tenferro::ad::{self, AdContext};
use tenferro::dtype::{Complex64, DType};
use tenferro::prelude::*;
use tenferro::program::ops::{Comparison, CoreOp};
use tenferro::program::{ProgramBuilder, ValueId, composite};

type Build = fn(&mut ProgramBuilder, ValueId) -> tenferro_core::Result<ValueId>;

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;
/// The least positive number; tables are of f64, [`number`] says what it is in f32.
const SUB: f64 = 5e-324;
const LN_2: f64 = std::f64::consts::LN_2;

/// The number in its dtype; one near the ends of the range of f64 is as near to those of f32.
fn number(x: f64, dtype: DType) -> f64 {
    match x.abs() {
        _ if dtype == DType::F64 => x,
        SUB => 1e-45_f64.copysign(x),
        m if (1e200..INF).contains(&m) => x * 1e-270,
        m if m <= 1e-200 && m > 0.0 => x * 1e270,
        _ => x,
    }
}

fn tensor(x: &[f64], dtype: DType) -> Tensor {
    let x = x.iter().map(|&x| number(x, dtype));
    match dtype {
        DType::F32 => Tensor::from_vec_col_major([x.len()], x.map(|x| x as f32).collect()),
        _ => Tensor::from_vec_col_major([x.len()], x.collect()),
    }
    .unwrap()
}

fn numbers(tensor: &Tensor) -> Vec<f64> {
    match tensor.dtype() {
        DType::F32 => tensor.to_vec_col_major::<f32>().unwrap().into_iter().map(f64::from).collect(),
        _ => tensor.to_vec_col_major().unwrap(),
    }
}

/// The value of a function of a vector and the gradient of the sum of its entries weighted 1, 2, ..
fn weighted(session: &mut Session, x: &[f64], dtype: DType, build: Build) -> (Vec<f64>, Vec<f64>) {
    let mut b = ProgramBuilder::new("weighted");
    let v = b.input("x", dtype, &[x.len().into()]).unwrap();
    let value = build(&mut b, v).unwrap();
    let count = b.meta(value).shape.first().map_or(1, |d| d.as_const().unwrap());
    let scalar = b.meta(value).rank() == 0;
    let program = b.finish(&[(None, value)]).unwrap();
    let vjp = ad::vjp(&program, &[0], &AdContext::new()).unwrap();
    let weights: Vec<f64> = (1..=count).map(|i| i as f64).collect();
    let mut weights = tensor(&weights, dtype);
    if scalar {
        weights = weights.reshape(&[]).unwrap();
    }
    let results = session.run(Arc::new(vjp), &[(&tensor(x, dtype)).into(), (&weights).into()]).unwrap();
    (numbers(&results[0]), numbers(&results[1]))
}

fn assert_near(what: &str, actual: &[f64], expected: &[f64], dtype: DType) {
    let tolerance = if dtype == DType::F32 { 1e-5 } else { 1e-12 };
    assert_eq!(actual.len(), expected.len(), "{what}");
    for (&a, &e) in actual.iter().zip(expected) {
        let e = number(e, dtype);
        // Numbers that come to nothing beside 1 may be 0, or a last digit of it; subnormal ones have few digits.
        let near = (a - e).abs() <= tolerance * e.abs() + if e == 0.0 { tolerance } else { 2.0 * number(SUB, dtype) };
        assert!(a == e || a.is_nan() && e.is_nan() || near, "{what} of {dtype}: {actual:?}, not {expected:?}");
    }
}

fn for_every_engine_and_dtype(check: impl Fn(&mut Session, DType)) {
    for mut session in [Session::reference(), Session::cpu()] {
        for dtype in [DType::F64, DType::F32] {
            check(&mut session, dtype);
        }
    }
}

#[test]
fn functions_of_one_number_take_their_limits() {
    const X: [f64; 9] = [INF, -INF, 1e3, -1e3, 1e300, -1e300, SUB, -SUB, NAN];
    const GATED: [f64; 9] = [INF, 0.0, 1e3, 0.0, 1e300, 0.0, 0.0, 0.0, NAN];
    const STEP: [f64; 9] = [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.5, 0.5, NAN];
    let bump = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.25, 0.25, NAN];
    let rows: [(&str, Build, [f64; 9], [f64; 9]); 6] = [
        ("sigmoid", composite::sigmoid, STEP, bump),
        ("softplus", composite::softplus, [INF, 0.0, 1e3, 0.0, 1e300, 0.0, LN_2, LN_2, NAN], STEP),
        ("silu", composite::silu, GATED, STEP),
        ("gelu", composite::gelu, GATED, STEP),
        ("gelu_tanh", composite::gelu_tanh, GATED, STEP),
        // At NaN the value tells.
        (
            "relu",
            composite::relu,
            [INF, 0.0, 1e3, 0.0, 1e300, 0.0, SUB, 0.0, NAN],
            [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0],
        ),
    ];
    for_every_engine_and_dtype(|session, dtype| {
        for (name, build, values, slopes) in rows {
            let (value, gradient) = weighted(session, &X, dtype, build);
            let slope: Vec<f64> = gradient.iter().zip(1..).map(|(g, weight)| g / f64::from(weight)).collect();
            assert_near(&format!("{name}: values"), &value, &values, dtype);
            assert_near(&format!("{name}: slopes"), &slope, &slopes, dtype);
        }
    });
}

#[test]
fn tails_keep_their_digits_up_to_where_they_are_cut() {
    // silu' = s (1 + x (1 - s)), which is e^x (1 + x) far below 0.
    for_every_engine_and_dtype(|session, dtype| {
        let x = if dtype == DType::F64 { -700.0_f64 } else { -80.0 };
        let (value, slope) = weighted(session, &[x], dtype, composite::silu);
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < if dtype == DType::F64 { 1e-13 } else { 1e-4 };
        assert!(near(value[0], x * x.exp()) && near(slope[0], x.exp() * (1.0 + x)), "{value:?} {slope:?}");
        let (value, slope) = weighted(session, &[-40.0], dtype, composite::sigmoid);
        assert!(near(value[0], (-40f64).exp()) && near(slope[0], (-40f64).exp()), "{value:?} {slope:?}");
    });
}

#[test]
fn the_sigmoid_of_complex_numbers_is_finite_on_both_sides() {
    let mut b = ProgramBuilder::new("sigmoid");
    let z = b.input("z", DType::C64, &[3.into()]).unwrap();
    let y = composite::sigmoid(&mut b, z).unwrap();
    let program = b.finish(&[(None, y)]).unwrap();
    let vjp = ad::vjp(&program, &[0], &AdContext::new()).unwrap();
    let at = |re, im| Complex64::new(re, im);
    let z = Tensor::from_vec_col_major([3], vec![at(1e3, 2.0), at(-1e3, 2.0), at(0.3, -0.4)]).unwrap();
    let ct = Tensor::from_vec_col_major([3], vec![at(1.0, 0.0); 3]).unwrap();
    let results = Session::cpu().run(Arc::new(vjp), &[(&z).into(), (&ct).into()]).unwrap();
    let (value, slope) =
        (results[0].to_vec_col_major::<Complex64>().unwrap(), results[1].to_vec_col_major::<Complex64>().unwrap());
    assert_eq!(value[..2], [at(1.0, 0.0), at(0.0, 0.0)]);
    assert!(slope[..2].iter().all(|s| s.norm() == 0.0), "{slope:?}");
    let expected = at(1.0, 0.0) / (at(1.0, 0.0) + (-at(0.3, -0.4)).exp());
    assert!((value[2] - expected).norm() < 1e-15);
    // The gradient is multiplied by the conjugate derivative.
    assert!((slope[2] - (expected * (at(1.0, 0.0) - expected)).conj()).norm() < 1e-15);
}

#[test]
fn functions_of_complex_numbers_that_have_branches_are_refused() {
    let mut b = ProgramBuilder::new("refused");
    let z = b.input("z", DType::C64, &[]).unwrap();
    let error = composite::softplus(&mut b, z).unwrap_err().to_string();
    assert_eq!(error, "softplus: `x` is c64, expected f32 or f64");
    for build in [composite::silu, composite::gelu, composite::gelu_tanh, composite::relu] {
        assert!(build(&mut b, z).is_err());
    }
}

/// The middle of three entries is hidden.
fn masked_softmax(b: &mut ProgramBuilder, x: ValueId) -> tenferro_core::Result<ValueId> {
    let index = b.op(CoreOp::Iota { shape: b.meta(x).shape.clone(), axis: 0, dtype: DType::I64 }, &[])?;
    let one = b.constant_like(index, 1.0)?;
    let mask = b.compare(Comparison::Ne, index, one)?;
    composite::masked_softmax(b, x, mask, &[0])
}

/// Every entry is hidden, unless it is NaN.
fn wholly_masked_softmax(b: &mut ProgramBuilder, x: ValueId) -> tenferro_core::Result<ValueId> {
    let mask = b.compare(Comparison::Ne, x, x)?;
    composite::masked_softmax(b, x, mask, &[0])
}

fn take_along_axis(b: &mut ProgramBuilder, x: ValueId) -> tenferro_core::Result<ValueId> {
    let mut indices = Vec::new();
    for index in [3i64, 0, 2] {
        let index = b.constant(index.into())?;
        indices.push(b.reshape(index, &[1.into()])?);
    }
    let indices = b.op(CoreOp::Concatenate { axis: 0 }, &indices)?;
    b.gather(x, indices, 0)
}

#[test]
fn reductions_are_finite_and_right_or_nan_as_they_say() {
    let var: Build = |b, x| composite::var(b, x, &[0], 0);
    let std: Build = |b, x| composite::std(b, x, &[0], 0);
    let logsumexp: Build = |b, x| composite::logsumexp(b, x, &[0]);
    let softmax: Build = |b, x| composite::softmax(b, x, &[0]);
    let log_softmax: Build = |b, x| composite::log_softmax(b, x, &[0]);
    let layer_norm: Build = |b, x| composite::layer_norm(b, x, None, None, &[0], 1e-6);
    let layer_norm_1: Build = |b, x| composite::layer_norm(b, x, None, None, &[0], 1.0);
    let rms_norm: Build = |b, x| composite::rms_norm(b, x, None, &[0], 1e-6);
    let rms_norm_0: Build = |b, x| composite::rms_norm(b, x, None, &[0], 0.0);
    let rms_norm_1: Build = |b, x| composite::rms_norm(b, x, None, &[0], 1.0);
    type Row = (&'static str, Build, &'static [f64], &'static [f64], &'static [f64]);
    let rows: &[Row] = &[
        ("var", var, &[1e3, -1e3], &[1e6], &[1e3, -1e3]),
        ("var", var, &[SUB, -SUB], &[0.0], &[SUB, -SUB]),
        ("var", var, &[INF, 1.0], &[NAN], &[NAN; 2]),
        ("var", var, &[NAN, 1.0], &[NAN], &[NAN; 2]),
        ("std", std, &[3.0; 2], &[0.0], &[0.0; 2]),
        ("std", std, &[1e3, -1e3], &[1e3], &[0.5, -0.5]),
        ("std", std, &[1e300, -1e300], &[1e300], &[0.5, -0.5]),
        ("std", std, &[SUB, -SUB], &[SUB], &[0.5, -0.5]),
        ("std", std, &[INF, 1.0], &[NAN], &[NAN; 2]),
        ("std", std, &[NAN, 1.0], &[NAN], &[NAN; 2]),
        ("logsumexp", logsumexp, &[1e3, -1e3], &[1e3], &[1.0, 0.0]),
        ("logsumexp", logsumexp, &[-1e3, -1e3], &[-1e3 + LN_2], &[0.5, 0.5]),
        ("logsumexp", logsumexp, &[SUB, -SUB], &[LN_2], &[0.5, 0.5]),
        ("logsumexp", logsumexp, &[-INF, 3.0], &[3.0], &[0.0, 1.0]),
        ("logsumexp", logsumexp, &[-INF, -INF], &[-INF], &[0.0, 0.0]),
        ("logsumexp", logsumexp, &[INF, 3.0], &[INF], &[NAN, 0.0]),
        ("logsumexp", logsumexp, &[NAN, 3.0], &[NAN], &[NAN; 2]),
        ("softmax", softmax, &[1e3, -1e3], &[1.0, 0.0], &[0.0; 2]),
        ("softmax", softmax, &[SUB, -SUB], &[0.5, 0.5], &[-0.25, 0.25]),
        ("softmax", softmax, &[-INF, 3.0], &[0.0, 1.0], &[0.0; 2]),
        ("softmax", softmax, &[-INF, -INF], &[NAN; 2], &[NAN; 2]),
        ("softmax", softmax, &[INF, 3.0], &[NAN; 2], &[NAN; 2]),
        ("softmax", softmax, &[NAN, 3.0], &[NAN; 2], &[NAN; 2]),
        ("log_softmax", log_softmax, &[1e3, -1e3], &[0.0, -2e3], &[-2.0, 2.0]),
        ("log_softmax", log_softmax, &[SUB, -SUB], &[-LN_2; 2], &[-0.5, 0.5]),
        ("log_softmax", log_softmax, &[-INF, 3.0], &[-INF, 0.0], &[1.0, -1.0]),
        ("log_softmax", log_softmax, &[-INF, -INF], &[NAN; 2], &[NAN; 2]),
        ("log_softmax", log_softmax, &[INF, 3.0], &[NAN; 2], &[NAN; 2]),
        ("log_softmax", log_softmax, &[NAN, 3.0], &[NAN; 2], &[NAN; 2]),
        ("masked_softmax", masked_softmax, &[1.0, INF, 1.0], &[0.5, 0.0, 0.5], &[-0.5, 0.0, 0.5]),
        ("masked_softmax", masked_softmax, &[1e3, NAN, -1e3], &[1.0, 0.0, 0.0], &[0.0; 3]),
        ("masked_softmax", masked_softmax, &[SUB, -INF, -SUB], &[0.5, 0.0, 0.5], &[-0.5, 0.0, 0.5]),
        ("masked_softmax", masked_softmax, &[-INF, 1.0, -INF], &[0.0; 3], &[0.0; 3]),
        ("masked_softmax", masked_softmax, &[-INF, 1.0, 2.0], &[0.0, 0.0, 1.0], &[0.0; 3]),
        ("masked_softmax", masked_softmax, &[INF, 1.0, 2.0], &[NAN, 0.0, NAN], &[NAN, 0.0, NAN]),
        ("masked_softmax", masked_softmax, &[NAN, 1.0, 2.0], &[NAN, 0.0, NAN], &[NAN, 0.0, NAN]),
        ("masked_softmax", wholly_masked_softmax, &[1.0, INF], &[0.0; 2], &[0.0; 2]),
        ("layer_norm", layer_norm, &[1e3, -1e3], &[1.0, -1.0], &[0.0; 2]),
        ("layer_norm", layer_norm, &[1e300, -1e300], &[1.0, -1.0], &[0.0; 2]),
        ("layer_norm", layer_norm_1, &[SUB, -SUB], &[SUB, -SUB], &[-0.5, 0.5]),
        ("layer_norm", layer_norm, &[INF, 1.0], &[NAN; 2], &[NAN; 2]),
        ("layer_norm", layer_norm, &[NAN, 1.0], &[NAN; 2], &[NAN; 2]),
        ("rms_norm", rms_norm, &[1e3, -1e3], &[1.0, -1.0], &[1.5e-3; 2]),
        ("rms_norm", rms_norm, &[1e300, -1e300], &[1.0, -1.0], &[1.5e-300; 2]),
        ("rms_norm", rms_norm_0, &[1e-300, -1e-300], &[1.0, -1.0], &[1.5e300; 2]),
        ("rms_norm", rms_norm_1, &[0.0, SUB], &[0.0, SUB], &[1.0, 2.0]),
        ("rms_norm", rms_norm, &[INF, 1.0], &[NAN, 0.0], &[NAN; 2]),
        ("rms_norm", rms_norm, &[NAN, 1.0], &[NAN; 2], &[NAN; 2]),
        ("take_along_axis", take_along_axis, &[1e3, NAN, SUB, INF], &[INF, 1e3, SUB], &[2.0, 0.0, 3.0, 1.0]),
    ];
    for_every_engine_and_dtype(|session, dtype| {
        for &(name, build, x, value, gradient) in rows {
            let (v, g) = weighted(session, x, dtype, build);
            assert_near(&format!("{name} of {x:?}: value"), &v, value, dtype);
            assert_near(&format!("{name} of {x:?}: gradient"), &g, gradient, dtype);
        }
    });
}

#[test]
fn a_sample_without_a_degree_of_freedom_has_no_variance() {
    let var: Build = |b, x| composite::var(b, x, &[0], 1);
    for_every_engine_and_dtype(|session, dtype| {
        assert!(weighted(session, &[1.0], dtype, var).0[0].is_nan());
        assert_eq!(weighted(session, &[1.0, 3.0], dtype, var).0, [2.0]);
    });
}

#[test]
fn one_hot_marks_indices_and_nothing_for_those_outside() {
    for (dtype, index) in [(DType::I64, i64::MAX), (DType::I32, i64::from(i32::MAX))] {
        let mut b = ProgramBuilder::new("one_hot");
        let i = b.input("i", dtype, &[5.into()]).unwrap();
        let hot = composite::one_hot(&mut b, i, &2.into(), DType::F64).unwrap();
        let x = b.input("x", DType::F64, &[3.into()]).unwrap();
        let refused = composite::one_hot(&mut b, x, &2.into(), DType::F64).unwrap_err().to_string();
        assert_eq!(refused, "one_hot: `indices` is f64, expected i32 or i64");
        let program = b.finish(&[(None, hot)]).unwrap();
        let indices = [1, 0, 2, -index - 1, index];
        let indices = match dtype {
            DType::I64 => Tensor::from_vec_col_major([5], indices.to_vec()),
            _ => Tensor::from_vec_col_major([5], indices.map(|i| i as i32).to_vec()),
        }
        .unwrap();
        let x = Tensor::zeros(DType::F64, [3]).unwrap();
        for mut session in [Session::reference(), Session::cpu()] {
            let results = session.run(Arc::new(program.clone()), &[(&indices).into(), (&x).into()]).unwrap();
            let hot = results[0].to_vec_row_major::<f64>().unwrap();
            assert_eq!(hot, [[0.0, 1.0], [1.0, 0.0], [0.0; 2], [0.0; 2], [0.0; 2]].concat());
        }
    }
}

#[test]
fn clamp_agrees_with_the_smaller_of_high_and_the_larger_of_low() {
    let values = [-INF, -2.0, -0.5, 0.0, 0.5, 1.0, 2.0, INF, NAN];
    let all: Vec<[f64; 3]> =
        values.iter().flat_map(|&x| values.iter().flat_map(move |&l| values.map(|h| [x, l, h]))).collect();
    for_every_engine_and_dtype(|session, dtype| {
        let mut b = ProgramBuilder::new("clamp");
        let [x, low, high] = ["x", "low", "high"].map(|name| b.input(name, dtype, &[all.len().into()]).unwrap());
        let clamped = composite::clamp(&mut b, x, low, high).unwrap();
        let program = b.finish(&[(None, clamped)]).unwrap();
        let gradient = ad::vjp(&program, &[0], &AdContext::new()).unwrap();
        let [x, low, high] = [0, 1, 2].map(|i| tensor(&all.iter().map(|row| row[i]).collect::<Vec<_>>(), dtype));
        let ones = tensor(&vec![1.0; all.len()], dtype);
        let inputs = [(&x).into(), (&low).into(), (&high).into(), (&ones).into()];
        let results = session.run(Arc::new(gradient), &inputs).unwrap();
        let (clamped, slopes) = (numbers(&results[0]), numbers(&results[1]));
        for (i, &[x, low, high]) in all.iter().enumerate() {
            let nan = x.is_nan() || low.is_nan() || high.is_nan();
            let expected = if nan { NAN } else { x.max(low).min(high) };
            let slope = if low < x && x < high { 1.0 } else { 0.0 };
            assert!(clamped[i] == expected || nan && clamped[i].is_nan(), "{:?}: {}", all[i], clamped[i]);
            assert_eq!(slopes[i], slope, "{:?}", all[i]);
        }
    });
}
