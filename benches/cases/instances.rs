//! Published contraction problems, by the best paths stored with them.
//!
//! The files lie in `shared/instances` beside the repository; `TENFERRO_INSTANCES` names another folder.

use std::hint::black_box;
use std::path::PathBuf;

use serde_json::Value;
use tenferro::einsum::{EinsumOptimize, Subscripts};

use crate::einsum_n::Network;
use crate::measure::{Config, Machine, note, reads};

pub fn suite(config: &Config) {
    let folder = std::env::var_os("TENFERRO_INSTANCES")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/instances")), PathBuf::from);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        note("fail instances", format!("{} cannot be read", folder.display()));
        return;
    };
    let mut files: Vec<PathBuf> = entries.filter_map(|f| Some(f.ok()?.path())).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "json"));
    files.sort();
    for file in files {
        let instance: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        let name = instance["name"].as_str().unwrap();
        if config.wants(name) {
            measure(config, name, &instance);
        }
    }
}

fn measure(config: &Config, name: &str, instance: &Value) {
    let network = column_major(instance);
    let operands = network.operands();
    let reads = reads(&operands);
    // One or two operands have one order.
    let stored: &[&str] = if operands.len() > 2 { &["opt_flops", "opt_size"] } else { &[] };
    for which in stored {
        let pairs = instance["paths"][*which]["path"].as_array().unwrap();
        let index = |v: &Value| v.as_u64().unwrap() as u32;
        let path = EinsumOptimize::Path(pairs.iter().map(|p| (index(&p[0]), index(&p[1]))).collect());
        network.note_cost(&format!("{name} {which}"), path.clone());
        let mut machine = network.machine(config, name, path, &operands);
        let Machine { runtime, engine, prepared, .. } = &mut machine;
        config.measure(&format!("{name} [traced run, {which}]"), || {
            black_box(runtime.run(&mut [&mut *engine], prepared, &reads).unwrap());
        });
    }
    let (op, shapes) = (network.op(EinsumOptimize::Auto), network.shape_refs());
    let tree = op.tree(&shapes).unwrap();
    note(&format!("cost {name} default"), format!("{:.4e} peak {:.3e}", tree.cost(), tree.peak()));
    config.measure(&format!("{name} [optimize]"), || {
        black_box(op.tree(&shapes).unwrap());
    });
    let (flops, peak) = config.limits();
    if tree.cost() > flops || tree.peak() > peak {
        return note(&format!("skip {name} default"), "too large");
    }
    network.measure(config, name, "plan execute, default", &operands);
}

/// The files are row-major: reversing every term and shape gives the same problem in column-major order.
fn column_major(instance: &Value) -> Network {
    let mut shapes: Vec<Vec<usize>> = instance["shapes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s.as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize).collect())
        .collect();
    // Every character is a label there, digits too.
    let labels = |term: &str| -> Vec<u32> { term.chars().map(u32::from).collect() };
    let (inputs, output) = instance["equation"].as_str().unwrap().split_once("->").unwrap();
    let mut subscripts = Subscripts::new(inputs.split(',').map(labels).collect::<Vec<_>>(), labels(output));
    subscripts.inputs.iter_mut().for_each(|term| term.reverse());
    subscripts.output.reverse();
    shapes.iter_mut().for_each(|shape| shape.reverse());
    Network { subscripts, shapes }
}
