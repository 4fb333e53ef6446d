//! The configuration of a runtime: made once, never changed, replaced as a whole.

use std::sync::Arc;

use tenferro_core::program::passes::CompilerOptions;

use crate::engine::EngineTarget;
use crate::error::{Error, Result};
use crate::extension::{ExtensionModule, Registrar};
use crate::registration::EngineRegistration;
use crate::runtime::Runtime;

/// An immutable configuration: engine descriptions, family executors and passes.
pub(crate) struct Snapshot {
    pub epoch: u64,
    pub engines: Vec<EngineRegistration>,
    pub executors: Registrar,
    pub compiler_options: CompilerOptions,
}

impl Snapshot {
    /// The position of the registration that a target belongs to.
    pub fn engine(&self, call: &'static str, target: &EngineTarget) -> Result<usize> {
        let found = self.engines.iter().position(|engine| engine.engine_id() == &target.engine_id);
        let index = found.ok_or_else(|| Error::UnregisteredEngine { call, engine_id: target.engine_id.clone() })?;
        let registered = self.engines[index].target();
        if registered != target {
            let message = format!("{registered} is registered, but the target is {target}");
            return Err(Error::Argument { call, argument: "targets", message });
        }
        Ok(index)
    }
}

/// Makes a configuration: of a new runtime, or the next one of a runtime that is reconfigured.
pub struct RuntimeBuilder {
    engines: Vec<EngineRegistration>,
    executors: Registrar,
    compiler_options: CompilerOptions,
}

impl RuntimeBuilder {
    pub(crate) fn new() -> Self {
        Self { engines: Vec::new(), executors: Registrar::default(), compiler_options: CompilerOptions::default() }
    }

    pub(crate) fn edit(snapshot: &Snapshot) -> Self {
        Self {
            engines: snapshot.engines.clone(),
            executors: snapshot.executors.clone(),
            compiler_options: snapshot.compiler_options,
        }
    }

    /// Adds the description of an engine. An equal description again changes nothing.
    ///
    /// # Errors
    /// [`Error::DuplicateEngine`] if the id is taken by another description.
    pub fn register_engine(mut self, registration: EngineRegistration) -> Result<Self> {
        match self.engines.iter().find(|engine| engine.engine_id() == registration.engine_id()) {
            None => self.engines.push(registration),
            Some(present) if *present == registration => {}
            Some(_) => {
                return Err(Error::DuplicateEngine { engine_id: registration.engine_id().clone() });
            }
        }
        Ok(self)
    }

    /// Adds a module's executors. Installing a module again changes nothing.
    ///
    /// # Errors
    /// Those of the module.
    pub fn install_extension_module(mut self, module: Arc<dyn ExtensionModule>) -> Result<Self> {
        module.configure(&mut self.executors)?;
        Ok(self)
    }

    /// Says which passes run over a program when it is prepared; those of [`CompilerOptions::default`] where nothing is
    /// said.
    ///
    /// ```
    /// use tenferro_core::program::passes::CompilerOptions;
    /// use tenferro_runtime::{Runtime, reference};
    /// let builder = Runtime::builder().register_engine(reference::registration())?;
    /// let runtime = builder.compiler_options(CompilerOptions::NONE).build()?;
    /// # let _ = runtime;
    /// # Ok::<(), tenferro_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn compiler_options(mut self, options: CompilerOptions) -> Self {
        self.compiler_options = options;
        self
    }

    /// The runtime.
    ///
    /// # Errors
    /// None so far: what is wrong is said where it is added.
    pub fn build(self) -> Result<Runtime> {
        Ok(Runtime::new(self.snapshot(1)))
    }

    pub(crate) fn snapshot(self, epoch: u64) -> Snapshot {
        let Self { engines, executors, compiler_options } = self;
        Snapshot { epoch, engines, executors, compiler_options }
    }
}
