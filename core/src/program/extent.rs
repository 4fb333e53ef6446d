//! What is known of the extents of a program's values before it runs.

use super::{SemanticProgram, Size, SizeBinding, SizeNames, ValueId};
use crate::shape::{Range, SizeId, SymDim};

/// What the inputs' shapes tell of an extent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// The extent.
    Exact(SymDim),
    /// The most that it may be: it depends on sizes that are read off values.
    UpperBound(SymDim),
}

impl Extent {
    /// The expression, of sizes that are read off axes of inputs.
    pub fn dim(&self) -> &SymDim {
        match self {
            Self::Exact(dim) | Self::UpperBound(dim) => dim,
        }
    }
}

impl SemanticProgram {
    /// What the inputs' shapes tell of the extent of an axis; `None` if there is no such value or axis.
    ///
    /// ```
    /// use tenferro_core::{dtype::DType, program::{Extent, ProgramBuilder}};
    /// let mut b = ProgramBuilder::new("head");
    /// let n = b.size("n");
    /// let x = b.input("x", DType::F64, &[n.clone(), 2.into()])?;
    /// let count = b.input("count", DType::I64, &[])?;
    /// let head = b.dynamic_truncate(x, count, 0)?;
    /// let program = b.finish(&[(None, head)])?;
    /// let head = program.outputs()[0].value;
    /// assert_eq!(program.extent(head, 0), Some(Extent::UpperBound(n)));
    /// assert_eq!(program.extent(head, 1), Some(Extent::Exact(2.into())));
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    pub fn extent(&self, value: ValueId, axis: usize) -> Option<Extent> {
        let dim = self.values.get(value.index())?.shape.get(axis)?;
        let data_dependent = dim.sizes_needed() > self.axis_size_count();
        Some(match data_dependent {
            true => Extent::UpperBound(SizeNames(&self.sizes).range(dim).high),
            false => Extent::Exact(dim.clone()),
        })
    }
}

impl SizeNames<'_> {
    /// What an expression may be, in sizes that are read off axes of inputs.
    pub(crate) fn range(&self, dim: &SymDim) -> Range {
        let bound = |id: SizeId| match self.0.get(id.0 as usize) {
            Some(Size { binding: SizeBinding::Value { bound, .. }, .. }) => Some(bound),
            _ => None,
        };
        Range::of(dim, &bound)
    }
}
