//! What a provider or an executor is asked, and what it may answer.

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;
use tenferro_core::Shape;
use tenferro_core::ops::CoreOp;
use tenferro_core::program::{Op, ValueMeta};
use tenferro_core::shape::{SizeId, SymDim};

use super::specialization::{Askable, LayoutClass, Specialization, SpecializationRequirements};
use crate::error::Result;
use crate::execute::Command;

/// The answer to a [`PrepareRequest`].
#[derive(Debug, Clone)]
pub enum Preparation {
    /// The work, its kernel chosen.
    Command(Arc<dyn Command>),
    /// More must be known of the program's inputs; the request comes again when it is.
    NeedsSpecialization(SpecializationRequirements),
    /// The engine does not have this operation on these operands.
    Unsupported,
}

impl Preparation {
    /// The work of a command.
    pub fn command(command: impl Command + 'static) -> Self {
        Self::Command(Arc::new(command))
    }
}

/// Where an operand's layout comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LayoutOrigin {
    /// A command's output: compact.
    Compact,
    /// An input of the program, as it was given.
    Input(u32),
    /// A view; its layout is known when it is run.
    View,
}

/// One operation to prepare: dtypes and symbolic shapes, and as much of the inputs as was asked
/// for so far.
pub struct PrepareRequest<'a> {
    pub(crate) op: &'a Op,
    pub(crate) inputs: SmallVec<[&'a ValueMeta; 4]>,
    pub(crate) origins: SmallVec<[LayoutOrigin; 4]>,
    pub(crate) outputs: &'a [ValueMeta],
    pub(crate) granted: &'a Specialization,
    /// The sizes, 0 where they were not asked for.
    pub(crate) sizes: &'a [usize],
    pub(crate) askable: Askable,
}

impl<'a> PrepareRequest<'a> {
    /// The operation.
    pub fn op(&self) -> &'a Op {
        self.op
    }

    /// The operation, if it is a core one.
    pub fn core_op(&self) -> Option<&'a CoreOp> {
        match self.op {
            Op::Core(op) => Some(op),
            Op::Extension(_) => None,
        }
    }

    /// Dtype and symbolic shape of the operands.
    pub fn inputs(&self) -> &[&'a ValueMeta] {
        &self.inputs
    }

    /// Dtype and symbolic shape of the results.
    pub fn outputs(&self) -> &'a [ValueMeta] {
        self.outputs
    }

    /// The extents of operand `i`, once the sizes they depend on were asked for.
    pub fn input_shape(&self, i: usize) -> Option<Shape> {
        self.shape(self.inputs.get(i)?)
    }

    /// The extents of result `i`, once the sizes they depend on were asked for.
    pub fn output_shape(&self, i: usize) -> Option<Shape> {
        self.shape(self.outputs.get(i)?)
    }

    fn shape(&self, meta: &ValueMeta) -> Option<Shape> {
        meta.shape.iter().map(|dim| usize::try_from(self.dim(dim)?).ok()).collect()
    }

    /// The value of an attribute, once the sizes it depends on were asked for.
    pub fn dim(&self, dim: &SymDim) -> Option<i64> {
        let mut known = true;
        dim.for_each_size(&mut |id| known &= self.granted.size(id).is_some());
        if known { dim.eval(self.sizes).ok() } else { None }
    }

    /// The layout class of operand `i`, once it was asked for. Views count as strided, results of
    /// other commands are column-major.
    pub fn input_layout(&self, i: usize) -> Option<LayoutClass> {
        match *self.origins.get(i)? {
            LayoutOrigin::Compact => Some(LayoutClass::ColumnMajor),
            LayoutOrigin::Input(input) => self.granted.layout(input),
            LayoutOrigin::View => Some(LayoutClass::Strided),
        }
    }

    /// The requirement of dtypes and ranks.
    pub fn metadata(&self) -> SpecializationRequirements {
        SpecializationRequirements::metadata()
    }

    /// The requirement of dtypes, ranks and the attributes that tensors do not show.
    pub fn attributes(&self) -> SpecializationRequirements {
        let attributes: [&[SymDim]; 2] = match self.op {
            Op::Core(CoreOp::Pad { low, high, .. }) => [low, high],
            _ => [&[], &[]],
        };
        self.metadata().with_sizes(sizes_in(attributes))
    }

    /// The requirement of dtypes, ranks and the extents of all operands, results and attributes.
    pub fn extents(&self) -> SpecializationRequirements {
        let metas = self.inputs.iter().copied().chain(self.outputs);
        self.attributes().with_sizes(sizes_in(metas.map(|meta| &*meta.shape)))
    }

    /// The requirement of dtypes, ranks, extents and the layout classes of all operands.
    pub fn extents_and_layouts(&self) -> SpecializationRequirements {
        let inputs = self.origins.iter().filter_map(|origin| match origin {
            LayoutOrigin::Input(input) => Some(*input),
            LayoutOrigin::Compact | LayoutOrigin::View => None,
        });
        self.extents().with_layouts(inputs)
    }

    /// Runs `prepare` if all of `needs` is known, and asks for it otherwise.
    ///
    /// # Errors
    /// Those of `prepare`.
    pub fn with(
        &self,
        needs: SpecializationRequirements,
        prepare: impl FnOnce() -> Result<Preparation>,
    ) -> Result<Preparation> {
        if self.granted.requirements().contains(&needs) {
            prepare()
        } else {
            Ok(Preparation::NeedsSpecialization(needs))
        }
    }
}

/// The sizes that occur in extents.
fn sizes_in<'a>(dims: impl IntoIterator<Item = &'a [SymDim]>) -> Vec<SizeId> {
    let mut sizes = Vec::new();
    dims.into_iter().flatten().for_each(|dim| dim.for_each_size(&mut |id| sizes.push(id)));
    sizes
}

impl fmt::Debug for PrepareRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrepareRequest")
            .field("op", &self.op)
            .field("inputs", &self.inputs)
            .field("outputs", &self.outputs)
            .field("granted", &self.granted)
            .finish()
    }
}
