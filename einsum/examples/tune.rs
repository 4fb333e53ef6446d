#![allow(dead_code)]
#[path = "../tests/all/networks.rs"]
mod networks;
use networks::*;
fn cpu() -> f64 {
    std::fs::read_to_string("/proc/self/schedstat").unwrap().split(' ').next().unwrap().parse::<f64>().unwrap() * 1e-9
}
use tenferro_einsum::*;
fn main() {
    let best = [2.745e9, 7.817e8, 1.444e8, 1.467e8, 1.011e8, 2.299e10, 1.135e7, 580.0, 3.14e4, 1.32e6, 1.72e6, 3.932e5];
    let mut all: Vec<(String, Network)> = instances().into_iter().map(|i| (i.name, i.network)).collect();
    for n in [4, 8, 12] {
        all.push((format!("grid{n}"), grid(n, n, 2)));
    }
    all.push(("grid4b8".into(), grid(4, 4, 8)));
    all.push(("chain7".into(), chain_to_vector(256)));
    let plan = match std::env::var("PLAN").as_deref() {
        Ok("greedy") => EinsumOptimize::Greedy,
        Ok("rg") => EinsumOptimize::RandomGreedy { trials: 64, seed: 0 },
        Ok("sa") => EinsumOptimize::tree_sa(1),
        _ => EinsumOptimize::Auto,
    };
    let goal = match std::env::var("GOAL").as_deref() {
        Ok("flops") => Goal { objective: Objective::Flops, ..Goal::DEFAULT },
        _ => Goal::DEFAULT,
    };
    let threads = std::env::var("THREADS").ok().and_then(|v| v.parse().ok()).unwrap_or(1);
    let only = std::env::var("ONLY").unwrap_or_default();
    for ((name, n), best) in all.iter().zip(best).filter(|((n, _), _)| only.split(",").any(|o| n.contains(o))) {
        let shapes = n.shapes();
        let shapes: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
        let op = n.op(plan.clone(), goal);
        let mut t = f64::MAX;
        let mut tree = None;
        for _ in 0..3 {
            let s = cpu();
            tree = Some(op.tree_with(&shapes, &Search { threads, ..Search::default() }).unwrap());
            t = t.min(cpu() - s);
        }
        let tree = tree.unwrap();
        println!(
            "{:34} {:>10.4e} {:6.3} peak {:.2e} time {:.3e} plan {:9.3} ms",
            name,
            tree.cost(),
            tree.cost() / best,
            tree.peak(),
            tree.predicted_time(),
            t * 1e3
        );
    }
}
