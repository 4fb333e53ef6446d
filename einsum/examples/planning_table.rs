//! Prints the tables of `docs/planning.md`: what the methods find on published problems and on families of networks.
//!
//! `cargo run --release -p tenferro-einsum --example planning_table`
#![allow(clippy::unwrap_used)]

#[path = "../tests/all/networks.rs"]
mod networks;

use std::time::Instant;

use networks::{Network, chain, chain_to_vector, circuit, cubic, grid, instances, mera_norm, mps_norm, peps_norm};
use tenferro_einsum::{ContractionTree, EinsumOptimize, Goal, Objective, Search};

/// A tree and the least seconds of a few plannings on one thread.
fn plan(network: &Network, plan: EinsumOptimize, objective: Objective, repeat: u32) -> (ContractionTree, f64) {
    let shapes = network.shapes();
    let shapes: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
    let op = network.op(plan, Goal { objective, memory_limit: None });
    let search = Search { threads: 1, ..Search::default() };
    let mut best = f64::INFINITY;
    let mut once = || {
        let (start, busy) = (Instant::now(), busy());
        let tree = op.tree_with(&shapes, &search).unwrap();
        let elapsed = start.elapsed().as_secs_f64();
        // The time on the processor is known to some milliseconds; it leaves out what else the machine does.
        let long = self::busy().zip(busy).map(|(now, then)| now - then).filter(|&long| long > 0.02);
        best = best.min(long.unwrap_or(elapsed));
        tree
    };
    let tree = once();
    (1..repeat).for_each(|_| _ = once());
    (tree, best)
}

/// Seconds that this thread has had a processor, where the system says so.
fn busy() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9)
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} us", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// One row: greedy, the default and the generous search.
fn row(name: &str, network: &Network, stored: &[EinsumOptimize]) {
    let figures = |tree: &ContractionTree| format!("{:.3e} / {:.1e}", tree.cost(), tree.peak());
    let mut cells = vec![format!("`{name}`"), network.inputs.len().to_string()];
    for path in stored {
        cells.push(figures(&plan(network, path.clone(), Objective::Time, 1).0));
    }
    let (greedy, seconds) = plan(network, EinsumOptimize::Greedy, Objective::Time, 100);
    cells.push(format!("{}, {}", figures(&greedy), time(seconds)));
    let (auto, seconds) = plan(network, EinsumOptimize::Auto, Objective::Time, 8);
    cells.push(format!("{}, {}", figures(&auto), time(seconds)));
    let (generous, seconds) = plan(network, EinsumOptimize::tree_sa(1), Objective::Flops, 1);
    cells.push(format!("{}, {}", figures(&generous), time(seconds)));
    let predicted = |tree: &ContractionTree| time(tree.predicted_time() * 1e-9);
    cells.push(format!("{} / {}", predicted(&auto), predicted(&generous)));
    println!("| {} |", cells.join(" | "));
}

fn main() {
    println!(
        "| problem | operands | stored, fewest flops | stored, least peak | greedy | `Auto` | `TreeSA` for flops | predicted time of both |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for instance in instances() {
        row(&instance.name, &instance.network, &instance.paths);
    }
    println!("\n| network | operands | greedy | `Auto` | `TreeSA` for flops | predicted time of both |");
    println!("|---|---|---|---|---|---|");
    let families = [
        ("chain to a vector, extent 256", chain_to_vector(256)),
        ("chain 16, bond 8", chain(16, 8)),
        ("chain 256, bond 8", chain(256, 8)),
        ("grid 4x4, bond 2", grid(4, 4, 2)),
        ("grid 8x8, bond 2", grid(8, 8, 2)),
        ("grid 12x12, bond 2", grid(12, 12, 2)),
        ("grid 4x4, bond 8", grid(4, 4, 8)),
        ("random 3-regular, 40", cubic(40, 1)),
        ("random 3-regular, 100", cubic(100, 1)),
        ("circuit, 10 qubits, depth 10", circuit(10, 10, 1)),
        ("circuit, 20 qubits, depth 20", circuit(20, 20, 1)),
        ("MPS norm, 50 sites, bond 16", mps_norm(50, 16, 2)),
        ("PEPS norm, 4x4, bond 3", peps_norm(4, 4, 3, 2)),
        ("MERA norm, 16 sites, bond 3", mera_norm(4, 3)),
        ("MERA norm, 32 sites, bond 2", mera_norm(5, 2)),
    ];
    for (name, network) in &families {
        row(name, network, &[]);
    }
    let (tree, seconds) = plan(&cubic(10_000, 1), EinsumOptimize::Greedy, Objective::Time, 3);
    println!(
        "\nGreedy order of a random 3-regular network of 10,000 tensors: {} steps in {}.",
        tree.steps().len(),
        time(seconds)
    );
}
