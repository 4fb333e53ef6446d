//! Orders of contraction: what the methods find for a chain and for square lattices, and what it is worth.
//!
//! `cargo run --release --example einsum_planning [SVG]` prints the tables, and draws the tree of one lattice in `SVG`,
//! a file in the temporary folder unless it is named.

use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tenferro::einsum::{EinsumOp, EinsumOptimize, Goal, Objective, Subscripts, einsum_with};
use tenferro::prelude::*;
use tenferro::program::ProgramBuilder;
use tenferro::tensor::{Tensor, TensorRead};

/// A network whose labels all have one extent.
struct Network {
    name: String,
    labels: Subscripts,
    extent: usize,
}

/// Six matrices and a vector.
fn chain(extent: usize) -> Network {
    let mut inputs: Vec<Vec<u32>> = (0..6).map(|i| vec![i, i + 1]).collect();
    inputs.push(vec![6]);
    Network { name: format!("chain of 7, extent {extent}"), labels: Subscripts::new(inputs, [0]), extent }
}

/// A square lattice with open boundaries, contracted to a number.
fn lattice(side: u32, bond: usize) -> Network {
    let right = |row: u32, column: u32| row * side + column;
    let down = |row: u32, column: u32| side * side + row * side + column;
    let mut inputs = Vec::new();
    for (row, column) in (0..side * side).map(|site| (site / side, site % side)) {
        let bonds = [
            (column > 0).then(|| right(row, column.wrapping_sub(1))),
            (column + 1 < side).then(|| right(row, column)),
            (row > 0).then(|| down(row.wrapping_sub(1), column)),
            (row + 1 < side).then(|| down(row, column)),
        ];
        inputs.push(bonds.into_iter().flatten().collect::<Vec<u32>>());
    }
    Network { name: format!("lattice {side}x{side}, bond {bond}"), labels: Subscripts::new(inputs, []), extent: bond }
}

impl Network {
    fn shapes(&self) -> Vec<Vec<usize>> {
        self.labels.inputs.iter().map(|labels| vec![self.extent; labels.len()]).collect()
    }

    fn op(&self, plan: EinsumOptimize) -> Result<EinsumOp, Box<dyn Error>> {
        Ok(EinsumOp::new(self.labels.clone(), &[], plan)?)
    }

    /// Operands whose network contracts to something like 1.
    fn operands(&self) -> tenferro::Result<Vec<Tensor>> {
        let operand = |(seed, shape): (usize, Vec<usize>)| {
            let count: usize = shape.iter().product();
            let entry = |i: usize| (1.0 + ((i * 7 + seed * 3) % 11) as f64 / 11.0) / (count as f64).sqrt();
            Ok(Tensor::from_vec_col_major(&shape, (0..count).map(entry).collect())?)
        };
        self.shapes().into_iter().enumerate().map(operand).collect()
    }

    /// The least time of the runs in a tenth of a second of the prepared program, and its first value.
    fn execute(&self, cpu: &mut Session, plan: EinsumOptimize) -> Result<(Duration, f64), Box<dyn Error>> {
        let operands = self.operands()?;
        let mut builder = ProgramBuilder::new("network");
        let mut values = Vec::new();
        for (place, operand) in operands.iter().enumerate() {
            let shape: Vec<_> = operand.shape().iter().map(|&extent| extent.into()).collect();
            values.push(builder.input(format!("x{place}"), operand.dtype(), &shape)?);
        }
        let result = einsum_with(&mut builder, self.labels.clone(), plan, &values)?;
        let program = std::sync::Arc::new(builder.finish(&[(None, result)])?);
        let reads: Vec<TensorRead<'_>> = operands.iter().map(TensorRead::from).collect();
        let mut value = cpu.run(&program, &reads)?;
        let mut best = Duration::MAX;
        let begin = Instant::now();
        while best == Duration::MAX || begin.elapsed() < Duration::from_millis(100) {
            let start = Instant::now();
            value = cpu.run(&program, &reads)?;
            best = best.min(start.elapsed());
        }
        Ok((best, value[0].as_slice::<f64>()?[0]))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut cpu = Session::cpu();
    for network in [chain(256), lattice(4, 8), lattice(8, 2), lattice(12, 2)] {
        println!("{}", network.name);
        let shapes = network.shapes();
        let shapes: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
        for (name, plan) in [
            ("Auto", EinsumOptimize::Auto),
            ("Greedy", EinsumOptimize::Greedy),
            ("LeftToRight", EinsumOptimize::LeftToRight),
            ("Pairwise", EinsumOptimize::Pairwise),
            ("RandomGreedy, 64 trials", EinsumOptimize::RandomGreedy { trials: 64, seed: 1 }),
            ("TreeSA", EinsumOptimize::tree_sa(1)),
        ] {
            let op = network.op(plan.clone())?;
            let start = Instant::now();
            let tree = op.tree(&shapes)?;
            let planning = start.elapsed();
            // What no machine has time or memory for is only planned.
            let run = match tree.cost() < 1e9 && tree.peak() < 1e8 {
                true => {
                    let (time, value) = network.execute(&mut cpu, tree.plan())?;
                    format!("executed in {time:.1?}, value {value:.6e}")
                }
                false => "not executed".to_owned(),
            };
            let (cost, peak) = (tree.cost(), tree.peak());
            println!("  {name:<24} flops {cost:.3e}  peak {peak:.3e}  planned in {planning:.1?}, {run}");
        }
    }

    let network = lattice(4, 8);
    let shapes = network.shapes();
    let shapes: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
    let tree = network.op(EinsumOptimize::Auto)?.tree(&shapes)?;
    println!("\nAuto on {}:\n{}", network.name, tree.report());

    let goal = Goal { objective: Objective::Time, memory_limit: Some(512) };
    let sliced = network.op(EinsumOptimize::Auto)?.with_goal(goal)?.tree(&shapes)?;
    println!("\nThe same with at most 512 elements in a result:\n{}", sliced.report());

    let file = std::env::args_os().nth(1).map_or_else(|| std::env::temp_dir().join("lattice.svg"), PathBuf::from);
    std::fs::write(&file, tree.to_svg())?;
    println!("\nThe tree is drawn in {}", file.display());
    Ok(())
}
