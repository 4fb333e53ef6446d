//! Einsums, plans, goals and contraction trees in a text format, as their own text; and searches as progress bars.

use serde::Serialize;
use serde::de::DeserializeOwned;
use tenferro_einsum::{ContractionTree, EinsumOp, EinsumOptimize, Goal, Objective, Search, Subscripts, show_on};

fn through<T: Serialize + DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

#[test]
fn plans_pass_as_their_text() {
    let plan = EinsumOptimize::tree_sa(3);
    let json = serde_json::to_string(&plan).unwrap();
    assert_eq!(json, "\"optimize = tree_sa(nbetas = 300, ntrials = 10, niters = 50, seed = 3)\"");
    assert_eq!(through(&plan), plan);
    let goal = Goal { objective: Objective::Weighted { flops: 2, size: 1 }, memory_limit: Some(7) };
    assert_eq!(through(&goal), goal);

    let labels = Subscripts::new([vec![0, 1], vec![1, 2], vec![2, 3]], [0, 3]);
    let op = EinsumOp::new(labels, &[], plan).unwrap().with_goal(goal).unwrap();
    assert_eq!(through(&op), op);
    let tree = op.tree(&[&[2, 3], &[3, 4], &[4, 5]]).unwrap();
    let read: ContractionTree = through(&tree);
    assert_eq!((read.steps(), read.to_text()), (tree.steps(), tree.to_text()));
}

#[test]
fn wrong_texts_are_refused() {
    assert!(serde_json::from_str::<EinsumOptimize>("\"optimize = best\"").is_err());
    assert!(serde_json::from_str::<Goal>("\"memory_limit = 0\"").is_err());
}

#[test]
fn searches_are_shown_on_a_bar() {
    let shapes = [[2, 2].as_slice(); 7];
    let ring: Vec<Vec<u32>> = (0..7).map(|i| vec![i, (i + 1) % 7]).collect();
    let plan = EinsumOptimize::RandomGreedy { trials: 9, seed: 1 };
    let op = EinsumOp::new(Subscripts::new(ring, []), &[], plan);
    let (op, bar) = (op.unwrap(), indicatif::ProgressBar::hidden());
    let tree = op.tree_with(&shapes, &Search { progress: Some(&show_on(&bar)), ..Search::default() }).unwrap();
    assert_eq!((bar.position(), bar.length()), (9, Some(9)));
    assert_eq!(bar.message(), format!("flops {:.3e}, peak {:.3e}", tree.cost(), tree.peak()));
    assert_eq!(op.tree(&shapes).unwrap().steps(), tree.steps());
}
