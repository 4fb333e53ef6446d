use proptest::prelude::*;
use tenferro_core::Complex64;
use tenferro_einsum::{ContractionTree, EinsumNotation, EinsumOp, EinsumOptimize, OPTIMAL_LIMIT, Subscripts};

use crate::oracle::{Array, definition, follow};

fn chain(extent: usize) -> (EinsumOp, Vec<Vec<usize>>) {
    let mut inputs: Vec<Vec<u32>> = (0..6).map(|i| vec![i, i + 1]).collect();
    inputs.push(vec![6]);
    let shapes = inputs.iter().map(|labels| vec![extent; labels.len()]).collect();
    (EinsumOp::new(Subscripts::new(inputs, [0]), &[], EinsumOptimize::Auto).unwrap(), shapes)
}

/// A square lattice, row by row, with open boundaries.
fn grid(side: usize, bond: usize) -> (EinsumOp, Vec<Vec<usize>>) {
    let across = |row: usize, column: usize| (row * side + column) as u32;
    let down = |row: usize, column: usize| (side * side + row * side + column) as u32;
    let mut inputs = Vec::new();
    for row in 0..side {
        for column in 0..side {
            let mut labels = Vec::new();
            if column > 0 {
                labels.push(across(row, column - 1));
            }
            if column + 1 < side {
                labels.push(across(row, column));
            }
            if row > 0 {
                labels.push(down(row - 1, column));
            }
            if row + 1 < side {
                labels.push(down(row, column));
            }
            inputs.push(labels);
        }
    }
    let shapes = inputs.iter().map(|labels| vec![bond; labels.len()]).collect();
    (EinsumOp::new(Subscripts::new(inputs, []), &[], EinsumOptimize::Auto).unwrap(), shapes)
}

fn tree((op, shapes): &(EinsumOp, Vec<Vec<usize>>), plan: EinsumOptimize) -> ContractionTree {
    let shapes: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
    op.clone().with_plan(plan).unwrap().tree(&shapes).unwrap()
}

fn close(found: f64, printed: f64) {
    assert!((found / printed - 1.0).abs() < 1e-3, "{found:.4e} against {printed:.3e}");
}

#[test]
fn a_chain_ending_in_a_vector() {
    let chain = chain(256);
    for (plan, cost, peak) in [
        (EinsumOptimize::Greedy, 3.932e5, 2.560e2),
        (EinsumOptimize::Optimal, 3.932e5, 2.560e2),
        (EinsumOptimize::Auto, 3.932e5, 2.560e2),
        (EinsumOptimize::Pairwise, 1.007e8, 1.678e7),
        (EinsumOptimize::LeftToRight, 8.395e7, 6.554e4),
    ] {
        let tree = tree(&chain, plan);
        close(tree.cost(), cost);
        close(tree.peak(), peak);
    }
}

#[test]
fn a_square_lattice() {
    let grid = grid(4, 8);
    for (plan, cost, peak) in [
        (EinsumOptimize::Greedy, 5.624e6, 3.277e4),
        (EinsumOptimize::Pairwise, 3.031e8, 1.678e7),
        (EinsumOptimize::LeftToRight, 9.577e6, 3.277e4),
    ] {
        let tree = tree(&grid, plan);
        close(tree.cost(), cost);
        close(tree.peak(), peak);
    }
}

#[test]
fn ties_go_to_the_lowest_numbers() {
    let tree = tree(&grid(4, 8), EinsumOptimize::Greedy);
    let slots: Vec<Vec<usize>> =
        tree.steps()[..4].iter().map(|step| step.operands.iter().map(|operand| operand.slot).collect()).collect();
    assert_eq!(slots, [[0, 1], [2, 3], [8, 12], [11, 15]]);
}

#[test]
fn planning_large_networks_stays_quick() {
    let grid = grid(40, 2);
    assert_eq!(tree(&grid, EinsumOptimize::Greedy).steps().len(), 1599);
    let apart = EinsumOp::new(Subscripts::new(vec![vec![]; 3000], []), &[], EinsumOptimize::Auto).unwrap();
    assert_eq!(apart.tree(&vec![[].as_slice(); 3000]).unwrap().steps().len(), 2999);
}

#[test]
fn optimal_tries_outer_products() {
    // Two vectors against a large matrix: joining the vectors first costs 4 + 4 * 1000, matrix first 2 * 2000.
    let shapes: [&[usize]; 3] = [&[2], &[2], &[2, 2, 1000]];
    let op = EinsumOp::concrete(&EinsumNotation::parse("a,b,abc->c").unwrap(), &shapes).unwrap();
    let optimal = op.clone().with_plan(EinsumOptimize::Optimal).unwrap().tree(&shapes).unwrap();
    assert_eq!(optimal.cost(), 4004.0);
    assert!(op.with_plan(EinsumOptimize::Greedy).unwrap().tree(&shapes).unwrap().cost() > 4004.0);
}

#[test]
fn huge_extents_saturate() {
    let huge = usize::MAX;
    let (mut op, mut shapes) = chain(huge);
    assert!(tree(&(op.clone(), shapes.clone()), EinsumOptimize::Optimal).cost() > 1e30);
    let inputs: Vec<Vec<u32>> = (0..10).map(|i| (i * 10..i * 10 + 11).collect()).collect();
    op = EinsumOp::new(Subscripts::new(inputs, []), &[], EinsumOptimize::Optimal).unwrap();
    shapes = (0..10).map(|_| vec![huge; 11]).collect();
    assert!(!tree(&(op.clone(), shapes.clone()), EinsumOptimize::Optimal).cost().is_nan());
    assert!(tree(&(op.clone(), shapes.clone()), EinsumOptimize::Optimal).check_sizes().is_err());
    (shapes[0][10], shapes[1][0]) = (0, 0);
    assert!(!tree(&(op, shapes), EinsumOptimize::Greedy).cost().is_nan());
}

#[test]
fn plans_that_do_not_fit_are_refused() {
    let (op, _) = chain(2);
    let refuse = |plan| op.clone().with_plan(plan).unwrap_err().to_string();
    assert!(refuse(EinsumOptimize::Path(vec![(0, 1)].into())).contains("has 1 pair,"));
    assert!(refuse(EinsumOptimize::Path(vec![(0, 7); 6].into())).contains("step 0"));
    let many = EinsumOp::new(Subscripts::new(vec![vec![0]; 15], []), &[], EinsumOptimize::Optimal);
    assert!(many.unwrap_err().to_string().contains(&OPTIMAL_LIMIT.to_string()));
}

#[test]
fn a_tree_prints_as_a_table() {
    let tree = tree(&chain(2), EinsumOptimize::LeftToRight);
    let text = tree.to_string();
    assert_eq!(text.lines().count(), 8);
    assert!(text.contains("7  0 1") && text.contains("ij,jk->ik"), "{text}");
}

/// Equations over a few labels with small extents, some axes of which are squeezed to 1.
pub fn case() -> impl Strategy<Value = (EinsumOp, Vec<Array>)> {
    let labels = 5u32;
    let operand = prop::collection::vec(0..labels, 0..4);
    (
        prop::collection::vec(operand, 1..6),
        prop::collection::vec(0..labels, 0..4),
        prop::collection::vec(prop::sample::select(vec![0usize, 1, 2, 2, 3]), labels as usize),
        prop::collection::vec(any::<u8>(), 16),
        0u32..5,
        prop::collection::vec(any::<u32>(), 5),
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
        let optimal = op.clone().with_plan(EinsumOptimize::Optimal).unwrap().tree(&shapes).unwrap();
        prop_assert!(optimal.cost() <= tree.cost(), "{}\n{tree}\n{optimal}", op);
    }
}
