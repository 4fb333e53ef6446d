//! Every differentiable core operation: forward against central differences, reverse against forward, second order
//! against differences of gradients, in all float dtypes, compact and strided, of ranks 0 to 6 and without entries.

use std::collections::BTreeSet;
use std::sync::Arc;

use tenferro::ad::{self, AdContext};
use tenferro::dtype::{Complex64, DType};
use tenferro::prelude::*;
use tenferro::program::composite;
use tenferro::program::ops::{Comparison, CoreOp};
use tenferro::program::shape::SymDim;
use tenferro::program::{ProgramBuilder, SemanticProgram, ValueId, ValueMeta};

pub type Build = fn(&mut ProgramBuilder, &[ValueId]) -> tenferro_core::Result<ValueId>;

/// An operation, the shapes of its operands, and whether it is defined for complex numbers.
pub struct Case {
    pub name: &'static str,
    pub shapes: &'static [&'static [usize]],
    pub complex: bool,
    pub build: Build,
}

const SQUARE: &[&[usize]] = &[&[3, 3]];
const ONE: &[&[usize]] = &[&[2, 3]];
const TWO: &[&[usize]] = &[&[2, 3], &[2, 3]];
const SCALAR: &[&[usize]] = &[&[]];
const EMPTY: &[&[usize]] = &[&[0, 3]];

pub fn case(name: &'static str, shapes: &'static [&'static [usize]], complex: bool, build: Build) -> Case {
    Case { name, shapes, complex, build }
}

pub fn dims(list: &[i64]) -> std::borrow::Cow<'static, [SymDim]> {
    list.iter().map(|&d| SymDim::constant(d)).collect()
}

/// A constant operand of indices.
fn indices(b: &mut ProgramBuilder, values: &[i64], shape: &[i64]) -> tenferro_core::Result<ValueId> {
    let mut entries = vec![b.zeros(&ValueMeta::new(DType::I64, dims(&[0])))?];
    for &value in values {
        let value = b.constant(value.into())?;
        entries.push(b.reshape(value, &dims(&[1]))?);
    }
    let list = b.op(CoreOp::Concatenate { axis: 0 }, &entries)?;
    b.reshape(list, &dims(shape))
}

pub fn cases() -> Vec<Case> {
    vec![
        case("neg", ONE, true, |b, v| b.neg(v[0])),
        case("neg scalar", SCALAR, true, |b, v| b.neg(v[0])),
        case("abs", ONE, true, |b, v| b.abs(v[0])),
        case("sign", ONE, true, |b, v| b.sign(v[0])),
        case("exp", ONE, true, |b, v| b.exp(v[0])),
        case("exp empty", EMPTY, true, |b, v| b.exp(v[0])),
        case("expm1", ONE, true, |b, v| b.expm1(v[0])),
        case("log", ONE, true, |b, v| b.log(v[0])),
        case("log1p", ONE, true, |b, v| b.log1p(v[0])),
        case("sin", ONE, true, |b, v| b.sin(v[0])),
        case("cos", ONE, true, |b, v| b.cos(v[0])),
        case("tan", ONE, true, |b, v| b.tan(v[0])),
        case("asin", ONE, true, |b, v| {
            let x = halved(b, v[0])?;
            b.asin(x)
        }),
        case("acos", ONE, true, |b, v| {
            let x = halved(b, v[0])?;
            b.acos(x)
        }),
        case("atan", ONE, true, |b, v| b.atan(v[0])),
        case("sinh", ONE, true, |b, v| b.sinh(v[0])),
        case("cosh", ONE, true, |b, v| b.cosh(v[0])),
        case("tanh", ONE, true, |b, v| b.tanh(v[0])),
        case("sqrt", ONE, true, |b, v| b.sqrt(v[0])),
        case("rsqrt", ONE, true, |b, v| b.rsqrt(v[0])),
        case("cbrt", ONE, false, |b, v| b.cbrt(v[0])),
        case("erf", ONE, false, |b, v| b.erf(v[0])),
        case("erfc", ONE, false, |b, v| b.erfc(v[0])),
        case("floor", ONE, false, |b, v| {
            let whole = b.floor(v[0])?;
            b.mul(whole, v[0])
        }),
        case("conj", ONE, true, |b, v| b.conj(v[0])),
        case("real", ONE, true, |b, v| b.real(v[0])),
        case("imag", ONE, true, |b, v| b.imag(v[0])),
        case("convert", ONE, true, |b, v| b.convert(v[0], DType::C64)),
        case("add", TWO, true, |b, v| b.add(v[0], v[1])),
        case("sub", TWO, true, |b, v| b.sub(v[0], v[1])),
        case("mul", TWO, true, |b, v| b.mul(v[0], v[1])),
        case("mul itself", ONE, true, |b, v| b.mul(v[0], v[0])),
        case("div", TWO, true, |b, v| b.div(v[0], v[1])),
        case("rem", TWO, false, |b, v| b.rem(v[0], v[1])),
        case("pow", TWO, true, |b, v| b.pow(v[0], v[1])),
        case("atan2", TWO, false, |b, v| b.atan2(v[0], v[1])),
        case("complex", TWO, false, |b, v| b.complex(v[0], v[1])),
        case("complex of one", ONE, false, |b, v| {
            let one = b.constant_like(v[0], 1.0)?;
            b.complex(one, v[0])
        }),
        case("maximum", TWO, false, |b, v| b.maximum(v[0], v[1])),
        case("minimum", TWO, false, |b, v| b.minimum(v[0], v[1])),
        case("select", TWO, false, |b, v| {
            let condition = b.compare(Comparison::Lt, v[0], v[1])?;
            b.select(condition, v[0], v[1])
        }),
        case("transpose", &[&[2, 3, 2]], true, |b, v| b.transpose(v[0], &[2, 0, 1])),
        case("reshape", ONE, true, |b, v| b.reshape(v[0], &dims(&[3, 2, 1]))),
        case("broadcast", ONE, true, |b, v| b.broadcast_in_dim(v[0], &dims(&[3, 4, 2]), &[2, 0])),
        case("broadcast of extent 1", &[&[1, 3]], true, |b, v| b.broadcast_in_dim(v[0], &dims(&[2, 3]), &[0, 1])),
        case("slice", &[&[5, 4]], true, |b, v| {
            b.op(CoreOp::Slice { start: dims(&[1, 0]), limit: dims(&[5, 3]), stride: vec![2, 1].into() }, &v[..1])
        }),
        case("reverse", ONE, true, |b, v| b.op(CoreOp::Reverse { axes: vec![1].into() }, &v[..1])),
        case("extract_diag", &[&[3, 2, 3]], true, |b, v| b.op(CoreOp::ExtractDiag { axis_a: 2, axis_b: 0 }, &v[..1])),
        case("embed_diag", ONE, true, |b, v| b.op(CoreOp::EmbedDiag, &v[..1])),
        case("pad", &[&[3, 2], &[]], true, |b, v| {
            let op = CoreOp::Pad { low: dims(&[1, -1]), high: dims(&[-1, 2]), interior: vec![2, 0].into() };
            b.op(op, &v[..2])
        }),
        case("tril", &[&[2, 4, 3]], true, |b, v| b.tril(v[0], [1, 2], -1)),
        case("triu", &[&[4, 3, 2]], true, |b, v| b.triu(v[0], [1, 0], 1)),
        case("take", &[&[2, 3, 2]], true, |b, v| {
            let indices = indices(b, &[2, 0, 2, 1], &[2, 2])?;
            b.take(v[0], indices, 1)
        }),
        case("take of one", &[&[3]], true, |b, v| {
            let index = indices(b, &[1], &[])?;
            b.take(v[0], index, 0)
        }),
        case("take of none", &[&[2, 3]], true, |b, v| {
            let none = indices(b, &[], &[0])?;
            b.take(v[0], none, 0)
        }),
        case("gather", &[&[3, 2]], true, |b, v| {
            let indices = indices(b, &[2, 0, 2, 2, 1, 1, 1, 0], &[4, 2])?;
            b.gather(v[0], indices, 0)
        }),
        case("scatter_add", &[&[3, 2], &[4, 2]], true, |b, v| {
            let indices = indices(b, &[2, 0, 2, 2, 1, 1, 1, 0], &[4, 2])?;
            b.scatter_add(v[0], indices, v[1], 0)
        }),
        case("scatter_add of slices", &[&[2, 3], &[2, 4]], true, |b, v| {
            let indices = indices(b, &[1, 1, 0, 1], &[4])?;
            b.scatter_add(v[0], indices, v[1], 1)
        }),
        case("scatter", &[&[3, 2], &[4, 2]], true, |b, v| {
            let indices = indices(b, &[2, 0, 2, 2, 1, 1, 1, 0], &[4, 2])?;
            b.scatter(v[0], indices, v[1], 0)
        }),
        case("scatter of slices", &[&[2, 3, 2], &[2, 4, 2]], true, |b, v| {
            let indices = indices(b, &[1, 1, 0, 1], &[4])?;
            b.scatter(v[0], indices, v[1], 1)
        }),
        case("scatter empty", &[&[0, 3], &[0, 2]], true, |b, v| {
            let indices = indices(b, &[1, 1], &[2])?;
            b.scatter(v[0], indices, v[1], 1)
        }),
        case("dynamic_slice", &[&[5, 4]], true, |b, v| {
            let starts = indices(b, &[-3, 9], &[2])?;
            b.dynamic_slice(v[0], starts, &dims(&[3, 2]))
        }),
        case("dynamic_slice scalar", SCALAR, true, |b, v| {
            let starts = indices(b, &[], &[0])?;
            b.dynamic_slice(v[0], starts, &[])
        }),
        case("dynamic_update_slice", &[&[5, 4], &[3, 2]], true, |b, v| {
            let starts = indices(b, &[1, 9], &[2])?;
            b.dynamic_update_slice(v[0], v[1], starts)
        }),
        case("extract_diag of a rectangle", &[&[2, 5, 3]], true, |b, v| b.extract_diag(v[0], 1, 2, -1)),
        case("embed_diag beside", ONE, true, |b, v| b.embed_diag(v[0], 2)),
        case("concatenate", &[&[2, 3], &[1, 3]], true, |b, v| b.op(CoreOp::Concatenate { axis: 0 }, &v[..2])),
        case("sum", &[&[2, 3, 2]], true, |b, v| b.sum(v[0], &[0, 2])),
        case("sum empty", EMPTY, true, |b, v| b.sum(v[0], &[0])),
        case("prod", ONE, true, |b, v| b.prod(v[0], &[1])),
        case("prod of all", &[&[2, 3, 2]], true, |b, v| b.prod(v[0], &[0, 1, 2])),
        case("prod empty", EMPTY, true, |b, v| b.prod(v[0], &[0])),
        case("max", ONE, false, |b, v| b.max(v[0], &[1])),
        case("min", ONE, false, |b, v| b.min(v[0], &[0, 1])),
        case("cumsum", ONE, true, |b, v| b.cumsum(v[0], 1)),
        case("cumprod", ONE, true, |b, v| b.cumprod(v[0], 1)),
        case("cumprod empty", EMPTY, true, |b, v| b.cumprod(v[0], 0)),
        case("linear_recurrence", TWO, true, |b, v| b.linear_recurrence(v[0], v[1], 1)),
        case("sigmoid", ONE, true, |b, v| composite::sigmoid(b, v[0])),
        case("softplus", ONE, false, |b, v| composite::softplus(b, v[0])),
        case("silu", ONE, false, |b, v| composite::silu(b, v[0])),
        case("relu", ONE, false, |b, v| composite::relu(b, v[0])),
        case("gelu", ONE, false, |b, v| composite::gelu(b, v[0])),
        case("gelu_tanh", ONE, false, |b, v| composite::gelu_tanh(b, v[0])),
        case("mean", ONE, true, |b, v| composite::mean(b, v[0], &[1])),
        case("var", ONE, true, |b, v| composite::var(b, v[0], &[1], 1)),
        case("std", ONE, true, |b, v| composite::std(b, v[0], &[0, 1], 0)),
        case("layer_norm", &[&[2, 3], &[3], &[3]], false, |b, v| {
            composite::layer_norm(b, v[0], Some(v[1]), Some(v[2]), &[1], 1e-5)
        }),
        case("rms_norm", &[&[2, 3], &[2]], false, |b, v| composite::rms_norm(b, v[0], Some(v[1]), &[0], 1e-5)),
        case("masked_softmax", ONE, false, |b, v| {
            let column = b.op(CoreOp::Iota { shape: dims(&[2, 3]), axis: 1, dtype: DType::I64 }, &[])?;
            let one = b.constant_like(column, 1.0)?;
            let mask = b.compare(Comparison::Ne, column, one)?;
            composite::masked_softmax(b, v[0], mask, &[1])
        }),
        case("logsumexp", ONE, false, |b, v| composite::logsumexp(b, v[0], &[1])),
        case("softmax", ONE, false, |b, v| composite::softmax(b, v[0], &[0])),
        case("log_softmax", ONE, false, |b, v| composite::log_softmax(b, v[0], &[0, 1])),
        case("einsum", &[&[2, 3], &[3, 2]], true, |b, v| tenferro::einsum::einsum_of_values(b, "ij,jk->ik", &v[..2])),
        case("dot_general", &[&[2, 3, 2], &[3, 2, 2]], true, |b, v| {
            tenferro::einsum::dot_general(b, v[0], v[1], &[(1, 0)], &[(2, 1)])
        }),
        case("einsum diagonal", SQUARE, true, |b, v| tenferro::einsum::einsum_of_values(b, "ii,ij->jj", &[v[0], v[0]])),
    ]
}

fn halved(b: &mut ProgramBuilder, x: ValueId) -> tenferro_core::Result<ValueId> {
    let half = b.constant_like(x, 0.5)?;
    b.mul(x, half)
}

/// The names of all core operations in the cases.
pub fn operations() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for case in cases() {
        // some operations change nothing of real numbers and are left out of their programs
        let dtype = if case.complex { DType::C64 } else { DType::F64 };
        names.extend(program(&case, dtype).nodes().iter().map(|node| node.op.name().to_string()));
    }
    names
}

fn context() -> AdContext {
    AdContext::new().with_rules(&tenferro::einsum::ad_rules().unwrap())
}

pub fn program(case: &Case, dtype: DType) -> SemanticProgram {
    let mut b = ProgramBuilder::new(case.name);
    let inputs: Vec<ValueId> = case
        .shapes
        .iter()
        .enumerate()
        .map(|(i, shape)| {
            let shape: Vec<SymDim> = shape.iter().map(|&n| n.into()).collect();
            b.input(format!("x{i}"), dtype, &shape).unwrap()
        })
        .collect();
    let output = (case.build)(&mut b, &inputs).unwrap();
    b.finish(&[(None, output)]).unwrap()
}

/// Numbers in the half plane right of 0.3, so that no operation meets a kink, a pole or a branch cut.
fn positive(dtype: DType, shape: &[usize], seed: u64) -> Tensor {
    numbers(dtype, shape, seed, |re, im| Complex64::new(0.8 + 0.5 * re, 0.5 * im))
}

fn numbers(dtype: DType, shape: &[usize], seed: u64, map: fn(f64, f64) -> Complex64) -> Tensor {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let mut next = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let values: Vec<Complex64> = (0..shape.iter().product()).map(|_| map(next(), next())).collect();
    from_complex(dtype, shape, &values)
}

fn from_complex(dtype: DType, shape: &[usize], values: &[Complex64]) -> Tensor {
    let real = values.iter().map(|z| z.re);
    match dtype {
        DType::F32 => Tensor::from_vec_col_major(shape, real.map(|x| x as f32).collect()),
        DType::F64 => Tensor::from_vec_col_major(shape, real.collect()),
        DType::C32 => Tensor::from_vec_col_major(
            shape,
            values.iter().map(|z| tenferro::dtype::Complex32::new(z.re as f32, z.im as f32)).collect(),
        ),
        _ => Tensor::from_vec_col_major(shape, values.to_vec()),
    }
    .unwrap()
}

fn to_complex(tensor: &Tensor) -> Vec<Complex64> {
    let wide = |z: &tenferro::dtype::Complex32| Complex64::new(z.re.into(), z.im.into());
    match tensor.dtype() {
        DType::F32 => tensor.to_vec_col_major::<f32>().unwrap().iter().map(|&x| f64::from(x).into()).collect(),
        DType::F64 => tensor.to_vec_col_major::<f64>().unwrap().iter().map(|&x| x.into()).collect(),
        DType::C32 => tensor.to_vec_col_major().unwrap().iter().map(wide).collect(),
        _ => tensor.to_vec_col_major().unwrap(),
    }
}

/// `Re(sum(conj(a) * b))`
fn inner(a: &[Tensor], b: &[Tensor]) -> f64 {
    let products = a.iter().zip(b).flat_map(|(a, b)| to_complex(a).into_iter().zip(to_complex(b)));
    products.map(|(a, b)| (a.conj() * b).re).sum()
}

fn moved(x: &[Tensor], h: f64, t: &[Tensor]) -> Vec<Tensor> {
    x.iter()
        .zip(t)
        .map(|(x, t)| {
            let sum: Vec<_> = to_complex(x).into_iter().zip(to_complex(t)).map(|(x, t)| x + h * t).collect();
            from_complex(x.dtype(), x.shape(), &sum)
        })
        .collect()
}

fn run(session: &mut Session, program: &SemanticProgram, inputs: &[&[Tensor]]) -> Vec<Tensor> {
    let reads: Vec<_> = inputs.iter().flat_map(|list| list.iter()).map(|t| t.into()).collect();
    session.run(Arc::new(program.clone()), &reads).unwrap()
}

fn assert_close(what: &str, actual: &[Tensor], expected: &[Vec<Complex64>], tolerance: f64) {
    assert_eq!(actual.len(), expected.len(), "{what}");
    for (actual, expected) in actual.iter().zip(expected) {
        for (a, e) in to_complex(actual).into_iter().zip(expected) {
            let error = (a - e).norm();
            assert!(error <= tolerance * (1.0 + e.norm()), "{what}: {a} is not near {e}");
        }
    }
}

fn central(
    session: &mut Session,
    program: &SemanticProgram,
    x: &[Tensor],
    t: &[Tensor],
    h: f64,
) -> Vec<Vec<Complex64>> {
    let ahead = run(session, program, &[&moved(x, h, t)]);
    let behind = run(session, program, &[&moved(x, -h, t)]);
    let quotient = |(a, b): (&Tensor, &Tensor)| {
        to_complex(a).into_iter().zip(to_complex(b)).map(|(a, b)| (a - b) / (2.0 * h)).collect()
    };
    ahead.iter().zip(&behind).map(quotient).collect()
}

pub fn check(case: &Case, dtype: DType, session: &mut Session) {
    let x: Vec<Tensor> = case.shapes.iter().zip(1..).map(|(shape, seed)| positive(dtype, shape, seed)).collect();
    check_at(case, &x, dtype, session);
}

/// The checks at a point.
fn check_at(case: &Case, x: &[Tensor], dtype: DType, session: &mut Session) {
    let what = format!("{} of {dtype}", case.name);
    let single = matches!(dtype, DType::F32 | DType::C32);
    let (h, difference, exact) = if single { (1e-2, 2e-2, 2e-4) } else { (1e-5, 1e-7, 1e-11) };
    let any = |dtype, shape: &[usize], seed| numbers(dtype, shape, seed, Complex64::new);
    let t: Vec<Tensor> = case.shapes.iter().zip(10..).map(|(shape, seed)| any(dtype, shape, seed)).collect();
    let wrt: Vec<usize> = (0..case.shapes.len()).collect();
    let primal = program(case, dtype);

    let jvp = ad::jvp(&primal, &wrt, &context()).unwrap();
    let forward = run(session, &jvp, &[x, &t]);
    assert_close(&format!("{what}: forward"), &forward[1..], &central(session, &primal, x, &t, h), difference);

    let ct = vec![any(forward[0].dtype(), forward[0].shape(), 20)];
    let vjp = ad::vjp(&primal, &wrt, &context()).unwrap();
    let reverse = run(session, &vjp, &[x, &ct]);
    let (left, right) = (inner(&ct, &forward[1..]), inner(&reverse[1..], &t));
    assert!((left - right).abs() <= exact * (1.0 + left.abs()), "{what}: <ct, Jt> = {left}, <J'ct, t> = {right}");

    let scalar = weighted_square(&primal, &ct[0]);
    let gradient = ad::grad(&scalar, &wrt, &context()).unwrap();
    let hvp = ad::hvp(&scalar, &wrt, &context()).unwrap();
    let product = run(session, &hvp, &[x, &t]);
    let expected = central(session, &gradient, x, &t, h);
    assert_close(&format!("{what}: second order"), &product, &expected, difference * 10.0);

    // Strides change nothing but, in the last digits, the order of sums.
    let [x, t, ct] = [x, &t, &ct].map(|list| list.iter().map(strided).collect::<Vec<_>>());
    for (of, program, inputs, compact) in [
        ("forward", &jvp, [&x, &t], &forward),
        ("reverse", &vjp, [&x, &ct], &reverse),
        ("second order", &hvp, [&x, &t], &product),
    ] {
        let compact: Vec<_> = compact.iter().map(to_complex).collect();
        let results = run(session, program, &inputs.map(|list| &list[..]));
        assert_close(&format!("{what}: {of}, strided"), &results, &compact, exact);
    }
}

/// The same entries backwards in memory, with the axes in the other order and a NaN before, between and after them.
fn strided(tensor: &Tensor) -> Tensor {
    let shape = tensor.shape();
    let wide: Vec<usize> = shape.iter().rev().map(|n| 2 * n + 1).collect();
    let entries = to_complex(tensor);
    let around: Vec<Complex64> = (0..wide.iter().product::<usize>())
        .map(|mut at| {
            let mut index = Vec::with_capacity(wide.len());
            for extent in &wide {
                index.push(at % extent);
                at /= extent;
            }
            if index.iter().any(|i| i % 2 == 0) {
                return f64::NAN.into();
            }
            // The first axis of the tensor is the last one here.
            let place = shape.iter().zip(index.iter().rev()).rev().fold(0, |p, (n, i)| p * n + (n - 1 - i / 2));
            entries[place]
        })
        .collect();
    let (start, limit, stride) = (vec![1; wide.len()], wide.clone(), vec![2; wide.len()]);
    let axes: Vec<usize> = (0..wide.len()).collect();
    let backwards: Vec<usize> = axes.iter().rev().copied().collect();
    let around = from_complex(tensor.dtype(), &wide, &around);
    let strided =
        around.strided_slice(&start, &limit, &stride).unwrap().reverse(&axes).unwrap().transpose(&backwards).unwrap();
    assert_eq!(strided.shape(), shape);
    strided
}

/// `sum(|f(x)|^2 * weight)` with real weights, which has a second derivative for every `f`.
fn weighted_square(program: &SemanticProgram, weight: &Tensor) -> SemanticProgram {
    let mut b = ProgramBuilder::new("weighted");
    let inputs: Vec<ValueId> = (0..program.inputs().len())
        .map(|i| {
            let meta = program.input_meta(i);
            b.input(program.inputs()[i].name.to_string(), meta.dtype, &meta.shape).unwrap()
        })
        .collect();
    let value = b.call(program, &inputs).unwrap()[0];
    let conjugate = b.conj(value).unwrap();
    let square = b.mul(value, conjugate).unwrap();
    let square = b.real(square).unwrap();
    let mut scaled = square;
    if weight.rank() > 0 {
        let ramp = CoreOp::Iota { shape: b.meta(square).shape.clone(), axis: 0, dtype: b.meta(square).dtype };
        let ramp = b.op(ramp, &[]).unwrap();
        let one = b.constant_like(ramp, 1.0).unwrap();
        let ramp = b.add(ramp, one).unwrap();
        scaled = b.mul(square, ramp).unwrap();
    }
    let axes: Vec<u32> = (0..weight.rank() as u32).collect();
    let sum = b.sum(scaled, &axes).unwrap();
    b.finish(&[(None, sum)]).unwrap()
}

#[test]
fn every_operation_agrees_with_differences_in_every_float_dtype() {
    for mut session in [Session::reference(), Session::cpu()] {
        for case in cases() {
            let dtypes: &[DType] = match case.complex {
                true => &[DType::F64, DType::F32, DType::C64, DType::C32],
                false => &[DType::F64, DType::F32],
            };
            for &dtype in dtypes {
                check(&case, dtype, &mut session);
            }
        }
    }
}

#[test]
fn products_are_right_where_entries_are_zero() {
    let cases = [
        case("prod", ONE, true, |b, v| b.prod(v[0], &[1])),
        case("prod of all", ONE, true, |b, v| b.prod(v[0], &[0, 1])),
        case("cumprod", ONE, true, |b, v| b.cumprod(v[0], 1)),
        case("linear_recurrence", TWO, true, |b, v| b.linear_recurrence(v[0], v[1], 1)),
    ];
    for mut session in [Session::reference(), Session::cpu()] {
        for case in &cases {
            for dtype in [DType::F64, DType::C64] {
                // no zero, one, two, and nothing else in a row
                for zeros in [&[][..], &[0], &[2, 1], &[0, 2], &[0, 2, 4]] {
                    let mut values = to_complex(&positive(dtype, &[2, 3], 5));
                    zeros.iter().for_each(|&at| values[at] = 0.0.into());
                    let x = vec![from_complex(dtype, &[2, 3], &values); case.shapes.len()];
                    check_at(case, &x, dtype, &mut session);
                }
            }
        }
    }
}

#[test]
fn stopped_gradients_are_zero_and_values_stay() {
    let mut b = ProgramBuilder::new("f");
    let x = b.input("x", DType::F64, &[]).unwrap();
    let stopped = b.stop_gradient(x).unwrap();
    let y = b.mul(x, stopped).unwrap();
    let program = b.finish(&[(None, y)]).unwrap();
    let both = ad::value_and_grad(&program, &[0], &AdContext::new()).unwrap();
    let results = run(&mut Session::cpu(), &both, &[&[Tensor::scalar(3.0)]]);
    assert_eq!(results[0].item::<f64>().unwrap(), 9.0);
    assert_eq!(results[1].item::<f64>().unwrap(), 3.0);
}
