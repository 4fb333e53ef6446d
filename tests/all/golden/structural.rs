//! `structural.jsonl`: operations that move entries, with gradients.

use tenferro::program::ops::CoreOp;
use tenferro::program::shape::SymDim;
use tenferro::program::{ProgramBuilder, ValueId};
use tenferro_testing::golden::{Coverage, Record, records};

use super::{ad_context, differentiable, engines, inputs, run};

#[test]
fn golden_structural_values_and_gradients() {
    for (how, mut session) in engines() {
        let mut coverage = Coverage::default();
        for record in records("structural.jsonl") {
            let tensors: Vec<_> = record.tensors("inputs").into_iter().map(Option::unwrap).collect();
            let mut b = ProgramBuilder::new(record.text("op"));
            let values = inputs(&mut b, &tensors);
            let Some(output) = apply(&mut b, &record, &values) else {
                coverage.skip_unbuilt(record.text("op"));
                continue;
            };
            let program = b.finish(&[(None, output)]).unwrap();
            let expected = record.tensor("expected").unwrap();
            let reads: Vec<_> = tensors.iter().collect();
            let value = run(&mut session, program.clone(), &reads).remove(0);
            record.check("value", &value, &expected, record.tolerance("tol"));
            if let Some(cotangent) = record.tensor("cotangent") {
                let wrt = differentiable(&tensors);
                let vjp = tenferro::ad::vjp(&program, &wrt, &ad_context()).unwrap();
                let reads: Vec<_> = reads.into_iter().chain([&cotangent]).collect();
                let results = run(&mut session, vjp, &reads);
                let grads = record.tensors("grads");
                for (i, gradient) in wrt.into_iter().zip(&results[1..]) {
                    record.check("gradient", gradient, grads[i].as_ref().unwrap(), record.tolerance("tol"));
                }
            }
            coverage.cover();
        }
        coverage.report("structural.jsonl", how);
    }
}

/// The operation of a record, `None` if it is not built yet.
fn apply(b: &mut ProgramBuilder, record: &Record, v: &[ValueId]) -> Option<ValueId> {
    let numbers = |key: &str| -> Vec<i64> {
        let list = record.0["attrs"][key].as_array();
        list.map(|l| l.iter().filter_map(serde_json::Value::as_i64).collect()).unwrap_or_default()
    };
    let dims = |key: &str| numbers(key).into_iter().map(SymDim::constant).collect::<Vec<_>>();
    let offset = record.0["attrs"]["offset"].as_i64().unwrap_or(0);
    let op = match record.text("op") {
        "transpose" => CoreOp::Transpose { axes: record.axes("perm").into() },
        "reshape" => CoreOp::Reshape { shape: dims("shape").into() },
        "broadcast_in_dim" => CoreOp::BroadcastInDim { shape: dims("shape").into(), axes: record.axes("dims").into() },
        "slice" => CoreOp::Slice {
            start: dims("start").into(),
            limit: dims("limit").into(),
            stride: record.axes("stride").into(),
        },
        "pad" => {
            CoreOp::Pad { low: dims("low").into(), high: dims("high").into(), interior: record.axes("interior").into() }
        }
        "concatenate" => CoreOp::Concatenate { axis: record.0["attrs"]["axis"].as_u64().unwrap() as u32 },
        "reverse" => CoreOp::Reverse { axes: record.axes("axes").into() },
        // The rest has methods of the builder.
        op => {
            let axis = |key: &str| record.0["attrs"][key].as_u64().unwrap() as u32;
            let axes = || <[u32; 2]>::try_from(record.axes("axes")).unwrap();
            let k = record.0["attrs"]["k"].as_i64().unwrap_or(0);
            let value = match op {
                "take" => b.take(v[0], v[1], axis("axis")),
                "take_along_axis" => b.gather(v[0], v[1], axis("axis")),
                "scatter_add" | "scatter_add_along_axis" => b.scatter_add(v[0], v[1], v[2], axis("axis")),
                "dynamic_slice" => b.dynamic_slice(v[0], v[1], &dims("sizes")),
                "dynamic_update_slice" => b.dynamic_update_slice(v[0], v[1], v[2]),
                "tril" => b.tril(v[0], axes(), k),
                "triu" => b.triu(v[0], axes(), k),
                "extract_diag" => b.extract_diag(v[0], axis("axis1"), axis("axis2"), offset),
                "embed_diag" => b.embed_diag(v[0], offset),
                _ => return None,
            };
            return Some(value.unwrap());
        }
    };
    Some(b.op(op, v).unwrap())
}
