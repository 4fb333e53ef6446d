//! Adding einsums to a program.

use tenferro_core::program::{ProgramBuilder, ValueId};
use tenferro_core::shape::SymDim;
use tenferro_core::{Error, Result};

use crate::notation::{EinsumNotation, NotationError, SizeRule};
use crate::op::EinsumOp;
use crate::planning::EinsumOptimize;
use crate::subscripts::Subscripts;

/// Adds the einsum that `notation` describes; axes of constant extent 1 stretch where `#` or `...` says so.
///
/// # Errors
/// A notation that is wrong or does not fit the operands, with the place; operands of different dtypes.
///
/// ```
/// use tenferro_core::{dtype::DType, program::ProgramBuilder};
/// let mut b = ProgramBuilder::new("product");
/// let (n, m, k) = (b.size("n"), b.size("m"), b.size("k"));
/// let x = b.input("x", DType::F64, &[n, m.clone()])?;
/// let y = b.input("y", DType::F64, &[m, k])?;
/// let z = tenferro_einsum::einsum(&mut b, "ij,jk->ik", &[x, y])?;
/// assert!(b.finish(&[(None, z)])?.to_string().contains("\"ij,jk->ik\" x y : f64[n, k]"));
/// # Ok::<(), tenferro_core::Error>(())
/// ```
pub fn einsum(b: &mut ProgramBuilder, notation: &str, operands: &[ValueId]) -> Result<ValueId> {
    let notation = EinsumNotation::parse(notation)?;
    let shapes: Vec<&[SymDim]> = operands.iter().map(|&operand| &*b.meta(operand).shape).collect();
    let names = b.size_names();
    let sizes = SizeRule {
        // What is not refuted here becomes a guard of the program.
        agree: &|a, b| (a - b).as_const().is_none_or(|difference| difference == 0),
        show: &|size| names.dim(size),
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
    plan: EinsumOptimize,
    operands: &[ValueId],
) -> Result<ValueId> {
    apply(b, EinsumOp::new(subscripts, &[], plan)?, operands)
}

/// Adds an einsum; one that changes nothing is its operand.
pub(crate) fn apply(b: &mut ProgramBuilder, op: EinsumOp, operands: &[ValueId]) -> Result<ValueId> {
    if let ([labels], [operand]) = (&*op.inputs, operands) {
        let distinct = labels.iter().enumerate().all(|(axis, label)| !labels[..axis].contains(label));
        if labels == &op.output && distinct && op.stretch.is_empty() && labels.len() == b.meta(*operand).rank() {
            return Ok(*operand);
        }
    }
    // The family declares one result.
    Ok(b.extension(op, operands)?[0])
}

impl From<NotationError> for Error {
    fn from(error: NotationError) -> Self {
        Error::argument("einsum", "notation", error.to_string())
    }
}
