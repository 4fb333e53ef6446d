//! Checkpointed calls: fewer values live between the passes, the same values and derivatives.

use std::sync::Arc;

use tenferro::ad::{self, AdContext};
use tenferro::einsum;
use tenferro::prelude::*;
use tenferro::program::ops::CoreOp;
use tenferro::program::passes::{CompilerOptions, compile};
use tenferro::program::{ProgramBuilder, SemanticProgram, ValueId};

type CoreResult<T> = tenferro_core::Result<T>;
type Call = fn(&mut ProgramBuilder, &Arc<SemanticProgram>, &[ValueId]) -> CoreResult<Vec<ValueId>>;

const DEPTH: usize = 6;

fn inline(b: &mut ProgramBuilder, program: &Arc<SemanticProgram>, arguments: &[ValueId]) -> CoreResult<Vec<ValueId>> {
    b.call(program, arguments)
}

fn checkpointed(
    b: &mut ProgramBuilder,
    program: &Arc<SemanticProgram>,
    arguments: &[ValueId],
) -> CoreResult<Vec<ValueId>> {
    ad::checkpoint(b, program.clone(), arguments)
}

/// One layer, `tanh(w sin(x) + exp(-x^2))`.
fn layer() -> Arc<SemanticProgram> {
    let mut b = ProgramBuilder::new("layer");
    let n = b.size("m");
    let x = b.input("x", DType::F64, std::slice::from_ref(&n)).unwrap();
    let w = b.input("w", DType::F64, &[n.clone(), n]).unwrap();
    let sine = b.sin(x).unwrap();
    let product = einsum::einsum_of_values(&mut b, "ij,j->i", &[w, sine]).unwrap();
    let square = b.mul(x, x).unwrap();
    let negative = b.neg(square).unwrap();
    let bump = b.exp(negative).unwrap();
    let sum = b.add(product, bump).unwrap();
    let y = b.tanh(sum).unwrap();
    Arc::new(b.finish(&[(None, y)]).unwrap())
}

/// `sum(layer(.. layer(x, w) .., w))`.
fn network(call: Call) -> SemanticProgram {
    let layer = layer();
    let mut b = ProgramBuilder::new("network");
    let n = b.size("n");
    let mut x = b.input("x", DType::F64, std::slice::from_ref(&n)).unwrap();
    let w = b.input("w", DType::F64, &[n.clone(), n]).unwrap();
    for _ in 0..DEPTH {
        x = call(&mut b, &layer, &[x, w]).unwrap()[0];
    }
    let sum = b.sum(x, &[0]).unwrap();
    b.finish(&[(Some("loss"), sum)]).unwrap()
}

fn context() -> AdContext {
    AdContext::new().with_rules(&einsum::ad_rules().unwrap())
}

fn inputs() -> Vec<Tensor> {
    let entries = |len: usize, seed: f64| (0..len).map(|i| (seed + i as f64 * 1.7).sin() * 0.8).collect();
    vec![
        Tensor::from_vec_col_major([3], entries(3, 0.3)).unwrap(),
        Tensor::from_vec_col_major([3, 3], entries(9, 1.1)).unwrap(),
    ]
}

fn run(session: &mut Session, program: &SemanticProgram, inputs: &[Tensor]) -> Vec<Vec<f64>> {
    let reads: Vec<_> = inputs.iter().map(|t| t.into()).collect();
    let results = session.run(Arc::new(program.clone()), &reads).unwrap();
    results.iter().map(|t| t.to_vec_col_major().unwrap()).collect()
}

/// As it is executed.
fn expanded(program: &SemanticProgram) -> SemanticProgram {
    let expanded = ad::expand_checkpoints(program).unwrap().unwrap_or_else(|| program.clone());
    expanded.verify().unwrap();
    expanded
}

/// The values with axes that the forward part makes and the backward part, from the first operation that uses the
/// cotangent on, reads.
fn residuals(vjp: &SemanticProgram) -> usize {
    let cotangent = ValueId(vjp.input_index("ct_loss").unwrap() as u32);
    let backward = vjp.nodes().iter().position(|node| node.inputs.contains(&cotangent)).unwrap();
    let first_backward = vjp.nodes()[backward].first_output;
    let made = |v: &ValueId| v.index() >= vjp.inputs().len() && *v < first_backward && vjp.meta(*v).rank() > 0;
    let mut read: Vec<ValueId> =
        vjp.nodes()[backward..].iter().flat_map(|node| node.inputs.iter()).filter(|v| made(v)).copied().collect();
    read.sort_unstable();
    read.dedup();
    read.len()
}

/// The most values with axes that are alive at once, inputs and outputs apart.
fn peak(program: &SemanticProgram) -> usize {
    let mut last = vec![0; program.values().len()];
    for (at, node) in program.nodes().iter().enumerate() {
        node.inputs.iter().for_each(|v| last[v.index()] = at);
    }
    let alive = |at: usize| {
        let made = program.nodes()[..=at].iter().flat_map(|node| node.outputs());
        made.filter(|v| program.meta(*v).rank() > 0 && last[v.index()] >= at).count()
    };
    (0..program.nodes().len()).map(alive).max().unwrap()
}

#[test]
fn only_arguments_live_from_one_pass_to_the_other() {
    let vjp = |call| expanded(&ad::vjp(&network(call), &[0, 1], &context()).unwrap());
    let (kept, recomputed) = (vjp(inline), vjp(checkpointed));
    // Between the passes: the argument of each layer but the first, which is an input.
    assert_eq!(residuals(&recomputed), DEPTH - 1, "{recomputed}");
    // Passes see a call as one operation, so they share nothing between it and the rest either.
    let compiled = compile(&ad::vjp(&network(checkpointed), &[0, 1], &context()).unwrap(), &CompilerOptions::default());
    assert_eq!(residuals(&expanded(&compiled.unwrap())), DEPTH - 1);
    assert!(residuals(&kept) >= 4 * DEPTH, "{kept}");
    assert!(peak(&recomputed) <= DEPTH + 8 && peak(&kept) >= 4 * DEPTH, "{} {}", peak(&recomputed), peak(&kept));
}

#[test]
fn what_is_recomputed_is_executed() {
    let count = |call, name: &str| {
        let vjp = Arc::new(ad::vjp(&network(call), &[0, 1], &context()).unwrap());
        let session = Session::reference();
        let mut shapes: Vec<(DType, &[usize])> = vec![(DType::F64, &[3]), (DType::F64, &[3, 3])];
        shapes.push((DType::F64, &[]));
        let targets = [session.target().clone()];
        let prepared = session.runtime().prepare_for_shapes(&vjp, &shapes, &targets).unwrap();
        prepared.commands().filter(|command| *command == name).count()
    };
    assert_eq!(count(inline, "tanh"), DEPTH);
    assert_eq!(count(checkpointed, "tanh"), 2 * DEPTH);
}

#[test]
fn values_and_derivatives_of_any_order_are_the_same() {
    let (kept, recomputed) = (network(inline), network(checkpointed));
    let ad = context();
    let x = inputs();
    let with = |more: Vec<Tensor>| -> Vec<Tensor> { x.iter().cloned().chain(more).collect() };
    let directions = with(vec![x[0].clone(), x[1].clone()]);
    let cotangent = with(vec![Tensor::scalar(0.7)]);
    for mut session in [Session::reference(), Session::cpu()] {
        let mut both = |derive: &dyn Fn(&SemanticProgram) -> CoreResult<SemanticProgram>, inputs: &[Tensor]| {
            let results = [&kept, &recomputed].map(|p| run(&mut session, &derive(p).unwrap(), inputs));
            for (a, b) in results[0].iter().flatten().zip(results[1].iter().flatten()) {
                assert!((a - b).abs() <= 1e-13 * (1.0 + a.abs()), "{a} {b}");
            }
            assert_eq!(results[0].len(), results[1].len());
        };
        both(&|p| Ok(p.clone()), &x);
        both(&|p| ad::vjp(p, &[0, 1], &ad), &cotangent);
        both(&|p| ad::grad(p, &[1], &ad), &x);
        both(&|p| ad::jvp(p, &[0, 1], &ad), &directions);
        both(&|p| ad::hvp(p, &[0, 1], &ad), &directions);
        // Reverse over forward, and a third order.
        both(
            &|p| ad::vjp(&tangent_of(&ad::jvp(p, &[0, 1], &ad)?)?, &[0], &ad),
            &with(vec![x[0].clone(), x[1].clone(), Tensor::scalar(1.0)]),
        );
        both(
            &|p| ad::jvp(&ad::hvp(p, &[0, 1], &ad)?, &[0], &ad),
            &with(vec![x[0].clone(), x[1].clone(), x[0].clone()]),
        );
    }
}

/// A program with its last output only.
fn tangent_of(program: &SemanticProgram) -> CoreResult<SemanticProgram> {
    let mut b = ProgramBuilder::new("tangent");
    let n = b.size("n");
    let shapes = [vec![n.clone()], vec![n.clone(), n.clone()], vec![n.clone()], vec![n.clone(), n]];
    let arguments = (0..4).map(|i| b.input(format!("x{i}"), DType::F64, &shapes[i])).collect::<CoreResult<Vec<_>>>()?;
    let outputs = b.call(program, &arguments)?;
    b.finish(&[(None, outputs[outputs.len() - 1])])
}

#[test]
fn the_text_of_calls_and_their_derivatives_reads_back() {
    let ad = context();
    let network = network(checkpointed);
    let jvp = ad::jvp(&network, &[0, 1], &ad).unwrap();
    let vjp = ad::vjp(&network, &[0, 1], &ad).unwrap();
    let hvp = ad::hvp(&network, &[0, 1], &ad).unwrap();
    let third = ad::vjp(&hvp, &[0], &ad).unwrap();
    for program in [network, jvp, vjp, hvp, third] {
        let text = program.to_string();
        let read = SemanticProgram::parse_with(&text, &[&einsum::EinsumPayloads]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(read, program);
        assert_eq!(read.to_string(), text);
        // What stands between linearisation and transposition is gone.
        assert!(!text.contains("tenferro.pullback"), "{text}");
    }
}

#[test]
fn calls_nest_and_have_several_results_of_any_dtype() {
    let mut b = ProgramBuilder::new("inner");
    let n = b.size("n");
    let x = b.input("x", DType::F64, &[n]).unwrap();
    let y = b.exp(x).unwrap();
    let place = b.op(CoreOp::ArgMax { axis: 0 }, &[y]).unwrap();
    let z = b.sin(y).unwrap();
    let inner = Arc::new(b.finish(&[(None, place), (None, y), (None, z)]).unwrap());

    let outer = |call: Call| {
        let mut b = ProgramBuilder::new("outer");
        let n = b.size("n");
        let x = b.input("x", DType::F64, &[n]).unwrap();
        let results = call(&mut b, &inner, &[x]).unwrap();
        let product = b.mul(results[1], results[2]).unwrap();
        let sum = b.sum(product, &[0]).unwrap();
        Arc::new(b.finish(&[(None, results[0]), (None, sum)]).unwrap())
    };
    let twice = |call: Call| {
        let mut b = ProgramBuilder::new("twice");
        let n = b.size("n");
        let x = b.input("x", DType::F64, &[n]).unwrap();
        let results = call(&mut b, &outer(call), &[x]).unwrap();
        b.finish(&[(None, results[0]), (None, results[1])]).unwrap()
    };
    let x = [inputs()[0].clone(), Tensor::scalar(1.0)];
    let session = &mut Session::cpu();
    let gradient = |program: &SemanticProgram| ad::vjp(program, &[0], &context()).unwrap();
    let reads: Vec<_> = x.iter().map(|t| t.into()).collect();
    let mut of = |call| session.run(Arc::new(gradient(&twice(call))), &reads).unwrap();
    let (kept, recomputed) = (of(inline), of(checkpointed));
    assert_eq!(kept.len(), 3);
    assert_eq!(kept[0].item::<i64>().unwrap(), recomputed[0].item::<i64>().unwrap());
    for i in 1..3 {
        assert_eq!(kept[i].to_vec_col_major::<f64>().unwrap(), recomputed[i].to_vec_col_major::<f64>().unwrap());
    }
}

#[test]
fn shapes_are_checked_where_the_call_stands() {
    let mut b = ProgramBuilder::new("f");
    let x = b.input("x", DType::F64, &[3.into()]).unwrap();
    let w = b.input("w", DType::F64, &[3.into(), 4.into()]).unwrap();
    let error = ad::checkpoint(&mut b, layer(), &[x, w]).unwrap_err().to_string();
    assert!(error.contains("axis 1 of `w` in the call of layer"), "{error}");
    let error = ad::checkpoint(&mut b, layer(), &[x]).unwrap_err().to_string();
    assert_eq!(error, "tenferro.checkpoint.v1: `operands` must be 2, not 1");
}
