//! Labels are sliced until every result fits, and the sliced whole is what it was.

use proptest::prelude::*;
use tenferro_core::DType;
use tenferro_einsum::{ContractionTree, EinsumOptimize, Goal};

use crate::networks::{Network, circuit, cubic, grid, peps_norm};
use crate::oracle::{Array, definition, follow};
use crate::planning::case;

fn tree(network: &Network, plan: EinsumOptimize, memory_limit: Option<u64>) -> ContractionTree {
    let shapes = network.shapes();
    let goal = Goal { memory_limit, ..Goal::DEFAULT };
    network.op(plan, goal).tree(&shapes.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap()
}

/// The elements of the largest result but the last.
fn largest(tree: &ContractionTree) -> f64 {
    let steps = tree.steps();
    steps[..steps.len() - 1].iter().map(|step| step.size).fold(0.0, f64::max)
}

#[test]
fn every_result_fits() {
    let plans = [
        EinsumOptimize::Auto,
        EinsumOptimize::Greedy,
        EinsumOptimize::LeftToRight,
        EinsumOptimize::RandomGreedy { trials: 3, seed: 1 },
        EinsumOptimize::TreeSA { nbetas: 10, ntrials: 2, niters: 5, seed: 1 },
    ];
    for network in [grid(6, 6, 2), cubic(30, 1), circuit(6, 6, 1), peps_norm(2, 3, 3, 2)] {
        for plan in &plans {
            let whole = largest(&tree(&network, plan.clone(), None));
            for limit in [1.0, 4.0, whole / 4.0, whole] {
                let sliced = tree(&network, plan.clone(), Some(limit.max(1.0) as u64));
                assert!(largest(&sliced) <= limit.max(1.0), "{plan}: {} of {limit}", largest(&sliced));
            }
            assert!(tree(&network, plan.clone(), Some(whole as u64)).slices().is_empty(), "{plan}");
        }
    }
}

#[test]
fn slicing_costs_little_where_little_is_sliced() {
    let network = grid(8, 8, 4);
    let whole = tree(&network, EinsumOptimize::Auto, None);
    let goal = Goal::DEFAULT.within_bytes(largest(&whole) as u64 * 8 / 16, DType::F64);
    let sliced = tree(&network, EinsumOptimize::Auto, goal.memory_limit);
    assert!(largest(&sliced) <= largest(&whole) / 16.0);
    assert!(sliced.cost() < 8.0 * whole.cost(), "{:.3e} against {:.3e}", sliced.cost(), whole.cost());
    assert!(sliced.to_string().contains("slices over"), "{sliced}");
}

#[test]
fn a_sliced_tree_is_read_back() {
    let network = grid(4, 4, 3);
    let sliced = tree(&network, EinsumOptimize::Auto, Some(20));
    assert!(!sliced.slices().is_empty());
    let read: ContractionTree = sliced.to_text().parse().unwrap();
    assert_eq!((read.steps(), read.slices()), (sliced.steps(), sliced.slices()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn slices_add_up_to_the_definition((op, arrays) in case(), limit in 1u64..6) {
        let operands: Vec<&Array> = arrays.iter().collect();
        let shapes: Vec<&[usize]> = arrays.iter().map(|array| array.shape.as_slice()).collect();
        let op = op.with_goal(Goal { memory_limit: Some(limit), ..Goal::DEFAULT }).unwrap();
        let tree = op.tree(&shapes).unwrap();
        let given = matches!(&op.plan, EinsumOptimize::Tree { slices, .. } if !slices.is_empty());
        prop_assert!(given || largest(&tree) <= limit as f64, "{}\n{tree}", op);
        follow(&op, &tree, &operands).assert_close(&definition(&op, &operands), 1e-12, 1e-12, &op.to_string());
    }
}
