//! Second and third derivatives of powers by base and exponent, against the closed forms.

use std::sync::Arc;

use tenferro::ad::{self, AdContext};
use tenferro::dtype::Complex64;
use tenferro::prelude::*;
use tenferro::program::{ProgramBuilder, SemanticProgram};

fn power(dtype: DType) -> SemanticProgram {
    let mut b = ProgramBuilder::new("power");
    let (x, y) = (b.input("a", dtype, &[]).unwrap(), b.input("b", dtype, &[]).unwrap());
    let power = b.pow(x, y).unwrap();
    b.finish(&[(None, power)]).unwrap()
}

/// The partial derivative by one of two inputs, both of which are differentiated by if `both`.
fn partial(f: &SemanticProgram, by: usize, reverse: bool, both: bool) -> SemanticProgram {
    let wanted: &[usize] = if both { &[0, 1] } else { &[by] };
    let context = AdContext::new();
    let transform = if reverse { ad::vjp } else { ad::jvp };
    let transformed = transform(f, wanted, &context).unwrap();
    let mut b = ProgramBuilder::new("partial");
    let dtype = f.input_meta(0).dtype;
    let (x, y) = (b.input("a", dtype, &[]).unwrap(), b.input("b", dtype, &[]).unwrap());
    let one = b.constant_like(x, 1.0).unwrap();
    let zero = b.constant_like(x, 0.0).unwrap();
    let mut arguments = vec![x, y];
    match reverse {
        true => arguments.push(one),
        false => arguments.extend(wanted.iter().map(|&i| if i == by { one } else { zero })),
    }
    let results = b.call(&transformed, &arguments).unwrap();
    let result = if reverse { results[1 + wanted.iter().position(|&i| i == by).unwrap()] } else { results[1] };
    // the cotangent of a holomorphic function is multiplied by the conjugate of its derivative
    let result = if reverse { b.conj(result).unwrap() } else { result };
    b.finish(&[(None, result)]).unwrap()
}

fn at(session: &mut Session, f: &Arc<SemanticProgram>, [a, b]: [Complex64; 2]) -> Complex64 {
    let dtype = f.input_meta(0).dtype;
    let scalar = |z: Complex64| match dtype {
        DType::F32 => Tensor::scalar(z.re as f32),
        DType::F64 => Tensor::scalar(z.re),
        _ => Tensor::scalar(z),
    };
    let y = session.run(f.clone(), &[(&scalar(a)).into(), (&scalar(b)).into()]).unwrap().remove(0);
    match dtype {
        DType::F32 => f64::from(y.item::<f32>().unwrap()).into(),
        DType::F64 => y.item::<f64>().unwrap().into(),
        _ => y.item().unwrap(),
    }
}

/// The derivative of `a^b`, `i` times by a and `j` times by b, for a whole b that is not negative; 0 by b where a is 0.
///
/// By a it is `p(b) a^(b - i)` with `p(b) = b (b - 1) ... (b - i + 1)`; by b then Leibniz' rule gives the sum over k of
/// `binom(j, k) p^(k)(b) log(a)^(j - k) a^(b - i)`.
fn known(a: Complex64, b: i32, i: usize, j: usize) -> Complex64 {
    let polynomial: [f64; 4] =
        [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, -1.0, 1.0, 0.0], [0.0, 2.0, -3.0, 1.0]][i];
    let zero = a == Complex64::from(0.0);
    if zero && (j > 0 || b < i as i32) {
        return 0.0.into();
    }
    let mut p = polynomial.to_vec();
    let mut sum = Complex64::from(0.0);
    let binomials = [[1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], [1.0, 2.0, 1.0, 0.0], [1.0, 3.0, 3.0, 1.0]];
    for (k, binomial) in binomials[j].iter().enumerate().take(j + 1) {
        let value: f64 = p.iter().enumerate().map(|(n, c)| c * f64::from(b).powi(n as i32)).sum();
        let logarithms = if j == k { 1.0.into() } else { a.ln().powi((j - k) as i32) };
        sum += logarithms * (*binomial * value);
        p = p.iter().enumerate().skip(1).map(|(n, c)| c * n as f64).collect();
    }
    sum * a.powi(b - i as i32)
}

#[test]
fn derivatives_of_powers_of_every_order_are_the_closed_forms_and_symmetric() {
    let mut session = Session::cpu();
    let bases = [0.5.into(), 2.0.into(), Complex64::from(-1.0), 0.0.into(), Complex64::new(0.5, -0.25)];
    for dtype in [DType::F32, DType::F64, DType::C64] {
        let tolerance = if dtype == DType::F32 { 2e-5 } else { 1e-12 };
        let complex = dtype == DType::C64;
        let f = power(dtype);
        for order in 1..=3usize {
            for (directions, modes) in (0..1usize << order).flat_map(|d| [0b000, 0b111, 0b010, 0b101].map(|m| (d, m))) {
                let j = directions.count_ones() as usize;
                let i = order - j;
                let nested = |both: bool| {
                    let step = |g, k: usize| partial(&g, directions >> k & 1, modes >> k & 1 == 1, both);
                    Arc::new((0..order).fold(f.clone(), step))
                };
                // a real power of a negative number has derivatives by it alone
                let (joint, alone) = (nested(true), nested(false));
                for base in bases.into_iter().filter(|z| complex || z.im == 0.0) {
                    for exponent in 0..=3 {
                        let negative = !complex && base.re < 0.0;
                        if negative && j > 0 {
                            continue;
                        }
                        let g = if negative { &alone } else { &joint };
                        let expected = known(base, exponent, i, j);
                        let actual = at(&mut session, g, [base, f64::from(exponent).into()]);
                        assert!(
                            (actual - expected).norm() <= tolerance * expected.norm().max(1.0),
                            "{dtype}, {i} times by {base}, {j} times by {exponent}, order {directions:b}, modes \
                             {modes:b}: {actual}, not {expected}"
                        );
                    }
                }
            }
        }
    }
}
