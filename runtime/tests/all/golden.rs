//! The reference engine against the reference data, where it is present: `TENFERRO_GOLDEN`, else
//! `shared/golden` beside the repository.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use tenferro_core::ops::{Comparison, CoreOp};
use tenferro_core::program::{ProgramBuilder, SemanticProgram, ValueId};
use tenferro_core::shape::SymDim;
use tenferro_core::{Complex, DType, Scalar, ScalarValue, Tensor, compare, with_dtype};
use tenferro_einsum::{EinsumNotation, EinsumOp};

use super::support::{reads, run};

fn records(file: &str) -> Vec<Value> {
    let folder = std::env::var_os("TENFERRO_GOLDEN")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/golden")), PathBuf::from);
    match std::fs::read_to_string(folder.join(file)) {
        Ok(text) => text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        Err(error) => {
            println!("golden {file}: nothing covered, {} cannot be read: {error}", folder.display());
            Vec::new()
        }
    }
}

fn number(value: &Value) -> f64 {
    match value.as_str() {
        Some("inf") => f64::INFINITY,
        Some("-inf") => f64::NEG_INFINITY,
        Some(_) => f64::NAN,
        None => value.as_f64().unwrap(),
    }
}

/// A number that was rounded to single precision when it was written.
fn single(value: &Value) -> f32 {
    if value.is_string() { number(value) as f32 } else { value.to_string().parse().unwrap() }
}

fn entry(value: &Value, dtype: DType) -> ScalarValue {
    match dtype {
        DType::F32 => single(value).into(),
        DType::F64 => number(value).into(),
        DType::C32 => Complex::new(single(&value[0]), single(&value[1])).into(),
        DType::C64 => Complex::new(number(&value[0]), number(&value[1])).into(),
        DType::I32 => ScalarValue::I32(value.as_i64().unwrap().try_into().unwrap()),
        DType::I64 => value.as_i64().unwrap().into(),
        DType::Bool => value.as_bool().unwrap().into(),
    }
}

fn integers<T: TryFrom<i64, Error: std::fmt::Debug>>(value: &Value) -> Vec<T> {
    value.as_array().unwrap().iter().map(|n| n.as_i64().unwrap().try_into().unwrap()).collect()
}

fn tensor(value: &Value) -> Tensor {
    let dtype = DType::from_name(value["dtype"].as_str().unwrap()).unwrap();
    let entries = value["data"].as_array().unwrap().iter().map(|value| entry(value, dtype));
    with_dtype!(dtype, T => {
        let entries = entries.map(|entry| T::from_value(entry).unwrap()).collect();
        Tensor::from_vec_col_major(integers::<usize>(&value["shape"]), entries).unwrap()
    })
}

fn tensors(value: &Value) -> Vec<Tensor> {
    value.as_array().unwrap().iter().map(tensor).collect()
}

fn dims(extents: &[usize]) -> Vec<SymDim> {
    extents.iter().map(|&extent| extent.into()).collect()
}

/// The core operation that a record is about, if there is one.
fn core_op(record: &Value) -> Option<CoreOp> {
    let attrs = &record["attrs"];
    let axis = |name: &str| attrs[name].as_u64().unwrap() as u32;
    let axes = || match &attrs["axes"] {
        Value::Null => (0..record["inputs"][0]["shape"].as_array().unwrap().len() as u32).collect::<Vec<_>>().into(),
        axes => integers(axes).into(),
    };
    let extents = |name: &str| integers::<i64>(&attrs[name]).into_iter().map(SymDim::from).collect();
    Some(match record["op"].as_str().unwrap() {
        "neg" => CoreOp::Neg,
        "abs" => CoreOp::Abs,
        "sign" => CoreOp::Sign,
        "exp" => CoreOp::Exp,
        "expm1" => CoreOp::Expm1,
        "log" => CoreOp::Log,
        "log1p" => CoreOp::Log1p,
        "sin" => CoreOp::Sin,
        "cos" => CoreOp::Cos,
        "tan" => CoreOp::Tan,
        "tanh" => CoreOp::Tanh,
        "sqrt" => CoreOp::Sqrt,
        "rsqrt" => CoreOp::Rsqrt,
        "erf" => CoreOp::Erf,
        "conj" => CoreOp::Conj,
        "real" => CoreOp::Real,
        "imag" => CoreOp::Imag,
        "add" => CoreOp::Add,
        "sub" => CoreOp::Sub,
        "mul" => CoreOp::Mul,
        "div" => CoreOp::Div,
        "rem" => CoreOp::Rem,
        "pow" => CoreOp::Pow,
        "maximum" => CoreOp::Maximum,
        "minimum" => CoreOp::Minimum,
        "select" => CoreOp::Select,
        "compare" => CoreOp::Compare(match attrs["direction"].as_str().unwrap() {
            "eq" => Comparison::Eq,
            "ne" => Comparison::Ne,
            "lt" => Comparison::Lt,
            "le" => Comparison::Le,
            "gt" => Comparison::Gt,
            _ => Comparison::Ge,
        }),
        "reduce_sum" => CoreOp::Sum { axes: axes() },
        "reduce_max" => CoreOp::Max { axes: axes() },
        "reduce_min" => CoreOp::Min { axes: axes() },
        "cumsum" => CoreOp::CumSum { axis: axis("axis") },
        "transpose" => CoreOp::Transpose { axes: integers(&attrs["perm"]).into() },
        "reshape" => CoreOp::Reshape { shape: extents("shape") },
        "broadcast_in_dim" => CoreOp::BroadcastInDim { shape: extents("shape"), axes: integers(&attrs["dims"]).into() },
        "slice" => CoreOp::Slice {
            start: extents("start"),
            limit: extents("limit"),
            stride: integers(&attrs["stride"]).into(),
        },
        "reverse" => CoreOp::Reverse { axes: axes() },
        "pad" => {
            CoreOp::Pad { low: extents("low"), high: extents("high"), interior: integers(&attrs["interior"]).into() }
        }
        "concatenate" => CoreOp::Concatenate { axis: axis("axis") },
        "extract_diag" if attrs["offset"] == 0 => CoreOp::ExtractDiag { axis_a: axis("axis1"), axis_b: axis("axis2") },
        "embed_diag" if attrs["offset"] == 0 => CoreOp::EmbedDiag,
        _ => return None,
    })
}

/// The program of one operation on inputs of these shapes, which are broadcast to one another
/// where the operation is elementwise.
fn program(inputs: &[Tensor], body: impl FnOnce(&mut ProgramBuilder, &[ValueId]) -> ValueId) -> Arc<SemanticProgram> {
    let mut b = ProgramBuilder::new("golden");
    let input = |(i, x): (usize, &Tensor)| b.input(format!("x{i}"), x.dtype(), &dims(x.shape())).unwrap();
    let values: Vec<_> = inputs.iter().enumerate().map(input).collect();
    let output = body(&mut b, &values);
    Arc::new(b.finish(&[(None, output)]).unwrap())
}

fn broadcast(b: &mut ProgramBuilder, inputs: &[Tensor], values: &[ValueId]) -> Vec<ValueId> {
    let rank = inputs[0].rank();
    let widest = |axis: usize| {
        let extents = inputs.iter().map(|x| x.shape()[axis]);
        extents.clone().find(|&extent| extent != 1).unwrap_or(1)
    };
    let shape = dims(&(0..rank).map(widest).collect::<Vec<_>>());
    let axes: Vec<u32> = (0..rank as u32).collect();
    values.iter().map(|&x| b.broadcast_in_dim(x, &shape, &axes).unwrap()).collect()
}

/// Runs a program and compares its result with the record's.
fn check(record: &Value, program: &Arc<SemanticProgram>, inputs: &[Tensor], failures: &mut Vec<String>) {
    let reads = reads(inputs);
    let output = &run(program, &reads)[0];
    let expected = tensor(&record["expected"]);
    let tolerance = |name: &str| record["tol"][name].as_f64().unwrap();
    let difference = compare(output.view(), &expected, tolerance("rtol"), tolerance("atol"));
    if let Err(difference) = difference {
        failures.push(format!("{} {} {}: {difference}", record["id"], record["op"], record["tags"]));
    }
}

fn core_ops(file: &str) {
    let records = records(file);
    let (mut covered, mut skipped, mut failures) = (0, 0, Vec::new());
    for record in &records {
        let Some(op) = core_op(record) else {
            skipped += 1;
            continue;
        };
        let inputs = tensors(&record["inputs"]);
        let stretched = record["tags"].as_array().unwrap().contains(&"broadcast".into());
        let program = program(&inputs, |b, values| {
            let operands = if stretched { broadcast(b, &inputs, values) } else { values.to_vec() };
            b.op(op, &operands).unwrap()
        });
        check(record, &program, &inputs, &mut failures);
        covered += 1;
    }
    println!("golden {file}: {covered} covered, {skipped} skipped (no core operation)");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn golden_elementwise() {
    core_ops("elementwise.jsonl");
}

#[test]
fn golden_structural() {
    core_ops("structural.jsonl");
}

/// The most products of the naive loop that a test may take.
const AFFORDABLE: usize = 1 << 20;

#[test]
fn golden_einsum() {
    let records = records("einsum.jsonl");
    let (mut covered, mut skipped, mut failures) = (0, 0, Vec::new());
    for record in &records {
        let equation = record["equation"].as_str().unwrap();
        let notation = match record["tags"].as_array().unwrap().contains(&"implicit_output".into()) {
            true => EinsumNotation::parse_implicit(equation),
            false => EinsumNotation::parse(equation),
        };
        let inputs = tensors(&record["operands"]);
        let shapes: Vec<_> = inputs.iter().map(Tensor::shape).collect();
        let op = EinsumOp::concrete(&notation.unwrap(), &shapes).unwrap();
        let products = op.extents(&shapes).unwrap().into_iter().try_fold(1, usize::checked_mul);
        if products.is_none_or(|products| products > AFFORDABLE) {
            skipped += 1;
            continue;
        }
        let program = program(&inputs, |b, values| b.extension(op, values).unwrap()[0]);
        check(record, &program, &inputs, &mut failures);
        covered += 1;
    }
    println!("golden einsum.jsonl: {covered} covered, {skipped} skipped (too many products for nested loops)");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
