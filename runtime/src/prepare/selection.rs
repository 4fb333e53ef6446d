//! Which engine does an operation, and by which command.

use std::any::Any;
use std::cmp::Reverse;
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use smallvec::SmallVec;
use tenferro_core::program::{Op, ValueMeta};

use super::PREPARE;
use super::request::{Preparation, PrepareRequest};
use super::specialization::SpecializationRequirements;
use crate::engine::EngineId;
use crate::error::{Error, Result};
use crate::execute::Command;
use crate::placement::Preference;
use crate::registration::EngineRegistration;
use crate::snapshot::Snapshot;

/// The engines of a preparation; they are named by their positions among the targets.
pub(super) struct Selector<'a> {
    snapshot: &'a Snapshot,
    engines: &'a [usize],
}

/// The engines that may do an operation, in the order in which they are asked.
pub(super) struct Candidates {
    engines: SmallVec<[usize; 4]>,
    is_pinned: bool,
}

impl Candidates {
    /// An engine that was chosen before.
    pub fn chosen(engine: usize) -> Self {
        Self { engines: SmallVec::from_slice(&[engine]), is_pinned: false }
    }
}

/// What was chosen.
pub(super) enum Choice {
    Command { engine: usize, command: Arc<dyn Command> },
    NeedsSpecialization { engine: usize, wanted: SpecializationRequirements },
}

impl<'a> Selector<'a> {
    pub fn new(snapshot: &'a Snapshot, engines: &'a [usize]) -> Self {
        Self { snapshot, engines }
    }

    /// By the configuration's placement. `held` counts the operands that are in an engine's memory.
    pub fn candidates(&self, op: &Op, held: impl Fn(usize) -> usize) -> Result<Candidates> {
        let placement = &self.snapshot.placement;
        let targets: SmallVec<[usize; 4]> = (0..self.engines.len()).collect();
        if let Some(id) = placement.pinned(op.name()) {
            let found = targets.iter().copied().find(|&engine| self.registration(engine).engine_id() == id);
            let engine = found
                .ok_or_else(|| pinned(op, id, format!("is no target; the targets are {}", self.names(&targets))))?;
            return Ok(Candidates { is_pinned: true, ..Candidates::chosen(engine) });
        }
        let mut engines = targets;
        match placement.preference() {
            Preference::Targets => {}
            Preference::Operands => engines.sort_by_key(|&engine| Reverse(held(engine))),
        }
        Ok(Candidates { engines, is_pinned: false })
    }

    /// The first of the candidates that has the operation does it.
    pub fn choose(&self, request: &PrepareRequest<'_>, candidates: &Candidates) -> Result<Choice> {
        let mut has_executor = false;
        for &engine in &candidates.engines {
            let Some(preparation) = self.ask(engine, request) else { continue };
            has_executor = true;
            match preparation? {
                Preparation::Unsupported => {}
                Preparation::Command(command) => return Ok(Choice::Command { engine, command }),
                Preparation::NeedsSpecialization(wanted) => {
                    if let Some(beyond) = wanted.beyond(request.askable) {
                        let message = format!("{} asks for {beyond}", self.provider(engine, request.op));
                        return Err(Error::Execution { op: request.op.name().to_owned(), message });
                    }
                    if request.granted.requirements().contains(&wanted) {
                        let message = "it asks to know what it was told".to_owned();
                        return Err(Error::Execution { op: request.op.name().to_owned(), message });
                    }
                    return Ok(Choice::NeedsSpecialization { engine, wanted });
                }
            }
        }
        let is_family_missing = matches!(request.op, Op::Extension(_)) && !has_executor;
        let operands = operands(request.inputs());
        if let (true, [engine]) = (candidates.is_pinned, &candidates.engines[..]) {
            let reason = match is_family_missing {
                true => {
                    "has no module of the family; install one with `RuntimeBuilder::install_extension_module`".into()
                }
                false => format!("does not support it on {operands}"),
            };
            return Err(pinned(request.op, self.registration(*engine).engine_id(), reason));
        }
        let (op, engines) = (request.op.name().to_owned(), self.names(&candidates.engines));
        Err(match is_family_missing {
            true => Error::MissingModule { call: PREPARE, family_id: op, engines },
            false => Error::UnsupportedOp { call: PREPARE, op, operands, engines },
        })
    }

    /// The engine's answer; none if it has no executor for the family.
    fn ask(&self, engine: usize, request: &PrepareRequest<'_>) -> Option<Result<Preparation>> {
        let registration = self.registration(engine);
        let id = registration.engine_id();
        Some(match request.op {
            Op::Core(op) if !registration.has_class(op.class()) => Ok(Preparation::Unsupported),
            Op::Core(_) => reporting_panics(
                request,
                || self.provider(engine, request.op),
                || registration.provider().prepare(request),
            ),
            Op::Extension(op) => {
                let executor = self.snapshot.executors.executor(id, op.family_id())?;
                reporting_panics(request, || self.provider(engine, request.op), || executor.prepare(&**op, request))
            }
        })
    }

    /// Who answers for an engine, for messages.
    fn provider(&self, engine: usize, op: &Op) -> String {
        let id = self.registration(engine).engine_id();
        match op {
            Op::Core(_) => format!("the provider of engine \"{id}\""),
            Op::Extension(_) => format!("the executor of the family on engine \"{id}\""),
        }
    }

    pub fn registration(&self, engine: usize) -> &'a EngineRegistration {
        &self.snapshot.engines[self.engines[engine]]
    }

    fn names(&self, engines: &[usize]) -> String {
        let names = engines.iter().map(|&engine| format!("engine \"{}\"", self.registration(engine).engine_id()));
        names.collect::<Vec<_>>().join(", ")
    }
}

fn pinned(op: &Op, engine_id: &EngineId, reason: String) -> Error {
    Error::Pinned { call: PREPARE, op: op.name().to_owned(), engine_id: engine_id.clone(), reason }
}

/// The provider's answer, or its panic as an error. What it shares with other calls is its own to
/// keep whole; the runtime shares nothing with it that a panic could leave half done.
fn reporting_panics(
    request: &PrepareRequest<'_>,
    provider: impl FnOnce() -> String,
    prepare: impl FnOnce() -> Result<Preparation>,
) -> Result<Preparation> {
    catch_unwind(AssertUnwindSafe(prepare)).unwrap_or_else(|panic| {
        let op = request.op.name().to_owned();
        Err(Error::ProviderPanic { call: PREPARE, op, provider: provider(), message: panic_message(&*panic) })
    })
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}

fn operands(metas: &[&ValueMeta]) -> String {
    let mut text = String::from("(");
    for (i, meta) in metas.iter().enumerate() {
        let separator = if i > 0 { ", " } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(text, "{separator}{} of rank {}", meta.dtype, meta.shape.len());
    }
    text + ")"
}
