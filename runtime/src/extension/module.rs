//! Modules bring the executors of operation families to a runtime.

use std::any::Any;
use std::sync::Arc;

use tenferro_core::extension::ExtensionOp;

use crate::engine::EngineId;
use crate::error::{Error, Result};
use crate::prepare::{Preparation, PrepareRequest};

/// Chooses the kernels of one operation family on one engine.
pub trait FamilyExecutor: Any + Send + Sync {
    /// The family it executes.
    fn family_id(&self) -> &'static str;

    /// Prepares one operation of the family. `op` is the payload that `request` holds too.
    ///
    /// # Errors
    /// Where this payload cannot be executed; the error is kept.
    fn prepare(&self, op: &dyn ExtensionOp, request: &PrepareRequest<'_>) -> Result<Preparation>;
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
    /// Registers an executor for the engines called `engine_id`. Registering one of the same type
    /// again changes nothing, so installing a module twice is harmless.
    ///
    /// # Errors
    /// [`Error::DuplicateExecutor`] if the family has another executor on that engine.
    pub fn register_executor(&mut self, engine_id: EngineId, executor: Arc<dyn FamilyExecutor>) -> Result<()> {
        match self.executor(&engine_id, executor.family_id()) {
            None => self.executors.push((engine_id, executor)),
            Some(present) if present.type_id() == (*executor).type_id() => {}
            Some(_) => {
                let family_id = executor.family_id();
                return Err(Error::DuplicateExecutor { family_id, engine_id });
            }
        }
        Ok(())
    }

    pub(crate) fn executor(&self, engine_id: &EngineId, family_id: &str) -> Option<&dyn FamilyExecutor> {
        self.executors
            .iter()
            .find(|(engine, executor)| engine == engine_id && executor.family_id() == family_id)
            .map(|(_, executor)| &**executor)
    }
}
