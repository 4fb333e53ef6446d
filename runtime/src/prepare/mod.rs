//! From a program and what is known of its inputs to a flat list of commands.

mod buffers;
mod key;
mod late;
mod lower;
mod plan;
mod request;
mod selection;
mod specialization;

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use smallvec::SmallVec;
use tenferro_core::Tensor;
use tenferro_core::ad::expand_checkpoints;
use tenferro_core::program::SemanticProgram;
use tenferro_core::program::passes::compile;

use crate::compiled::{CompiledGraph, complete};
use crate::engine::EngineTarget;
use crate::error::{Error, Result};
use crate::execute::{Bindings, InputMeta, bind_sizes};
use crate::runtime::{Runtime, RuntimeId};
use crate::snapshot::Snapshot;

pub(crate) use key::Key;
pub(crate) use plan::{Admission, Definition, Passage, Plan, ScalarSource, Step, Work, WorkKind};
pub(crate) use specialization::Signature;

pub use request::{Preparation, PrepareRequest};
pub use specialization::{LayoutClass, Specialization, SpecializationRequirements};

/// A program that is static, or shared, or shared with tensors bound to its inputs.
#[derive(Clone)]
pub enum ProgramRef {
    /// Part of the executable, as kernels of the language are.
    Static(&'static SemanticProgram),
    /// Made at run time.
    Shared(Arc<SemanticProgram>),
    /// With default inputs.
    Compiled(CompiledGraph),
}

impl ProgramRef {
    /// The tensor bound to input `i`.
    pub(crate) fn default_input(&self, i: usize) -> Option<&Tensor> {
        match self {
            Self::Static(_) | Self::Shared(_) => None,
            Self::Compiled(graph) => graph.default_input(i),
        }
    }
}

impl Deref for ProgramRef {
    type Target = SemanticProgram;

    fn deref(&self) -> &SemanticProgram {
        match self {
            Self::Static(program) => program,
            Self::Shared(program) => program,
            Self::Compiled(graph) => graph.program(),
        }
    }
}

impl From<&'static SemanticProgram> for ProgramRef {
    fn from(program: &'static SemanticProgram) -> Self {
        Self::Static(program)
    }
}

impl From<Arc<SemanticProgram>> for ProgramRef {
    fn from(program: Arc<SemanticProgram>) -> Self {
        Self::Shared(program)
    }
}

impl From<&Arc<SemanticProgram>> for ProgramRef {
    fn from(program: &Arc<SemanticProgram>) -> Self {
        Self::Shared(Arc::clone(program))
    }
}

impl From<CompiledGraph> for ProgramRef {
    fn from(graph: CompiledGraph) -> Self {
        Self::Compiled(graph)
    }
}

impl From<&CompiledGraph> for ProgramRef {
    fn from(graph: &CompiledGraph) -> Self {
        Self::Compiled(graph.clone())
    }
}

/// What the cache keeps for a key.
#[derive(Clone)]
pub(crate) enum Entry {
    /// Too little was known; look again with these requirements.
    Redirect(SpecializationRequirements),
    /// The program as prepared.
    Ready(Arc<PreparedProgram>),
}

/// The logical size of a cache entry, as [`CacheLimits::bytes`](crate::CacheLimits::bytes) defines it.
pub(crate) fn logical_bytes(key: &Key, entry: &Result<Entry>) -> usize {
    let value = match entry {
        Ok(Entry::Redirect(_)) => 0,
        Ok(Entry::Ready(shared)) => shared.logical_bytes(),
        Err(error) => error.to_string().len(),
    };
    size_of_val(key) + size_of_val(entry) + value
}

/// A program prepared for a specialisation. It may serve several programs, equal but for names.
pub(crate) struct PreparedProgram {
    pub runtime: RuntimeId,
    pub epoch: u64,
    pub targets: Vec<EngineTarget>,
    pub specialization: Specialization,
    pub plan: Plan,
    /// The program that was lowered, where that is not the one prepared.
    pub expanded: Option<SemanticProgram>,
    /// The signatures it was lately run with, each with its layouts worked out.
    pub bindings: Bindings,
}

impl PreparedProgram {
    /// Checks inputs by the rules of the engines that read them.
    pub fn admit(&self, call: &'static str, program: &SemanticProgram, inputs: &[InputMeta<'_>]) -> Result<()> {
        for Admission { input, engine_id, ingress } in &self.plan.admissions {
            let InputMeta { dtype, layout } = inputs[*input as usize];
            let admitted = if !ingress.dtypes.contains(dtype) {
                ingress.dtypes.to_string()
            } else if !ingress.strided && !layout.is_contiguous() {
                "compact column-major inputs only".to_owned()
            } else {
                continue;
            };
            let input = program.inputs()[*input as usize].name.to_string();
            let given = format!("{dtype}{:?} of strides {:?}", layout.shape(), layout.strides());
            return Err(Error::Ingress { call, input, engine_id: engine_id.clone(), admitted, given });
        }
        Ok(())
    }

    fn logical_bytes(&self) -> usize {
        let Plan { steps, definitions, values, scalars, slots, outputs, reads, late, admissions, host: _, arrivals } =
            &self.plan;
        let commands = steps.iter().map(|step| match &step.work {
            Work::Command(command) => size_of_val(&**command),
            Work::Late { .. } | Work::Compact(_) => 0,
            Work::Transfer(passage) => size_of_val(&**passage),
        });
        size_of_val(self)
            + size_of_val(&self.targets[..])
            + size_of_val(&steps[..])
            + commands.sum::<usize>()
            + size_of_val(&definitions[..])
            + size_of_val(&values[..])
            + size_of_val(&scalars[..])
            + size_of_val(&slots[..])
            + size_of_val(&outputs[..])
            + size_of_val(&reads[..])
            + size_of_val(&late[..])
            + size_of_val(&admissions[..])
            + size_of_val(&arrivals[..])
    }
}

/// A prepared program, to be [run](Runtime::run) with engines of its targets on inputs that agree
/// in what it was specialised for. Clones are cheap; threads may share one, each with its engine.
#[derive(Clone)]
pub struct Prepared {
    program: ProgramRef,
    pub(crate) shared: Arc<PreparedProgram>,
}

impl Prepared {
    /// The program.
    pub fn program(&self) -> &SemanticProgram {
        &self.program
    }

    /// The program whose sizes are bound: after the passes, with what checkpoints compute.
    pub(crate) fn lowered(&self) -> &SemanticProgram {
        self.shared.expanded.as_ref().unwrap_or(&self.program)
    }

    /// The program with what is bound to it.
    pub(crate) fn program_ref(&self) -> &ProgramRef {
        &self.program
    }

    /// The engines it runs on.
    pub fn targets(&self) -> &[EngineTarget] {
        &self.shared.targets
    }

    /// What it depends on.
    pub fn specialization(&self) -> &Specialization {
        &self.shared.specialization
    }

    /// The commands by name, in order.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        self.shared.plan.steps.iter().map(|step| step.work.name())
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared")
            .field("program", &self.program().name())
            .field("epoch", &self.shared.epoch)
            .field("targets", &self.shared.targets)
            .field("commands", &self.commands().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// The call that failures of a preparation name until [`Error::met_by`] says which it was.
const PREPARE: &str = "Runtime::prepare";

/// Prepares a program, by the cache.
pub(crate) fn prepare(
    runtime: &Runtime,
    call: &'static str,
    program: ProgramRef,
    inputs: &[InputMeta<'_>],
    targets: &[EngineTarget],
) -> Result<Prepared> {
    span!(DEBUG, "prepare", program = program.name());
    let inputs = complete(call, &program, inputs, InputMeta::of_tensor)?;
    let shared = prepare_shared(runtime, call, &program, &inputs, targets)?;
    shared.admit(call, &program, &inputs)?;
    Ok(Prepared { program, shared })
}

fn prepare_shared(
    runtime: &Runtime,
    call: &'static str,
    program: &SemanticProgram,
    inputs: &[InputMeta<'_>],
    targets: &[EngineTarget],
) -> Result<Arc<PreparedProgram>> {
    let snapshot = runtime.snapshot();
    let engines = resolve(&snapshot, call, targets)?;
    let sizes = bind_sizes(call, program, inputs)?;
    let layouts: SmallVec<[LayoutClass; 8]> = inputs.iter().map(|input| LayoutClass::of(input.layout)).collect();
    let signature = Signature { sizes: &sizes, layouts: &layouts };

    let mut requirements = SpecializationRequirements::polymorphic();
    // Made at the first lowering, which is not the last where it only tells what has to be known.
    let mut compiled = None;
    loop {
        let key = Key {
            fingerprint: program.fingerprint(),
            epoch: snapshot.epoch,
            engines: engines.clone(),
            specialization: Specialization::project(requirements, &signature),
        };
        let lower = |key: &Key| {
            span!(DEBUG, "lower", program = program.name());
            let program = match &mut compiled {
                Some(compiled) => compiled,
                none => none.insert(executable(program, &snapshot)?),
            };
            lower::lower(runtime.id(), &snapshot, program, key)
        };
        match runtime.cache().get_or_prepare(key, lower).map_err(|error| error.met_by(call))? {
            Entry::Redirect(wider) => requirements = wider,
            Entry::Ready(shared) => return Ok(shared),
        }
    }
}

/// The program as it is lowered: after the passes, and with what checkpoints stand for.
fn executable(program: &SemanticProgram, snapshot: &Snapshot) -> Result<SemanticProgram> {
    let compiled = compile(program, &snapshot.compiler_options)?;
    // After the passes, which would find computed already what a checkpoint computes again.
    Ok(expand_checkpoints(&compiled)?.unwrap_or(compiled))
}

/// The registrations that the targets belong to.
fn resolve(snapshot: &Snapshot, call: &'static str, targets: &[EngineTarget]) -> Result<SmallVec<[usize; 2]>> {
    let refuse = |message: String| Err(Error::Argument { call, argument: "targets", message });
    if targets.is_empty() {
        return refuse("prepare needs at least one engine target".to_owned());
    }
    let mut engines = SmallVec::new();
    for target in targets {
        let engine = snapshot.engine(call, target)?;
        if engines.contains(&engine) {
            return refuse(format!("engine \"{}\" is named twice", target.engine_id));
        }
        engines.push(engine);
    }
    Ok(engines)
}
