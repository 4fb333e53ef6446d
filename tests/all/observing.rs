//! What is said of programs before, while and after they run on the CPU engine, alone and beside the reference engine.

use std::collections::BTreeSet;

use serde_json::Value;
use tenferro::cpu::{CpuEngine, families, runtime_engine_registration};
use tenferro::prelude::*;
use tenferro::runtime::reference::{self, ReferenceEngine};
use tenferro::runtime::{Engine, Placement, Runtime};
use tenferro::tensor::TensorRead;

// Only its walk is used here, not its main.
#[allow(dead_code)]
#[path = "../../examples/profile.rs"]
mod example;

tenferro! {
    /// Products, elementwise work, reductions, views and a softmax.
    fn layer(x: f64[n, d], w: f64[d, m], b: f64[m]) -> (y: f64[n, m], loss: f64) {
        let h[i, j] = x[i, k] * w[k, j] + b[j];
        let p[i, j] = softmax[j](h[i, j]);
        let y[i, j] = tanh(p[i, j]) - h[i, j];
        (y, mean(y * y))
    }
}

fn wave(shape: &[usize]) -> Tensor {
    let len = shape.iter().product::<usize>();
    Tensor::from_vec_col_major(shape, (0..len).map(|i| (i as f64).sin()).collect()).unwrap()
}

#[test]
fn the_example_explains_and_profiles() {
    let mut text = String::new();
    let profile = example::walk(&mut text, [6, 5, 4, 3], 2).unwrap();
    assert_eq!(profile.runs().len(), 2);
    for part in
        ["attention: ", "q: f64[n, d] = [6, 4]", "einsum(", "not fused: ", "bytes at most at once", "2 runs in "]
    {
        assert!(text.contains(part), "`{part}` in {text}");
    }
    // The two products, along their only path.
    let einsum = profile.totals().into_iter().find(|total| total.name == "einsum").unwrap();
    assert_eq!((einsum.count, einsum.flops), (4, Some(2.0 * 2.0 * (6.0 * 5.0 * 4.0 + 6.0 * 5.0 * 3.0))));
}

#[test]
fn a_trace_is_json_with_every_run_and_command() {
    let profile = example::walk(&mut String::new(), [6, 5, 4, 3], 2).unwrap();
    let mut bytes = Vec::new();
    profile.write_chrome_trace(&mut bytes).unwrap();
    let trace: Value = serde_json::from_slice(&bytes).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let commands: usize = profile.runs().iter().map(|run| run.commands.len()).sum();
    assert_eq!(events.len(), commands + 2);
    assert_eq!(events.iter().filter(|event| event["cat"] == "run" && event["name"] == "attention").count(), 2);
    let mut records = profile.runs().iter().flat_map(|run| &run.commands);
    for event in events {
        assert_eq!((&event["ph"], &event["tid"]), (&Value::from("X"), &Value::from(0)));
        assert!(event["ts"].as_f64().unwrap() >= 0.0 && event["dur"].as_f64().unwrap() >= 0.0);
        if event["cat"] == "command" {
            let record = records.next().unwrap();
            assert_eq!(event["name"], record.name.as_str());
            assert_eq!(event["dur"].as_f64().unwrap(), record.time.as_nanos() as f64 / 1e3);
            assert_eq!(event["args"]["bytes"], record.bytes);
            assert_eq!(event["args"]["flops"].as_f64(), record.flops);
            assert_eq!(event["args"]["engine"], record.engine.as_str());
        }
    }
    // Nothing is a trace too.
    let (_, nothing) = Session::cpu().profile(|_| ());
    let mut bytes = Vec::new();
    nothing.write_chrome_trace(&mut bytes).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap()["traceEvents"], Value::Array(Vec::new()));
}

#[test]
fn both_engines_in_one_program_give_what_either_gives() {
    let tensors = [wave(&[5, 4]), wave(&[4, 3]), wave(&[3])];
    let inputs = tensors.each_ref().map(TensorRead::from);
    let run = |placement: Placement| {
        let builder = Runtime::builder().register_engine(runtime_engine_registration()).unwrap();
        let builder = builder.register_engine(reference::registration()).unwrap().with_placement(placement);
        let builder = builder.install_extension_module(families::einsum::module()).unwrap();
        let runtime = builder.install_extension_module(reference::module()).unwrap().build().unwrap();
        let (mut cpu, mut plain) = (CpuEngine::serial(), ReferenceEngine::new());
        let prepared = runtime.prepare(layer.program(), &inputs, &[cpu.target(), plain.target()]).unwrap();
        let mut engines: [&mut dyn Engine; 2] = [&mut cpu, &mut plain];
        let (outputs, profile) = runtime.profile(|| runtime.run(&mut engines, &prepared, &inputs).unwrap());
        let totals = profile.totals();
        let on = |id| -> BTreeSet<String> {
            totals.iter().filter(|total| total.engine == id).map(|total| total.name.clone()).collect()
        };
        let numbers = outputs.iter().flat_map(|output| output.view().to_vec_col_major::<f64>().unwrap());
        (numbers.collect::<Vec<f64>>(), on(tenferro::cpu::ENGINE_ID), on(reference::ENGINE_ID))
    };
    let (expected, all, none) = run(Placement::default());
    assert!(none.is_empty() && all.len() >= 5, "{all:?}");
    for op in &all {
        // Of families the id is pinned.
        let name = if op == "einsum" { tenferro::einsum::FAMILY_ID.to_owned() } else { op.clone() };
        let (numbers, cpu, plain) = run(Placement::default().pin(name, reference::ENGINE_ID));
        assert_eq!((plain.into_iter().collect::<Vec<_>>(), cpu.contains(op)), (vec![op.clone()], false));
        for (number, expected) in numbers.iter().zip(&expected) {
            assert!((number - expected).abs() <= 1e-13 * expected.abs().max(1.0), "{op}: {number} and {expected}");
        }
    }
    let everything = all.iter().fold(Placement::default(), |placement, op| {
        let name = if op == "einsum" { tenferro::einsum::FAMILY_ID.to_owned() } else { op.clone() };
        placement.pin(name, reference::ENGINE_ID)
    });
    let (_, cpu, plain) = run(everything);
    assert_eq!((cpu.len(), plain), (0, all));
}
