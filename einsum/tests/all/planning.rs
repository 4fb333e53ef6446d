use proptest::prelude::*;
use tenferro_core::Complex64;
use tenferro_einsum::{
    ContractionTree, EinsumNotation, EinsumOp, EinsumOptimize, Goal, Nested, OPTIMAL_LIMIT, Objective, Subscripts,
};

use crate::networks::{Network, chain_to_vector, grid};
use crate::oracle::{Array, definition, follow};

fn tree(network: &Network, plan: EinsumOptimize, goal: Goal) -> ContractionTree {
    let shapes = network.shapes();
    network.op(plan, goal).tree(&shapes.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap()
}

/// Plans that are judged by flops.
const FLOPS: Goal = Goal { objective: Objective::Flops, memory_limit: None };

fn close(found: f64, printed: f64) {
    assert!((found / printed - 1.0).abs() < 1e-3, "{found:.4e} against {printed:.3e}");
}

#[test]
fn a_chain_ending_in_a_vector() {
    let chain = chain_to_vector(256);
    for (plan, cost, peak) in [
        (EinsumOptimize::Greedy, 3.932e5, 2.560e2),
        (EinsumOptimize::Optimal, 3.932e5, 2.560e2),
        (EinsumOptimize::Auto, 3.932e5, 2.560e2),
        (EinsumOptimize::RandomGreedy { trials: 4, seed: 1 }, 3.932e5, 2.560e2),
        (EinsumOptimize::tree_sa(1), 3.932e5, 2.560e2),
        (EinsumOptimize::Pairwise, 1.007e8, 1.678e7),
        (EinsumOptimize::LeftToRight, 8.395e7, 6.554e4),
    ] {
        let tree = tree(&chain, plan, Goal::DEFAULT);
        close(tree.cost(), cost);
        close(tree.peak(), peak);
    }
}

#[test]
fn a_square_lattice() {
    let grid = grid(4, 4, 8);
    for (plan, cost, peak) in [
        (EinsumOptimize::Greedy, 5.624e6, 3.277e4),
        (EinsumOptimize::Pairwise, 3.031e8, 1.678e7),
        (EinsumOptimize::LeftToRight, 9.577e6, 3.277e4),
        (EinsumOptimize::Auto, 1.720e6, 4.096e3),
        (EinsumOptimize::tree_sa(1), 1.720e6, 4.096e3),
    ] {
        let tree = tree(&grid, plan, Goal::DEFAULT);
        close(tree.cost(), cost);
        close(tree.peak(), peak);
    }
}

#[test]
fn ties_go_to_the_lowest_numbers() {
    let tree = tree(&grid(4, 4, 8), EinsumOptimize::Greedy, Goal::DEFAULT);
    let slots: Vec<Vec<usize>> =
        tree.steps()[..4].iter().map(|step| step.operands.iter().map(|operand| operand.slot).collect()).collect();
    assert_eq!(slots, [[0, 1], [2, 3], [8, 12], [11, 15]]);
}

#[test]
fn large_networks_and_long_rows_of_scalars_are_planned() {
    assert_eq!(tree(&grid(40, 40, 2), EinsumOptimize::Greedy, Goal::DEFAULT).steps().len(), 1599);
    let apart = EinsumOp::new(Subscripts::new(vec![vec![]; 3000], []), &[], EinsumOptimize::Greedy).unwrap();
    assert_eq!(apart.tree(&vec![[].as_slice(); 3000]).unwrap().steps().len(), 2999);
}

#[test]
fn optimal_tries_outer_products() {
    // Two vectors against a large matrix: joining the vectors first costs 4 + 4 * 1000, matrix first 2 * 2000.
    let shapes: [&[usize]; 3] = [&[2], &[2], &[2, 2, 1000]];
    let op = EinsumOp::concrete(&EinsumNotation::parse("a,b,abc->c").unwrap(), &shapes).unwrap();
    let optimal = op.clone().with_plan(EinsumOptimize::Optimal).unwrap().with_goal(FLOPS).unwrap();
    assert_eq!(optimal.tree(&shapes).unwrap().cost(), 4004.0);
    assert!(op.with_plan(EinsumOptimize::Greedy).unwrap().tree(&shapes).unwrap().cost() > 4004.0);
}

#[test]
fn huge_extents_saturate() {
    let huge = usize::MAX;
    assert!(tree(&chain_to_vector(huge), EinsumOptimize::Optimal, Goal::DEFAULT).cost() > 1e30);
    let inputs: Vec<Vec<u32>> = (0..10).map(|i| (i * 10..i * 10 + 11).collect()).collect();
    let mut network = Network::uniform(inputs, Vec::new(), huge);
    for plan in [EinsumOptimize::Optimal, EinsumOptimize::Auto, EinsumOptimize::RandomGreedy { trials: 2, seed: 0 }] {
        let tree = tree(&network, plan, Goal::DEFAULT);
        assert!(!tree.cost().is_nan() && tree.check_sizes().is_err());
    }
    network.extents.insert(10, 0);
    assert!(!tree(&network, EinsumOptimize::Greedy, Goal::DEFAULT).cost().is_nan());
    assert!(!tree(&network, EinsumOptimize::tree_sa(0), Goal::DEFAULT).cost().is_nan());
}

/// A chain of matrices is cheap even where the product of all extents is beyond a float.
#[test]
fn optimal_is_exact_for_products_beyond_a_float() {
    let inputs: Vec<Vec<u32>> = (0..6).map(|i| vec![i, i + 1]).collect();
    let mut network = Network::uniform(inputs, vec![0, 6], 1 << 60);
    // The last tensors each have sixty labels of their own bond, as many as make the product of all 2^1000 and more.
    let bonds: Vec<u32> = (100..160).collect();
    network.inputs[5].extend(&bonds);
    network.inputs.push(bonds.clone());
    bonds.iter().for_each(|&bond| _ = network.extents.insert(bond, 1 << 20));
    let optimal = tree(&network, EinsumOptimize::Optimal, FLOPS).cost();
    for plan in [EinsumOptimize::Greedy, EinsumOptimize::LeftToRight, EinsumOptimize::Pairwise] {
        assert!(optimal <= tree(&network, plan, FLOPS).cost());
    }
}

#[test]
fn plans_that_do_not_fit_are_refused() {
    let op = chain_to_vector(2).op(EinsumOptimize::Auto, Goal::DEFAULT);
    let refuse = |plan| op.clone().with_plan(plan).unwrap_err().to_string();
    assert!(refuse(EinsumOptimize::Path(vec![(0, 1)].into())).contains("has 1 pair,"));
    assert!(refuse(EinsumOptimize::Path(vec![(0, 7); 6].into())).contains("step 0"));
    let tree = |pairs: &[(u32, u32)], slices: &[u32]| EinsumOptimize::Tree {
        pairs: pairs.to_vec().into(),
        slices: slices.to_vec().into(),
    };
    let good = [(0, 1), (7, 2), (8, 3), (9, 4), (10, 5), (11, 6)];
    assert!(op.clone().with_plan(tree(&good, &[1, 2])).is_ok());
    assert!(refuse(tree(&good[1..], &[])).contains("has 5 pairs"));
    assert!(refuse(tree(&[(0, 1), (0, 2), (8, 3), (9, 4), (10, 5), (11, 6)], &[])).contains("tensor 0 is used up"));
    assert!(refuse(tree(&[(0, 9), (7, 2), (8, 3), (9, 4), (10, 5), (11, 6)], &[])).contains("not made yet"));
    assert!(refuse(tree(&good, &[7])).contains("label 7"));
    assert!(refuse(tree(&good, &[1, 1])).contains("twice"));
    let nested = |operands: &[u32]| {
        let members: Vec<Nested> = operands.iter().copied().map(Nested::Operand).collect();
        EinsumOptimize::Nested(Nested::Group(members.into()))
    };
    assert!(op.clone().with_plan(nested(&[6, 5, 4, 3, 2, 1, 0])).is_ok());
    assert!(refuse(nested(&[0, 1, 2, 3, 4, 5])).contains("lacks operand 6"));
    assert!(refuse(nested(&[0, 0, 1, 2, 3, 4, 5, 6])).contains("operand 0 twice"));
    assert!(refuse(nested(&[7])).contains("has operand 7"));
    assert!(refuse(nested(&[])).contains("empty group"));
    assert!(refuse(EinsumOptimize::RandomGreedy { trials: 0, seed: 0 }).contains("trials"));
    let goal =
        |objective, memory_limit| op.clone().with_goal(Goal { objective, memory_limit }).unwrap_err().to_string();
    assert!(goal(Objective::Time, Some(0)).contains("memory_limit"));
    assert!(goal(Objective::Weighted { flops: 0, size: 0 }, None).contains("both weights are 0"));
    let many = EinsumOp::new(Subscripts::new(vec![vec![0]; 15], []), &[], EinsumOptimize::Optimal);
    assert!(many.unwrap_err().to_string().contains(&OPTIMAL_LIMIT.to_string()));
}

#[test]
fn a_tree_prints_as_a_table() {
    let tree = tree(&chain_to_vector(2), EinsumOptimize::LeftToRight, Goal::DEFAULT);
    let text = tree.to_string();
    assert_eq!(text.lines().count(), 8);
    assert!(text.contains("7  0 1") && text.contains("ij,jk->ik"), "{text}");
}

/// Equations over a few labels with small extents, some axes of which are squeezed to 1.
pub fn case() -> impl Strategy<Value = (EinsumOp, Vec<Array>)> {
    let labels = 5u32;
    let operand = prop::collection::vec(0..labels, 0..4);
    (
        prop::collection::vec(operand, 1..9),
        prop::collection::vec(0..labels, 0..4),
        prop::collection::vec(prop::sample::select(vec![0usize, 1, 2, 2, 3]), labels as usize),
        prop::collection::vec(any::<u8>(), 16),
        0u32..10,
        prop::collection::vec(any::<u32>(), 8),
    )
        .prop_map(|(inputs, output, extents, squeezes, method, picks)| {
            let output: Vec<u32> = output.into_iter().filter(|l| inputs.iter().any(|i| i.contains(l))).collect();
            let mut stretch = Vec::new();
            let mut squeezes = squeezes.into_iter().cycle();
            for (operand, labels) in inputs.iter().enumerate() {
                for axis in 0..labels.len() {
                    if squeezes.next() < Some(50) {
                        stretch.push((operand as u32, axis as u32));
                    }
                }
            }
            let count = inputs.len() as u32;
            let plan = match method {
                0 => EinsumOptimize::Greedy,
                1 => EinsumOptimize::LeftToRight,
                2 => EinsumOptimize::Pairwise,
                3 => EinsumOptimize::Optimal,
                4 => EinsumOptimize::RandomGreedy { trials: 2, seed: picks[0].into() },
                5 => EinsumOptimize::TreeSA { nbetas: 3, ntrials: 2, niters: 2, seed: picks[0].into() },
                6 => EinsumOptimize::Nested(Nested::Group((0..count).rev().map(Nested::Operand).collect())),
                7 => {
                    let number = |step: u32| if step == 1 { 0 } else { count + step - 2 };
                    let pairs = (1..count).map(|step| (step, number(step))).collect();
                    EinsumOptimize::Tree { pairs, slices: inputs[0].first().map(|_| 0).into_iter().collect() }
                }
                8 => EinsumOptimize::Auto,
                _ => {
                    let position = |step: u32, pick: u32| {
                        let left = pick % (count - step);
                        (left, (left + 1 + pick / 7 % (count - step - 1)) % (count - step))
                    };
                    EinsumOptimize::Path((0..count - 1).map(|step| position(step, picks[step as usize])).collect())
                }
            };
            let op = EinsumOp::new(Subscripts::new(inputs.clone(), output), &stretch, plan).unwrap();
            let arrays = inputs.iter().enumerate().map(|(operand, labels)| {
                let squeezed = |axis: usize| stretch.contains(&(operand as u32, axis as u32));
                let shape: Vec<usize> = labels
                    .iter()
                    .enumerate()
                    .map(|(axis, &label)| if squeezed(axis) { 1 } else { extents[label as usize] })
                    .collect();
                Array::from_fn(&shape, |i| Complex64::new((i % 5) as f64 - 2.0, (operand + i) as f64 % 3.0))
            });
            (op, arrays.collect())
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn every_tree_computes_the_definition((op, arrays) in case()) {
        let operands: Vec<&Array> = arrays.iter().collect();
        let shapes: Vec<&[usize]> = arrays.iter().map(|array| array.shape.as_slice()).collect();
        let tree = op.tree(&shapes).unwrap();
        follow(&op, &tree, &operands).assert_close(&definition(&op, &operands), 1e-12, 1e-12, &op.to_string());
        let optimal = op.clone().with_plan(EinsumOptimize::Optimal).unwrap();
        let smallest = optimal.clone().with_goal(Goal { objective: Objective::Size, ..Goal::DEFAULT }).unwrap();
        let smallest = smallest.tree(&shapes).unwrap();
        let optimal = optimal.with_goal(FLOPS).unwrap().tree(&shapes).unwrap();
        // Where an extent is 0 no order is better than another; a slice saves the sum of an operand over its own labels.
        let other = tree.extents().contains(&0) || !tree.slices().is_empty();
        prop_assert!(other || optimal.cost() <= tree.cost() * (1.0 + 1e-9), "{}\n{tree}\n{optimal}", op);
        prop_assert!(other || smallest.peak() <= tree.peak() * (1.0 + 1e-9), "{}\n{tree}\n{smallest}", op);
    }
}
