//! Computes once what is written several times, also with the operands of a commutative operation exchanged.
//!
//! Operands of such operations are put in the order of their definition. `maximum` and `minimum` are left alone: of 0
//! and -0 they give the one that stands second.

use super::rewrite::rewrite;
use crate::error::Result;
use crate::ops::{Comparison, CoreOp};
use crate::program::SemanticProgram;

/// Runs the pass.
///
/// # Errors
/// None but for a program that is malformed.
pub fn run(program: &SemanticProgram) -> Result<SemanticProgram> {
    rewrite(program, |b, site| {
        let mut inputs = site.inputs.to_vec();
        if commutes(site.op) {
            inputs.sort_unstable();
        }
        b.op(site.op.clone(), &inputs).map(Some)
    })
}

fn commutes(op: &CoreOp) -> bool {
    matches!(
        op,
        CoreOp::Add | CoreOp::Mul | CoreOp::And | CoreOp::Or | CoreOp::Compare(Comparison::Eq | Comparison::Ne)
    )
}
