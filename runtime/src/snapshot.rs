//! The configuration of a runtime: made once, never changed, replaced as a whole.

use std::sync::Arc;

use tenferro_core::program::passes::CompilerOptions;

use crate::engine::{AllocationDomain, EngineId, EngineTarget};
use crate::error::{Error, Result};
use crate::extension::{ExtensionModule, Registrar};
use crate::placement::Placement;
use crate::registration::EngineRegistration;
use crate::runtime::Runtime;
use crate::transfer::{Transfer, Transfers};

/// An immutable configuration: descriptions of engines, executors of families, passes, what goes where
/// and how it gets there.
pub(crate) struct Snapshot {
    pub epoch: u64,
    pub engines: Vec<EngineRegistration>,
    pub executors: Registrar,
    pub placement: Placement,
    pub transfers: Transfers,
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
    placement: Placement,
    transfers: Transfers,
    compiler_options: CompilerOptions,
}

impl RuntimeBuilder {
    pub(crate) fn new() -> Self {
        Self {
            engines: Vec::new(),
            executors: Registrar::default(),
            placement: Placement::default(),
            transfers: Transfers::default(),
            compiler_options: CompilerOptions::default(),
        }
    }

    pub(crate) fn edit(snapshot: &Snapshot) -> Self {
        Self {
            engines: snapshot.engines.clone(),
            executors: snapshot.executors.clone(),
            placement: snapshot.placement.clone(),
            transfers: snapshot.transfers.clone(),
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

    /// Spreads operations over engines by this rule, in the place of the one before. At first each
    /// goes to the first target that has it.
    #[must_use]
    pub fn with_placement(mut self, placement: Placement) -> Self {
        self.placement = placement;
        self
    }

    /// Adds what brings values from one memory to another; `None` is the host's. The same again
    /// changes nothing.
    ///
    /// # Errors
    /// [`Error::DuplicateTransfer`] if another is registered for the two, [`Error::Argument`] if they
    /// are one.
    pub fn register_transfer(
        mut self,
        from: Option<AllocationDomain>,
        to: Option<AllocationDomain>,
        transfer: Arc<dyn Transfer>,
    ) -> Result<Self> {
        self.transfers.register((from, to), transfer)?;
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
    /// [`Error::UnregisteredEngine`] if an operation is pinned to an engine that is not registered, and
    /// [`Error::Argument`] if one is pinned that takes no command.
    pub fn build(self) -> Result<Runtime> {
        Ok(Runtime::new(self.snapshot("RuntimeBuilder::build", 1)?))
    }

    pub(crate) fn snapshot(self, call: &'static str, epoch: u64) -> Result<Snapshot> {
        let Self { engines, executors, placement, transfers, compiler_options } = self;
        let is_registered = |id: &EngineId| engines.iter().any(|engine| engine.engine_id() == id);
        if let Some(engine_id) = placement.engines().find(|id| !is_registered(id)) {
            return Err(Error::UnregisteredEngine { call, engine_id: engine_id.clone() });
        }
        if let Some(name) = placement.pinned_without_command() {
            let message = format!("pins `{name}`, which takes no command and so no engine");
            return Err(Error::Argument { call, argument: "placement", message });
        }
        Ok(Snapshot { epoch, engines, executors, placement, transfers, compiler_options })
    }
}
