//! What holds of every search: plans depend on the network and the seed alone, and a search can be watched and ended.

use std::ops::ControlFlow;
use std::sync::Mutex;

use tenferro_einsum::{ContractionTree, EinsumOptimize, Goal, Objective, Progress, Search};

use crate::networks::{Network, chain, circuit, cubic, grid, mera_norm, mps_norm, peps_norm};

fn tree(network: &Network, plan: &EinsumOptimize, goal: Goal, search: &Search<'_>) -> ContractionTree {
    let shapes = network.shapes();
    let shapes: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
    network.op(plan.clone(), goal).tree_with(&shapes, search).unwrap()
}

fn searches() -> [EinsumOptimize; 3] {
    [
        EinsumOptimize::Auto,
        EinsumOptimize::RandomGreedy { trials: 7, seed: 3 },
        EinsumOptimize::TreeSA { nbetas: 20, ntrials: 5, niters: 10, seed: 3 },
    ]
}

#[test]
fn plans_do_not_depend_on_threads() {
    let goal = Goal { memory_limit: Some(256), ..Goal::DEFAULT };
    for network in [grid(7, 7, 2), circuit(8, 8, 1)] {
        for (plan, goal) in searches().iter().flat_map(|plan| [(plan, Goal::DEFAULT), (plan, goal)]) {
            let with = |threads| tree(&network, plan, goal, &Search { threads, ..Search::default() });
            let alone = with(1);
            assert_eq!(alone, with(2), "{plan}");
            assert_eq!(alone, with(5), "{plan}");
        }
    }
}

#[test]
fn seeds_lead_elsewhere_and_back() {
    let network = cubic(60, 1);
    let plan =
        |seed| tree(&network, &EinsumOptimize::RandomGreedy { trials: 2, seed }, Goal::DEFAULT, &Search::default());
    assert_eq!(plan(1), plan(1));
    let costs: Vec<f64> = (0..6).map(|seed| plan(seed).cost()).collect();
    assert!(costs.iter().any(|&cost| cost != costs[0]), "{costs:?}");
}

#[test]
fn a_search_is_never_worse_than_greedy() {
    let families = [
        chain(30, 3),
        grid(6, 6, 3),
        cubic(40, 2),
        circuit(6, 6, 2),
        mps_norm(12, 4, 2),
        peps_norm(3, 3, 3, 2),
        mera_norm(3, 2),
    ];
    for network in families {
        for objective in [Objective::Time, Objective::Flops, Objective::Size, Objective::Weighted { flops: 1, size: 1 }]
        {
            let goal = Goal { objective, memory_limit: None };
            let value = |plan: &EinsumOptimize| {
                let tree = tree(&network, plan, goal, &Search::default());
                match objective {
                    Objective::Time => tree.predicted_time(),
                    Objective::Flops => tree.cost(),
                    Objective::Size => tree.peak(),
                    _ => tree.cost().log2() + tree.peak().log2(),
                }
            };
            let greedy = value(&EinsumOptimize::Greedy);
            for plan in searches() {
                let found = value(&plan);
                assert!(found <= greedy * (1.0 + 1e-9), "{plan}, {objective}: {found} against {greedy}");
            }
        }
    }
}

/// Each objective is best at what it is about.
#[test]
fn objectives_are_what_is_made_small() {
    let network = peps_norm(3, 4, 3, 2);
    let plan = EinsumOptimize::TreeSA { nbetas: 40, ntrials: 4, niters: 20, seed: 1 };
    let with = |objective| tree(&network, &plan, Goal { objective, memory_limit: None }, &Search::default());
    let [time, flops, size] = [Objective::Time, Objective::Flops, Objective::Size].map(with);
    assert!(flops.cost() <= time.cost() && flops.cost() <= size.cost());
    assert!(size.peak() <= time.peak() && size.peak() <= flops.peak());
    assert!(time.predicted_time() <= flops.predicted_time() && time.predicted_time() <= size.predicted_time());
}

#[test]
fn progress_is_told_and_a_search_can_be_ended() {
    let network = grid(6, 6, 2);
    let plan = EinsumOptimize::RandomGreedy { trials: 50, seed: 1 };
    for threads in [1, 3] {
        let seen: Mutex<Vec<Progress>> = Mutex::new(Vec::new());
        let tell = |progress: &Progress| {
            seen.lock().unwrap().push(*progress);
            ControlFlow::Continue(())
        };
        let whole = tree(&network, &plan, Goal::DEFAULT, &Search { threads, progress: Some(&tell) });
        let seen = seen.into_inner().unwrap();
        assert_eq!(seen.len(), 50);
        assert!(seen.iter().enumerate().all(|(i, progress)| progress.done == i as u32 + 1 && progress.total == 50));
        assert_eq!((seen[49].flops, seen[49].peak), (whole.cost(), whole.peak()));

        let stop = |progress: &Progress| {
            if progress.done < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        for plan in [plan.clone(), EinsumOptimize::Auto, EinsumOptimize::tree_sa(1)] {
            let ended = tree(&network, &plan, Goal::DEFAULT, &Search { threads, progress: Some(&stop) });
            assert_eq!(ended.steps().len(), 35);
        }
        let at_once = |_: &Progress| ControlFlow::Break(());
        let ended = tree(&network, &EinsumOptimize::Auto, Goal::DEFAULT, &Search { threads, progress: Some(&at_once) });
        let greedy = tree(&network, &EinsumOptimize::Greedy, Goal::DEFAULT, &Search::default());
        assert!(ended.predicted_time() <= greedy.predicted_time());
    }
}

#[test]
fn trees_are_drawn_and_read_back() {
    for network in [grid(3, 4, 2), circuit(5, 4, 3), Network::uniform(vec![vec![0, 1]], vec![1], 3)] {
        let tree = tree(&network, &EinsumOptimize::Auto, Goal::DEFAULT, &Search::default());
        let read: ContractionTree = tree.to_text().parse().unwrap();
        assert_eq!((read.steps(), read.to_text()), (tree.steps(), tree.to_text()));
        let (svg, dot) = (tree.to_svg(), tree.to_dot());
        assert_eq!(svg.matches("<circle").count(), network.inputs.len() + tree.steps().len());
        let operands: usize = tree.steps().iter().map(|step| step.operands.len()).sum();
        assert_eq!((svg.matches("<line").count(), dot.matches(" -> t").count()), (operands, operands));
        assert!(!svg.contains("NaN") && svg.ends_with("</svg>\n"));
    }
    assert!("\"ij,jk->ik\" : [2, 3] [4, 5]".parse::<ContractionTree>().unwrap_err().to_string().contains("[4, 5]"));
    assert!("\"ij,jk->ik\"".parse::<ContractionTree>().unwrap_err().to_string().contains("expected `:`"));
}
