//! `elementwise.jsonl` and our own `operations.jsonl`: values and gradients of elementwise operations, reductions and
//! normalisations.

use tenferro::dtype::ScalarValue;
use tenferro::prelude::*;
use tenferro::program::composite;
use tenferro::program::ops::{Comparison, CoreOp};
use tenferro::program::{ProgramBuilder, ValueId};
use tenferro_testing::golden::{Coverage, Record, own_records, records};

use super::{ad_context, differentiable, engines, inputs, run};

#[test]
fn golden_elementwise_values_and_gradients() {
    values_and_gradients("elementwise.jsonl", &records("elementwise.jsonl"));
}

#[test]
fn own_values_and_gradients() {
    values_and_gradients("operations.jsonl", &own_records());
}

fn values_and_gradients(file: &str, records: &[Record]) {
    for (how, mut session) in engines() {
        let mut coverage = Coverage::default();
        for record in records {
            let tensors: Vec<_> = record.tensors("inputs").into_iter().map(Option::unwrap).collect();
            let mut b = ProgramBuilder::new(record.text("op"));
            let values = inputs(&mut b, &tensors);
            let values = stretched(&mut b, &values);
            let Some(output) = apply(&mut b, record, &values) else {
                coverage.skip_unbuilt(record.text("op"));
                continue;
            };
            let program = b.finish(&[(None, output)]).unwrap();
            let expected = record.tensor("expected").unwrap();
            let reads: Vec<_> = tensors.iter().collect();
            let Some(cotangent) = record.tensor("cotangent") else {
                let value = run(&mut session, program, &reads).remove(0);
                record.check("value", &value, &expected, record.tolerance("tol"));
                coverage.cover();
                continue;
            };
            let wrt = differentiable(&tensors);
            let vjp = tenferro::ad::vjp(&program, &wrt, &ad_context()).unwrap();
            let reads: Vec<_> = reads.into_iter().chain([&cotangent]).collect();
            let mut results = run(&mut session, vjp, &reads).into_iter();
            let expected = own_convention(record, [0.0, f64::INFINITY], &tensors[0], &expected);
            record.check("value", &results.next().unwrap(), &expected, record.tolerance("tol"));
            let grads = record.tensors("grads");
            for (i, gradient) in wrt.into_iter().zip(results) {
                let theirs = masked_convention(record, &tensors[i], grads[i].as_ref().unwrap());
                let expected = own_convention(record, [0.0, 1.0], &tensors[i], &theirs);
                record.check("gradient", &gradient, &expected, record.tolerance("tol_grad"));
            }
            coverage.cover();
        }
        coverage.report(file, how);
    }
}

/// Values or slopes where the tags `convention:value` and `convention:grad` leave a choice and another one was made:
/// gates have their limits at `-inf` and `inf` here, NaN in the records, whose cotangents are 1 there.
fn own_convention(record: &Record, [below, above]: [f64; 2], x: &Tensor, theirs: &Tensor) -> Tensor {
    let gate = matches!(record.text("op"), "silu" | "gelu" | "gelu_tanh");
    if !gate || !record.has_tag("convention:value") || x.dtype() != DType::F64 {
        return theirs.clone();
    }
    Tensor::from_fn(x.shape(), |index| match x.get::<f64>(index).unwrap() {
        f64::NEG_INFINITY => below,
        f64::INFINITY => above,
        _ => theirs.get::<f64>(index).unwrap(),
    })
    .unwrap()
}

/// The gradient where the tag `convention:grad` leaves a choice: `logsumexp` over nothing but `-inf` has gradient 0
/// here, NaN in the records.
fn masked_convention(record: &Record, x: &Tensor, theirs: &Tensor) -> Tensor {
    if record.text("op") != "logsumexp" || !record.has_tag("convention:grad") || x.dtype() != DType::F64 {
        return theirs.clone();
    }
    let (axes, value) = (record.axes("axes"), record.tensor("expected").unwrap());
    Tensor::from_fn(x.shape(), |index| {
        let kept = (0..index.len()).filter(|&axis| !axes.contains(&(axis as u32))).map(|axis| index[axis]);
        let masked = value.get::<f64>(&kept.collect::<Vec<_>>()) == Ok(f64::NEG_INFINITY);
        if masked { 0.0 } else { theirs.get::<f64>(index).unwrap() }
    })
    .unwrap()
}

/// Operands of equal rank, extents 1 repeated.
fn stretched(b: &mut ProgramBuilder, values: &[ValueId]) -> Vec<ValueId> {
    let shapes: Vec<_> = values.iter().map(|&v| b.meta(v).shape.clone()).collect();
    let one_rank = shapes.iter().all(|s| s.len() == shapes[0].len());
    if !one_rank || shapes.iter().all(|s| *s == shapes[0]) {
        return values.to_vec();
    }
    let widest = |axis: usize| {
        let wide = shapes.iter().map(|s| s[axis].clone()).find(|d| d.as_const() != Some(1));
        wide.unwrap_or(1.into())
    };
    let shape: Vec<_> = (0..shapes[0].len()).map(widest).collect();
    let axes: Vec<u32> = (0..shape.len() as u32).collect();
    values.iter().map(|&v| b.broadcast_in_dim(v, &shape, &axes).unwrap()).collect()
}

/// The operation of a record, `None` if it is not built yet.
fn apply(b: &mut ProgramBuilder, record: &Record, v: &[ValueId]) -> Option<ValueId> {
    let axes = record.axes("axes");
    let axis = || record.0["attrs"]["axis"].as_u64().map_or(0, |a| a as u32);
    let number = |key: &str| record.0["attrs"][key].as_f64().unwrap();
    let dtype = || DType::from_name(record.0["attrs"]["dtype"].as_str().unwrap()).unwrap();
    Some(
        match record.text("op") {
            "exp" => b.exp(v[0]),
            "expm1" => b.expm1(v[0]),
            "log" => b.log(v[0]),
            "log1p" => b.log1p(v[0]),
            "sin" => b.sin(v[0]),
            "cos" => b.cos(v[0]),
            "tan" => b.tan(v[0]),
            "asin" => b.asin(v[0]),
            "acos" => b.acos(v[0]),
            "atan" => b.atan(v[0]),
            "sinh" => b.sinh(v[0]),
            "cosh" => b.cosh(v[0]),
            "tanh" => b.tanh(v[0]),
            "sqrt" => b.sqrt(v[0]),
            "rsqrt" => b.rsqrt(v[0]),
            "cbrt" => b.cbrt(v[0]),
            "erf" => b.erf(v[0]),
            "erfc" => b.erfc(v[0]),
            "floor" => b.floor(v[0]),
            "ceil" => b.ceil(v[0]),
            "round" => b.round(v[0]),
            "not" => b.not(v[0]),
            "is_finite" => b.is_finite(v[0]),
            "stop_gradient" => b.stop_gradient(v[0]),
            "convert" => b.convert(v[0], dtype()),
            "neg" => b.neg(v[0]),
            "abs" => b.abs(v[0]),
            "sign" => b.sign(v[0]),
            "conj" => b.conj(v[0]),
            "real" => b.real(v[0]),
            "imag" => b.imag(v[0]),
            "add" => b.add(v[0], v[1]),
            "sub" => b.sub(v[0], v[1]),
            "mul" => b.mul(v[0], v[1]),
            "div" => b.div(v[0], v[1]),
            "rem" => b.rem(v[0], v[1]),
            "pow" => b.pow(v[0], v[1]),
            "atan2" => b.atan2(v[0], v[1]),
            "complex" => b.complex(v[0], v[1]),
            "and" => b.and(v[0], v[1]),
            "or" => b.or(v[0], v[1]),
            "maximum" => b.maximum(v[0], v[1]),
            "minimum" => b.minimum(v[0], v[1]),
            "select" => b.select(v[0], v[1], v[2]),
            "compare" => b.compare(direction(record), v[0], v[1]),
            "sigmoid" => composite::sigmoid(b, v[0]),
            "softplus" => composite::softplus(b, v[0]),
            "silu" => composite::silu(b, v[0]),
            "relu" => composite::relu(b, v[0]),
            "gelu" => composite::gelu(b, v[0]),
            "gelu_tanh" => composite::gelu_tanh(b, v[0]),
            "clamp" => {
                let [low, high] = ["min", "max"].map(|bound| filled(b, v[0], &record.0["attrs"][bound]));
                composite::clamp(b, v[0], low, high)
            }
            "softmax" => composite::softmax(b, v[0], &[axis()]),
            "log_softmax" => composite::log_softmax(b, v[0], &[axis()]),
            "logsumexp" => composite::logsumexp(b, v[0], &axes),
            "reduce_sum" => b.sum(v[0], &axes),
            "reduce_mean" => composite::mean(b, v[0], &axes),
            "reduce_prod" => b.prod(v[0], &axes),
            "any" => b.any(v[0], &axes),
            "all" => b.all(v[0], &axes),
            "argmax" => b.op(CoreOp::ArgMax { axis: axis() }, v),
            "argmin" => b.op(CoreOp::ArgMin { axis: axis() }, v),
            "reduce_max" => b.max(v[0], &axes),
            "reduce_min" => b.min(v[0], &axes),
            "cumsum" => b.cumsum(v[0], axis()),
            "cumprod" => b.cumprod(v[0], axis()),
            "linear_recurrence" => b.linear_recurrence(v[0], v[1], axis()),
            "layer_norm" => composite::layer_norm(b, v[0], v.get(1).copied(), v.get(2).copied(), &axes, number("eps")),
            "rms_norm" => composite::rms_norm(b, v[0], v.get(1).copied(), &axes, number("eps")),
            "scatter" => b.op(CoreOp::Scatter { axis: axis() }, v),
            "constant" => b.constant(ScalarValue::F64(number("value"))),
            "size" => b.op(CoreOp::SizeValue { dim: (number("size") as i64).into(), dtype: dtype() }, &[]),
            "iota" => {
                let shape = record.axes("shape").iter().map(|&n| i64::from(n).into()).collect();
                b.op(CoreOp::Iota { shape, axis: axis(), dtype: dtype() }, &[])
            }
            _ => return None,
        }
        .unwrap(),
    )
}

fn direction(record: &Record) -> Comparison {
    match record.0["attrs"]["direction"].as_str() {
        Some("eq") => Comparison::Eq,
        Some("ne") => Comparison::Ne,
        Some("lt") => Comparison::Lt,
        Some("le") => Comparison::Le,
        Some("gt") => Comparison::Gt,
        _ => Comparison::Ge,
    }
}

fn filled(b: &mut ProgramBuilder, like: ValueId, number: &serde_json::Value) -> ValueId {
    let meta = b.meta(like).clone();
    let bound = b.constant(ScalarValue::from_f64(number.as_f64().unwrap(), meta.dtype)).unwrap();
    b.broadcast_in_dim(bound, &meta.shape, &[]).unwrap()
}
