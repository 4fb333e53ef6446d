//! Binding: a plan's symbolic shapes become extents and layouts, once for each signature.

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use smallvec::SmallVec;
use tenferro_core::ops::{CoreOp, OpClass};
use tenferro_core::program::Sizes;
use tenferro_core::shape::SymDim;
use tenferro_core::{DType, Layout, ScalarValue, Shape, Tensor, TensorRead, TensorView};

use super::command::Command;
use super::inputs::InputMeta;
use crate::error::{Error, Result};
use crate::prepare::{Definition, LayoutClass, Passage, Plan, ScalarSource, Signature, Step, Work, WorkKind};

/// A plan with everything that follows from the inputs' shapes and strides worked out: a run needs
/// nothing else. Where sizes are read off values, it is all that comes before the next of these; the
/// rest is another binding. All of a plan stands in the order in which it becomes known.
pub(crate) struct Bound {
    inputs: Vec<(DType, Layout)>,
    /// The sizes that are known.
    pub sizes: Sizes,
    pub scalars: Vec<Tensor>,
    pub slots: Vec<SlotKind>,
    /// The steps from where the last of the sizes was read.
    pub steps: Vec<BoundStep>,
    /// The results; none while sizes are unknown.
    pub outputs: Vec<BoundOutput>,
    /// The engine that copies what is in host memory and no engine made.
    pub host: Option<usize>,
    /// As the [`Plan`]'s.
    pub arrivals: SmallVec<[u32; 1]>,
    pub next: Option<Box<Next>>,
}

/// What is left of a plan when a size must be read off a value.
pub(crate) struct Next {
    /// How many were read before.
    stage: usize,
    /// The value.
    pub value: Operand,
    places: Vec<Place>,
    /// Tells bindings apart, also those that are gone.
    id: u64,
}

/// The tensors that a slot holds.
#[derive(Clone)]
pub(crate) struct SlotKind {
    /// The position of their engine among the targets, none for host memory without an engine.
    pub engine: Option<usize>,
    pub dtype: DType,
    pub shape: Shape,
}

impl SlotKind {
    /// The bytes of its tensors.
    pub fn bytes(&self) -> u64 {
        (self.shape.iter().product::<usize>() * self.dtype.size()) as u64
    }
}

/// A step for operands of known layouts.
pub(crate) struct BoundStep {
    pub work: BoundWork,
    pub engine: usize,
    /// Its position in the plan.
    pub position: u32,
    /// What it computes, where that is known, in operations.
    pub flops: Option<f64>,
    pub inputs: SmallVec<[Operand; 3]>,
    /// The slots written.
    pub outputs: SmallVec<[u32; 1]>,
    /// The slots that are not needed after this step.
    pub release: SmallVec<[u32; 2]>,
    /// As the [`Step`]'s.
    pub waits: SmallVec<[u32; 1]>,
}

/// What a step does.
pub(crate) enum BoundWork {
    Command(Arc<dyn Command>),
    /// The only input is copied to the only output.
    Copy,
    /// The same from one memory to another.
    Transfer(Arc<Passage>),
}

#[cfg(feature = "tracing")]
impl BoundWork {
    /// As the plan's [`Work::name`].
    pub fn name(&self) -> &str {
        match self {
            Self::Command(command) => command.name(),
            Self::Copy => "compact",
            Self::Transfer(_) => "transfer",
        }
    }
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
#[derive(Clone)]
struct Place {
    root: Root,
    layout: Layout,
    /// Whether `layout` is another than the root's own.
    is_view: bool,
}

impl Bound {
    pub fn new(plan: &Plan, sizes: Sizes, inputs: &[InputMeta<'_>]) -> Result<Self> {
        let inputs = inputs.iter().map(|input| (input.dtype, input.layout.clone())).collect();
        let nothing = Self {
            inputs,
            sizes,
            scalars: Vec::with_capacity(plan.scalars.len()),
            slots: Vec::with_capacity(plan.slots.len()),
            steps: Vec::new(),
            outputs: Vec::new(),
            host: plan.host,
            arrivals: plan.arrivals.clone(),
            next: None,
        };
        nothing.with_stage(plan, 0, Vec::with_capacity(plan.definitions.len()))
    }

    /// The binding that follows when the next size is known; `sizes` begin with those known here.
    pub fn after(&self, plan: &Plan, next: &Next, sizes: Sizes) -> Result<Self> {
        let known = Self {
            inputs: self.inputs.clone(),
            sizes,
            scalars: self.scalars.clone(),
            slots: self.slots.clone(),
            steps: Vec::new(),
            outputs: Vec::new(),
            host: plan.host,
            arrivals: plan.arrivals.clone(),
            next: None,
        };
        known.with_stage(plan, next.stage + 1, next.places.clone())
    }

    /// Adds what the sizes decide when `stage` of them are read off values, given the places of values before.
    fn with_stage(mut self, plan: &Plan, stage: usize, mut places: Vec<Place>) -> Result<Self> {
        let sizes = &self.sizes[..];
        let known = |dim: &SymDim| dim.sizes_needed() <= sizes.len();
        for slot in plan.slots.iter().skip(self.slots.len()).take_while(|slot| slot.meta.shape.iter().all(known)) {
            let shape = extents(&slot.meta.shape, sizes)?;
            self.slots.push(SlotKind { engine: slot.engine, dtype: slot.meta.dtype, shape });
        }
        let is_known = |source: &&ScalarSource| match source {
            ScalarSource::Constant(_) => true,
            ScalarSource::Size(dim, _) => known(dim),
        };
        for source in plan.scalars.iter().skip(self.scalars.len()).take_while(is_known) {
            self.scalars.push(scalar(source, sizes)?);
        }
        let read = plan.reads.get(stage);
        let count = read.map_or(plan.definitions.len(), |read| read.definitions);
        for definition in &plan.definitions[places.len().min(count)..count] {
            places.push(place(definition, &places, sizes, &self.inputs, &self.slots)?);
        }
        let range = plan.steps_of_stage(stage);
        let mut steps = Vec::with_capacity(range.len());
        for position in range {
            let late = |late: usize| {
                let layouts: SmallVec<[LayoutClass; 8]> =
                    self.inputs.iter().map(|(_, layout)| LayoutClass::of(layout)).collect();
                plan.late[late].prepare(&Signature { sizes, layouts: &layouts })
            };
            bind_step(plan, position, &places, &self.slots, &late, &mut steps)?;
        }
        self.steps = steps;
        match read {
            None => self.outputs = outputs(plan, &places, &self.inputs, &self.slots),
            Some(read) => {
                let value = places[read.value as usize].operand();
                static IDS: AtomicU64 = AtomicU64::new(0);
                let id = IDS.fetch_add(1, Ordering::Relaxed);
                self.next = Some(Box::new(Next { stage, value, places, id }));
            }
        }
        Ok(self)
    }

    fn is_for(&self, inputs: &[TensorRead<'_>]) -> bool {
        self.inputs.len() == inputs.len()
            && self.inputs.iter().zip(inputs).all(|((dtype, layout), input)| {
                let input = InputMeta::of(input);
                *dtype == input.dtype && layout == input.layout
            })
    }
}

/// Where a value is, given the places of those before it.
fn place(
    definition: &Definition,
    places: &[Place],
    sizes: &[usize],
    inputs: &[(DType, Layout)],
    slots: &[SlotKind],
) -> Result<Place> {
    Ok(match definition {
        Definition::Input(i) => Place::whole(Root::Input(*i), inputs[*i as usize].1.clone()),
        Definition::Scalar(i) => Place::whole(Root::Scalar(*i), Layout::col_major(&[])?),
        Definition::Slot(slot) => Place::slot(*slot, slots)?,
        Definition::View { source, op } => {
            let source = &places[*source as usize];
            source.view(view(op, &source.layout, sizes)?)
        }
        Definition::Reshape { source, slot } => {
            let source = &places[*source as usize];
            match source.layout.reshape(&slots[*slot as usize].shape)? {
                Some(layout) => source.view(layout),
                None => Place::slot(*slot, slots)?,
            }
        }
    })
}

fn outputs(plan: &Plan, places: &[Place], inputs: &[(DType, Layout)], slots: &[SlotKind]) -> Vec<BoundOutput> {
    let output = |(i, &value): (usize, &u32)| {
        let place = &places[value as usize];
        let later = &plan.outputs[i + 1..];
        BoundOutput {
            value: place.operand(),
            layout: place.layout.clone(),
            is_whole: place.layout.is_contiguous() && place.layout.len() == root_len(place.root, inputs, slots),
            is_last: !later.iter().any(|&value| places[value as usize].root == place.root),
        }
    };
    plan.outputs.iter().enumerate().map(output).collect()
}

/// Adds a step for operands at these places. One that is not needed leaves what it releases to the
/// step before.
fn bind_step(
    plan: &Plan,
    position: usize,
    places: &[Place],
    slots: &[SlotKind],
    late: &dyn Fn(usize) -> Result<Arc<dyn Command>>,
    steps: &mut Vec<BoundStep>,
) -> Result<()> {
    let step = &plan.steps[position];
    let operands = step.inputs.iter().map(|&value| &places[value as usize]);
    let layouts: SmallVec<[&Layout; 3]> = operands.clone().map(|place| &place.layout).collect();
    let bound = |command: &Arc<dyn Command>| {
        let flops = flops(step, &**command, &layouts, slots);
        let command = command.bind(&layouts)?.unwrap_or_else(|| Arc::clone(command));
        Ok::<_, Error>((BoundWork::Command(command), flops))
    };
    let (work, flops) = match &step.work {
        Work::Command(command) => bound(command)?,
        Work::Late { late: position, .. } => bound(&late(*position)?)?,
        Work::Transfer(passage) => (BoundWork::Transfer(Arc::clone(passage)), Some(0.0)),
        Work::Compact(value) if places[*value as usize].root == Root::Slot(step.outputs[0]) => {
            (BoundWork::Copy, Some(0.0))
        }
        Work::Compact(_) => {
            // Without a step before, what is filled goes back at the end of the run.
            if let Some(before) = steps.last_mut() {
                before.release.extend_from_slice(&step.release);
            }
            return Ok(());
        }
    };
    steps.push(BoundStep {
        work,
        engine: step.engine,
        position: position as u32,
        flops,
        inputs: operands.map(Place::operand).collect(),
        outputs: step.outputs.clone(),
        release: step.release.clone(),
        waits: step.waits.clone(),
    });
    Ok(())
}

/// The operations of a command: what it says itself, else by the shapes one for each element that it
/// computes or combines.
fn flops(step: &Step, command: &dyn Command, inputs: &[&Layout], slots: &[SlotKind]) -> Option<f64> {
    command.flops(inputs).or_else(|| match step.kind {
        WorkKind::Core(OpClass::Elementwise) => {
            Some(slots[step.outputs[0] as usize].shape.iter().map(|&extent| extent as f64).product())
        }
        WorkKind::Core(OpClass::Reduction) => Some(inputs[0].len() as f64),
        WorkKind::Core(_) | WorkKind::Copy => Some(0.0),
        WorkKind::Family => None,
    })
}

/// The number of elements of a tensor that holds values.
fn root_len(root: Root, inputs: &[(DType, Layout)], slots: &[SlotKind]) -> usize {
    match root {
        Root::Input(i) => inputs[i as usize].1.len(),
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
    /// What followed when a size was read off a value, the last one used in front. Sizes may differ from run to run, so
    /// these are more than signatures; they are all that is kept, however many sizes a program reads.
    followed: Mutex<Vec<Followed>>,
}

/// A binding that followed another.
struct Followed {
    /// The other's [`Next::id`].
    after: u64,
    size: usize,
    bound: Arc<Bound>,
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
    const FOLLOWED: usize = 64;

    /// The binding that follows when the next size is known to be this, if it did lately.
    pub fn find_after(&self, next: &Next, size: usize) -> Option<Arc<Bound>> {
        let mut followed = lock(&self.followed);
        let position = followed.iter().position(|followed| (followed.after, followed.size) == (next.id, size))?;
        followed[..=position].rotate_right(1);
        Some(Arc::clone(&followed[0].bound))
    }

    /// Keeps the binding that followed for this size; the one not used for longest makes room.
    pub fn keep_after(&self, next: &Next, size: usize, bound: Bound) -> Arc<Bound> {
        let bound = Arc::new(bound);
        let mut followed = lock(&self.followed);
        followed.truncate(Self::FOLLOWED - 1);
        followed.insert(0, Followed { after: next.id, size, bound: Arc::clone(&bound) });
        bound
    }

    #[inline]
    pub fn find(&self, inputs: &[TensorRead<'_>]) -> Option<Binding<'_>> {
        match self.first.get() {
            Some(first) if first.is_for(inputs) => Some(Binding::First(first)),
            Some(_) => lock(&self.recent).iter().find(|bound| bound.is_for(inputs)).cloned().map(Binding::Recent),
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
        let mut recent = lock(&self.recent);
        recent.truncate(Self::KEPT - 1);
        recent.insert(0, Arc::clone(&bound));
        Binding::Recent(bound)
    }
}

fn lock<T>(recent: &Mutex<T>) -> MutexGuard<'_, T> {
    // The lists are whole whenever a panic could leave them.
    recent.lock().unwrap_or_else(PoisonError::into_inner)
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
