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
    let refused = |text: &str| text.parse::<ContractionTree>().unwrap_err().to_string();
    assert!(refused("\"ij,jk->ik\", tree = [(0, 1)] : [2, 3] [4, 5]").contains("[4, 5]"));
    assert!(refused("\"ij,jk->ik\", tree = [(0, 1)]").contains("expected `:`"));
}

/// A text that is read searches for nothing, whatever it asks for.
#[test]
fn reading_a_tree_never_starts_a_search() {
    let most = u32::MAX;
    for plan in [
        "optimize = greedy".to_owned(),
        format!("optimize = tree_sa(nbetas = {most}, ntrials = {most}, niters = {most}, seed = 1)"),
        format!("optimize = random_greedy(trials = {most}, seed = 1)"),
        "path = [(0, 1), (0, 1)]".to_owned(),
    ] {
        let text = format!("\"ij,jk,kl->il\", {plan} : [2, 3] [3, 4] [4, 5]");
        let error = text.parse::<ContractionTree>().unwrap_err().to_string();
        assert!(error.contains("no `tree = ..`"), "{error}");
    }
    // Such numbers are no fault of a search that is ended.
    let plan = EinsumOptimize::TreeSA { nbetas: most, ntrials: most, niters: 1, seed: 1 };
    let stop = |_: &Progress| ControlFlow::Break(());
    let search = Search { threads: 1, progress: Some(&stop) };
    let zero = EinsumOptimize::TreeSA { nbetas: 0, ntrials: most, niters: most, seed: 1 };
    assert_eq!(tree(&chain(4, 2), &zero, Goal::DEFAULT, &search).steps().len(), 3);
    assert!(plan.to_string().parse::<EinsumOptimize>().is_ok());
}

/// What is too large for any search in the time that it is worth stays greedy, and what one label ties together is planned
/// in the time of its length.
#[test]
fn ten_thousand_tensors_are_planned() {
    let count = 10_000;
    // All share a label; each has one of its own, or none, or one with the next.
    let stars = [
        (0..count).map(|i| vec![0, i + 1]).collect(),
        vec![vec![0]; count as usize],
        (0..count).map(|i| vec![0, i + 1, (i + 1) % count + 1]).collect(),
    ];
    let lattice = grid(100, 100, 2);
    for network in stars.map(|inputs| Network::uniform(inputs, vec![0], 2)).iter().chain([&lattice]) {
        for plan in [EinsumOptimize::Greedy, EinsumOptimize::Auto] {
            let tree = tree(network, &plan, Goal::DEFAULT, &Search::default());
            assert_eq!(tree.steps().iter().filter(|step| step.operands.len() == 2).count(), count as usize - 1);
        }
    }
    // A tensor that lost its partners meets others: nothing is an outer product where all share a label.
    let apart = Network::uniform((0..300).map(|i| vec![0, i + 1]).collect(), (0..=300).collect(), 1);
    for step in tree(&apart, &EinsumOptimize::Greedy, Goal::DEFAULT, &Search::default()).steps() {
        assert!(step.operands.iter().all(|operand| operand.labels.contains(&0)));
    }
}

/// The greedy orders that a search is measured against are among its candidates, and the exact search makes the largest
/// result as small as it gets.
#[test]
fn the_largest_result_is_least() {
    let network = |notation: &str, extents: &[(char, usize)]| {
        let (inputs, output) = notation.split_once("->").unwrap();
        let labels = |term: &str| term.chars().map(u32::from).collect::<Vec<u32>>();
        let extents = extents.iter().map(|&(label, extent)| (label.into(), extent)).collect();
        Network { inputs: inputs.split(',').map(labels).collect(), output: labels(output), extents }
    };
    let five = [('a', 5), ('b', 4), ('c', 7), ('d', 3), ('e', 3), ('f', 3), ('g', 4)];
    let other = [('a', 7), ('b', 4), ('c', 3), ('d', 5), ('e', 5), ('f', 3), ('g', 5)];
    let goal = Goal { objective: Objective::Size, memory_limit: None };
    for (network, least) in
        [(network("bdef,g,acde,abcg,f->", &five), 140.0), (network("ac,de,befg,adfg,bc->", &other), 225.0)]
    {
        for plan in [&EinsumOptimize::Optimal, &EinsumOptimize::Auto].into_iter().chain(&searches()[1..]) {
            assert_eq!(tree(&network, plan, goal, &Search::default()).peak(), least, "{plan}");
        }
    }
}
