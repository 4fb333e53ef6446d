//! Families of tensor networks, and published contraction problems.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use tenferro_einsum::{EinsumOp, EinsumOptimize, Goal, Subscripts};
use tenferro_testing::announce;

/// Labels of the operands and of the result, and the extent of every label.
#[derive(Clone, Debug)]
pub struct Network {
    pub inputs: Vec<Vec<u32>>,
    pub output: Vec<u32>,
    pub extents: BTreeMap<u32, usize>,
}

impl Network {
    /// All labels of one extent.
    pub fn uniform(inputs: Vec<Vec<u32>>, output: Vec<u32>, extent: usize) -> Self {
        let extents = inputs.iter().flatten().map(|&label| (label, extent)).collect();
        Self { inputs, output, extents }
    }

    pub fn shapes(&self) -> Vec<Vec<usize>> {
        self.inputs.iter().map(|labels| labels.iter().map(|label| self.extents[label]).collect()).collect()
    }

    pub fn op(&self, plan: EinsumOptimize, goal: Goal) -> EinsumOp {
        let labels = Subscripts::new(self.inputs.clone(), self.output.clone());
        EinsumOp::new(labels, &[], plan).and_then(|op| op.with_goal(goal)).unwrap()
    }
}

/// Matrices of extent `bond` in a row, from the first label to the last.
pub fn chain(length: u32, bond: usize) -> Network {
    Network::uniform((0..length).map(|i| vec![i, i + 1]).collect(), vec![0, length], bond)
}

/// Six matrices and a vector.
pub fn chain_to_vector(extent: usize) -> Network {
    let mut inputs: Vec<Vec<u32>> = (0..6).map(|i| vec![i, i + 1]).collect();
    inputs.push(vec![6]);
    Network::uniform(inputs, vec![0], extent)
}

/// A square lattice, row by row, with open boundaries.
pub fn grid(rows: usize, columns: usize, bond: usize) -> Network {
    let across = |row: usize, column: usize| (row * columns + column) as u32;
    let down = |row: usize, column: usize| (rows * columns + row * columns + column) as u32;
    let mut inputs = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            let mut labels = Vec::new();
            if column > 0 {
                labels.push(across(row, column - 1));
            }
            if column + 1 < columns {
                labels.push(across(row, column));
            }
            if row > 0 {
                labels.push(down(row - 1, column));
            }
            if row + 1 < rows {
                labels.push(down(row, column));
            }
            inputs.push(labels);
        }
    }
    Network::uniform(inputs, Vec::new(), bond)
}

/// Random numbers for the families: xorshift (Marsaglia 2003).
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 20) % sides as u64) as usize
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for end in (1..list.len()).rev() {
            list.swap(end, self.below(end + 1));
        }
    }
}

/// A random 3-regular graph: two neighbours on a ring and one partner by lot; labels are edges, of extent 2.
pub fn cubic(nodes: usize, seed: u64) -> Network {
    let mut order: Vec<usize> = (0..nodes).collect();
    Dice::new(seed).shuffle(&mut order);
    let mut inputs: Vec<Vec<u32>> =
        (0..nodes).map(|node| vec![node as u32, ((node + nodes - 1) % nodes) as u32]).collect();
    for (edge, pair) in order.chunks_exact(2).enumerate() {
        pair.iter().for_each(|&node| inputs[node].push((nodes + edge) as u32));
    }
    Network::uniform(inputs, Vec::new(), 2)
}

/// An amplitude of a circuit on a line of qubits: layers of two-qubit gates on alternating pairs, closed with vectors.
/// Every third gate is diagonal, so that its labels go on through it as hyperedges.
pub fn circuit(qubits: usize, depth: usize, seed: u64) -> Network {
    let mut dice = Dice::new(seed);
    let mut wires: Vec<u32> = (0..qubits as u32).collect();
    let mut next = qubits as u32;
    let mut inputs: Vec<Vec<u32>> = wires.iter().map(|&wire| vec![wire]).collect();
    for layer in 0..depth {
        for first in (layer % 2..qubits - 1).step_by(2) {
            let (a, b) = (wires[first], wires[first + 1]);
            if dice.below(3) == 0 {
                inputs.push(vec![a, b]);
                continue;
            }
            (wires[first], wires[first + 1]) = (next, next + 1);
            inputs.push(vec![a, b, next, next + 1]);
            next += 2;
        }
    }
    inputs.extend(wires.iter().map(|&wire| vec![wire]));
    Network::uniform(inputs, Vec::new(), 2)
}

/// The squared norm of a matrix product state.
pub fn mps_norm(sites: usize, bond: usize, physical: usize) -> Network {
    peps_norm(1, sites, bond, physical)
}

/// The squared norm of a projected entangled pair state on a lattice with open boundaries.
pub fn peps_norm(rows: usize, columns: usize, bond: usize, physical: usize) -> Network {
    let layer = grid(rows, columns, bond);
    let labels = 2 * (rows * columns) as u32;
    let mut network = Network { inputs: Vec::new(), output: Vec::new(), extents: BTreeMap::new() };
    for (site, bonds) in layer.inputs.iter().enumerate() {
        for copy in 0..2 {
            let mut term: Vec<u32> = bonds.iter().map(|bond| bond + copy * labels).collect();
            term.iter().for_each(|&label| _ = network.extents.insert(label, bond));
            term.push(2 * labels + site as u32);
            network.extents.insert(2 * labels + site as u32, physical);
            network.inputs.push(term);
        }
    }
    network
}

/// The squared norm of a binary multi-scale entanglement renormalisation ansatz, `2^levels` sites, nothing cancelled.
pub fn mera_norm(levels: u32, bond: usize) -> Network {
    let sites = 1usize << levels;
    let mut inputs = Vec::new();
    let physical: Vec<u32> = (0..sites as u32).collect();
    let mut next = sites as u32;
    for _copy in 0..2 {
        let mut wires = physical.clone();
        while wires.len() > 1 {
            let count = wires.len();
            let mut after: Vec<u32> = wires.clone();
            // Disentanglers on pairs that the isometries below do not take, around the ring.
            for first in (1..count).step_by(2).filter(|_| count > 2) {
                let second = (first + 1) % count;
                inputs.push(vec![wires[first], wires[second], next, next + 1]);
                (after[first], after[second]) = (next, next + 1);
                next += 2;
            }
            wires = after
                .chunks_exact(2)
                .map(|pair| {
                    inputs.push(vec![pair[0], pair[1], next]);
                    next += 1;
                    next - 1
                })
                .collect();
        }
        inputs.push(wires);
    }
    Network::uniform(inputs, Vec::new(), bond)
}

/// A published problem with the paths stored with it, in column-major order.
pub struct Instance {
    pub name: String,
    pub network: Network,
    /// The stored path of fewest flops, and that of least peak.
    pub paths: [EinsumOptimize; 2],
}

/// The problems of more than two operands in `TENFERRO_INSTANCES`, else in `shared/instances` beside the repository.
pub fn instances() -> Vec<Instance> {
    let named = std::env::var_os("TENFERRO_INSTANCES").map(PathBuf::from);
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/instances"));
    let folder = named.clone().unwrap_or_else(beside);
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(_) if named.is_none() => {
            announce("contraction problems: none here, the tests that read them test nothing");
            return Vec::new();
        }
        Err(error) => panic!("TENFERRO_INSTANCES names {}: {error}", folder.display()),
    };
    let mut files: Vec<PathBuf> = entries.filter_map(|file| Some(file.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let read = |file: &PathBuf| instance(&serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap());
    let found: Vec<Instance> = files.iter().map(read).filter(|instance| instance.network.inputs.len() > 2).collect();
    assert!(!found.is_empty(), "no problem in {}", folder.display());
    announce(&format!("contraction problems: {} found", found.len()));
    found
}

fn instance(json: &Value) -> Instance {
    let numbers = |list: &Value| -> Vec<usize> {
        list.as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize).collect()
    };
    let shapes: Vec<Vec<usize>> = json["shapes"].as_array().unwrap().iter().map(numbers).collect();
    // Every character is a label there, digits too.
    let labels = |term: &str| -> Vec<u32> { term.chars().map(u32::from).collect() };
    let (inputs, output) = json["equation"].as_str().unwrap().split_once("->").unwrap();
    let mut network =
        Network { inputs: inputs.split(',').map(labels).collect(), output: labels(output), extents: BTreeMap::new() };
    for (labels, shape) in network.inputs.iter().zip(&shapes) {
        network.extents.extend(labels.iter().copied().zip(shape.iter().copied()));
    }
    // The files are row-major: reversing every term gives the same problem in column-major order.
    network.inputs.iter_mut().for_each(|term| term.reverse());
    network.output.reverse();
    let path = |which: &str| {
        let pairs = json["paths"][which]["path"].as_array().unwrap().iter().map(numbers);
        EinsumOptimize::Path(pairs.map(|pair| (pair[0] as u32, pair[1] as u32)).collect())
    };
    Instance { name: json["name"].as_str().unwrap().to_owned(), network, paths: [path("opt_flops"), path("opt_size")] }
}
