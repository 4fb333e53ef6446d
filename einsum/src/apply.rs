//! Adding einsums to a program.

use tenferro_core::program::{ProgramBuilder, ValueId};
use tenferro_core::shape::SymDim;
use tenferro_core::{Error, Result};

use crate::notation::{EinsumNotation, NotationError, SizeRule};
use crate::op::EinsumOp;
use crate::planning::PlanSpec;
use crate::subscripts::Subscripts;

/// Adds the einsum that `notation` describes; axes of constant extent 1 stretch where `#` or `...` says so.
///
/// # Errors
/// A notation that is wrong or does not fit the operands, with the place; operands of different dtypes.
pub fn einsum(b: &mut ProgramBuilder, notation: &str, operands: &[ValueId]) -> Result<ValueId> {
    let notation = EinsumNotation::parse(notation)?;
    let shapes: Vec<_> = operands.iter().map(|&operand| b.meta(operand).shape.clone()).collect();
    let shapes: Vec<&[SymDim]> = shapes.iter().map(|shape| &**shape).collect();
    let sizes = SizeRule {
        // What is not refuted here becomes a guard of the program.
        agree: &|a, b| (a - b).as_const().is_none_or(|difference| difference == 0),
        show: &|size| size.to_string(),
    };
    let op = EinsumOp::symbolic(&notation, &shapes, &sizes)?;
    apply(b, op, operands)
}

/// Adds the einsum with these integer labels, none stretched, contracted as `plan` says.
///
/// # Errors
/// Labels or a plan that do not fit each other or the operands; operands of different dtypes.
pub fn einsum_with(
    b: &mut ProgramBuilder,
    subscripts: Subscripts,
    plan: PlanSpec,
    operands: &[ValueId],
) -> Result<ValueId> {
    apply(b, EinsumOp::new(subscripts, &[], plan)?, operands)
}

pub(crate) fn apply(b: &mut ProgramBuilder, op: EinsumOp, operands: &[ValueId]) -> Result<ValueId> {
    // The family declares one result.
    Ok(b.extension(op, operands)?[0])
}

impl From<NotationError> for Error {
    fn from(error: NotationError) -> Self {
        Error::Argument { op: "einsum".into(), argument: "notation".into(), message: error.to_string() }
    }
}
