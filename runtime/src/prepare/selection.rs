//! Which engine does an operation, and by which command.

use std::any::Any;
use std::fmt::Write;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tenferro_core::program::{Op, ValueMeta};

use super::request::{Preparation, PrepareRequest};
use super::specialization::SpecializationRequirements;
use crate::engine::EngineId;
use crate::error::{Error, Result};
use crate::execute::Command;
use crate::registration::EngineRegistration;
use crate::snapshot::Snapshot;

/// The engines of a preparation, asked in the order of the targets.
pub(super) struct Selector<'a> {
    snapshot: &'a Snapshot,
    engines: &'a [usize],
}

/// What was chosen; `engine` is a position among the targets.
pub(super) enum Choice {
    Command { engine: usize, command: Arc<dyn Command> },
    NeedsSpecialization { engine: usize, wanted: SpecializationRequirements },
}

impl<'a> Selector<'a> {
    pub fn new(snapshot: &'a Snapshot, engines: &'a [usize]) -> Self {
        Self { snapshot, engines }
    }

    /// The first of these targets that has the operation does it. `holders` are the engines whose
    /// memory holds its operands.
    pub fn choose(&self, request: &PrepareRequest<'_>, holders: &[usize], targets: Range<usize>) -> Result<Choice> {
        let mut has_executor = false;
        for engine in targets {
            let Some(preparation) = self.ask(engine, request) else { continue };
            has_executor = true;
            match preparation? {
                Preparation::Unsupported => {}
                Preparation::Command(command) => {
                    self.check_memory(request, engine, holders)?;
                    return Ok(Choice::Command { engine, command });
                }
                Preparation::NeedsSpecialization(wanted) => {
                    if request.granted.requirements().contains(&wanted) {
                        let message = "it asks to know what it was told".to_owned();
                        return Err(Error::Execution { op: request.op.name().to_owned(), message });
                    }
                    return Ok(Choice::NeedsSpecialization { engine, wanted });
                }
            }
        }
        match request.op {
            Op::Extension(op) if !has_executor => {
                let family_id = op.family_id().to_owned();
                Err(Error::MissingModule { family_id, engines: self.names() })
            }
            op => {
                let op = op.name().to_owned();
                Err(Error::UnsupportedOp { op, operands: operands(request.inputs()), engines: self.names() })
            }
        }
    }

    /// The engine's answer; none if it has no executor for the family.
    fn ask(&self, engine: usize, request: &PrepareRequest<'_>) -> Option<Result<Preparation>> {
        let registration = self.registration(engine);
        let id = registration.engine_id();
        Some(match request.op {
            Op::Core(_) => reporting_panics(
                request,
                || format!("the provider of engine \"{id}\""),
                || registration.provider().prepare(request),
            ),
            Op::Extension(op) => {
                let executor = self.snapshot.executors.executor(id, op.family_id())?;
                reporting_panics(
                    request,
                    || format!("the executor of the family on engine \"{id}\""),
                    || executor.prepare(&**op, request),
                )
            }
        })
    }

    fn check_memory(&self, request: &PrepareRequest<'_>, engine: usize, holders: &[usize]) -> Result<()> {
        let to = self.registration(engine).target();
        for &holder in holders {
            let from = self.registration(holder).target();
            if from.allocation_domain != to.allocation_domain {
                let id = |id: &EngineId| id.clone();
                let op = request.op.name().to_owned();
                return Err(Error::NoTransfer { op, from: id(&from.engine_id), to: id(&to.engine_id) });
            }
        }
        Ok(())
    }

    fn registration(&self, engine: usize) -> &'a EngineRegistration {
        &self.snapshot.engines[self.engines[engine]]
    }

    fn names(&self) -> String {
        let names =
            (0..self.engines.len()).map(|engine| format!("engine \"{}\"", self.registration(engine).engine_id()));
        names.collect::<Vec<_>>().join(", ")
    }
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
        Err(Error::ProviderPanic { op, provider: provider(), message: panic_message(&*panic) })
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
