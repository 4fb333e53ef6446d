//! Lowering: every value of the program gets a place, every operation that needs one a command.

use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;
use tenferro_core::ops::{CoreOp, OpClass};
use tenferro_core::program::{Node, Op, SemanticProgram, ValueId};
use tenferro_core::shape::{SizeId, SymDim};
use tenferro_core::{DType, ScalarValue};

use super::buffers::{self, Buffer, SlotSpec};
use super::late::Late;
use super::request::{LayoutOrigin, PrepareRequest};
use super::selection::{Choice, Selector};
use super::specialization::{Specialization, SpecializationRequirements};
use super::{Entry, Key, PreparedProgram};
use crate::error::Result;
use crate::execute::{Bindings, Command};
use crate::runtime::RuntimeId;
use crate::snapshot::Snapshot;

/// A lowered program: steps in order, and where every value is found.
pub(crate) struct Plan {
    pub steps: Vec<Step>,
    /// By [`ValueId`].
    pub definitions: Vec<Definition>,
    pub scalars: Vec<ScalarSource>,
    pub slots: Vec<SlotSpec>,
    pub outputs: Vec<ValueId>,
    /// The sizes that are read off values, in order; most programs have none.
    pub reads: Vec<SizeRead>,
    /// The steps that are prepared when these sizes are known, in order.
    pub late: Vec<Late>,
}

impl Plan {
    /// The steps that are reached when `stage` of the sizes of values are read, up to the next of these.
    pub fn steps_of_stage(&self, stage: usize) -> Range<usize> {
        let step = |read: Option<&SizeRead>, otherwise| read.map_or(otherwise, |read| read.step);
        let first = step(stage.checked_sub(1).and_then(|last| self.reads.get(last)), 0);
        first..step(self.reads.get(stage), self.steps.len())
    }
}

/// A size that is read off a value while the program runs. All that depends on it comes later.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SizeRead {
    pub value: ValueId,
    /// The number of steps before it.
    pub step: usize,
}

/// How a value comes about.
#[derive(Debug, Clone)]
pub(crate) enum Definition {
    /// Given.
    Input(u32),
    /// A scalar that the runtime itself makes, once per signature.
    Scalar(u32),
    /// What a command writes into a slot.
    Slot(u32),
    /// A layout operation on another value.
    View { source: ValueId, op: CoreOp },
    /// A view where strides allow it, else a compact copy in a slot. Strides of inputs are known
    /// only when they are bound.
    Reshape { source: ValueId, slot: u32 },
}

/// A rank-0 value known before anything runs.
#[derive(Debug, Clone)]
pub(crate) enum ScalarSource {
    Constant(ScalarValue),
    Size(SymDim, DType),
}

/// One step of execution.
pub(crate) struct Step {
    pub work: Work,
    /// The position of the engine among the targets.
    pub engine: usize,
    pub inputs: SmallVec<[ValueId; 3]>,
    /// The slots written.
    pub outputs: SmallVec<[u32; 1]>,
    /// The slots that are not needed after this step.
    pub release: SmallVec<[u32; 2]>,
}

/// What a step does.
pub(crate) enum Work {
    /// A command's work.
    Command(Arc<dyn Command>),
    /// A command's work, the command being that of `late` at this position of [`Plan::late`].
    Late { late: usize, name: &'static str },
    /// The copy of a [`Definition::Reshape`], where one is needed.
    Compact(ValueId),
}

impl Work {
    pub fn name(&self) -> &str {
        match self {
            Self::Command(command) => command.name(),
            Self::Late { name, .. } => name,
            Self::Compact(_) => "compact",
        }
    }
}

/// Lowers a program as far as the specialisation allows: to the end, or to all that its
/// operations want to know besides.
pub(crate) fn lower(
    runtime: RuntimeId,
    snapshot: &Arc<Snapshot>,
    program: &SemanticProgram,
    key: &Key,
) -> Result<Entry> {
    let granted = &key.specialization;
    let mut lowering = Lowering::new(program, snapshot, &key.engines, granted);
    lowering.read_sizes();
    for node in program.nodes() {
        lowering.node(node)?;
        lowering.read_sizes();
    }
    if lowering.wanted != SpecializationRequirements::polymorphic() {
        return Ok(Entry::Redirect(lowering.wanted.union(granted.requirements())));
    }
    let plan = lowering.finish();
    // Passes and the expansion of checkpoints keep the sizes of axes, but not those that are read off values.
    let expanded = (!plan.reads.is_empty() && program.fingerprint() != key.fingerprint).then(|| program.clone());
    Ok(Entry::Ready(Arc::new(PreparedProgram {
        runtime,
        epoch: key.epoch,
        targets: key.engines.iter().map(|&engine| snapshot.engines[engine].target().clone()).collect(),
        specialization: granted.clone(),
        plan,
        expanded,
        bindings: Bindings::default(),
    })))
}

struct Lowering<'a> {
    program: &'a SemanticProgram,
    snapshot: &'a Arc<Snapshot>,
    engines: &'a [usize],
    granted: &'a Specialization,
    /// Sizes by id, 0 where not granted.
    sizes: Vec<usize>,
    wanted: SpecializationRequirements,
    values: Vec<Lowered>,
    scalars: Vec<ScalarSource>,
    steps: Vec<Step>,
    buffers: Vec<Buffer>,
    reads: Vec<SizeRead>,
    late: Vec<Late>,
}

/// What is known of a value while lowering.
struct Lowered {
    definition: Definition,
    origin: LayoutOrigin,
    /// The engine whose memory holds it; none for inputs and scalars.
    holder: Option<usize>,
    /// The buffers it may be a view of.
    buffers: SmallVec<[u32; 2]>,
}

/// What becomes of an operation.
enum Chosen {
    Command { engine: usize, command: Arc<dyn Command> },
    Late(Late),
    NotYet { engine: usize, wanted: SpecializationRequirements },
}

impl<'a> Lowering<'a> {
    fn new(
        program: &'a SemanticProgram,
        snapshot: &'a Arc<Snapshot>,
        engines: &'a [usize],
        granted: &'a Specialization,
    ) -> Self {
        let known = |id: usize| granted.size(SizeId(id as u32)).unwrap_or(0);
        let input = |i: u32| Lowered {
            definition: Definition::Input(i),
            origin: LayoutOrigin::Input(i),
            holder: None,
            buffers: SmallVec::new(),
        };
        Self {
            program,
            snapshot,
            engines,
            granted,
            sizes: (0..program.sizes().len()).map(known).collect(),
            wanted: SpecializationRequirements::polymorphic(),
            values: (0..program.inputs().len() as u32).map(input).collect(),
            scalars: Vec::new(),
            steps: Vec::new(),
            buffers: Vec::new(),
            reads: Vec::new(),
            late: Vec::new(),
        }
    }

    /// Notes the sizes whose values have come about.
    fn read_sizes(&mut self) {
        let (program, passed) = (self.program, self.values.len());
        let sizes = program.value_sizes().skip(self.reads.len());
        let step = self.steps.len();
        let reads =
            sizes.take_while(|size| size.value.index() < passed).map(|size| SizeRead { value: size.value, step });
        self.reads.extend(reads);
    }

    fn value(&self, id: ValueId) -> &Lowered {
        &self.values[id.index()]
    }

    fn node(&mut self, node: &'a Node) -> Result<()> {
        match &node.op {
            Op::Core(CoreOp::Constant(value)) => self.scalar(ScalarSource::Constant(*value)),
            Op::Core(CoreOp::SizeValue { dim, dtype }) => self.scalar(ScalarSource::Size(dim.clone(), *dtype)),
            Op::Core(op) if op.class() == OpClass::Layout => self.view(op, node.inputs[0]),
            _ => self.command(node)?,
        }
        Ok(())
    }

    fn scalar(&mut self, source: ScalarSource) {
        let definition = Definition::Scalar(self.scalars.len() as u32);
        self.scalars.push(source);
        let origin = LayoutOrigin::Compact;
        self.values.push(Lowered { definition, origin, holder: None, buffers: SmallVec::new() });
    }

    fn view(&mut self, op: &CoreOp, source: ValueId) {
        let Lowered { origin, holder, ref buffers, .. } = *self.value(source);
        let mut buffers = buffers.clone();
        let reshape = matches!(op, CoreOp::Reshape { .. });
        let (definition, origin) = if reshape && origin != LayoutOrigin::Compact {
            let engine = holder.unwrap_or(0);
            let output = ValueId(self.values.len() as u32);
            let slot = self.buffer(engine, output);
            buffers.push(slot);
            self.steps.push(Step {
                work: Work::Compact(output),
                engine,
                inputs: SmallVec::from_slice(&[source]),
                outputs: SmallVec::from_slice(&[slot]),
                release: SmallVec::new(),
            });
            (Definition::Reshape { source, slot }, LayoutOrigin::View)
        } else {
            let same = reshape || matches!(op, CoreOp::StopGradient);
            (Definition::View { source, op: op.clone() }, if same { origin } else { LayoutOrigin::View })
        };
        self.values.push(Lowered { definition, origin, holder, buffers });
    }

    fn command(&mut self, node: &'a Node) -> Result<()> {
        let (engine, work) = match self.choose(node)? {
            Chosen::Command { engine, command } => (engine, Some(Work::Command(command))),
            Chosen::Late(late) => {
                let (engine, name) = (late.engine, late.op.name());
                self.late.push(late);
                (engine, Some(Work::Late { late: self.late.len() - 1, name }))
            }
            // Lowering goes on only to collect what the other operations want to know.
            Chosen::NotYet { engine, wanted } => {
                self.wanted = std::mem::take(&mut self.wanted).union(&wanted);
                (engine, None)
            }
        };
        let mut outputs = SmallVec::new();
        for output in node.outputs() {
            let buffer = self.buffer(engine, output);
            outputs.push(buffer);
            self.values.push(Lowered {
                definition: Definition::Slot(buffer),
                origin: LayoutOrigin::Compact,
                holder: Some(engine),
                buffers: SmallVec::from_slice(&[buffer]),
            });
        }
        if let Some(work) = work {
            let inputs = node.inputs.iter().copied().collect();
            self.steps.push(Step { work, engine, inputs, outputs, release: SmallVec::new() });
        }
        Ok(())
    }

    fn choose(&self, node: &'a Node) -> Result<Chosen> {
        let metas = self.program.values();
        let first = node.first_output.index();
        let request = PrepareRequest {
            op: &node.op,
            inputs: node.inputs.iter().map(|id| &metas[id.index()]).collect(),
            origins: node.inputs.iter().map(|&id| self.value(id).origin).collect(),
            outputs: &metas[first..first + node.output_count as usize],
            granted: self.granted,
            sizes: &self.sizes,
        };
        let holders: SmallVec<[usize; 4]> = node.inputs.iter().filter_map(|&id| self.value(id).holder).collect();
        let selector = Selector::new(self.snapshot, self.engines);
        Ok(match selector.choose(&request, &holders, 0..self.engines.len())? {
            Choice::Command { engine, command } => Chosen::Command { engine, command },
            Choice::NeedsSpecialization { engine, wanted }
                if wanted.sizes_needed() > self.program.axis_size_count() =>
            {
                Chosen::Late(Late {
                    op: node.op.clone(),
                    inputs: request.inputs.iter().map(|&meta| meta.clone()).collect(),
                    outputs: request.outputs.to_vec(),
                    origins: request.origins,
                    holders,
                    engine,
                    snapshot: Arc::clone(self.snapshot),
                    engines: self.engines.into(),
                })
            }
            Choice::NeedsSpecialization { engine, wanted } => Chosen::NotYet { engine, wanted },
        })
    }

    /// A new buffer for a value. Buffers become slots when all lifetimes are known.
    fn buffer(&mut self, engine: usize, value: ValueId) -> u32 {
        let meta = &self.program.values()[value.index()];
        let id = self.buffers.len() as u32;
        self.buffers.push(Buffer::new(engine, meta.clone(), self.steps.len()));
        id
    }

    fn finish(mut self) -> Plan {
        for (i, step) in self.steps.iter().enumerate() {
            for &input in &step.inputs {
                for &buffer in &self.values[input.index()].buffers {
                    self.buffers[buffer as usize].used_by_step(i);
                }
            }
        }
        for read in &self.reads {
            for &buffer in &self.values[read.value.index()].buffers {
                match self.steps.len() > read.step {
                    true => self.buffers[buffer as usize].used_by_step(read.step),
                    false => self.buffers[buffer as usize].used_by_output(),
                }
            }
        }
        let outputs: Vec<_> = self.program.outputs().iter().map(|output| output.value).collect();
        for output in &outputs {
            for &buffer in &self.values[output.index()].buffers {
                self.buffers[buffer as usize].used_by_output();
            }
        }
        let assignment = buffers::assign(self.buffers, self.steps.len());
        for (step, release) in self.steps.iter_mut().zip(assignment.release) {
            step.outputs.iter_mut().for_each(|buffer| *buffer = assignment.slot_of[*buffer as usize]);
            step.release = release;
        }
        let mut definitions: Vec<_> = self.values.into_iter().map(|value| value.definition).collect();
        for definition in &mut definitions {
            if let Definition::Slot(buffer) | Definition::Reshape { slot: buffer, .. } = definition {
                *buffer = assignment.slot_of[*buffer as usize];
            }
        }
        let Self { steps, scalars, reads, late, .. } = self;
        Plan { steps, definitions, scalars, slots: assignment.slots, outputs, reads, late }
    }
}
