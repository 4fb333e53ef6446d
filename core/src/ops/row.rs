//! What a row of the table holds.

use crate::dtype::{DType, DTypeSet};
use crate::error::{Error, Result};
use crate::extension::ShapeContext;
use crate::program::{ProgramBuilder, ValueId, ValueMeta};
use crate::shape::SymDim;

use super::CoreOp;

/// The class of an operation: which kind of kernel it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpClass {
    /// Makes a value from attributes.
    Creation,
    /// Acts entry by entry on operands of equal shape.
    Elementwise,
    /// Only re-reads its operand: the result is a view.
    Layout,
    /// Moves entries to other places.
    Movement,
    /// Combines the entries along axes.
    Reduction,
}

/// How the dtype of the result follows from the operands.
#[derive(Clone, Copy, Debug)]
pub enum OutputDType {
    /// That of the data operands, which agree.
    Same,
    /// The real dtype below a complex one; others stay.
    Real,
    /// The complex dtype above a real one.
    Complex,
    /// Always this one.
    Fixed(DType),
    /// An attribute of the operation says it.
    Attribute(fn(&CoreOp) -> DType),
}

/// The shape of the result, from attributes and operands; checks them too.
pub type ShapeFn = fn(&CoreOp, &mut ShapeContext<'_>) -> Result<Vec<SymDim>>;

/// A linearisation: the tangent of the result, `None` where it is zero.
pub type LinearizeFn = fn(&mut Linearize<'_>) -> Result<Option<ValueId>>;

/// A transposition: for each operand the cotangent, `None` where the operand is not linear.
pub type TransposeFn = fn(&mut Transpose<'_>) -> Result<Vec<Option<ValueId>>>;

/// The derivative of an operation.
#[derive(Clone, Copy)]
pub enum Derivative {
    /// Linear in its only operand: the tangent is the operation applied to the tangent.
    Linear(TransposeFn),
    /// Linear in some operands, or in each while the others are held: both rules.
    Multilinear(LinearizeFn, TransposeFn),
    /// Not linear; the linearisation writes linear operations only.
    Nonlinear(LinearizeFn),
    /// The derivative is zero wherever it exists, or the result is not a number; says why.
    Zero(&'static str),
}

/// Everything known of an operation but its kernels.
pub struct Row {
    /// The name in the text form and in messages.
    pub name: &'static str,
    /// One line: what it computes.
    pub doc: &'static str,
    /// The class.
    pub class: OpClass,
    /// The names of the operands; their number is the arity. Empty for any number (at least one).
    pub operands: &'static [&'static str],
    /// The operands that steer and are no data, each with its dtype: conditions, indices.
    pub control: &'static [(usize, DType)],
    /// Accepted dtypes of the data operands.
    pub dtypes: DTypeSet,
    /// The dtype of the result.
    pub output: OutputDType,
    /// The shape rule.
    pub shape: ShapeFn,
    /// The derivative.
    pub derivative: Derivative,
}

impl Row {
    /// The number of operands, `None` for any number.
    pub fn arity(&self) -> Option<usize> {
        (self.class == OpClass::Creation || !self.operands.is_empty()).then_some(self.operands.len())
    }

    /// The dtype of operand `i` if it steers and is no data.
    pub fn control(&self, i: usize) -> Option<DType> {
        self.control.iter().find(|(operand, _)| *operand == i).map(|(_, dtype)| *dtype)
    }
}

/// What a linearisation rule sees. Tangents have the shape and dtype of their operands.
pub struct Linearize<'a> {
    /// Where the rule writes.
    pub b: &'a mut ProgramBuilder,
    /// The operation.
    pub op: &'a CoreOp,
    /// Its operands.
    pub inputs: &'a [ValueId],
    /// Its result.
    pub output: ValueId,
    /// The tangents of the operands, `None` where zero; at least one is present.
    pub tangents: &'a [Option<ValueId>],
}

impl Linearize<'_> {
    /// The tangent of the only operand.
    ///
    /// # Errors
    /// When it is absent; no rule is called then.
    pub fn tangent(&self) -> Result<ValueId> {
        let absent = || Error::argument(self.op.name(), "tangents", "are all absent, so there is nothing to linearise");
        self.tangents.first().copied().flatten().ok_or_else(absent)
    }
}

/// What a transposition rule sees.
pub struct Transpose<'a> {
    /// Where the rule writes.
    pub b: &'a mut ProgramBuilder,
    /// The operation.
    pub op: &'a CoreOp,
    /// Its operands; only the metadata of the linear ones may be used.
    pub inputs: &'a [ValueId],
    /// Which operands are linear; at least one is.
    pub linear: &'a [bool],
    /// The cotangent of the result.
    pub cotangent: ValueId,
}

impl Transpose<'_> {
    /// Metadata of operand `i`.
    pub fn meta(&self, i: usize) -> ValueMeta {
        self.b.meta(self.inputs[i]).clone()
    }
}
