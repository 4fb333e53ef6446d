//! Networks of many operands: planning and execution.

use std::hint::black_box;

use tenferro::einsum::{EinsumOp, EinsumOptimize, Subscripts};
use tenferro::tensor::Tensor;

use crate::measure::{Config, Machine, network, note, program, reads};

/// Labels of the operands and of the result, and the extents.
pub struct Network {
    pub subscripts: Subscripts,
    pub shapes: Vec<Vec<usize>>,
}

impl Network {
    pub fn shape_refs(&self) -> Vec<&[usize]> {
        self.shapes.iter().map(Vec::as_slice).collect()
    }

    pub fn op(&self, plan: EinsumOptimize) -> EinsumOp {
        EinsumOp::new(self.subscripts.clone(), &[], plan).unwrap()
    }

    pub fn operands(&self) -> Vec<Tensor> {
        self.shapes.iter().zip(1..).map(|(shape, seed)| network(shape, seed)).collect()
    }

    /// Notes the cost and peak of a plan.
    pub fn note_cost(&self, name: &str, plan: EinsumOptimize) {
        let tree = self.op(plan).tree(&self.shape_refs()).unwrap();
        note(&format!("cost {name}"), format!("{:.4e} peak {:.3e}", tree.cost(), tree.peak()));
    }

    /// A machine that contracts the network by a plan.
    pub fn machine(&self, config: &Config, name: &str, plan: EinsumOptimize, operands: &[Tensor]) -> Machine {
        let program = program(name, operands, false, |b, v| b.extension(self.op(plan), v).unwrap()[0]);
        Machine::new(config, program, operands)
    }
}

fn chain7() -> Network {
    let mut inputs: Vec<Vec<u32>> = (0..6).map(|i| vec![i, i + 1]).collect();
    inputs.push(vec![6]);
    let mut shapes = vec![vec![256, 256]; 6];
    shapes.push(vec![256]);
    Network { subscripts: Subscripts { inputs, output: vec![0] }, shapes }
}

fn chain(n: u32, extent: usize) -> Network {
    let inputs = (0..n).map(|i| vec![i, i + 1]).collect();
    Network { subscripts: Subscripts { inputs, output: vec![0, n] }, shapes: vec![vec![extent; 2]; n as usize] }
}

fn grid(rows: u32, columns: u32, bond: usize) -> Network {
    let horizontal = |r: u32, c: u32| r * (columns - 1) + c + 1000;
    let vertical = |r: u32, c: u32| r * columns + c + 100_000;
    let mut inputs = Vec::new();
    for r in 0..rows {
        for c in 0..columns {
            let bonds = [
                (r > 0).then(|| vertical(r - 1, c)),
                (c > 0).then(|| horizontal(r, c - 1)),
                (r + 1 < rows).then(|| vertical(r, c)),
                (c + 1 < columns).then(|| horizontal(r, c)),
            ];
            inputs.push(bonds.into_iter().flatten().collect::<Vec<u32>>());
        }
    }
    let shapes = inputs.iter().map(|term| vec![bond; term.len()]).collect();
    Network { subscripts: Subscripts { inputs, output: Vec::new() }, shapes }
}

pub fn suite(config: &Config) {
    for (name, network) in [("chain7", chain7()), ("grid4x4b8", grid(4, 4, 8))] {
        if !config.wants(name) {
            continue;
        }
        network.note_cost(&format!("{name} default"), EinsumOptimize::Auto);
        let op = network.op(EinsumOptimize::Auto);
        let shapes = network.shape_refs();
        config.measure(&format!("{name} [optimize]"), || {
            black_box(op.tree(&shapes).unwrap());
        });
        let operands = network.operands();
        let mut machine = network.machine(config, name, EinsumOptimize::Auto, &operands);
        let reads = reads(&operands);
        let Machine { runtime, engine, prepared, .. } = &mut machine;
        config.measure(&format!("{name} [execute]"), || {
            black_box(runtime.run(&mut [&mut *engine], prepared, &reads).unwrap());
        });
    }
    for n in [4, 16, 64, 256] {
        plan(config, &format!("plan chain n={n}"), &chain(n, 8));
    }
    for n in [4, 8, 12] {
        plan(config, &format!("plan grid {n}x{n}"), &grid(n, n, 2));
        plan_by(config, &format!("plan grid {n}x{n} auto"), &grid(n, n, 2), EinsumOptimize::Auto);
    }
}

/// Planning by the described greedy rule, which the peer plans by.
fn plan(config: &Config, name: &str, network: &Network) {
    plan_by(config, name, network, EinsumOptimize::Greedy);
}

fn plan_by(config: &Config, name: &str, network: &Network, plan: EinsumOptimize) {
    if !config.wants(name) {
        return;
    }
    network.note_cost(name, plan.clone());
    let (op, shapes) = (network.op(plan), network.shape_refs());
    config.measure(name, || {
        black_box(op.tree(&shapes).unwrap());
    });
}
