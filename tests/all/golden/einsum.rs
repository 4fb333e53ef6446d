//! `einsum.jsonl`, `einsum_grad.jsonl` and `einsum_errors.jsonl` through programs.

use tenferro::einsum::{EinsumNotation, EinsumOp};
use tenferro::program::{ProgramBuilder, SemanticProgram};
use tenferro::tensor::Tensor;
use tenferro_testing::golden::{Coverage, Record, records};

use super::{ad_context, engines, inputs, run};

/// The payload of a record's equation for these operands.
fn payload(record: &Record, tensors: &[Tensor]) -> Result<EinsumOp, tenferro::einsum::NotationError> {
    let equation = record.text("equation");
    let notation = if record.has_tag("implicit_output") {
        EinsumNotation::parse_implicit(equation)?
    } else {
        EinsumNotation::parse(equation)?
    };
    let shapes: Vec<&[usize]> = tensors.iter().map(Tensor::shape).collect();
    EinsumOp::concrete(&notation, &shapes)
}

fn program(record: &Record, tensors: &[Tensor]) -> SemanticProgram {
    let mut b = ProgramBuilder::new("einsum");
    let values = inputs(&mut b, tensors);
    let output = b.extension(payload(record, tensors).unwrap(), &values).unwrap()[0];
    b.finish(&[(None, output)]).unwrap()
}

fn operands(record: &Record) -> Vec<Tensor> {
    record.tensors("operands").into_iter().map(Option::unwrap).collect()
}

#[test]
fn golden_einsum_values() {
    for (how, mut session) in engines() {
        let mut coverage = Coverage::default();
        for record in records("einsum.jsonl") {
            let tensors = operands(&record);
            let value = run(&mut session, program(&record, &tensors), &tensors.iter().collect::<Vec<_>>()).remove(0);
            record.check("value", &value, &record.tensor("expected").unwrap(), record.tolerance("tol"));
            coverage.cover();
        }
        coverage.report("einsum.jsonl", how);
    }
}

#[test]
fn golden_einsum_gradients() {
    for (how, mut session) in engines() {
        let mut coverage = Coverage::default();
        for record in records("einsum_grad.jsonl") {
            let tensors = operands(&record);
            let program = program(&record, &tensors);
            let wrt: Vec<usize> = (0..tensors.len()).collect();
            let tolerance = record.tolerance("tol");

            let vjp = tenferro::ad::vjp(&program, &wrt, &ad_context()).unwrap();
            let cotangent = record.tensor("cotangent").unwrap();
            let mut reads: Vec<&Tensor> = tensors.iter().chain([&cotangent]).collect();
            let results = run(&mut session, vjp, &reads);
            record.check("value", &results[0], &record.tensor("expected").unwrap(), tolerance);
            for (gradient, expected) in results[1..].iter().zip(record.tensors("vjp")) {
                record.check("vjp", gradient, &expected.unwrap(), tolerance);
            }

            let jvp = tenferro::ad::jvp(&program, &wrt, &ad_context()).unwrap();
            let tangents: Vec<Tensor> = record.tensors("tangents").into_iter().map(Option::unwrap).collect();
            reads.truncate(tensors.len());
            reads.extend(&tangents);
            let results = run(&mut session, jvp, &reads);
            record.check("jvp", &results[1], &record.tensor("jvp").unwrap(), tolerance);
            coverage.cover();
        }
        coverage.report("einsum_grad.jsonl", how);
    }
}

#[test]
fn golden_einsum_second_order() {
    for (how, mut session) in engines() {
        let mut coverage = Coverage::default();
        for record in records("einsum_grad.jsonl") {
            let second = Record(record.0["second_order"].clone());
            let tensors = operands(&record);
            let scalar = match second.text("kind") {
                "hvp" => half_square(&record, &tensors),
                "grad_of_squared_grad" => squared_gradient(&record, &tensors, &second.tensor("w").unwrap()),
                _ => continue,
            };
            let wrt: Vec<usize> = (0..tensors.len()).collect();
            let tolerance = record.tolerance("tol");
            let mut reads: Vec<Tensor> = tensors.clone();
            if second.text("kind") == "grad_of_squared_grad" {
                reads.push(second.tensor("w").unwrap());
            }
            let gradient = tenferro::ad::value_and_grad(&scalar, &wrt, &ad_context()).unwrap();
            let results = run(&mut session, gradient, &reads.iter().collect::<Vec<_>>());
            record.check("second order value", &results[0], &second.tensor("value").unwrap(), tolerance);
            for (gradient, expected) in results[1..].iter().zip(second.tensors("grads")) {
                record.check("second order gradient", gradient, &expected.unwrap(), tolerance);
            }
            if second.text("kind") == "hvp" {
                let hvp = tenferro::ad::hvp(&scalar, &wrt, &ad_context()).unwrap();
                reads.extend(record.tensors("tangents").into_iter().map(Option::unwrap));
                let results = run(&mut session, hvp, &reads.iter().collect::<Vec<_>>());
                for (product, expected) in results.iter().zip(second.tensors("hvp")) {
                    record.check("hvp", product, &expected.unwrap(), tolerance);
                }
            }
            coverage.cover();
        }
        coverage.report("second orders of einsum_grad.jsonl", how);
    }
}

/// `0.5 * sum(|out|^2)`
fn half_square(record: &Record, tensors: &[Tensor]) -> SemanticProgram {
    let mut b = ProgramBuilder::new("half_square");
    let values = inputs(&mut b, tensors);
    let output = b.call(&program(record, tensors), &values).unwrap()[0];
    let total = squared_modulus(&mut b, output);
    let half = b.constant_like(total, 0.5).unwrap();
    let scaled = b.mul(half, total).unwrap();
    b.finish(&[(None, scaled)]).unwrap()
}

/// The sum of the squared moduli of the gradients of `Re(sum(out * w))`; `w` is the last input.
fn squared_gradient(record: &Record, tensors: &[Tensor], w: &Tensor) -> SemanticProgram {
    let with_w: Vec<Tensor> = tensors.iter().chain([w]).cloned().collect();
    let mut b = ProgramBuilder::new("weighted");
    let values = inputs(&mut b, &with_w);
    let output = b.call(&program(record, tensors), &values[..tensors.len()]).unwrap()[0];
    let weighted = b.mul(output, values[tensors.len()]).unwrap();
    let axes: Vec<u32> = (0..w.rank() as u32).collect();
    let sum = b.sum(weighted, &axes).unwrap();
    let real = b.real(sum).unwrap();
    let weighted = b.finish(&[(None, real)]).unwrap();
    let wrt: Vec<usize> = (0..tensors.len()).collect();
    let gradient = tenferro::ad::grad(&weighted, &wrt, &ad_context()).unwrap();

    let mut b = ProgramBuilder::new("squared_gradient");
    let values = inputs(&mut b, &with_w);
    let gradients = b.call(&gradient, &values).unwrap();
    let squares: Vec<_> = gradients.into_iter().map(|g| squared_modulus(&mut b, g)).collect();
    let total = squares.into_iter().reduce(|a, c| b.add(a, c).unwrap()).unwrap();
    b.finish(&[(None, total)]).unwrap()
}

fn squared_modulus(b: &mut ProgramBuilder, x: tenferro::program::ValueId) -> tenferro::program::ValueId {
    let conjugate = b.conj(x).unwrap();
    let square = b.mul(x, conjugate).unwrap();
    let real = b.real(square).unwrap();
    let axes: Vec<u32> = (0..b.meta(real).rank() as u32).collect();
    b.sum(real, &axes).unwrap()
}

#[test]
fn golden_einsum_errors() {
    let mut coverage = Coverage::default();
    for record in records("einsum_errors.jsonl") {
        let refused = payload(&record, &operands(&record));
        let message = refused.expect_err(&format!("{} {} was accepted", record.text("id"), record.text("equation")));
        assert!(message.to_string().contains('^'), "{message}");
        coverage.cover();
    }
    coverage.report("einsum_errors.jsonl", "the notation");
}
