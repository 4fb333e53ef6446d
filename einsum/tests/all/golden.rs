//! The reference data, where it is present: `TENFERRO_GOLDEN`, else `shared/golden` beside the repository.

use std::path::PathBuf;

use serde_json::Value;
use tenferro_core::ad::{AdContext, grad, hvp, jvp, value_and_grad, vjp};
use tenferro_core::dtype::DType;
use tenferro_core::program::{ProgramBuilder, ValueId};
use tenferro_core::shape::SymDim;
use tenferro_core::{Complex64, Result};
use tenferro_einsum::{EinsumNotation, EinsumOp, PlanSpec, Subscripts, ad_rules, einsum_with};

use crate::interpreter::run;
use crate::oracle::{Array, follow};

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

fn array(value: &Value) -> Array {
    let shape: Vec<usize> = value["shape"].as_array().unwrap().iter().map(|e| e.as_u64().unwrap() as usize).collect();
    let data = value["data"].as_array().unwrap().iter().map(|entry| match entry {
        Value::Array(parts) => Complex64::new(parts[0].as_f64().unwrap(), parts[1].as_f64().unwrap()),
        entry => entry.as_f64().unwrap().into(),
    });
    let narrow = matches!(value["dtype"].as_str(), Some("f32" | "c32"));
    let round = |x: f64| if narrow { f64::from(x as f32) } else { x };
    Array { shape, data: data.map(|z: Complex64| Complex64::new(round(z.re), round(z.im))).collect() }
}

fn arrays(value: &Value) -> Vec<Array> {
    value.as_array().unwrap().iter().map(array).collect()
}

fn tolerance(record: &Value) -> (f64, f64) {
    (record["tol"]["rtol"].as_f64().unwrap(), record["tol"]["atol"].as_f64().unwrap())
}

fn notation(record: &Value) -> std::result::Result<EinsumNotation, tenferro_einsum::NotationError> {
    let equation = record["equation"].as_str().unwrap();
    match record["tags"].as_array().unwrap().contains(&"implicit_output".into()) {
        true => EinsumNotation::parse_implicit(equation),
        false => EinsumNotation::parse(equation),
    }
}

fn what(record: &Value) -> String {
    format!("{} {}", record["id"], record["equation"])
}

fn shapes(operands: &[Array]) -> Vec<&[usize]> {
    operands.iter().map(|operand| operand.shape.as_slice()).collect()
}

#[test]
fn golden_values() {
    let records = records("einsum.jsonl");
    for record in &records {
        let operands = arrays(&record["operands"]);
        let op = EinsumOp::concrete(&notation(record).unwrap(), &shapes(&operands)).unwrap();
        let tree = op.tree(&shapes(&operands)).unwrap();
        let (rtol, atol) = tolerance(record);
        let result = follow(&op, &tree, &operands.iter().collect::<Vec<_>>());
        result.assert_close(&array(&record["expected"]), rtol, atol, &what(record));
    }
    println!("golden einsum.jsonl: {} covered, 0 skipped", records.len());
}

#[test]
fn golden_refusals() {
    let records = records("einsum_errors.jsonl");
    for record in &records {
        let operands = arrays(&record["operands"]);
        let error = notation(record).and_then(|notation| EinsumOp::concrete(&notation, &shapes(&operands)));
        let error = error.expect_err(&what(record)).to_string();
        assert!(error.contains('^'), "{}: {error}", what(record));
    }
    println!("golden einsum_errors.jsonl: {} covered, 0 skipped", records.len());
}

/// A program whose first inputs have exactly the shapes of the record's operands, and its einsum.
fn start(record: &Value, operands: &[Array]) -> Result<(ProgramBuilder, Vec<ValueId>, ValueId)> {
    let op = EinsumOp::concrete(&notation(record)?, &shapes(operands))?;
    let mut b = ProgramBuilder::new("golden");
    let inputs = operands.iter().enumerate().map(|(i, operand)| input(&mut b, &format!("x{i}"), record, operand));
    let inputs: Vec<ValueId> = inputs.collect::<Result<_>>()?;
    let y = b.extension(op, &inputs)?[0];
    Ok((b, inputs, y))
}

fn input(b: &mut ProgramBuilder, name: &str, record: &Value, like: &Array) -> Result<ValueId> {
    let dtype = DType::from_name(record["operands"][0]["dtype"].as_str().unwrap()).unwrap();
    let dims: Vec<SymDim> = like.shape.iter().map(|&extent| extent.into()).collect();
    b.input(name, dtype, &dims)
}

/// The real part of `sum(x * y)`.
fn real_product(b: &mut ProgramBuilder, x: ValueId, y: ValueId) -> Result<ValueId> {
    let labels: Vec<u32> = (0..b.meta(x).rank() as u32).collect();
    let sum = einsum_with(b, Subscripts::new([labels.clone(), labels], []), PlanSpec::Auto, &[x, y])?;
    b.real(sum)
}

fn norm_squared(b: &mut ProgramBuilder, x: ValueId) -> Result<ValueId> {
    let conjugate = b.conj(x)?;
    real_product(b, x, conjugate)
}

#[test]
fn golden_first_derivatives() -> Result<()> {
    let records = records("einsum_grad.jsonl");
    let ctx = AdContext::new().with_rules(&ad_rules()?);
    for record in &records {
        let operands = arrays(&record["operands"]);
        let all: Vec<usize> = (0..operands.len()).collect();
        let (rtol, atol) = tolerance(record);
        let (b, _, y) = start(record, &operands)?;
        let primal = b.finish(&[(None, y)])?;

        let cotangent = array(&record["cotangent"]);
        let inputs: Vec<&Array> = operands.iter().chain([&cotangent]).collect();
        let gradients = run(&vjp(&primal, &all, &ctx)?, &inputs);
        gradients[0].assert_close(&array(&record["expected"]), rtol, atol, &what(record));
        for (found, expected) in gradients[1..].iter().zip(arrays(&record["vjp"])) {
            found.assert_close(&expected, rtol, atol, &what(record));
        }

        let tangents = arrays(&record["tangents"]);
        let inputs: Vec<&Array> = operands.iter().chain(&tangents).collect();
        let tangent = run(&jvp(&primal, &all, &ctx)?, &inputs);
        tangent[1].assert_close(&array(&record["jvp"]), rtol, atol, &what(record));
    }
    println!("golden einsum_grad.jsonl, first order: {} covered, 0 skipped", records.len());
    Ok(())
}

#[test]
fn golden_second_derivatives() -> Result<()> {
    let mut records = records("einsum_grad.jsonl");
    records.retain(|record| record.get("second_order").is_some_and(|second| !second.is_null()));
    let ctx = AdContext::new().with_rules(&ad_rules()?);
    for record in &records {
        let operands = arrays(&record["operands"]);
        let all: Vec<usize> = (0..operands.len()).collect();
        let second = &record["second_order"];
        let (rtol, atol) = tolerance(record);
        let (mut b, _, y) = start(record, &operands)?;
        let mut inputs: Vec<&Array> = operands.iter().collect();
        let (w, tangents);

        let program = if second["kind"] == "hvp" {
            let norm = norm_squared(&mut b, y)?;
            let half = b.constant_like(norm, 0.5)?;
            let f = b.mul(half, norm)?;
            let program = b.finish(&[(None, f)])?;
            tangents = arrays(&record["tangents"]);
            let with_tangents: Vec<&Array> = operands.iter().chain(&tangents).collect();
            let products = run(&hvp(&program, &all, &ctx)?, &with_tangents);
            for (found, expected) in products.iter().zip(arrays(&second["hvp"])) {
                found.assert_close(&expected, rtol, atol, &what(record));
            }
            program
        } else {
            w = array(&second["w"]);
            let weight = input(&mut b, "w", record, &w)?;
            let s = real_product(&mut b, y, weight)?;
            let s = b.finish(&[(None, s)])?;
            let gradient = grad(&s, &all, &ctx)?;
            let mut values;
            (b, values, _) = start(record, &operands)?;
            values.push(input(&mut b, "w", record, &w)?);
            inputs.push(&w);
            let mut sum = None;
            for g in b.call(&gradient, &values)? {
                let norm = norm_squared(&mut b, g)?;
                sum = Some(match sum {
                    None => norm,
                    Some(sum) => b.add(sum, norm)?,
                });
            }
            b.finish(&[(None, sum.unwrap())])?
        };
        let result = run(&value_and_grad(&program, &all, &ctx)?, &inputs);
        result[0].assert_close(&array_or_scalar(&second["value"]), rtol, atol, &what(record));
        for (found, expected) in result[1..].iter().zip(arrays(&second["grads"])) {
            found.assert_close(&expected, rtol, atol, &what(record));
        }
    }
    println!("golden einsum_grad.jsonl, second order: {} covered, 0 skipped", records.len());
    Ok(())
}

fn array_or_scalar(value: &Value) -> Array {
    value.as_f64().map_or_else(|| array(value), |x| Array::new(&[], &[x]))
}
