//! The golden reference data through programs, on every engine.

mod einsum;
mod elementwise;
mod expression;
mod programs;
mod structural;

use std::sync::Arc;

use tenferro::ad::AdContext;
use tenferro::prelude::*;
use tenferro::program::{ProgramBuilder, SemanticProgram, ValueId};

/// A name and a session for each engine.
fn engines() -> Vec<(&'static str, Session)> {
    vec![("the reference engine", Session::reference()), ("the CPU engine", Session::cpu())]
}

/// Derivatives with the rules of the standard families.
fn ad_context() -> AdContext {
    AdContext::new().with_rules(&tenferro::einsum::ad_rules().unwrap())
}

/// An input of the dtype and the very shape of each tensor, named `i0`, `i1`, ..
fn inputs(b: &mut ProgramBuilder, tensors: &[Tensor]) -> Vec<ValueId> {
    let input = |(i, t): (usize, &Tensor)| {
        let shape: Vec<_> = t.shape().iter().map(|&n| n.into()).collect();
        b.input(format!("i{i}"), t.dtype(), &shape).unwrap()
    };
    tensors.iter().enumerate().map(input).collect()
}

/// The floating-point inputs.
fn differentiable(tensors: &[Tensor]) -> Vec<usize> {
    (0..tensors.len()).filter(|&i| tensors[i].dtype().is_float()).collect()
}

fn run(session: &mut Session, program: SemanticProgram, tensors: &[&Tensor]) -> Vec<Tensor> {
    let reads: Vec<_> = tensors.iter().map(|&t| t.into()).collect();
    session.run(Arc::new(program), &reads).unwrap()
}
