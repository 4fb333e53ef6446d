//! Modules bring the executors of operation families to a runtime.

use std::any::Any;
use std::sync::Arc;

use tenferro_core::extension::ExtensionOp;

use crate::engine::EngineId;
use crate::error::{Error, Result};
use crate::prepare::{Preparation, PrepareRequest};
use crate::registration::are_indistinguishable;

/// Chooses the kernels of one operation family on one engine.
pub trait FamilyExecutor: Any + Send + Sync {
    /// The family it executes.
    fn family_id(&self) -> &'static str;

    /// Prepares one operation of the family. `op` is the payload that `request` holds too.
    ///
    /// # Errors
    /// Where this payload cannot be executed; the error is kept.
    fn prepare(&self, op: &dyn ExtensionOp, request: &PrepareRequest<'_>) -> Result<Preparation>;

    /// Whether `other` chooses the same kernels, so that registering it again changes nothing. As
    /// with a [provider](crate::Provider::is_equivalent), this is asked only where they are not the
    /// same executor and not two of one type without fields.
    fn is_equivalent(&self, other: &dyn FamilyExecutor) -> bool {
        let _ = other;
        false
    }
}

/// A set of family executors that is installed as one.
pub trait ExtensionModule: Send + Sync {
    /// Registers what the module brings.
    ///
    /// # Errors
    /// Those of the registrar.
    fn configure(&self, registrar: &mut Registrar) -> Result<()>;
}

/// The executors of a runtime, by engine and family.
#[derive(Clone, Default)]
pub struct Registrar {
    executors: Vec<(EngineId, Arc<dyn FamilyExecutor>)>,
}

impl Registrar {
    /// Registers an executor for the engines called `engine_id`. Registering an
    /// [equivalent](FamilyExecutor::is_equivalent) one again changes nothing, so installing a module
    /// twice is harmless.
    ///
    /// # Errors
    /// [`Error::DuplicateExecutor`] if the family has another executor on that engine.
    pub fn register_executor(&mut self, engine_id: EngineId, executor: Arc<dyn FamilyExecutor>) -> Result<()> {
        match self.find(&engine_id, executor.family_id()) {
            None => self.executors.push((engine_id, executor)),
            Some(present) if are_indistinguishable(present, &executor) || present.is_equivalent(&*executor) => {}
            Some(_) => {
                let family_id = executor.family_id();
                return Err(Error::DuplicateExecutor { family_id, engine_id });
            }
        }
        Ok(())
    }

    pub(crate) fn executor(&self, engine_id: &EngineId, family_id: &str) -> Option<&dyn FamilyExecutor> {
        self.find(engine_id, family_id).map(|executor| &**executor)
    }

    fn find(&self, engine_id: &EngineId, family_id: &str) -> Option<&Arc<dyn FamilyExecutor>> {
        self.executors
            .iter()
            .find(|(engine, executor)| engine == engine_id && executor.family_id() == family_id)
            .map(|(_, executor)| executor)
    }
}
