//! Golden values of einsum, through a runtime.

use std::path::PathBuf;

use serde_json::Value;
use tenferro_core::{Complex, DType, Tensor};
use tenferro_cpu::CpuEngine;
use tenferro_einsum::{EinsumNotation, EinsumOp};

use crate::einsum::einsum_program;
use crate::support::run_on;

fn folder() -> PathBuf {
    match std::env::var_os("TENFERRO_GOLDEN") {
        Some(folder) => folder.into(),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/golden"),
    }
}

fn real(value: &Value) -> f64 {
    match value {
        Value::String(text) => text.parse().unwrap(),
        number => number.as_f64().unwrap(),
    }
}

fn complex(value: &Value) -> Complex<f64> {
    match value {
        Value::Array(parts) => Complex::new(real(&parts[0]), real(&parts[1])),
        other => Complex::new(real(other), 0.0),
    }
}

fn shape(array: &Value) -> Vec<usize> {
    array["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize).collect()
}

fn tensor(array: &Value) -> Tensor {
    let (shape, data) = (shape(array), array["data"].as_array().unwrap());
    match array["dtype"].as_str().unwrap() {
        "f32" => Tensor::from_vec_col_major(&shape, data.iter().map(|x| real(x) as f32).collect()),
        "f64" => Tensor::from_vec_col_major(&shape, data.iter().map(real).collect()),
        "c32" => {
            let narrow = |z: Complex<f64>| Complex::new(z.re as f32, z.im as f32);
            Tensor::from_vec_col_major(&shape, data.iter().map(|x| narrow(complex(x))).collect())
        }
        "c64" => Tensor::from_vec_col_major(&shape, data.iter().map(complex).collect()),
        "i32" => Tensor::from_vec_col_major(&shape, data.iter().map(|x| x.as_i64().unwrap() as i32).collect()),
        "i64" => Tensor::from_vec_col_major(&shape, data.iter().map(|x| x.as_i64().unwrap()).collect()),
        dtype => panic!("an einsum of {dtype}"),
    }
    .unwrap()
}

#[test]
fn einsum_values() {
    let Ok(text) = std::fs::read_to_string(folder().join("einsum.jsonl")) else {
        println!("golden einsum.jsonl: not found, skipped");
        return;
    };
    let (mut covered, mut skipped) = (0, 0);
    let mut engine = CpuEngine::serial();
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let tags = record["tags"].as_array().unwrap();
        // An arrow is insisted on.
        if tags.iter().any(|tag| tag == "implicit_output") {
            skipped += 1;
            continue;
        }
        let id = &record["id"];
        let operands: Vec<Tensor> = record["operands"].as_array().unwrap().iter().map(tensor).collect();
        let shapes: Vec<&[usize]> = operands.iter().map(Tensor::shape).collect();
        let notation = EinsumNotation::parse(record["equation"].as_str().unwrap()).unwrap();
        let op = EinsumOp::concrete(&notation, &shapes).unwrap_or_else(|error| panic!("{id}: {error}"));
        let actual = run_on(&mut engine, &einsum_program(op, &operands), &operands);

        let expected = tensor(&record["expected"]);
        assert_eq!((actual.dtype(), actual.shape()), (expected.dtype(), expected.shape()), "{id}");
        let tolerance = |name: &str| record["tol"][name].as_f64().unwrap();
        let (rtol, atol) = match actual.dtype() {
            DType::I32 | DType::I64 => (0.0, 0.0),
            _ => (tolerance("rtol"), tolerance("atol")),
        };
        assert!(tenferro_core::tensor::all_close(&actual, &expected, rtol, atol), "{id}: {actual}\n{expected}");
        covered += 1;
    }
    println!("golden einsum.jsonl: {covered} covered, {skipped} skipped (implicit output)");
    assert!(covered > 500);
}
