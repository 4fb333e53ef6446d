//! The passes proved by execution: values stay the same to the bit, derivatives up to rounding; and the text of kernels
//! with their derivatives reads back.

use std::sync::Arc;

use tenferro::ad::{self, AdContext};
use tenferro::einsum::EinsumPayloads;
use tenferro::prelude::*;
use tenferro::program::SemanticProgram;
use tenferro::program::passes::{
    CompilerOptions, common_subexpressions, compile, constant_folding, dead_code, flattening, identities,
};

tenferro! {
    fn attention(q: f64[n, d], k: f64[m, d], v: f64[m, e]) -> f64[n, e] {
        let score[i, j] = q[i, c] * k[j, c] / sqrt(d);
        let p[i, j] = softmax[j](score[i, j]);
        einsum("nm,me->ne", p, v)
    }

    #[grad(w)]
    fn logistic(w: f64[d], x: f64[n, d], y: f64[n]) -> f64 {
        let z[i] = x[i, j] * w[j];
        mean(softplus(z) - y * z)
    }
}

/// Programs of `x: f64[n, m]` and `s: f64`, each full of what a pass changes.
const BODIES: [&str; 5] = [
    // identities
    "%2 = constant 1.0 : f64
     %3 = broadcast_in_dim axes=[] %2 : f64[n, m]
     %4 = mul x %3 : f64[n, m]
     %5 = neg %4 : f64[n, m]
     %6 = neg %5 : f64[n, m]
     %7 = constant -0.0 : f64
     %8 = add s %7 : f64
     %9 = broadcast_in_dim axes=[] %8 : f64[n, m]
     %10 = div %6 %9 : f64[n, m]
     %11 = reverse axes=[0] %10 : f64[n, m]
     %12 = reverse axes=[0] %11 : f64[n, m]
     return %12",
    // signs of zero
    "%2 = constant 0.0 : f64
     %3 = broadcast_in_dim axes=[] %2 : f64[n, m]
     %4 = add x %3 : f64[n, m]
     %5 = sub x %3 : f64[n, m]
     %6 = constant -0.0 : f64
     %7 = broadcast_in_dim axes=[] %6 : f64[n, m]
     %8 = add %7 x : f64[n, m]
     %9 = broadcast_in_dim axes=[] s : f64[n, m]
     %10 = div %9 %4 : f64[n, m]
     %11 = div %9 %5 : f64[n, m]
     %12 = div %9 %8 : f64[n, m]
     %13 = concatenate axis=0 %10 %11 %12 : f64[3*n, m]
     %14 = slice start=[0, 0] limit=[n, m] stride=[1, 1] %13 : f64[n, m]
     %15 = add %14 %11 : f64[n, m]
     return %15",
    // constants
    "%2 = constant 3.0 : f64
     %3 = constant -2.0 : f64
     %4 = mul %2 %3 : f64
     %5 = broadcast_in_dim axes=[] %4 : f64[m, n]
     %6 = transpose axes=[1, 0] %5 : f64[n, m]
     %7 = mul x %6 : f64[n, m]
     %8 = constant true : bool
     %9 = not %8 : bool
     %10 = select %9 %4 s : f64
     %11 = broadcast_in_dim axes=[] %10 : f64[n, m]
     %12 = sub %7 %11 : f64[n, m]
     %13 = sin %12 : f64[n, m]
     return %13",
    // twins
    "%2 = broadcast_in_dim axes=[] s : f64[n, m]
     %3 = mul x %2 : f64[n, m]
     %4 = mul %2 x : f64[n, m]
     %5 = add %3 %4 : f64[n, m]
     %6 = maximum x %2 : f64[n, m]
     %7 = maximum %2 x : f64[n, m]
     %8 = sub %6 %7 : f64[n, m]
     %9 = exp %5 : f64[n, m]
     %10 = exp %5 : f64[n, m]
     %11 = mul %9 %10 : f64[n, m]
     %12 = add %11 %8 : f64[n, m]
     return %12",
    // views
    "%2 = transpose axes=[1, 0] x : f64[m, n]
     %3 = sin %2 : f64[m, n]
     %4 = transpose axes=[1, 0] %3 : f64[n, m]
     %5 = reshape %4 : f64[n*m]
     %6 = reshape %5 : f64[1, n*m]
     %7 = broadcast_in_dim axes=[0, 2] %6 : f64[1, 2, n*m]
     %8 = broadcast_in_dim axes=[2, 1, 0] %7 : f64[n*m, 2, 3]
     %9 = sum axes=[1, 2] %8 : f64[n*m]
     %10 = reshape %9 : f64[n, m]
     %11 = cos s : f64
     %12 = reshape %11 : f64[1, 1]
     %13 = broadcast_in_dim axes=[0, 1] %12 : f64[n, m]
     %14 = tenferro.einsum.v1 \"ij,ij->ij\" %10 %13 : f64[n, m]
     return %14",
];

fn parse(text: &str) -> SemanticProgram {
    SemanticProgram::parse_with(text, &[&EinsumPayloads]).unwrap_or_else(|error| panic!("{error}"))
}

fn context() -> AdContext {
    AdContext::new().with_rules(&tenferro::einsum::ad_rules().unwrap())
}

/// Every pass alone, and all of them.
fn passed(program: &SemanticProgram) -> Vec<(&'static str, SemanticProgram)> {
    let all = compile(program, &CompilerOptions::default());
    [
        ("dead_code", dead_code::run(program)),
        ("common_subexpressions", common_subexpressions::run(program)),
        ("constant_folding", constant_folding::run(program)),
        ("identities", identities::run(program)),
        ("all", all),
    ]
    .map(|(name, program)| (name, program.unwrap()))
    .into()
}

fn run(session: &mut Session, program: &SemanticProgram, inputs: &[Tensor]) -> Vec<Vec<f64>> {
    let reads: Vec<_> = inputs.iter().map(|t| t.into()).collect();
    let results = session.run(Arc::new(program.clone()), &reads).unwrap();
    results.iter().map(|t| t.to_vec_col_major::<f64>().unwrap()).collect()
}

fn bits(results: &[Vec<f64>]) -> Vec<Vec<u64>> {
    let bits = |x: &f64| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() };
    results.iter().map(|r| r.iter().map(bits).collect()).collect()
}

fn assert_close(what: &str, actual: &[Vec<f64>], expected: &[Vec<f64>]) {
    assert_eq!(actual.len(), expected.len());
    for (a, e) in actual.iter().flatten().zip(expected.iter().flatten()) {
        assert!((a - e).abs() <= 1e-13 * (1.0 + e.abs()), "{what}: {a} is not near {e}");
    }
}

/// Values of the programs before and after agree to the bit, products with Jacobians from both sides up to rounding.
fn assert_passes_keep(program: &SemanticProgram, wrt: &[usize], inputs: &[Vec<Tensor>]) {
    let session = &mut Session::reference();
    for (pass, changed) in passed(program) {
        changed.verify().unwrap();
        let what = format!("{pass} of {}", program.name());
        for inputs in inputs {
            let (before, after) = (run(session, program, inputs), run(session, &changed, inputs));
            assert_eq!(bits(&before), bits(&after), "{what}\n{program}{changed}");
        }
        // Seeds: the inputs themselves, and the results.
        let inputs = &inputs[0];
        let tangents: Vec<Tensor> = inputs.iter().cloned().chain(wrt.iter().map(|&i| inputs[i].clone())).collect();
        let jvp = |p| run(&mut Session::reference(), &ad::jvp(p, wrt, &context()).unwrap(), &tangents);
        assert_close(&what, &jvp(&changed), &jvp(program));

        let reads: Vec<_> = inputs.iter().map(|t| t.into()).collect();
        let results = session.run(Arc::new(program.clone()), &reads).unwrap();
        let seeded: Vec<Tensor> = inputs.iter().cloned().chain(results).collect();
        let vjp = |p| run(&mut Session::reference(), &ad::vjp(p, wrt, &context()).unwrap(), &seeded);
        assert_close(&what, &vjp(&changed), &vjp(program));
        // And passes on a derivative keep it.
        let derivative = ad::vjp(program, wrt, &context()).unwrap();
        for (pass, changed) in passed(&derivative) {
            let (before, after) = (run(session, &derivative, &seeded), run(session, &changed, &seeded));
            assert_close(&format!("{pass} of the derivative of {}", program.name()), &after, &before);
        }
    }
}

fn numbers(shape: &[usize], seed: u64) -> Tensor {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    Tensor::from_vec_col_major(shape, (0..shape.iter().product()).map(next).collect()).unwrap()
}

#[test]
fn values_and_derivatives_stay() {
    let special = vec![0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324];
    let special = Tensor::from_vec_col_major([2, 3], special).unwrap();
    for body in BODIES {
        let program = parse(&format!("program f(x: f64[n, m], s: f64) -> f64[n, m] {{\n{body}\n}}"));
        let inputs = [
            vec![numbers(&[2, 3], 1), Tensor::scalar(0.7)],
            vec![special.clone(), Tensor::scalar(-0.0)],
            vec![special.clone(), Tensor::scalar(-2.0)],
            vec![numbers(&[0, 3], 1), Tensor::scalar(0.7)],
        ];
        assert_passes_keep(&program, &[0, 1], &inputs);
    }
}

#[test]
fn flattening_keeps_values_and_derivatives_up_to_rounding() {
    let body = |dtype: &str| {
        format!(
            "program f(x: {dtype}[n, m], y: {dtype}[m, k], z: {dtype}[k]) -> {dtype}[n] {{
                %3 = tenferro.einsum.v1 \"ij,jk->ik\" x y : {dtype}[n, k]
                %4 = tenferro.einsum.v1 \"ij,j->ij\" %3 z : {dtype}[n, k]
                %5 = tenferro.einsum.v1 \"ij->i\" %4 : {dtype}[n]
                return %5
            }}"
        )
    };
    let nested = parse(&body("f64"));
    let flat = flattening::run(&nested).unwrap();
    assert_eq!(flat.nodes().len(), 1);
    let inputs = [numbers(&[4, 3], 1), numbers(&[3, 5], 2), numbers(&[5], 3)];
    let seeded: Vec<Tensor> = inputs.iter().cloned().chain([numbers(&[4], 4)]).collect();
    let vjp = |p| ad::vjp(p, &[0, 1, 2], &context()).unwrap();
    for session in [&mut Session::reference(), &mut Session::cpu()] {
        assert_close("flat", &run(session, &flat, &inputs), &run(session, &nested, &inputs));
        let derivative = vjp(&nested);
        let expected = run(session, &derivative, &seeded);
        assert_close("flat, then derived", &run(session, &vjp(&flat), &seeded), &expected);
        assert_close("derived, then flat", &run(session, &flattening::run(&derivative).unwrap(), &seeded), &expected);
    }
    // Integers wrap, which is exact in any order.
    let nested = parse(&body("i32"));
    let flat = flattening::run(&nested).unwrap();
    let large = |shape: &[usize]| {
        let entries = (0..shape.iter().product()).map(|i: usize| i32::MAX - 12_345 * i as i32).collect();
        Tensor::from_vec_col_major(shape, entries).unwrap()
    };
    let inputs = [large(&[4, 3]), large(&[3, 5]), large(&[5])];
    let reads: Vec<_> = inputs.iter().map(|t| t.into()).collect();
    let of = |p: &SemanticProgram| {
        Session::cpu().run(Arc::new(p.clone()), &reads).unwrap()[0].to_vec_col_major::<i32>().unwrap()
    };
    assert_eq!(of(&flat), of(&nested));
}

#[test]
fn passes_shorten_what_they_are_for() {
    let nodes = |body: &str| {
        let program = parse(&format!("program f(x: f64[n, m], s: f64) -> f64[n, m] {{\n{body}\n}}"));
        (program.nodes().len(), compile(&program, &CompilerOptions::default()).unwrap().nodes().len())
    };
    assert_eq!(BODIES.map(nodes), [(11, 2), (14, 9), (12, 6), (11, 9), (13, 11)]);
}

#[test]
fn kernels_stay() {
    let (n, d) = (4, 3);
    let inputs = vec![numbers(&[n, d], 1), numbers(&[5, d], 2), numbers(&[5, 2], 3)];
    assert_passes_keep(attention.program(), &[0, 1, 2], &[inputs]);
    let inputs = vec![numbers(&[d], 1), numbers(&[n, d], 2), numbers(&[n], 3)];
    assert_passes_keep(logistic.program(), &[0], &[inputs]);
}

#[test]
fn the_text_of_kernels_reads_back() {
    let mut programs = vec![attention.program().clone(), logistic.program().clone()];
    for i in 0..2 {
        programs.push(ad::jvp(&programs[i], &[0], &context()).unwrap());
        programs.push(ad::vjp(&programs[i], &[0], &context()).unwrap());
    }
    programs.push(ad::hvp(&programs[1], &[0], &context()).unwrap());
    for program in programs {
        assert_eq!(parse(&program.to_string()), program);
    }
}
