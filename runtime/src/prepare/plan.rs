//! What lowering makes of a program.

use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;
use tenferro_core::ops::{CoreOp, OpClass};
use tenferro_core::program::{Op, ValueId};
use tenferro_core::shape::SymDim;
use tenferro_core::{DType, ScalarValue};

use super::buffers::SlotSpec;
use super::late::Late;
use crate::engine::EngineId;
use crate::execute::Command;
use crate::registration::Ingress;
use crate::transfer::Transfer;

/// A lowered program: steps in order, and where every value is found.
///
/// The values of a plan are those of the program and the copies of them in other memories. They are
/// named by their position among the definitions.
pub(crate) struct Plan {
    pub steps: Vec<Step>,
    pub definitions: Vec<Definition>,
    /// By definition: the value of the program that it is, or is a copy of.
    pub values: Vec<ValueId>,
    pub scalars: Vec<ScalarSource>,
    pub slots: Vec<SlotSpec>,
    /// All in host memory.
    pub outputs: Vec<u32>,
    /// The sizes that are read off values, in order; most programs have none.
    pub reads: Vec<SizeRead>,
    /// The steps that are prepared when these sizes are known, in order.
    pub late: Vec<Late>,
    /// The rules that inputs must meet, where engines do not take all.
    pub admissions: Vec<Admission>,
    /// The first engine in host memory, which does there what no engine did.
    pub host: Option<usize>,
    /// The engines in whose memory outputs arrive from others, which the end of a run waits for.
    pub arrivals: SmallVec<[u32; 1]>,
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
    /// In host memory.
    pub value: u32,
    /// The number of steps before it.
    pub step: usize,
    /// The number of definitions before it.
    pub definitions: usize,
}

/// An input that an engine reads as it is given.
pub(crate) struct Admission {
    pub input: u32,
    pub engine_id: EngineId,
    pub ingress: Ingress,
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
    View { source: u32, op: CoreOp },
    /// A view where strides allow it, else a compact copy in a slot. Strides of inputs are known
    /// only when they are bound.
    Reshape { source: u32, slot: u32 },
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
    pub kind: WorkKind,
    /// The position of the engine among the targets; of a transfer that of one of its engines.
    pub engine: usize,
    pub inputs: SmallVec<[u32; 3]>,
    /// The slots written.
    pub outputs: SmallVec<[u32; 1]>,
    /// The slots that are not needed after this step.
    pub release: SmallVec<[u32; 2]>,
    /// The engines whose work must be done before, for they wrote what this step reads on another. A command of such a
    /// step must be done itself before the next step, when those engines may write there again. With one engine
    /// there are none.
    pub waits: SmallVec<[u32; 1]>,
}

/// What a step does.
pub(crate) enum Work {
    /// A command's work.
    Command(Arc<dyn Command>),
    /// A command's work, the command being that of `late` at this position of [`Plan::late`].
    Late { late: usize, name: &'static str },
    /// The copy of a [`Definition::Reshape`], where one is needed.
    Compact(u32),
    /// A copy in another memory.
    Transfer(Arc<Passage>),
}

/// A transfer and its ends, none being the host without an engine.
pub(crate) struct Passage {
    pub transfer: Arc<dyn Transfer>,
    pub from: Option<usize>,
    pub to: Option<usize>,
}

impl Work {
    pub fn name(&self) -> &str {
        match self {
            Self::Command(command) => command.name(),
            Self::Late { name, .. } => name,
            Self::Compact(_) => "compact",
            Self::Transfer(_) => "transfer",
        }
    }
}

/// The kinds of work, by which it is counted and explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkKind {
    Core(OpClass),
    Family,
    /// A copy within a memory or between two.
    Copy,
}

impl WorkKind {
    pub fn of(op: &Op) -> Self {
        match op {
            Op::Core(op) => Self::Core(op.class()),
            Op::Extension(_) => Self::Family,
        }
    }
}
