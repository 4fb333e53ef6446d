//! Rows of the operations that make a value from attributes.

use super::CoreOp;
use super::row::{Derivative, OpClass, OutputDType, Row};
use crate::dtype::{DType, DTypeSet};
use crate::error::{Error, Result};
use crate::extension::ShapeContext;
use crate::shape::SymDim;

const CREATION: Row = Row {
    name: "",
    doc: "",
    class: OpClass::Creation,
    operands: &[],
    control: &[],
    dtypes: DTypeSet::ALL,
    output: OutputDType::Attribute(dtype),
    shape: scalar,
    derivative: Derivative::Zero("it has no operand"),
};

pub(super) const CONSTANT: Row = Row { name: "constant", doc: "a scalar known while compiling", ..CREATION };
pub(super) const SIZE_VALUE: Row =
    Row { name: "size", doc: "a size as a scalar", dtypes: DTypeSet::NUMERIC, ..CREATION };
pub(super) const IOTA: Row = Row {
    name: "iota",
    doc: "each entry is its index along one axis",
    dtypes: DTypeSet::NUMERIC,
    shape: iota,
    ..CREATION
};

fn dtype(op: &CoreOp) -> DType {
    match op {
        CoreOp::Constant(value) => value.dtype(),
        CoreOp::SizeValue { dtype, .. } | CoreOp::Iota { dtype, .. } => *dtype,
        _ => DType::F64, // no other operation uses this rule
    }
}

fn scalar(_: &CoreOp, _: &mut ShapeContext<'_>) -> Result<Vec<SymDim>> {
    Ok(Vec::new())
}

fn iota(op: &CoreOp, _: &mut ShapeContext<'_>) -> Result<Vec<SymDim>> {
    let CoreOp::Iota { shape, axis, .. } = op else { return Ok(Vec::new()) };
    if *axis as usize >= shape.len() {
        return Err(Error::axis("iota", "axis", *axis as usize, shape.len()));
    }
    Ok(shape.to_vec())
}
