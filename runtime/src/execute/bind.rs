//! Binding: a plan's symbolic shapes become extents and layouts, once for each signature.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;
use tenferro_core::ops::CoreOp;
use tenferro_core::program::{Sizes, ValueId};
use tenferro_core::shape::SymDim;
use tenferro_core::{DType, Layout, ScalarValue, Shape, Tensor, TensorView};

use super::command::Command;
use super::inputs::InputMeta;
use crate::error::{Error, Result};
use crate::prepare::{Definition, LayoutClass, Plan, ScalarSource, Signature, Work};

/// A plan with everything that follows from the inputs' shapes and strides worked out. Where sizes are read off values,
/// everything that comes before the next of these; nothing is left out in between, for all of a plan stands in the order
/// in which it becomes known.
pub(crate) struct Bound {
    inputs: Vec<(DType, Layout)>,
    /// The sizes that are known.
    pub sizes: Sizes,
    /// How many of them are read off values.
    pub stage: usize,
    /// By [`ValueId`].
    places: Vec<Place>,
    /// By slot.
    pub shapes: Vec<Shape>,
    pub scalars: Vec<Tensor>,
    /// The commands of [`Plan::late`].
    pub late: Vec<Arc<dyn Command>>,
    /// What followed lately when the next size was known.
    next: Recent,
}

/// Where a value is.
#[derive(Clone)]
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
    pub fn new(plan: &Plan, sizes: Sizes, inputs: &[InputMeta<'_>]) -> Result<Self> {
        let inputs = inputs.iter().map(|input| (input.dtype, input.layout.clone())).collect();
        let nothing = Self {
            inputs,
            sizes,
            stage: 0,
            places: Vec::with_capacity(plan.definitions.len()),
            shapes: Vec::with_capacity(plan.slots.len()),
            scalars: Vec::with_capacity(plan.scalars.len()),
            late: Vec::new(),
            next: Recent::default(),
        };
        nothing.go_on(plan)
    }

    /// The binding when the next size is known to be this, if that was so lately.
    pub fn recent_with(&self, size: usize) -> Option<Arc<Self>> {
        self.next.find(|next| next.sizes.last() == Some(&size))
    }

    /// The binding when the next size is known; `sizes` begin with those known here.
    pub fn with(&self, plan: &Plan, sizes: Sizes) -> Result<Arc<Self>> {
        let known = Self {
            inputs: self.inputs.clone(),
            sizes,
            stage: self.stage + 1,
            places: self.places.clone(),
            shapes: self.shapes.clone(),
            scalars: self.scalars.clone(),
            late: self.late.clone(),
            next: Recent::default(),
        };
        let next = Arc::new(known.go_on(plan)?);
        self.next.keep(Arc::clone(&next), NEXT_KEPT);
        Ok(next)
    }

    /// Adds what the known sizes decide.
    fn go_on(mut self, plan: &Plan) -> Result<Self> {
        let sizes = &self.sizes;
        let known = |dims: &[SymDim]| dims.iter().all(|dim| dim.sizes_needed() <= sizes.len());
        for slot in plan.slots.iter().skip(self.shapes.len()).take_while(|slot| known(&slot.meta.shape)) {
            self.shapes.push(extents(&slot.meta.shape, sizes)?);
        }
        let known = |source: &ScalarSource| match source {
            ScalarSource::Constant(_) => true,
            ScalarSource::Size(dim, _) => dim.sizes_needed() <= sizes.len(),
        };
        for source in plan.scalars.iter().skip(self.scalars.len()).take_while(|source| known(source)) {
            self.scalars.push(scalar(source, sizes)?);
        }
        let values = plan.reads.get(self.stage).map_or(plan.definitions.len(), |read| read.value.index() + 1);
        for definition in plan.definitions.iter().take(values).skip(self.places.len()) {
            let place = match definition {
                Definition::Input(i) => Place::whole(Root::Input(*i as usize), self.inputs[*i as usize].1.clone()),
                Definition::Scalar(i) => Place::whole(Root::Scalar(*i as usize), Layout::col_major(&[])?),
                Definition::Slot(slot) => Place::slot(*slot, &self.shapes)?,
                Definition::View { source, op } => {
                    let source = &self.places[source.index()];
                    source.view(view(op, &source.layout, sizes)?)
                }
                Definition::Reshape { source, slot } => {
                    let source = &self.places[source.index()];
                    match source.layout.reshape(&self.shapes[*slot as usize])? {
                        Some(layout) => source.view(layout),
                        None => Place::slot(*slot, &self.shapes)?,
                    }
                }
            };
            self.places.push(place);
        }
        if !plan.late.is_empty() {
            let layouts: SmallVec<[LayoutClass; 8]> =
                self.inputs.iter().map(|(_, layout)| LayoutClass::of(layout)).collect();
            let signature = Signature { sizes, layouts: &layouts };
            for step in &plan.steps[plan.steps_of_stage(self.stage)] {
                if let Work::Late { late, .. } = step.work {
                    self.late.push(plan.late[late].prepare(&signature)?);
                }
            }
        }
        Ok(self)
    }

    /// Where a value is, if that is known.
    pub fn known_place(&self, value: ValueId) -> Option<&Place> {
        self.places.get(value.index())
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

/// How many bindings are kept of a prepared program, for its signatures,
const KEPT: usize = 4;
/// and how many of one binding, for the sizes that were read next: they differ from run to run.
const NEXT_KEPT: usize = 16;

/// The signatures a prepared program was lately run with.
#[derive(Default)]
pub(crate) struct Bindings(Recent);

impl Bindings {
    pub fn find(&self, inputs: &[InputMeta<'_>]) -> Option<Arc<Bound>> {
        self.0.find(|bound| bound.is_for(inputs))
    }

    /// Keeps a binding; the oldest makes room.
    pub fn keep(&self, bound: Arc<Bound>) {
        self.0.keep(bound, KEPT);
    }
}

/// Bindings, the latest first.
#[derive(Default)]
struct Recent(Mutex<SmallVec<[Arc<Bound>; KEPT]>>);

impl Recent {
    fn find(&self, wanted: impl Fn(&Bound) -> bool) -> Option<Arc<Bound>> {
        self.lock().iter().find(|bound| wanted(bound)).cloned()
    }

    fn keep(&self, bound: Arc<Bound>, most: usize) {
        let mut recent = self.lock();
        recent.truncate(most - 1);
        recent.insert(0, bound);
    }

    fn lock(&self) -> MutexGuard<'_, SmallVec<[Arc<Bound>; KEPT]>> {
        // The list is whole whenever a panic could leave it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
            source.slice(&extents(start, sizes)?, &extents(limit, sizes)?, &indices(stride))?
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
