//! Einsums, plans, goals and contraction trees in a text format: as their own text.

use serde::Serialize;
use serde::de::DeserializeOwned;
use tenferro_einsum::{ContractionTree, EinsumOp, EinsumOptimize, Goal, Objective, Subscripts};

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
