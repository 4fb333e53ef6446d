//! Lowering: every value of the program gets a place, every operation that needs one a command.

use std::sync::Arc;

use smallvec::SmallVec;
use tenferro_core::ops::{CoreOp, OpClass};
use tenferro_core::program::{Node, Op, SemanticProgram, ValueId};
use tenferro_core::shape::SizeId;

use super::buffers::{self, Buffer};
use super::late::Late;
use super::plan::{Admission, Definition, Passage, Plan, ScalarSource, SizeRead, Step, Work, WorkKind};
use super::request::{LayoutOrigin, PrepareRequest};
use super::selection::{Choice, Selector};
use super::specialization::{Askable, Specialization, SpecializationRequirements};
use super::{Entry, Key, PREPARE, PreparedProgram};
use crate::engine::AllocationDomain;
use crate::error::{Error, Result};
use crate::execute::{Bindings, Command};
use crate::registration::Ingress;
use crate::runtime::RuntimeId;
use crate::snapshot::Snapshot;
use crate::transfer::Memory;

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
    lowering.read_sizes()?;
    for node in program.nodes() {
        lowering.node(node)?;
        lowering.read_sizes()?;
    }
    if lowering.wanted != SpecializationRequirements::polymorphic() {
        return Ok(Entry::Redirect(lowering.wanted.union(granted.requirements())));
    }
    let plan = lowering.finish()?;
    let expanded = (program.fingerprint() != key.fingerprint).then(|| program.clone());
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
    /// By definition.
    values: Vec<Lowered>,
    /// By [`ValueId`]: the definition.
    found: Vec<u32>,
    /// Values, memories that they were brought to, and the copies there.
    copies: Vec<(u32, Option<AllocationDomain>, u32)>,
    scalars: Vec<ScalarSource>,
    steps: Vec<Step>,
    buffers: Vec<Buffer>,
    reads: Vec<SizeRead>,
    late: Vec<Late>,
    admissions: Vec<Admission>,
    host: Option<usize>,
}

/// What is known of a value while lowering.
#[derive(Clone)]
struct Lowered {
    definition: Definition,
    /// The value of the program that it is, or is a copy of.
    value: ValueId,
    origin: LayoutOrigin,
    /// The engine whose memory holds it; none for inputs and scalars, which are in host memory.
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
            value: ValueId(i),
            origin: LayoutOrigin::Input(i),
            holder: None,
            buffers: SmallVec::new(),
        };
        let inputs = 0..program.inputs().len() as u32;
        Self {
            program,
            snapshot,
            engines,
            granted,
            sizes: (0..program.sizes().len()).map(known).collect(),
            wanted: SpecializationRequirements::polymorphic(),
            values: inputs.clone().map(input).collect(),
            found: inputs.collect(),
            copies: Vec::new(),
            scalars: Vec::new(),
            steps: Vec::new(),
            buffers: Vec::new(),
            reads: Vec::new(),
            late: Vec::new(),
            admissions: Vec::new(),
            host: engines.iter().position(|&engine| snapshot.engines[engine].target().allocation_domain.is_none()),
        }
    }

    /// Notes the sizes whose values have come about.
    fn read_sizes(&mut self) -> Result<()> {
        let (program, passed) = (self.program, self.found.len());
        let sizes = program.value_sizes().skip(self.reads.len());
        for size in sizes.take_while(|size| size.value.index() < passed) {
            let value = self.at(self.found[size.value.index()], self.host, || "the reading of a size".to_owned())?;
            let (step, definitions) = (self.steps.len(), self.values.len());
            self.reads.push(SizeRead { value, step, definitions });
        }
        Ok(())
    }

    /// Adds a value of the program.
    fn define(&mut self, lowered: Lowered) {
        self.found.push(self.values.len() as u32);
        self.values.push(lowered);
    }

    /// The value of the program that is defined next.
    fn next(&self) -> ValueId {
        ValueId(self.found.len() as u32)
    }

    fn value(&self, definition: u32) -> &Lowered {
        &self.values[definition as usize]
    }

    /// The memory of an engine, or of what no engine made.
    fn memory(&self, holder: Option<usize>) -> Option<AllocationDomain> {
        self.snapshot.engines[self.engines[holder?]].target().allocation_domain
    }

    /// Whether a value or a copy of it is in a memory, and where.
    fn in_memory(&self, definition: u32, memory: Option<AllocationDomain>) -> Option<u32> {
        if self.memory(self.value(definition).holder) == memory {
            return Some(definition);
        }
        let copy = self.copies.iter().find(|(value, there, _)| (*value, *there) == (definition, memory));
        copy.map(|&(_, _, copy)| copy)
    }

    /// A value where an engine can read it, or the host: itself, or a copy brought there.
    fn at(&mut self, definition: u32, to: Option<usize>, reader: impl Fn() -> String) -> Result<u32> {
        let memory = self.memory(to);
        if let Some(there) = self.in_memory(definition, memory) {
            return Ok(there);
        }
        let lowered = self.value(definition).clone();
        let copy = if let Definition::View { source, op: op @ CoreOp::BroadcastInDim { .. } } = lowered.definition {
            // What is repeated is brought once, and repeated there.
            let source = self.at(source, to, reader)?;
            let Lowered { holder, buffers, .. } = self.value(source).clone();
            Lowered { definition: Definition::View { source, op }, holder, buffers, ..lowered }
        } else {
            let from = lowered.holder;
            let route = (self.memory(from), memory);
            let transfer = self.snapshot.transfers.find(route).cloned().ok_or_else(|| Error::NoTransfer {
                call: PREPARE,
                reader: reader(),
                from: Memory(route.0).to_string(),
                to: Memory(route.1).to_string(),
            })?;
            let slot = self.buffer(to, lowered.value);
            self.steps.push(Step {
                work: Work::Transfer(Arc::new(Passage { transfer, from, to })),
                kind: WorkKind::Copy,
                engine: to.or(from).unwrap_or(0),
                inputs: SmallVec::from_slice(&[definition]),
                outputs: SmallVec::from_slice(&[slot]),
                release: SmallVec::new(),
                waits: SmallVec::new(),
            });
            Lowered {
                definition: Definition::Slot(slot),
                value: lowered.value,
                origin: LayoutOrigin::Compact,
                holder: to,
                buffers: SmallVec::from_slice(&[slot]),
            }
        };
        let there = self.values.len() as u32;
        self.values.push(copy);
        self.copies.push((definition, memory, there));
        Ok(there)
    }

    fn node(&mut self, node: &'a Node) -> Result<()> {
        match &node.op {
            Op::Core(CoreOp::Constant(value)) => self.scalar(ScalarSource::Constant(*value)),
            Op::Core(CoreOp::SizeValue { dim, dtype }) => self.scalar(ScalarSource::Size(dim.clone(), *dtype)),
            Op::Core(op) if op.class() == OpClass::Layout => self.view(op, self.found[node.inputs[0].index()])?,
            _ => self.command(node)?,
        }
        Ok(())
    }

    fn scalar(&mut self, source: ScalarSource) {
        let definition = Definition::Scalar(self.scalars.len() as u32);
        self.scalars.push(source);
        let (value, origin) = (self.next(), LayoutOrigin::Compact);
        self.define(Lowered { definition, value, origin, holder: None, buffers: SmallVec::new() });
    }

    fn view(&mut self, op: &CoreOp, source: u32) -> Result<()> {
        let reshape = matches!(op, CoreOp::Reshape { .. });
        if reshape && self.value(source).origin != LayoutOrigin::Compact {
            return self.reshape(op, source);
        }
        let Lowered { origin, holder, ref buffers, .. } = *self.value(source);
        let same = reshape || matches!(op, CoreOp::StopGradient);
        let lowered = Lowered {
            definition: Definition::View { source, op: op.clone() },
            value: self.next(),
            origin: if same { origin } else { LayoutOrigin::View },
            holder,
            buffers: buffers.clone(),
        };
        self.define(lowered);
        Ok(())
    }

    /// A reshape that may take a copy, which the engine that holds the operand makes.
    fn reshape(&mut self, op: &CoreOp, source: u32) -> Result<()> {
        let Some(engine) = self.value(source).holder.or(self.host) else {
            // Nothing copies in host memory, and what is brought to another is compact.
            let source = self.at(source, Some(0), || format!("`{}`", op.name()))?;
            return self.view(op, source);
        };
        self.admit(source, engine);
        let mut buffers = self.value(source).buffers.clone();
        let value = self.next();
        let slot = self.buffer(Some(engine), value);
        buffers.push(slot);
        self.steps.push(Step {
            work: Work::Compact(self.values.len() as u32),
            kind: WorkKind::Copy,
            engine,
            inputs: SmallVec::from_slice(&[source]),
            outputs: SmallVec::from_slice(&[slot]),
            release: SmallVec::new(),
            waits: SmallVec::new(),
        });
        let holder = self.value(source).holder;
        let definition = Definition::Reshape { source, slot };
        self.define(Lowered { definition, value, origin: LayoutOrigin::View, holder, buffers });
        Ok(())
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
        let mut inputs = SmallVec::new();
        if work.is_some() {
            let id = self.snapshot.engines[self.engines[engine]].engine_id();
            for input in node.inputs.iter() {
                let reader = || format!("`{}` on engine \"{id}\"", node.op.name());
                let input = self.at(self.found[input.index()], Some(engine), reader)?;
                self.admit(input, engine);
                inputs.push(input);
            }
        }
        let mut outputs = SmallVec::new();
        for value in node.outputs() {
            let buffer = self.buffer(Some(engine), value);
            outputs.push(buffer);
            self.define(Lowered {
                definition: Definition::Slot(buffer),
                value,
                origin: LayoutOrigin::Compact,
                holder: Some(engine),
                buffers: SmallVec::from_slice(&[buffer]),
            });
        }
        if let Some(work) = work {
            let kind = WorkKind::of(&node.op);
            let (release, waits) = Default::default();
            self.steps.push(Step { work, kind, engine, inputs, outputs, release, waits });
        }
        Ok(())
    }

    /// Notes that an engine reads a value, where that is an input and the engine does not take all.
    fn admit(&mut self, mut definition: u32, engine: usize) {
        let registration = &self.snapshot.engines[self.engines[engine]];
        let ingress = registration.ingress();
        if ingress == Ingress::default() {
            return;
        }
        while let Definition::View { source, .. } | Definition::Reshape { source, .. } =
            self.value(definition).definition
        {
            definition = source;
        }
        if let Definition::Input(input) = self.value(definition).definition {
            let engine_id = registration.engine_id();
            if !self.admissions.iter().any(|known| known.input == input && known.engine_id == *engine_id) {
                self.admissions.push(Admission { input, engine_id: engine_id.clone(), ingress });
            }
        }
    }

    fn choose(&self, node: &'a Node) -> Result<Chosen> {
        let metas = self.program.values();
        let first = node.first_output.index();
        let operands = || node.inputs.iter().map(|id| self.found[id.index()]);
        let request = PrepareRequest {
            op: &node.op,
            inputs: node.inputs.iter().map(|id| &metas[id.index()]).collect(),
            origins: operands().map(|operand| self.value(operand).origin).collect(),
            outputs: &metas[first..first + node.output_count as usize],
            granted: self.granted,
            sizes: &self.sizes,
            askable: Askable::of(self.program),
        };
        let selector = Selector::new(self.snapshot, self.engines);
        let candidates = selector.candidates(&node.op, |engine| {
            let memory = self.memory(Some(engine));
            operands().filter(|&operand| self.in_memory(operand, memory).is_some()).count()
        })?;
        Ok(match selector.choose(&request, &candidates)? {
            Choice::Command { engine, command } => Chosen::Command { engine, command },
            Choice::NeedsSpecialization { engine, wanted }
                if wanted.sizes_needed() > self.program.axis_size_count() =>
            {
                Chosen::Late(Late {
                    op: node.op.clone(),
                    inputs: request.inputs.iter().map(|&meta| meta.clone()).collect(),
                    outputs: request.outputs.to_vec(),
                    origins: request.origins,
                    engine,
                    askable: request.askable,
                    snapshot: Arc::clone(self.snapshot),
                    engines: self.engines.into(),
                })
            }
            Choice::NeedsSpecialization { engine, wanted } => Chosen::NotYet { engine, wanted },
        })
    }

    /// A new buffer for a value, in the memory of an engine or of the host. Buffers become slots when
    /// all lifetimes are known.
    fn buffer(&mut self, engine: Option<usize>, value: ValueId) -> u32 {
        let meta = &self.program.values()[value.index()];
        let id = self.buffers.len() as u32;
        self.buffers.push(Buffer::new(engine, meta.clone(), self.steps.len()));
        id
    }

    /// Notes which engines each step waits for, and returns those that the end of a run does.
    fn order(&mut self, outputs: &[u32]) -> SmallVec<[u32; 1]> {
        let mut brought = vec![false; self.buffers.len()];
        for step in &mut self.steps {
            // The ends of a transfer are its own to wait for.
            let own = match &step.work {
                Work::Transfer(passage) => [passage.from, passage.to],
                _ => [Some(step.engine), None],
            };
            for &input in &step.inputs {
                for &buffer in &self.values[input as usize].buffers {
                    let writer = self.buffers[buffer as usize].engine;
                    if !own.contains(&writer) {
                        insert(&mut step.waits, writer);
                    }
                }
            }
            if matches!(step.work, Work::Transfer(_)) {
                step.outputs.iter().for_each(|&buffer| brought[buffer as usize] = true);
            }
        }
        let mut arrivals = SmallVec::new();
        for &buffer in outputs.iter().flat_map(|&output| &self.values[output as usize].buffers) {
            if brought[buffer as usize] {
                insert(&mut arrivals, self.buffers[buffer as usize].engine);
            }
        }
        arrivals
    }

    fn finish(mut self) -> Result<Plan> {
        let mut outputs = Vec::with_capacity(self.program.outputs().len());
        for (i, output) in self.program.outputs().iter().enumerate() {
            let reader = || format!("output {i} (all are)");
            outputs.push(self.at(self.found[output.value.index()], self.host, reader)?);
        }
        for (i, step) in self.steps.iter().enumerate() {
            for &input in &step.inputs {
                for &buffer in &self.values[input as usize].buffers {
                    self.buffers[buffer as usize].used_by_step(i);
                }
            }
        }
        for read in &self.reads {
            for &buffer in &self.values[read.value as usize].buffers {
                match self.steps.len() > read.step {
                    true => self.buffers[buffer as usize].used_by_step(read.step),
                    false => self.buffers[buffer as usize].used_by_output(),
                }
            }
        }
        for &output in &outputs {
            for &buffer in &self.values[output as usize].buffers {
                self.buffers[buffer as usize].used_by_output();
            }
        }
        let arrivals = self.order(&outputs);
        let assignment = buffers::assign(self.buffers, self.steps.len());
        for (step, release) in self.steps.iter_mut().zip(assignment.release) {
            step.outputs.iter_mut().for_each(|buffer| *buffer = assignment.slot_of[*buffer as usize]);
            step.release = release;
        }
        let values = self.values.iter().map(|lowered| lowered.value).collect();
        let mut definitions: Vec<_> = self.values.into_iter().map(|lowered| lowered.definition).collect();
        for definition in &mut definitions {
            if let Definition::Slot(buffer) | Definition::Reshape { slot: buffer, .. } = definition {
                *buffer = assignment.slot_of[*buffer as usize];
            }
        }
        let Self { steps, scalars, reads, late, admissions, host, .. } = self;
        let slots = assignment.slots;
        Ok(Plan { steps, definitions, values, scalars, slots, outputs, reads, late, admissions, host, arrivals })
    }
}

/// Adds an engine, if it is one and not there yet.
fn insert(engines: &mut SmallVec<[u32; 1]>, engine: Option<usize>) {
    if let Some(engine) = engine.map(|engine| engine as u32)
        && !engines.contains(&engine)
    {
        engines.push(engine);
    }
}
