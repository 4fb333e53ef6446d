//! Labels are sliced until every result fits, and the sliced whole is what it was.

use proptest::prelude::*;
use tenferro_core::DType;
use tenferro_einsum::{ContractionTree, EinsumNotation, EinsumOp, EinsumOptimize, Goal, Objective, Subscripts};

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

/// A tree that is given stays as it is, however few operands it has.
#[test]
fn slices_of_a_given_tree_are_done() {
    for (notation, shapes, pairs) in [
        ("iij->j", &[&[3, 3, 2][..]][..], vec![]),
        ("ij,jk->ik", &[&[2, 3], &[3, 2]], vec![(0, 1)]),
        ("ij,jk->ik", &[&[2, 3], &[3, 2]], vec![(1, 0)]),
        ("ij,jk,kl->li", &[&[2, 3], &[3, 2], &[2, 2]], vec![(1, 2), (3, 0)]),
    ] {
        let op = EinsumOp::concrete(&EinsumNotation::parse(notation).unwrap(), shapes).unwrap();
        let labels = op.label_count() as u32;
        for slices in (0..labels).map(|label| vec![label]).chain([vec![], (0..labels).rev().collect()]) {
            let plan = EinsumOptimize::Tree { pairs: pairs.clone().into(), slices: slices.clone().into() };
            let op = op.clone().with_plan(plan).unwrap();
            let tree = op.tree(shapes).unwrap();
            assert_eq!(tree.plan(), op.plan);
            assert_eq!(tree.slices().len(), slices.len());
            let read: EinsumOptimize = op.plan.to_string().parse().unwrap();
            assert_eq!((read, op.to_string().parse::<EinsumOp>().unwrap()), (op.plan.clone(), op.clone()));
            let arrays: Vec<Array> =
                shapes.iter().map(|shape| Array::from_fn(shape, |i| (i as f64 - 2.0).into())).collect();
            let operands: Vec<&Array> = arrays.iter().collect();
            follow(&op, &tree, &operands).assert_close(&definition(&op, &operands), 1e-12, 1e-12, &op.to_string());
        }
    }
}

/// Sliced labels have one numbering, whatever labels the equation was written in.
#[test]
fn slices_are_numbered_as_the_payload() {
    let labels = Subscripts::new([vec![9, 4], vec![4, 7]], [9, 7]);
    let plan = |slices: &[u32]| EinsumOptimize::Tree { pairs: vec![(0, 1)].into(), slices: slices.to_vec().into() };
    let bare = EinsumOp::new(labels.clone(), &[], EinsumOptimize::Auto).unwrap();
    for slices in [&[0][..], &[1], &[2, 0]] {
        let op = EinsumOp::new(labels.clone(), &[], plan(slices)).unwrap();
        assert_eq!(op, bare.clone().with_plan(plan(slices)).unwrap());
        assert_eq!(op, op.to_string().parse::<EinsumOp>().unwrap());
        let tree = op.tree(&[&[2, 3], &[3, 4]]).unwrap();
        assert_eq!(EinsumOp::new(labels.clone(), &[], tree.plan()).unwrap(), op);
    }
    assert_eq!(
        (bare.label(0, 1), bare.label(1, 1), bare.label(1, 2), bare.label(2, 0)),
        (Some(1), Some(2), None, None)
    );
    for wrong in [&[9][..], &[3], &[1, 1]] {
        let error = EinsumOp::new(labels.clone(), &[], plan(wrong)).unwrap_err().to_string();
        assert!(error.contains("slices") && error.contains("3 labels"), "{error}");
    }
}

#[test]
fn more_slices_than_can_be_counted_are_refused() {
    let sliced = tree(&grid(12, 12, 2), EinsumOptimize::Greedy, Some(1));
    assert!(sliced.slice_count() > 1e20);
    let error = sliced.check_sizes().unwrap_err().to_string();
    assert!(error.contains("memory_limit") && error.contains("of 1 elements"), "{error}");
    // A label without values hides none of the others.
    let huge = 1 << 40;
    let shapes: [&[usize]; 2] = [&[huge, huge], &[huge, 0]];
    let op = EinsumOp::concrete(&EinsumNotation::parse("ij,jk->ik").unwrap(), &shapes).unwrap();
    let plan = |slices: &[u32]| EinsumOptimize::Tree { pairs: vec![(0, 1)].into(), slices: slices.to_vec().into() };
    let checked = |slices| op.clone().with_plan(plan(slices)).unwrap().tree(&shapes).unwrap().check_sizes();
    assert!(checked(&[0, 1, 2]).unwrap_err().to_string().contains("slices"));
    assert!(checked(&[0, 2]).is_ok());
}

/// With few operands the order is free, and one that needs no slices is found where it is cheaper.
#[test]
fn a_limit_that_an_order_keeps_needs_no_slices() {
    let inputs = vec![vec![0, 1, 2], vec![3, 4], vec![0, 3, 5], vec![1, 4, 6], vec![2, 5], vec![6, 7], vec![7]];
    let network = Network::uniform(inputs, vec![], 5);
    let smallest = network.op(EinsumOptimize::Optimal, Goal { objective: Objective::Size, memory_limit: None });
    let shapes = network.shapes();
    let smallest = smallest.tree(&shapes.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
    let limit = Some(largest(&smallest) as u64);
    for plan in [EinsumOptimize::Auto, EinsumOptimize::Optimal] {
        let found = tree(&network, plan.clone(), limit);
        assert!(largest(&found) <= largest(&smallest));
        assert!(found.predicted_time() <= smallest.predicted_time() * (1.0 + 1e-9), "{plan}: {found}");
    }
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
