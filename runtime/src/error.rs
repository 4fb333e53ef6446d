//! What can go wrong between a program and its results.

use tenferro_core::DType;

use crate::engine::EngineId;

/// The result of the runtime's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of configuring, preparing or running.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of tensors or programs: inputs whose shapes do not fit, among others.
    #[error(transparent)]
    Core(#[from] tenferro_core::Error),

    /// A wrong argument.
    #[error("{call}: argument `{argument}`: {message}")]
    Argument {
        /// The function called.
        call: &'static str,
        /// The argument's name.
        argument: &'static str,
        /// What is wrong with it.
        message: String,
    },

    /// Inputs without a tensor: none was given, and none is bound to the program.
    #[error("{call}: no tensor for input {inputs} of {program} ({count} inputs, {given} given, {bound} bound)")]
    UnboundPlaceholder {
        /// The function called.
        call: &'static str,
        /// The program.
        program: String,
        /// The names of the inputs without a tensor.
        inputs: String,
        /// The number of tensors given.
        given: usize,
        /// The number of inputs that a tensor is bound to.
        bound: usize,
        /// The number of the program's inputs.
        count: usize,
    },

    /// An input of another dtype than the program's.
    #[error("{call}: input `{input}`: expected {expected}, got {actual}{shape:?}")]
    InputDType {
        /// The function called.
        call: &'static str,
        /// The input's name.
        input: String,
        /// What the program declares: dtype and shape.
        expected: String,
        /// The dtype given.
        actual: DType,
        /// The shape given.
        shape: Vec<usize>,
    },

    /// An output tensor into which the result does not fit.
    #[error("{call}: output {output}: expected {expected}, got {actual}")]
    Output {
        /// The function called.
        call: &'static str,
        /// The output's name or number.
        output: String,
        /// Dtype and shape of the result.
        expected: String,
        /// Dtype and shape of the tensor given.
        actual: String,
    },

    /// An engine that the runtime has no description of.
    #[error(
        "{call}: no engine \"{engine_id}\" is registered with this runtime; \
         register it with `RuntimeBuilder::register_engine`"
    )]
    UnregisteredEngine {
        /// The function called.
        call: &'static str,
        /// The engine asked for.
        engine_id: EngineId,
    },

    /// Another description under an id that is taken.
    #[error("RuntimeBuilder::register_engine: engine \"{engine_id}\" is already registered with another description")]
    DuplicateEngine {
        /// The id that is taken.
        engine_id: EngineId,
    },

    /// Another executor for a family that has one.
    #[error("family \"{family_id}\" already has another executor on engine \"{engine_id}\"")]
    DuplicateExecutor {
        /// The family.
        family_id: &'static str,
        /// The engine.
        engine_id: EngineId,
    },

    /// The configuration changed while an edit of it was made; nothing was published.
    #[error("Runtime::reconfigure: the configuration was changed by another call meanwhile; nothing was published")]
    ConcurrentReconfiguration,

    /// An operation family without an executor.
    #[error(
        "{call}: no module for family \"{family_id}\" is installed for {engines}; \
         install one with `RuntimeBuilder::install_extension_module`"
    )]
    MissingModule {
        /// The function called.
        call: &'static str,
        /// The family.
        family_id: String,
        /// The engines asked for.
        engines: String,
    },

    /// An operation that none of the engines has.
    #[error("{call}: `{op}` on {operands} is supported by none of {engines}")]
    UnsupportedOp {
        /// The function called.
        call: &'static str,
        /// The operation.
        op: String,
        /// Dtypes and shapes of its operands.
        operands: String,
        /// The engines asked for.
        engines: String,
    },

    /// An operation that the engine it is pinned to does not do.
    #[error("{call}: `{op}` is pinned to engine \"{engine_id}\", which {reason}")]
    Pinned {
        /// The function called.
        call: &'static str,
        /// The operation.
        op: String,
        /// The engine.
        engine_id: EngineId,
        /// Why it cannot.
        reason: String,
    },

    /// A value is in memory that nothing brings it from.
    #[error(
        "{call}: {reader} is in {to}, but needs a value that is in {from}; \
         register a transfer with `RuntimeBuilder::register_transfer`"
    )]
    NoTransfer {
        /// The function called.
        call: &'static str,
        /// What needs the value: an operation on an engine, or an output.
        reader: String,
        /// The memory that the value is in.
        from: String,
        /// The memory where it is needed.
        to: String,
    },

    /// Another transfer between memories that have one.
    #[error("RuntimeBuilder::register_transfer: from {from} to {to} there is another transfer already")]
    DuplicateTransfer {
        /// The memory it takes from.
        from: String,
        /// The memory it brings to.
        to: String,
    },

    /// An input that an engine cannot read as it is given.
    #[error("{call}: input `{input}`: engine \"{engine_id}\" reads {admitted}, but got {given}")]
    Ingress {
        /// The function called.
        call: &'static str,
        /// The input's name.
        input: String,
        /// The engine whose commands would read it.
        engine_id: EngineId,
        /// What it reads.
        admitted: String,
        /// Dtype, shape and strides of the input.
        given: String,
    },

    /// A program that another runtime prepared.
    #[error("{call}: the program was prepared by another runtime; prepare it with this one")]
    ForeignRuntime {
        /// The function called.
        call: &'static str,
    },

    /// A program prepared before the configuration changed.
    #[error(
        "{call}: the program was prepared in epoch {prepared}, the runtime is in epoch {current}; \
         it was reconfigured since: prepare again"
    )]
    StaleEpoch {
        /// The function called.
        call: &'static str,
        /// The epoch of the preparation.
        prepared: u64,
        /// The epoch of the runtime.
        current: u64,
    },

    /// Inputs that the prepared program was not specialised for.
    #[error("{call}: the program was prepared for {expected}, and these inputs have {actual}: prepare again with them")]
    NotSpecialized {
        /// The function called.
        call: &'static str,
        /// What it was specialised for.
        expected: String,
        /// The same of the inputs given.
        actual: String,
    },

    /// A provider or a family's executor panicked. Nothing is kept of it: the next call may
    /// succeed.
    #[error("{call}: {provider} panicked on `{op}`: {message}")]
    ProviderPanic {
        /// The function called.
        call: &'static str,
        /// The operation it was asked for.
        op: String,
        /// Who panicked.
        provider: String,
        /// What the panic said.
        message: String,
    },

    /// More programs are prepared at once than the [limits](crate::CacheLimits) allow.
    #[error(
        "Runtime::prepare: {preparing} programs are in preparation and {queued} wait for it, and no more may; \
         call again later, or raise the limits with `Runtime::set_prepared_cache_limits`"
    )]
    PreparationQueueFull {
        /// The limit of programs in preparation.
        preparing: usize,
        /// The limit of those that wait.
        queued: usize,
    },

    /// A provider prepared a program while it was asked for a kernel, on the runtime that asked.
    #[error(
        "Runtime::prepare: called by a provider while this runtime prepares another program, \
         which could wait for itself; prepare it before"
    )]
    NestedPreparation,

    /// A failure of a command or a provider.
    #[error("`{op}`: {message}")]
    Execution {
        /// The operation.
        op: String,
        /// What went wrong.
        message: String,
    },
}

impl Error {
    /// The same failure of a preparation, as this call meets it: failures are kept, and returned to other calls than
    /// the first as well.
    pub(crate) fn met_by(mut self, caller: &'static str) -> Self {
        if let Self::MissingModule { call, .. }
        | Self::UnsupportedOp { call, .. }
        | Self::Pinned { call, .. }
        | Self::NoTransfer { call, .. }
        | Self::ProviderPanic { call, .. } = &mut self
        {
            *call = caller;
        }
        self
    }

    /// Whether the same call may succeed later with nothing changed. The cache of prepared programs
    /// keeps no such failure.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Core(tenferro_core::Error::OutOfMemory { .. })
                | Self::ProviderPanic { .. }
                | Self::PreparationQueueFull { .. }
                | Self::NestedPreparation
        )
    }
}
