//! Nested einsums as one: random programs of einsums keep values and derivatives, and no pair is left that could be
//! one.

use proptest::prelude::*;
use tenferro_core::Complex64;
use tenferro_core::ad::{AdContext, jvp, vjp};
use tenferro_core::dtype::DType;
use tenferro_core::program::passes::{CompilerOptions, compile, flattening};
use tenferro_core::program::{Op, ProgramBuilder, SemanticProgram, ValueId};
use tenferro_core::shape::SymDim;
use tenferro_einsum::{EinsumOp, EinsumOptimize, EinsumPayloads, Subscripts, ad_rules};

use crate::interpreter::run;
use crate::oracle::Array;

fn ctx() -> AdContext {
    AdContext::new().with_rules(&ad_rules().unwrap())
}

fn parse(text: &str) -> SemanticProgram {
    SemanticProgram::parse_with(text, &[&EinsumPayloads]).unwrap_or_else(|error| panic!("{error}"))
}

/// The lines of a program's body after the pass.
fn flat(text: &str) -> Vec<String> {
    let flat = flattening::run(&parse(text)).unwrap();
    flat.verify().unwrap();
    let text = flat.to_string();
    text.lines().skip(1).take_while(|line| *line != "}").map(|line| line.trim().to_string()).collect()
}

#[test]
fn a_chain_is_one_einsum() {
    let chain = "program chain(x: f64[n, m], y: f64[m, k], z: f64[k, l], v: f64[l]) -> f64[n] {
        %4 = tenferro.einsum.v1 \"ij,j->i\" z v : f64[k]
        %5 = tenferro.einsum.v1 \"ij,jk->ik\" x y : f64[n, k]
        %6 = tenferro.einsum.v1 \"ij,j->i\" %5 %4 : f64[n]
        return %6
    }";
    let whole = ["%4 = tenferro.einsum.v1 \"ij,jk,kl,l->i\" x y z v : f64[n]", "return %4"];
    assert_eq!(flat(chain), whole);
    let program = parse(chain);
    let compiled = |flattening| compile(&program, &CompilerOptions { flattening, ..Default::default() }).unwrap();
    assert_eq!(compiled(true).nodes().len(), 1);
    assert_eq!(compiled(false), program);
    assert!(!CompilerOptions::default().flattening);
}

/// Reading a size off a result is a use of it.
#[test]
fn a_result_that_a_size_is_read_off_stays() {
    let text = "program p<n, k = %3 <= n>(x: i64[n], y: i64[n], z: f64[n]) -> (i64[n], f64[k]) {
        %3 = tenferro.einsum.v1 \"i,i->\" x y : i64
        %4 = tenferro.einsum.v1 \",i->i\" %3 x : i64[n]
        %5 = slice start=[0] limit=[k] stride=[1] z : f64[k]
        return %4, %5
    }";
    let flat = flat(text);
    assert_eq!(flat.iter().filter(|line| line.contains("einsum")).count(), 2, "{flat:?}");
    assert!(flat.iter().any(|line| line.contains("\",i->i\" %3 x")), "{flat:?}");
}

#[test]
fn a_result_that_is_used_again_stays() {
    let program = |more: &str, results: &str, returned: &str| {
        format!(
            "program p(x: f64[n, n], y: f64[n, n]) -> {results} {{
                %2 = tenferro.einsum.v1 \"ij,jk->ik\" x y : f64[n, n]
                {more}
                return {returned}
            }}"
        )
    };
    let twice = "%3 = tenferro.einsum.v1 \"ij,jk->ik\" %2 %2 : f64[n, n]";
    assert_eq!(flat(&program(twice, "f64[n, n]", "%3")).len(), 3);
    let once = "%3 = tenferro.einsum.v1 \"ij,jk->ik\" %2 x : f64[n, n]";
    assert_eq!(flat(&program(once, "f64[n, n]", "%3")).len(), 2);
    assert_eq!(flat(&program(once, "(f64[n, n], f64[n, n])", "%3, %2")).len(), 3);
    // The same product written twice is one that is used twice; a use that nothing needs is none.
    let again = "%4 = tenferro.einsum.v1 \"ij,jk->ik\" x y : f64[n, n]
        %5 = tenferro.einsum.v1 \"ij,jk->ik\" %2 %4 : f64[n, n]";
    assert_eq!(flat(&program(again, "f64[n, n]", "%5")).len(), 3);
    let unneeded = format!("{once} %6 = exp %2 : f64[n, n]");
    assert_eq!(flat(&program(&unneeded, "f64[n, n]", "%3")).len(), 2);
}

#[test]
fn an_order_that_is_fixed_stays() {
    let nested = |inner: &str, outer: &str| {
        flat(&format!(
            "program p(x: f64[n, n], y: f64[n, n]) -> f64[n, n] {{
                %2 = tenferro.einsum.v1 \"ij,jk->ik\"{inner} x y : f64[n, n]
                %3 = tenferro.einsum.v1 \"ij,jk->ik\"{outer} %2 x : f64[n, n]
                return %3
            }}"
        ))
        .len()
    };
    assert_eq!(nested("", ""), 2);
    assert_eq!(nested(", optimize = greedy", ", optimize = greedy"), 2);
    assert_eq!(nested(", optimize = greedy", ""), 3);
    assert_eq!(nested("", ", path = [(0, 1)]"), 3);
    assert_eq!(nested(", optimize = left_to_right", ", optimize = left_to_right"), 3);
}

#[test]
fn conditions_on_sizes_stay() {
    let program = parse(
        "program p(x: f64[a, b], y: f64[c, d], z: f64[e, f]) -> f64[e, d] {
            guard c == b, \"first\"
            guard f == a, \"second\"
            %3 = tenferro.einsum.v1 \"ij,jk->ik\" x y : f64[a, d]
            %4 = tenferro.einsum.v1 \"li,ik->lk\" z %3 : f64[e, d]
            return %4
        }",
    );
    let flat = flattening::run(&program).unwrap();
    assert_eq!(flat.nodes().len(), 1);
    for shapes in [[[2, 3], [3, 4], [5, 2]], [[2, 3], [2, 4], [5, 2]], [[2, 3], [3, 4], [5, 3]]] {
        let shapes: Vec<&[usize]> = shapes.iter().map(|s| s.as_slice()).collect();
        assert_eq!(flat.bind(&shapes).is_ok(), program.bind(&shapes).is_ok(), "{shapes:?}");
    }
}

/// Decisions of a generator: a list that proptest can shrink, 0 after its end.
struct Tape<'a>(std::slice::Iter<'a, usize>);

impl Tape<'_> {
    fn below(&mut self, n: usize) -> usize {
        self.0.next().copied().unwrap_or(0) % n.max(1)
    }
}

/// An einsum of up to three of the values, with repeated labels, marks and repeats in the output.
fn random_einsum(b: &mut ProgramBuilder, tape: &mut Tape<'_>, values: &[ValueId], plans: &[EinsumOptimize]) -> ValueId {
    // Late values are likely, so that einsums nest.
    let count = 1 + tape.below(3);
    let operands: Vec<ValueId> =
        (0..count).map(|_| values[values.len() - 1 - tape.below(5).min(values.len() - 1)]).collect();
    let mut extents: Vec<i64> = Vec::new();
    let mut marks = Vec::new();
    let mut inputs: Vec<Vec<u32>> = Vec::new();
    for (operand, &value) in operands.iter().enumerate() {
        let mut labels = Vec::new();
        for (axis, dim) in b.meta(value).shape.iter().enumerate() {
            let extent = dim.as_const().unwrap();
            let fitting: Vec<usize> = (0..extents.len()).filter(|&l| extents[l] == extent).collect();
            let stretched = extent == 1 && !extents.is_empty() && tape.below(2) == 1;
            labels.push(match tape.below(3) {
                _ if stretched => {
                    marks.push((operand as u32, axis as u32));
                    tape.below(extents.len()) as u32
                }
                0 | 1 if !fitting.is_empty() => fitting[tape.below(fitting.len())] as u32,
                _ => {
                    extents.push(extent);
                    extents.len() as u32 - 1
                }
            });
        }
        inputs.push(labels);
    }
    let rank = if extents.is_empty() { 0 } else { tape.below(4) };
    let output: Vec<u32> = (0..rank).map(|_| tape.below(extents.len()) as u32).collect();
    let plan = plans[tape.below(plans.len())].clone();
    let plan = if plan == EinsumOptimize::Path(vec![].into()) {
        EinsumOptimize::Path(vec![(0, 1); count - 1].into())
    } else {
        plan
    };
    let op = EinsumOp::new(Subscripts { inputs, output }, &marks, plan).unwrap();
    b.extension(op, &operands).unwrap()[0]
}

const SHAPES: [&[i64]; 6] = [&[2, 3], &[3, 2], &[3, 1], &[2, 2], &[1], &[0, 2]];

fn random_program(choices: &[usize], plans: &[EinsumOptimize]) -> SemanticProgram {
    let mut tape = Tape(choices.iter());
    let mut b = ProgramBuilder::new("nested");
    let mut values = Vec::new();
    for i in 0..4 {
        let empty = usize::from(tape.below(8) == 7);
        let shape = SHAPES[tape.below(SHAPES.len() - 1 + empty)];
        let shape: Vec<SymDim> = shape.iter().map(|&n| n.into()).collect();
        values.push(b.input(format!("x{i}"), DType::C64, &shape).unwrap());
    }
    for _ in 0..2 + tape.below(4) {
        let value = random_einsum(&mut b, &mut tape, &values, plans);
        values.push(value);
    }
    b.finish(&[(None, values[values.len() - 1])]).unwrap()
}

fn arrays(program: &SemanticProgram) -> Vec<Array> {
    let mut state = 7u64;
    let mut next = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let array = |i| {
        let shape: Vec<usize> = program.input_meta(i).shape.iter().map(|d| d.eval_extent(&[]).unwrap()).collect();
        Array::from_fn(&shape, |_| Complex64::new(next(), next()))
    };
    (0..program.inputs().len()).map(array).collect()
}

fn assert_same(flat: &SemanticProgram, nested: &SemanticProgram) {
    let inputs = arrays(nested);
    let inputs: Vec<&Array> = inputs.iter().collect();
    for (flat_result, nested_result) in run(flat, &inputs).iter().zip(run(nested, &inputs)) {
        flat_result.assert_close(&nested_result, 1e-11, 1e-11, &format!("{flat}{nested}"));
    }
}

/// Einsums with an operand that is the result of an einsum and used once.
fn nested(program: &SemanticProgram) -> usize {
    let is_einsum = |op: &Op| matches!(op, Op::Extension(op) if op.as_any().is::<EinsumOp>());
    let einsums: Vec<_> = program.nodes().iter().filter(|node| is_einsum(&node.op)).collect();
    let uses = |v: ValueId| {
        program.nodes().iter().flat_map(|n| n.inputs.iter()).filter(|&&u| u == v).count()
            + program.outputs().iter().filter(|o| o.value == v).count()
    };
    einsums
        .iter()
        .filter(|inner| einsums.iter().any(|n| n.inputs.contains(&inner.first_output)) && uses(inner.first_output) == 1)
        .count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn values_and_derivatives_stay(choices in proptest::collection::vec(0usize..1000, 60), mixed in any::<bool>()) {
        use EinsumOptimize::{Auto, Greedy, LeftToRight, Path};
        let plans: &[EinsumOptimize] =
            if mixed { &[Auto, Greedy, LeftToRight, Path(std::borrow::Cow::Borrowed(&[]))] } else { &[Auto] };
        let program = random_program(&choices, plans);
        let flat = flattening::run(&program).unwrap();
        flat.verify().unwrap();
        prop_assert!(mixed || nested(&flat) == 0, "{}{}", program, flat);
        assert_same(&flat, &program);

        let wrt: Vec<usize> = (0..program.inputs().len()).collect();
        let before = [jvp(&program, &wrt, &ctx()).unwrap(), vjp(&program, &wrt, &ctx()).unwrap()];
        let after = [jvp(&flat, &wrt, &ctx()).unwrap(), vjp(&flat, &wrt, &ctx()).unwrap()];
        for (before, after) in before.iter().zip(&after) {
            // Flattening before a derivative, after it, and both.
            assert_same(after, before);
            assert_same(&flattening::run(before).unwrap(), before);
            assert_same(&flattening::run(after).unwrap(), before);
        }
    }
}
