//! Binding: a plan's symbolic shapes become extents and layouts, once for each signature.

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use smallvec::SmallVec;
use tenferro_core::ops::CoreOp;
use tenferro_core::shape::SymDim;
use tenferro_core::{DType, Layout, ScalarValue, Shape, Tensor, TensorRead, TensorView};

use super::command::Command;
use super::inputs::InputMeta;
use crate::error::{Error, Result};
use crate::prepare::{Definition, Plan, ScalarSource, Step, Work};

/// A plan with everything that follows from the inputs' shapes and strides worked out: a run needs
/// nothing else.
pub(crate) struct Bound {
    inputs: Vec<(DType, Layout)>,
    pub scalars: Vec<Tensor>,
    pub slots: Vec<SlotKind>,
    pub steps: Vec<BoundStep>,
    pub outputs: Vec<BoundOutput>,
}

/// The tensors that a slot holds.
pub(crate) struct SlotKind {
    /// The position of their engine among the targets.
    pub engine: usize,
    pub dtype: DType,
    pub shape: Shape,
}

/// A step for operands of known layouts.
pub(crate) struct BoundStep {
    pub work: BoundWork,
    pub engine: usize,
    pub inputs: SmallVec<[Operand; 3]>,
    /// The slots written.
    pub outputs: SmallVec<[u32; 1]>,
    /// The slots that are not needed after this step.
    pub release: SmallVec<[u32; 2]>,
}

/// What a step does.
pub(crate) enum BoundWork {
    Command(Arc<dyn Command>),
    /// The only input is copied to the only output.
    Copy,
}

/// A value that a step reads: the tensor that holds it, and its layout where that is another.
pub(crate) struct Operand {
    root: Root,
    layout: Option<Box<Layout>>,
}

/// The tensor that holds a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Root {
    Input(u32),
    Scalar(u32),
    Slot(u32),
}

/// A result.
pub(crate) struct BoundOutput {
    pub value: Operand,
    pub layout: Layout,
    /// Whether it is all of its root, in order, whatever its shape.
    pub is_whole: bool,
    /// Whether no later output needs its root.
    pub is_last: bool,
}

/// Where a value is.
struct Place {
    root: Root,
    layout: Layout,
    /// Whether `layout` is another than the root's own.
    is_view: bool,
}

impl Bound {
    pub fn new(plan: &Plan, sizes: &[usize], inputs: &[InputMeta<'_>]) -> Result<Self> {
        let slots: Vec<SlotKind> = plan
            .slots
            .iter()
            .map(|slot| {
                let shape = extents(&slot.meta.shape, sizes)?;
                Ok(SlotKind { engine: slot.engine, dtype: slot.meta.dtype, shape })
            })
            .collect::<Result<_>>()?;
        let scalars = plan.scalars.iter().map(|source| scalar(source, sizes)).collect::<Result<_>>()?;
        let places = places(plan, sizes, inputs, &slots)?;
        let mut steps = Vec::with_capacity(plan.steps.len());
        for step in &plan.steps {
            bind_step(step, &places, &mut steps)?;
        }
        let outputs = plan.outputs.iter().enumerate().map(|(i, value)| {
            let place = &places[value.index()];
            let later = &plan.outputs[i + 1..];
            BoundOutput {
                value: place.operand(),
                layout: place.layout.clone(),
                is_whole: place.layout.is_contiguous() && place.layout.len() == root_len(place.root, inputs, &slots),
                is_last: !later.iter().any(|value| places[value.index()].root == place.root),
            }
        });
        let outputs = outputs.collect();
        let inputs = inputs.iter().map(|input| (input.dtype, input.layout.clone())).collect();
        Ok(Self { inputs, scalars, slots, steps, outputs })
    }

    fn is_for(&self, inputs: &[TensorRead<'_>]) -> bool {
        self.inputs.len() == inputs.len()
            && self.inputs.iter().zip(inputs).all(|((dtype, layout), input)| {
                let input = InputMeta::of(input);
                *dtype == input.dtype && layout == input.layout
            })
    }
}

/// Where the values of a plan are, by [`ValueId`](tenferro_core::program::ValueId).
fn places(plan: &Plan, sizes: &[usize], inputs: &[InputMeta<'_>], slots: &[SlotKind]) -> Result<Vec<Place>> {
    let mut places: Vec<Place> = Vec::with_capacity(plan.definitions.len());
    for definition in &plan.definitions {
        let place = match definition {
            Definition::Input(i) => Place::whole(Root::Input(*i), inputs[*i as usize].layout.clone()),
            Definition::Scalar(i) => Place::whole(Root::Scalar(*i), Layout::col_major(&[])?),
            Definition::Slot(slot) => Place::slot(*slot, slots)?,
            Definition::View { source, op } => {
                let source = &places[source.index()];
                source.view(view(op, &source.layout, sizes)?)
            }
            Definition::Reshape { source, slot } => {
                let source = &places[source.index()];
                match source.layout.reshape(&slots[*slot as usize].shape)? {
                    Some(layout) => source.view(layout),
                    None => Place::slot(*slot, slots)?,
                }
            }
        };
        places.push(place);
    }
    Ok(places)
}

/// Adds a step for operands at these places. One that is not needed leaves what it releases to the
/// step before.
fn bind_step(step: &Step, places: &[Place], steps: &mut Vec<BoundStep>) -> Result<()> {
    let operands = step.inputs.iter().map(|value| &places[value.index()]);
    let work = match &step.work {
        Work::Command(command) => {
            let layouts: SmallVec<[&Layout; 3]> = operands.clone().map(|place| &place.layout).collect();
            BoundWork::Command(command.bind(&layouts)?.unwrap_or_else(|| Arc::clone(command)))
        }
        Work::Compact(value) if places[value.index()].root == Root::Slot(step.outputs[0]) => BoundWork::Copy,
        Work::Compact(_) => {
            // What was never filled needs no release, so without a step before nothing is lost.
            if let Some(before) = steps.last_mut() {
                before.release.extend_from_slice(&step.release);
            }
            return Ok(());
        }
    };
    steps.push(BoundStep {
        work,
        engine: step.engine,
        inputs: operands.map(Place::operand).collect(),
        outputs: step.outputs.clone(),
        release: step.release.clone(),
    });
    Ok(())
}

/// The number of elements of a tensor that holds values.
fn root_len(root: Root, inputs: &[InputMeta<'_>], slots: &[SlotKind]) -> usize {
    match root {
        Root::Input(i) => inputs[i as usize].layout.len(),
        Root::Scalar(_) => 1,
        Root::Slot(i) => slots[i as usize].shape.iter().product(),
    }
}

impl Place {
    fn whole(root: Root, layout: Layout) -> Self {
        Self { root, layout, is_view: false }
    }

    fn slot(slot: u32, slots: &[SlotKind]) -> Result<Self> {
        Ok(Self::whole(Root::Slot(slot), Layout::col_major(&slots[slot as usize].shape)?))
    }

    fn view(&self, layout: Layout) -> Self {
        let is_view = self.is_view || layout != self.layout;
        Self { root: self.root, layout, is_view }
    }

    fn operand(&self) -> Operand {
        Operand { root: self.root, layout: self.is_view.then(|| Box::new(self.layout.clone())) }
    }
}

impl Operand {
    pub fn root(&self) -> Root {
        self.root
    }

    /// Whether its layout is another than its root's.
    pub fn is_view(&self) -> bool {
        self.layout.is_some()
    }

    /// The value, of its root.
    #[inline]
    pub fn of<'v>(&'v self, root: TensorView<'v>) -> TensorView<'v> {
        let Some(layout) = &self.layout else { return root };
        match root.through(layout) {
            Ok(view) => view,
            Err(error) => unreachable!("a binding is of the very layouts it is used with: {error}"),
        }
    }
}

/// The signatures a prepared program was lately run with.
#[derive(Default)]
pub(crate) struct Bindings {
    /// The first, found without a lock: programs that are specialised for extents seldom see
    /// another.
    first: OnceLock<Bound>,
    recent: Mutex<SmallVec<[Arc<Bound>; Bindings::KEPT]>>,
}

/// A binding in use.
pub(crate) enum Binding<'p> {
    First(&'p Bound),
    Recent(Arc<Bound>),
}

impl Deref for Binding<'_> {
    type Target = Bound;

    fn deref(&self) -> &Bound {
        match self {
            Self::First(bound) => bound,
            Self::Recent(bound) => bound,
        }
    }
}

impl Bindings {
    const KEPT: usize = 4;

    #[inline]
    pub fn find(&self, inputs: &[TensorRead<'_>]) -> Option<Binding<'_>> {
        match self.first.get() {
            Some(first) if first.is_for(inputs) => Some(Binding::First(first)),
            Some(_) => self.lock().iter().find(|bound| bound.is_for(inputs)).cloned().map(Binding::Recent),
            None => None,
        }
    }

    /// Keeps a binding. The first stays; of the others the oldest makes room.
    pub fn keep(&self, bound: Bound) -> Binding<'_> {
        let mut bound = Some(bound);
        let first = self.first.get_or_init(|| match bound.take() {
            Some(bound) => bound,
            None => unreachable!("a value is made at most once"),
        });
        let Some(bound) = bound else { return Binding::First(first) };
        let bound = Arc::new(bound);
        let mut recent = self.lock();
        recent.truncate(Self::KEPT - 1);
        recent.insert(0, Arc::clone(&bound));
        Binding::Recent(bound)
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
