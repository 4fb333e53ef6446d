//! `einsum.jsonl`, `einsum_grad.jsonl` and `einsum_errors.jsonl` through every front end: payloads in programs, calls on
//! tensors at hand, text given to the program builder, and kernels of the language.

use tenferro::dtype::ScalarValue;
use tenferro::einsum::{self, ConcreteEinsum, EinsumNotation, EinsumOp, NotationError};
use tenferro::prelude::*;
use tenferro::program::{ProgramBuilder, SemanticProgram};
use tenferro_dsl::lowered::{LoweredItem, LoweredVariant};
use tenferro_testing::golden::{Coverage, Record, records};

use super::{ad_context, engines, inputs, run};

/// The payload of a record's equation for these operands.
fn payload(record: &Record, tensors: &[Tensor]) -> Result<EinsumOp, NotationError> {
    let shapes: Vec<&[usize]> = tensors.iter().map(Tensor::shape).collect();
    EinsumOp::concrete(&notation(record)?, &shapes)
}

fn notation(record: &Record) -> Result<EinsumNotation, NotationError> {
    let equation = record.text("equation");
    if record.has_tag("implicit_output") {
        EinsumNotation::parse_implicit(equation)
    } else {
        EinsumNotation::parse(equation)
    }
}

/// A program made of the record's text; programs stretch axes where that is marked, so what is not is refused.
fn traced(record: &Record, tensors: &[Tensor]) -> tenferro_core::Result<SemanticProgram> {
    let mut b = ProgramBuilder::new("traced");
    let values = inputs(&mut b, tensors);
    let output = einsum::einsum_of_values(&mut b, record.text("equation"), &values)?;
    b.finish(&[(None, output)])
}

/// The record as a kernel of the language, with constant sizes; or the messages of its errors.
fn kernel(record: &Record, tensors: &[Tensor], output: &Tensor) -> Result<LoweredVariant, Vec<String>> {
    let ty = |tensor: &Tensor| match tensor.rank() {
        0 => tensor.dtype().to_string(),
        _ => format!("{}{:?}", tensor.dtype(), tensor.shape()),
    };
    let names: Vec<String> = (0..tensors.len()).map(|i| format!("x{i}")).collect();
    let parameters: Vec<String> = names.iter().zip(tensors).map(|(name, x)| format!("{name}: {}", ty(x))).collect();
    let (parameters, names) = (parameters.join(", "), names.join(", "));
    let (equation, output) = (record.text("equation"), ty(output));
    let text = format!("fn f({parameters}) -> {output} {{ einsum(\"{equation}\", {names}) }}");
    let mut block = tenferro_dsl::compile(text.parse().unwrap());
    let messages: Vec<String> = block.diagnostics.iter().map(|error| error.message().to_owned()).collect();
    match block.items.pop() {
        Some(LoweredItem::Kernel(kernel)) if messages.is_empty() => Ok(kernel.bodies.unwrap().remove(0)),
        _ => Err(messages),
    }
}

/// Whether an axis stretches that neither a mark nor an ellipsis allows to: one is on a letter of its term.
fn marks_would_help(record: &Record, tensors: &[Tensor]) -> bool {
    let notation = notation(record).unwrap();
    let shapes: Vec<Vec<_>> = tensors
        .iter()
        .map(|x| x.shape().iter().map(|&n| tenferro::program::shape::SymDim::from(n)).collect())
        .collect();
    let shapes: Vec<&[_]> = shapes.iter().map(Vec::as_slice).collect();
    let sizes = einsum::SizeRule { agree: &|a, b| a == b, show: &|size| format!("{size:?}") };
    EinsumOp::symbolic(&notation, &shapes, &sizes).is_err()
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
fn golden_einsum_values_of_tensors_at_hand() {
    for (how, mut session) in engines() {
        let mut coverage = Coverage::default();
        for record in records("einsum.jsonl") {
            let (tensors, expected) = (operands(&record), record.tensor("expected").unwrap());
            let (reads, tolerance) = (tensors.iter().collect::<Vec<_>>(), record.tolerance("tol"));
            let notation = notation(&record).unwrap();
            let value = tenferro::einsum(&mut session, &notation, &reads).unwrap();
            record.check("one-shot value", &value, &expected, tolerance);
            if !record.has_tag("implicit_output") {
                let again = tenferro::einsum(&mut session, record.text("equation"), &reads).unwrap();
                record.check("value from text", &again, &expected, tolerance);
            }
            let ranks: Vec<usize> = tensors.iter().map(Tensor::rank).collect();
            let prepared = ConcreteEinsum::new(&notation.resolve(&ranks).unwrap()).unwrap();
            for _ in 0..2 {
                let value = prepared.run(&mut session, &reads).unwrap();
                record.check("value from integer labels", &value, &expected, tolerance);
            }
            // Twice the value less once the expected one.
            let mut out = expected.clone();
            let [two, minus_one] = [2.0, -1.0].map(|scalar| ScalarValue::from_f64(scalar, expected.dtype()));
            prepared.run_into(&mut session, &reads, two, minus_one, &mut out).unwrap();
            record.check("accumulated value", &out, &expected, tolerance);
            coverage.cover();
        }
        coverage.report("einsum.jsonl of tensors at hand", how);
    }
}

#[test]
fn golden_einsum_values_of_the_builder_and_the_language() {
    for (how, mut session) in engines() {
        let mut coverage = Coverage::default();
        for record in records("einsum.jsonl").into_iter().filter(|record| !record.has_tag("implicit_output")) {
            let (tensors, expected) = (operands(&record), record.tensor("expected").unwrap());
            let programs = (traced(&record, &tensors), kernel(&record, &tensors, &expected));
            let (traced, kernel) = match programs {
                (Ok(traced), Ok(kernel)) => (traced, kernel),
                (Err(traced), Err(kernel)) if marks_would_help(&record, &tensors) => {
                    assert!(traced.to_string().contains("write `#"), "{traced}");
                    assert!(kernel[0].contains("write `#"), "{kernel:?}");
                    coverage.cover();
                    continue;
                }
                (traced, kernel) => {
                    let (id, equation) = (record.text("id"), record.text("equation"));
                    panic!("{id} {equation}: {:?} {:?}", traced.err(), kernel.err())
                }
            };
            for (what, program) in [("traced value", traced), ("value of the kernel", kernel.primal)] {
                let value = run(&mut session, program, &tensors.iter().collect::<Vec<_>>()).remove(0);
                record.check(what, &value, &expected, record.tolerance("tol"));
            }
            coverage.cover();
        }
        coverage.report("einsum.jsonl of the builder and the language", how);
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

            let expected = record.tensor("expected").unwrap();
            if !record.has_tag("implicit_output") && !marks_would_help(&record, &tensors) {
                let derivatives = kernel(&record, &tensors, &expected).unwrap().derivatives.unwrap();
                let results = run(&mut session, derivatives.jvp, &reads);
                record.check("jvp of the kernel", &results[1], &record.tensor("jvp").unwrap(), tolerance);
                reads.truncate(tensors.len());
                reads.push(&cotangent);
                let results = run(&mut session, derivatives.vjp, &reads);
                for (gradient, expected) in results[1..].iter().zip(record.tensors("vjp")) {
                    record.check("vjp of the kernel", gradient, &expected.unwrap(), tolerance);
                }
            }
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
    let mut session = Session::cpu();
    let mut coverage = Coverage::default();
    for record in records("einsum_errors.jsonl") {
        let tensors = operands(&record);
        let accepted = format!("{} {} was accepted", record.text("id"), record.text("equation"));
        let refused = payload(&record, &tensors).expect_err(&accepted);
        assert!(refused.to_string().contains('^'), "{refused}");
        let reads: Vec<&Tensor> = tensors.iter().collect();
        let called = tenferro::einsum(&mut session, record.text("equation"), &reads).expect_err(&accepted);
        assert!(called.to_string().contains('^'), "{called}");
        let traced = traced(&record, &tensors).expect_err(&accepted);
        assert!(traced.to_string().contains('^'), "{traced}");
        coverage.cover();
    }
    coverage.report("einsum_errors.jsonl", "the notation");
}
