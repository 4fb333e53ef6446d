//! Lowering: every value of the program gets a place, every operation that needs one a command.

use std::sync::Arc;

use smallvec::SmallVec;
use tenferro_core::ops::{CoreOp, OpClass};
use tenferro_core::program::{Node, Op, SemanticProgram, ValueId};
use tenferro_core::shape::{SizeId, SymDim};
use tenferro_core::{DType, ScalarValue};

use super::buffers::{self, Buffer, SlotSpec};
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
    /// The copy of a [`Definition::Reshape`], where one is needed.
    Compact(ValueId),
}

impl Work {
    pub fn name(&self) -> &str {
        match self {
            Self::Command(command) => command.name(),
            Self::Compact(_) => "compact",
        }
    }
}

/// Lowers a program as far as the specialisation allows: to the end, or to all that its
/// operations want to know besides.
pub(crate) fn lower(runtime: RuntimeId, snapshot: &Snapshot, program: &SemanticProgram, key: &Key) -> Result<Entry> {
    let granted = &key.specialization;
    let mut lowering = Lowering::new(program, Selector::new(snapshot, &key.engines), granted);
    for node in program.nodes() {
        lowering.node(node)?;
    }
    if lowering.wanted != SpecializationRequirements::polymorphic() {
        return Ok(Entry::Redirect(lowering.wanted.union(granted.requirements())));
    }
    let plan = lowering.finish();
    Ok(Entry::Ready(Arc::new(PreparedProgram {
        runtime,
        epoch: key.epoch,
        targets: key.engines.iter().map(|&engine| snapshot.engines[engine].target().clone()).collect(),
        specialization: granted.clone(),
        plan,
        bindings: Bindings::default(),
    })))
}

struct Lowering<'a> {
    program: &'a SemanticProgram,
    selector: Selector<'a>,
    granted: &'a Specialization,
    /// Sizes by id, 0 where not granted.
    sizes: Vec<usize>,
    wanted: SpecializationRequirements,
    values: Vec<Lowered>,
    scalars: Vec<ScalarSource>,
    steps: Vec<Step>,
    buffers: Vec<Buffer>,
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

impl<'a> Lowering<'a> {
    fn new(program: &'a SemanticProgram, selector: Selector<'a>, granted: &'a Specialization) -> Self {
        let known = |id: usize| granted.size(SizeId(id as u32)).unwrap_or(0);
        let input = |i: u32| Lowered {
            definition: Definition::Input(i),
            origin: LayoutOrigin::Input(i),
            holder: None,
            buffers: SmallVec::new(),
        };
        Self {
            program,
            selector,
            granted,
            sizes: (0..program.sizes().len()).map(known).collect(),
            wanted: SpecializationRequirements::polymorphic(),
            values: (0..program.inputs().len() as u32).map(input).collect(),
            scalars: Vec::new(),
            steps: Vec::new(),
            buffers: Vec::new(),
        }
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
            Choice::Command { engine, command } => (engine, Some(Work::Command(command))),
            // Lowering goes on only to collect what the other operations want to know.
            Choice::NeedsSpecialization { engine, wanted } => {
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

    fn choose(&self, node: &'a Node) -> Result<Choice> {
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
        self.selector.choose(&request, &holders)
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
        Plan { steps: self.steps, definitions, scalars: self.scalars, slots: assignment.slots, outputs }
    }
}
