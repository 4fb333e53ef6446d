//! Binding: a plan's symbolic shapes become extents and layouts, once for each signature.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;
use tenferro_core::ops::CoreOp;
use tenferro_core::program::ValueId;
use tenferro_core::shape::SymDim;
use tenferro_core::{DType, Layout, ScalarValue, Shape, Tensor, TensorView};

use super::inputs::InputMeta;
use crate::error::{Error, Result};
use crate::prepare::{Definition, Plan, ScalarSource};

/// A plan with everything that follows from the inputs' shapes and strides worked out.
pub(crate) struct Bound {
    inputs: Vec<(DType, Layout)>,
    /// By [`ValueId`].
    places: Vec<Place>,
    /// By slot.
    pub shapes: Vec<Shape>,
    pub scalars: Vec<Tensor>,
}

/// Where a value is.
pub(crate) struct Place {
    pub root: Root,
    pub layout: Layout,
    /// Whether `layout` is another than the root's own.
    pub is_view: bool,
}

/// The tensor that holds a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Root {
    Input(usize),
    Scalar(usize),
    Slot(usize),
}

impl Bound {
    pub fn new(plan: &Plan, sizes: &[usize], inputs: &[InputMeta<'_>]) -> Result<Self> {
        let shapes: Vec<Shape> =
            plan.slots.iter().map(|slot| extents(&slot.meta.shape, sizes)).collect::<Result<_>>()?;
        let scalars = plan.scalars.iter().map(|source| scalar(source, sizes)).collect::<Result<_>>()?;
        let mut places: Vec<Place> = Vec::with_capacity(plan.definitions.len());
        for definition in &plan.definitions {
            let place = match definition {
                Definition::Input(i) => {
                    let i = *i as usize;
                    Place::whole(Root::Input(i), inputs[i].layout.clone())
                }
                Definition::Scalar(i) => Place::whole(Root::Scalar(*i as usize), Layout::col_major(&[])?),
                Definition::Slot(slot) => Place::slot(*slot, &shapes)?,
                Definition::View { source, op } => {
                    let source = &places[source.index()];
                    source.view(view(op, &source.layout, sizes)?)
                }
                Definition::Reshape { source, slot } => {
                    let source = &places[source.index()];
                    match source.layout.reshape(&shapes[*slot as usize])? {
                        Some(layout) => source.view(layout),
                        None => Place::slot(*slot, &shapes)?,
                    }
                }
            };
            places.push(place);
        }
        let inputs = inputs.iter().map(|input| (input.dtype, input.layout.clone())).collect();
        Ok(Self { inputs, places, shapes, scalars })
    }

    pub fn place(&self, value: ValueId) -> &Place {
        &self.places[value.index()]
    }

    fn is_for(&self, inputs: &[InputMeta<'_>]) -> bool {
        self.inputs.len() == inputs.len()
            && self
                .inputs
                .iter()
                .zip(inputs)
                .all(|((dtype, layout), input)| *dtype == input.dtype && layout == input.layout)
    }
}

impl Place {
    fn whole(root: Root, layout: Layout) -> Self {
        Self { root, layout, is_view: false }
    }

    fn slot(slot: u32, shapes: &[Shape]) -> Result<Self> {
        let slot = slot as usize;
        Ok(Self::whole(Root::Slot(slot), Layout::col_major(&shapes[slot])?))
    }

    /// The value, of its root.
    #[inline]
    pub fn view_of<'v>(&self, root: TensorView<'v>) -> TensorView<'v> {
        if !self.is_view {
            return root;
        }
        match root.with_layout(self.layout.clone()) {
            Ok(view) => view,
            Err(error) => unreachable!("a binding is of the very layouts it is used with: {error}"),
        }
    }

    fn view(&self, layout: Layout) -> Self {
        let is_view = self.is_view || layout != self.layout;
        Self { root: self.root, layout, is_view }
    }
}

/// The signatures a prepared program was lately run with.
#[derive(Default)]
pub(crate) struct Bindings {
    recent: Mutex<SmallVec<[Arc<Bound>; Bindings::KEPT]>>,
}

impl Bindings {
    const KEPT: usize = 4;

    pub fn find(&self, inputs: &[InputMeta<'_>]) -> Option<Arc<Bound>> {
        self.lock().iter().find(|bound| bound.is_for(inputs)).cloned()
    }

    /// Keeps a binding; the oldest makes room.
    pub fn keep(&self, bound: Arc<Bound>) {
        let mut recent = self.lock();
        recent.truncate(Self::KEPT - 1);
        recent.insert(0, bound);
    }

    fn lock(&self) -> MutexGuard<'_, SmallVec<[Arc<Bound>; Self::KEPT]>> {
        // The list is whole whenever a panic could leave it.
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn scalar(source: &ScalarSource, sizes: &[usize]) -> Result<Tensor> {
    Ok(match source {
        ScalarSource::Constant(value) => Tensor::scalar(*value),
        ScalarSource::Size(dim, dtype) => {
            let size = dim.eval(sizes)?;
            // Not by way of f64, which does not have every i64.
            let value = if *dtype == DType::I64 { size.into() } else { ScalarValue::from_f64(size as f64, *dtype) };
            Tensor::scalar(value)
        }
    })
}

/// The layout that a layout operation makes of its operand's.
fn view(op: &CoreOp, source: &Layout, sizes: &[usize]) -> Result<Layout> {
    Ok(match op {
        CoreOp::StopGradient => source.clone(),
        CoreOp::Transpose { axes } => source.transpose(&indices(axes))?,
        CoreOp::BroadcastInDim { shape, axes } => source.broadcast_in_dim(&extents(shape, sizes)?, &indices(axes))?,
        CoreOp::Slice { start, limit, stride } => {
            source.strided_slice(&extents(start, sizes)?, &extents(limit, sizes)?, &indices(stride))?
        }
        CoreOp::Reverse { axes } => source.reverse(&indices(axes))?,
        CoreOp::ExtractDiag { axis_a, axis_b } => source.diagonal(*axis_a as usize, *axis_b as usize)?,
        CoreOp::Reshape { shape } => match source.reshape(&extents(shape, sizes)?)? {
            Some(layout) => layout,
            None => return Err(not_a_view(op, "of strided elements needs a copy")),
        },
        _ => return Err(not_a_view(op, "is no layout operation")),
    })
}

fn not_a_view(op: &CoreOp, message: &str) -> Error {
    Error::Execution { op: op.name().to_owned(), message: message.to_owned() }
}

fn indices(axes: &[u32]) -> Shape {
    axes.iter().map(|&axis| axis as usize).collect()
}

fn extents(dims: &[SymDim], sizes: &[usize]) -> Result<Shape> {
    Ok(dims.iter().map(|dim| dim.eval_extent(sizes)).collect::<Result<_, _>>()?)
}
