//! Networks of many operands: planning and execution.

use std::hint::black_box;

use tenferro::einsum::{ConcreteEinsum, EinsumOp, EinsumOptimize, Subscripts};
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

    /// `name [what]`: runs of the prepared einsum with the default plan.
    pub fn measure(&self, config: &Config, name: &str, what: &str, operands: &[Tensor]) {
        let mut session = config.session();
        let einsum = ConcreteEinsum::new(&self.subscripts).unwrap();
        let operands: Vec<&Tensor> = operands.iter().collect();
        config.measure(&format!("{name} [{what}]"), || {
            let result = black_box(einsum.run(&mut session, &operands).unwrap());
            session.engine().recycle(result);
        });
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
        network.measure(config, name, "execute", &operands);
        let operand_refs: Vec<&Tensor> = operands.iter().collect();
        let mut session = config.session();
        config.measure(&format!("{name} [prepare]"), || {
            session.runtime().clear_prepared_cache();
            let einsum = ConcreteEinsum::new(&network.subscripts).unwrap();
            einsum.run(&mut session, &operand_refs).unwrap();
        });
        // The peer plans at every call; ours remembers what it planned for these labels and shapes.
        config.measure(&format!("{name} [one-shot]"), || {
            black_box(tenferro::einsum(&mut session, &network.subscripts, &operand_refs).unwrap());
        });
        let mut machine = network.machine(config, name, EinsumOptimize::Auto, &operands);
        let reads = reads(&operands);
        let Machine { runtime, engine, prepared, .. } = &mut machine;
        config.measure(&format!("{name} [traced run]"), || {
            black_box(runtime.run(&mut [&mut *engine], prepared, &reads).unwrap());
        });
    }
    for n in [4, 16, 64, 256] {
        plan(config, &format!("plan chain n={n}"), &format!("chain n={n} bond8"), &chain(n, 8), EinsumOptimize::Greedy);
    }
    for n in [4, 8, 12] {
        let (noted, network) = (format!("grid {n}x{n} bond2"), grid(n, n, 2));
        plan(config, &format!("plan grid {n}x{n}"), &noted, &network, EinsumOptimize::Greedy);
        plan(config, &format!("plan grid {n}x{n} auto"), &format!("{noted} auto"), &network, EinsumOptimize::Auto);
    }
}

/// Planning alone; by the described greedy rule, it is what the peer does.
fn plan(config: &Config, name: &str, noted: &str, network: &Network, plan: EinsumOptimize) {
    if !config.wants(name) {
        return;
    }
    network.note_cost(noted, plan.clone());
    let (op, shapes) = (network.op(plan), network.shape_refs());
    config.measure(name, || {
        black_box(op.tree(&shapes).unwrap());
    });
}
