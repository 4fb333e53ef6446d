//! Third derivatives by nesting, and derivatives of inputs of every rank, extent and stride.

use std::sync::Arc;

use tenferro::ad::{self, AdContext};
use tenferro::dtype::Complex64;
use tenferro::einsum;
use tenferro::prelude::*;
use tenferro::program::shape::SymDim;
use tenferro::program::{ProgramBuilder, SemanticProgram, ValueId, composite};
use tenferro::tensor::TensorRead;

type CoreResult<T> = tenferro_core::Result<T>;
type Build = fn(&mut ProgramBuilder, ValueId) -> CoreResult<ValueId>;

fn context() -> AdContext {
    AdContext::new().with_rules(&einsum::ad_rules().unwrap())
}

fn program(dtype: DType, shape: &[SymDim], build: impl Fn(&mut ProgramBuilder, ValueId) -> ValueId) -> SemanticProgram {
    let mut b = ProgramBuilder::new("f");
    let x = b.input("x", dtype, shape).unwrap();
    let y = build(&mut b, x);
    b.finish(&[(None, y)]).unwrap()
}

/// A mode of differentiation.
#[derive(Clone, Copy, Debug)]
enum Mode {
    Forward,
    Reverse,
}

/// The derivative of a function of one number; of a complex one, the holomorphic derivative.
fn derivative(f: &SemanticProgram, mode: Mode) -> SemanticProgram {
    let transform = match mode {
        Mode::Forward => ad::jvp,
        Mode::Reverse => ad::vjp,
    };
    let both = transform(f, &[0], &context()).unwrap();
    program(f.input_meta(0).dtype, &[], |b, x| {
        let one = b.constant_like(x, 1.0).unwrap();
        let result = b.call(&both, &[x, one]).unwrap()[1];
        // The cotangent of a holomorphic function is multiplied by the conjugate of its derivative.
        if matches!(mode, Mode::Reverse) { b.conj(result).unwrap() } else { result }
    })
}

fn at(session: &mut Session, f: &SemanticProgram, x: Complex64) -> Complex64 {
    let complex = f.input_meta(0).dtype == DType::C64;
    let x = if complex { Tensor::scalar(x) } else { Tensor::scalar(x.re) };
    let y = session.run(Arc::new(f.clone()), &[(&x).into()]).unwrap().remove(0);
    if complex { y.item().unwrap() } else { y.item::<f64>().unwrap().into() }
}

#[test]
fn third_derivatives_are_the_known_ones_in_every_nesting_of_modes() {
    use Mode::{Forward, Reverse};
    type Known = fn(Complex64) -> Complex64;
    let cases: [(&str, Build, Known); 9] = [
        ("exp", |b, x| b.exp(x), |x| x.exp()),
        ("sin", |b, x| b.sin(x), |x| -x.cos()),
        ("cos", |b, x| b.cos(x), |x| x.sin()),
        ("log", |b, x| b.log(x), |x| 2.0 / x.powi(3)),
        ("sqrt", |b, x| b.sqrt(x), |x| 0.375 * x.sqrt() / x.powi(3)),
        (
            "tanh",
            |b, x| b.tanh(x),
            |x| {
                let square = x.tanh() * x.tanh();
                -2.0 * (1.0 - square) * (1.0 - 3.0 * square)
            },
        ),
        ("div", |b, x| b.constant_like(x, 1.0).and_then(|one| b.div(one, x)), |x| -6.0 / x.powi(4)),
        (
            "x^4",
            |b, x| {
                let square = b.mul(x, x)?;
                einsum::einsum_of_values(b, ",->", &[square, square])
            },
            |x| 24.0 * x,
        ),
        ("sigmoid", composite::sigmoid, |x| {
            let s = 1.0 / (1.0 + (-x).exp());
            s * (1.0 - s) * (1.0 - 6.0 * s + 6.0 * s * s)
        }),
    ];
    let x = Complex64::new(0.7, 0.2);
    for mut session in [Session::reference(), Session::cpu()] {
        for (name, build, known) in cases {
            for (dtype, x) in [(DType::F64, x.re.into()), (DType::C64, x)] {
                let f = program(dtype, &[], |b, x| build(b, x).unwrap());
                for modes in [
                    [Forward, Forward, Forward],
                    [Reverse, Reverse, Reverse],
                    [Reverse, Forward, Reverse],
                    [Forward, Reverse, Forward],
                ] {
                    let third = modes.iter().fold(f.clone(), |f, &mode| derivative(&f, mode));
                    let (actual, expected) = (at(&mut session, &third, x), known(x));
                    let error = (actual - expected).norm();
                    assert!(
                        error <= 1e-12 * (1.0 + expected.norm()),
                        "{name} of {dtype}, {modes:?}: {actual} {expected}"
                    );
                }
            }
        }
    }
}

/// `sum(tanh(x)^2 x)` over all axes, of inputs of one rank.
fn rank_program(rank: usize) -> SemanticProgram {
    let mut b = ProgramBuilder::new("ranked");
    let shape: Vec<SymDim> = (0..rank).map(|axis| b.size(format!("n{axis}"))).collect();
    let x = b.input("x", DType::F64, &shape).unwrap();
    let y = b.tanh(x).unwrap();
    let square = b.mul(y, y).unwrap();
    let product = b.mul(square, x).unwrap();
    let axes: Vec<u32> = (0..rank as u32).collect();
    let sum = b.sum(product, &axes).unwrap();
    b.finish(&[(None, sum)]).unwrap()
}

/// Entries that look random, in column-major order.
fn entries(shape: &[usize], seed: u64) -> Tensor {
    let count = shape.iter().product::<usize>();
    let value = |i: usize| ((seed as f64) * 0.77 + i as f64 * 1.3).sin();
    Tensor::from_vec_col_major(shape, (0..count).map(value).collect()).unwrap()
}

/// The same entries under other strides: axes stored backwards, every second entry of a reversed axis, and so on.
fn strided(x: &Tensor) -> Vec<Tensor> {
    let rank = x.rank();
    let back: Vec<usize> = (0..rank).rev().collect();
    let stored = x.transpose(&back).unwrap().to_contiguous().unwrap();
    let mut all = vec![stored.transpose(&back).unwrap()];
    if rank > 0 {
        let reversed = x.reverse(&[0]).unwrap().to_contiguous().unwrap();
        all.push(reversed.reverse(&[0]).unwrap());
        // Between other entries, and not from the first on.
        let mut wide: Vec<usize> = x.shape().to_vec();
        wide[0] = 2 * wide[0] + 1;
        let (start, stride): (Vec<usize>, Vec<usize>) = (0..rank).map(|a| if a == 0 { (1, 2) } else { (0, 1) }).unzip();
        let positions = x.to_vec_col_major::<f64>().unwrap();
        let column = x.shape()[0];
        let spread = |i: usize| {
            let (outer, inner) = (i / wide[0], i % wide[0]);
            if inner % 2 == 1 { positions[outer * column + inner / 2] } else { f64::NAN }
        };
        let count = wide.iter().product();
        let values = if column == 0 { vec![f64::NAN; count] } else { (0..count).map(spread).collect() };
        let host = Tensor::from_vec_col_major(&wide, values).unwrap();
        all.push(host.strided_slice(&start, &wide, &stride).unwrap());
    }
    for other in &all {
        assert_eq!(other.shape(), x.shape());
        assert_eq!(other.to_vec_col_major::<f64>().unwrap(), x.to_vec_col_major::<f64>().unwrap());
    }
    all
}

fn run(session: &mut Session, program: &SemanticProgram, inputs: &[&Tensor]) -> Vec<f64> {
    let reads: Vec<TensorRead<'_>> = inputs.iter().map(|t| TensorRead::from(*t)).collect();
    let results = session.run(Arc::new(program.clone()), &reads).unwrap();
    results.iter().flat_map(|t| t.to_vec_col_major::<f64>().unwrap()).collect()
}

#[test]
fn every_rank_extent_and_stride_has_the_same_derivatives() {
    for mut session in [Session::reference(), Session::cpu()] {
        for rank in 0..=6 {
            let f = rank_program(rank);
            let gradient = ad::grad(&f, &[0], &context()).unwrap();
            let hvp = ad::hvp(&f, &[0], &context()).unwrap();
            let mut shapes = vec![[3, 2, 1, 2, 3, 2][..rank].to_vec(), vec![1; rank]];
            shapes.extend((0..rank).map(|empty| (0..rank).map(|axis| if axis == empty { 0 } else { 2 }).collect()));
            for shape in shapes {
                let (x, t) = (entries(&shape, 1), entries(&shape, 5));
                let (first, second) = (run(&mut session, &gradient, &[&x]), run(&mut session, &hvp, &[&x, &t]));
                let known = |x: f64, t: f64| {
                    let (y, s) = (x.tanh(), 1.0 - x.tanh().powi(2));
                    let slope = y * y + 2.0 * x * y * s;
                    let curvature = 4.0 * y * s + 2.0 * x * s * (s - 2.0 * y * y);
                    (slope, curvature * t)
                };
                let values = x.to_vec_col_major::<f64>().unwrap();
                let tangents = t.to_vec_col_major::<f64>().unwrap();
                assert_eq!((first.len(), second.len()), (values.len(), values.len()));
                for i in 0..values.len() {
                    let (slope, product) = known(values[i], tangents[i]);
                    assert!((first[i] - slope).abs() <= 1e-13 && (second[i] - product).abs() <= 1e-13, "{shape:?}");
                }
                for (x, t) in strided(&x).iter().zip(strided(&t)) {
                    assert_eq!(run(&mut session, &gradient, &[x]), first, "{shape:?}");
                    assert_eq!(run(&mut session, &hvp, &[x, &t]), second, "{shape:?}");
                }
            }
        }
    }
}
