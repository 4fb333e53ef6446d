use proptest::prelude::*;
use tenferro_core::Complex64;
use tenferro_core::ad::{AdContext, hvp, jvp, vjp};
use tenferro_core::dtype::DType;
use tenferro_core::program::{ProgramBuilder, SemanticProgram};
use tenferro_core::shape::SymDim;
use tenferro_einsum::{EinsumNotation, EinsumOp, EinsumOptimize, Goal, Objective, ad_rules};

use crate::interpreter::run;
use crate::oracle::Array;
use crate::planning::case;

fn ctx() -> AdContext {
    AdContext::new().with_rules(&ad_rules().unwrap())
}

fn program(op: EinsumOp, operands: &[Array], dtype: DType) -> SemanticProgram {
    let mut b = ProgramBuilder::new("p");
    let inputs: Vec<_> = operands
        .iter()
        .enumerate()
        .map(|(i, operand)| {
            let dims: Vec<SymDim> = operand.shape.iter().map(|&extent| extent.into()).collect();
            b.input(format!("x{i}"), dtype, &dims).unwrap()
        })
        .collect();
    let y = b.extension(op, &inputs).unwrap()[0];
    b.finish(&[(None, y)]).unwrap()
}

fn concrete(notation: &str, operands: &[Array]) -> EinsumOp {
    let shapes: Vec<&[usize]> = operands.iter().map(|operand| operand.shape.as_slice()).collect();
    EinsumOp::concrete(&EinsumNotation::parse(notation).unwrap(), &shapes).unwrap()
}

#[test]
fn the_gradient_of_a_stretched_axis_is_summed_back() {
    let operands = [Array::new(&[2, 1], &[1.0, 2.0]), Array::new(&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])];
    for notation in ["ij,jk->ik", "...j,jk->...k"] {
        let program = vjp(&program(concrete(notation, &operands), &operands, DType::F64), &[0, 1], &ctx()).unwrap();
        let cotangent = Array::new(&[2, 2], &[1.0; 4]);
        let result = run(&program, &[&operands[0], &operands[1], &cotangent]);
        assert_eq!(result[1], Array::new(&[2, 1], &[21.0, 21.0]), "{program}");
        assert_eq!(result[2], Array::new(&[3, 2], &[3.0; 6]), "{program}");
    }
}

#[test]
fn the_gradient_of_a_trace_is_on_the_diagonal() {
    let operands = [Array::new(&[2, 2, 3], &[1.0; 12])];
    let program = vjp(&program(concrete("iij->", &operands), &operands, DType::F64), &[0], &ctx()).unwrap();
    let result = run(&program, &[&operands[0], &Array::new(&[], &[5.0])]);
    let expected = [5.0, 0.0, 0.0, 5.0].repeat(3);
    assert_eq!(result[1], Array::new(&[2, 2, 3], &expected), "{program}");
}

#[test]
fn the_backward_of_a_fixed_path_follows_the_same_tree() {
    let operands = ["", "", "", ""].map(|_| Array::zeros(&[2, 2]));
    let op = concrete("(ab,bc),(cd,de)->ae", &operands);
    let program = vjp(&program(op, &operands, DType::F64), &[2], &ctx()).unwrap();
    // Cotangent `ae` with the product of the first two, then with the last.
    assert!(program.to_string().contains("path = [(1, 2), (0, 2), (1, 0)]"), "{program}");
}

#[test]
fn second_order_nests() {
    let operands = [Array::new(&[2], &[1.0, 2.0]), Array::new(&[2, 2], &[1.0, 2.0, 3.0, 4.0])];
    let program = program(
        concrete("i,ij,j->", &[operands[0].clone(), operands[1].clone(), operands[0].clone()]),
        &[operands[0].clone(), operands[1].clone(), operands[0].clone()],
        DType::F64,
    );
    let hvp = hvp(&program, &[0, 2], &ctx()).unwrap();
    let v = Array::new(&[2], &[1.0, -1.0]);
    let zero = Array::zeros(&[2]);
    let result = run(&hvp, &[&operands[0], &operands[1], &operands[0], &v, &zero]);
    // F = x' A y: moving x by v changes dF/dy by A' v and dF/dx not at all.
    assert_eq!(result[0], zero, "{hvp}");
    assert_eq!(result[1], Array::new(&[2], &[-1.0, -1.0]), "{hvp}");
}

fn inner(a: &Array, b: &Array) -> f64 {
    a.data.iter().zip(&b.data).map(|(x, y)| (x.conj() * y).re).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    /// Re <ct, J v> = sum over operands of Re <J' ct, v>, for any equation, plan and stretch.
    #[test]
    fn forward_and_reverse_are_adjoint((op, operands) in case()) {
        let all: Vec<usize> = (0..operands.len()).collect();
        let primal = program(op, &operands, DType::C64);
        let wave = |shape: &[usize], phase: usize| {
            Array::from_fn(shape, |i| Complex64::new(((i * 7 + phase) % 5) as f64 - 2.0, ((i + phase) % 4) as f64))
        };
        let tangents: Vec<Array> = operands.iter().enumerate().map(|(i, operand)| wave(&operand.shape, i)).collect();
        let inputs: Vec<&Array> = operands.iter().chain(&tangents).collect();
        let forward = run(&jvp(&primal, &all, &ctx()).unwrap(), &inputs);
        let cotangent = wave(&forward[0].shape, 3);
        let inputs: Vec<&Array> = operands.iter().chain([&cotangent]).collect();
        let reverse = run(&vjp(&primal, &all, &ctx()).unwrap(), &inputs);
        let left = inner(&cotangent, &forward[1]);
        let right: f64 = reverse[1..].iter().zip(&tangents).map(|(gradient, tangent)| inner(gradient, tangent)).sum();
        for (gradient, operand) in reverse[1..].iter().zip(&operands) {
            prop_assert_eq!(&gradient.shape, &operand.shape);
        }
        prop_assert!((left - right).abs() <= 1e-9 * (1.0 + left.abs()), "{left} against {right}\n{primal}");
    }
}

#[test]
fn trees_slices_and_goals_are_inherited() {
    let operands = ["", "", ""].map(|_| Array::zeros(&[2, 2]));
    let goal = Goal { objective: Objective::Flops, memory_limit: Some(2) };
    let tree = EinsumOptimize::Tree { pairs: vec![(1, 2), (0, 3)].into(), slices: vec![2].into() };
    let op = concrete("ab,bc,cd->ad", &operands).with_plan(tree).unwrap().with_goal(goal).unwrap();
    let backward = vjp(&program(op.clone(), &operands, DType::F64), &[1], &ctx()).unwrap().to_string();
    // The cotangent is `ad`, then come `ab` and `cd`: it meets the first, and their result the last; `c` is sliced.
    let expected = "tree = [(0, 1), (3, 2)], slices = [3], objective = flops, memory_limit = 2";
    assert!(backward.contains("\"ij,ik,lj->kl\"") && backward.contains(expected), "{backward}");
    let op = op.with_plan(EinsumOptimize::tree_sa(7)).unwrap();
    let backward = vjp(&program(op, &operands, DType::F64), &[1], &ctx()).unwrap().to_string();
    assert!(backward.contains("seed = 7), objective = flops, memory_limit = 2"), "{backward}");
}

#[test]
fn plans_without_a_fixed_order_are_inherited() {
    let operands = ["", "", ""].map(|_| Array::zeros(&[2, 2]));
    let op = concrete("ab,bc,cd->ad", &operands).with_plan(EinsumOptimize::Greedy).unwrap();
    let program = vjp(&program(op, &operands, DType::F64), &[1], &ctx()).unwrap();
    assert!(program.to_string().contains("optimize = greedy"), "{program}");
}
