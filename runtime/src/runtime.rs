//! The runtime: a configuration, its epoch and the programs prepared under it. No engine.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use smallvec::SmallVec;
use tenferro_core::{DType, Layout, Tensor, TensorRead};

use crate::cache::{CacheLimits, CacheStats, PreparedCache};
use crate::compiled;
use crate::engine::{Engine, EngineTarget};
use crate::error::{Error, Result};
use crate::execute::{self, InputMeta, Output};
use crate::prepare::{self, Entry, Key, Prepared, ProgramRef};
use crate::profile::{Profile, Profiles};
use crate::snapshot::{RuntimeBuilder, Snapshot};

/// Prepares programs and runs them on the caller's engines.
///
/// A runtime is a handle to shared state: clones are cheap and see the same configuration and the
/// same prepared programs. It holds no engine: [`prepare`](Runtime::prepare) takes the targets of
/// engines, [`run`](Runtime::run) the engines themselves, so several threads can run one prepared
/// program at once, each on an engine of its own.
///
/// ```
/// use std::sync::Arc;
/// use tenferro_core::program::ProgramBuilder;
/// use tenferro_core::{DType, Tensor, TensorRead};
/// use tenferro_runtime::reference::{self, ReferenceEngine};
/// use tenferro_runtime::{Engine, Runtime};
///
/// let mut b = ProgramBuilder::new("double");
/// let n = b.size("n");
/// let x = b.input("x", DType::F64, &[n])?;
/// let y = b.add(x, x)?;
/// let program = Arc::new(b.finish(&[(None, y)])?);
///
/// let runtime = Runtime::builder().register_engine(reference::registration())?.build()?;
/// let mut engine = ReferenceEngine::new();
/// let x = Tensor::from_vec_col_major([2], vec![1.0, 2.5])?;
/// let inputs = [TensorRead::from(&x)];
/// let prepared = runtime.prepare(&program, &inputs, &[engine.target()])?;
/// let mut outputs = runtime.run(&mut [&mut engine], &prepared, &inputs)?;
/// let y = outputs.remove(0).into_tensor(&mut engine)?;
/// assert_eq!(y.to_vec_col_major::<f64>()?, [2.0, 5.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Runtime {
    state: Arc<State>,
}

struct State {
    id: RuntimeId,
    active: RwLock<Arc<Snapshot>>,
    /// That of the active snapshot, readable without the lock.
    epoch: AtomicU64,
    cache: PreparedCache<Key, Entry>,
    profiles: Profiles,
}

/// Tells runtimes apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RuntimeId(u64);

impl Runtime {
    /// Starts a configuration.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder::new()
    }

    pub(crate) fn new(snapshot: Snapshot) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let state = State {
            id: RuntimeId(NEXT.fetch_add(1, Ordering::Relaxed)),
            epoch: AtomicU64::new(snapshot.epoch),
            active: RwLock::new(Arc::new(snapshot)),
            cache: PreparedCache::new(prepare::logical_bytes),
            profiles: Profiles::default(),
        };
        Self { state: Arc::new(state) }
    }

    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.state.active.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn id(&self) -> RuntimeId {
        self.state.id
    }

    pub(crate) fn cache(&self) -> &PreparedCache<Key, Entry> {
        &self.state.cache
    }

    pub(crate) fn profiles(&self) -> &Profiles {
        &self.state.profiles
    }

    /// Records every command that runs on this runtime, in any thread, while `body` does. Profiles may
    /// overlap; a run that begins in several is in each.
    ///
    /// An engine is waited for after each command, so that times are those of the work and not of its
    /// submission. A run without a profile pays for the question whether there is one, once.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use tenferro_core::program::ProgramBuilder;
    /// # use tenferro_core::{DType, Tensor, TensorRead};
    /// # use tenferro_runtime::reference::{self, ReferenceEngine};
    /// # use tenferro_runtime::{Engine, Runtime};
    /// # let mut b = ProgramBuilder::new("double");
    /// # let x = b.input("x", DType::F64, &[2.into()])?;
    /// # let y = b.add(x, x)?;
    /// # let program = Arc::new(b.finish(&[(None, y)])?);
    /// # let runtime = Runtime::builder().register_engine(reference::registration())?.build()?;
    /// # let mut engine = ReferenceEngine::new();
    /// # let x = Tensor::from_vec_col_major([2], vec![1.0, 2.5])?;
    /// let inputs = [TensorRead::from(&x)];
    /// let prepared = runtime.prepare(&program, &inputs, &[engine.target()])?;
    /// let (result, profile) = runtime.profile(|| runtime.run(&mut [&mut engine], &prepared, &inputs));
    /// result?;
    /// let totals = profile.totals();
    /// assert_eq!((totals[0].name.as_str(), totals[0].count, totals[0].bytes), ("add", 1, 48));
    /// println!("{profile}");
    /// profile.write_chrome_trace(&mut std::io::sink())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn profile<R>(&self, body: impl FnOnce() -> R) -> (R, Profile) {
        self.state.profiles.profile(body)
    }

    /// The number of the configuration; it grows by one with each
    /// [`reconfigure`](Runtime::reconfigure).
    pub fn epoch(&self) -> u64 {
        self.state.epoch.load(Ordering::Acquire)
    }

    /// Edits a copy of the configuration and publishes it under the next epoch. Programs prepared
    /// before have to be prepared again; calls under way finish with the configuration they began
    /// with. What the cache holds of earlier configurations is not found again and stays until it
    /// makes room. Returns the new epoch.
    ///
    /// # Errors
    /// Those of `edit`, and [`Error::ConcurrentReconfiguration`] if another call published a
    /// configuration meanwhile; nothing is changed then.
    pub fn reconfigure(&self, edit: impl FnOnce(RuntimeBuilder) -> Result<RuntimeBuilder>) -> Result<u64> {
        let base = self.snapshot();
        let edited = edit(RuntimeBuilder::edit(&base))?;
        let next = Arc::new(edited.snapshot("Runtime::reconfigure", base.epoch + 1)?);
        let mut active = self.state.active.write().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(&active, &base) {
            return Err(Error::ConcurrentReconfiguration);
        }
        let epoch = next.epoch;
        *active = next;
        self.state.epoch.store(epoch, Ordering::Release);
        Ok(epoch)
    }

    /// Chooses kernels for a program on these engines, or finds that it was done before. An
    /// operation goes to the first target that has it, or as the [`Placement`](crate::Placement) of
    /// the configuration says. Where engines differ in memory, values are brought from one to the
    /// other by its [transfers](crate::Transfer); inputs and outputs are in host memory.
    ///
    /// `inputs` are all inputs of the program; or only those that no tensor is bound to, in order;
    /// or none, where a tensor is bound to each (see [`CompiledGraph`](crate::CompiledGraph)).
    ///
    /// However many threads ask, each program is prepared once for what it depends on; the others
    /// wait. Failures are kept as well and returned to the next caller, but for those that
    /// [may pass](Error::is_transient): memory that is not to be had, a provider that panics, limits
    /// that are reached. Callers that waited for a preparation get its error too.
    ///
    /// # Errors
    /// Where the targets are none, twice the same or not registered; where the inputs do not fit
    /// the program; where an operation has no kernel or its family no module; where a provider
    /// panics; where more is prepared at once than the [limits](CacheLimits) allow.
    pub fn prepare(
        &self,
        program: impl Into<ProgramRef>,
        inputs: &[TensorRead<'_>],
        targets: &[EngineTarget],
    ) -> Result<Prepared> {
        let inputs: SmallVec<[_; 8]> = inputs.iter().map(InputMeta::of).collect();
        prepare::prepare(self, "Runtime::prepare", program.into(), &inputs, targets)
    }

    /// As [`prepare`](Runtime::prepare), for compact inputs of these dtypes and shapes.
    ///
    /// # Errors
    /// Those of [`prepare`](Runtime::prepare).
    pub fn prepare_for_shapes(
        &self,
        program: impl Into<ProgramRef>,
        inputs: &[(DType, &[usize])],
        targets: &[EngineTarget],
    ) -> Result<Prepared> {
        let layouts = inputs.iter().map(|(_, shape)| Layout::col_major(shape));
        let layouts = layouts.collect::<Result<Vec<_>, _>>()?;
        let inputs: Vec<_> =
            inputs.iter().zip(&layouts).map(|(&(dtype, _), layout)| InputMeta { dtype, layout }).collect();
        prepare::prepare(self, "Runtime::prepare_for_shapes", program.into(), &inputs, targets)
    }

    /// Runs a prepared program. `engines` are those of its targets, in order; `inputs` are given in
    /// one of the ways of [`prepare`](Runtime::prepare), not necessarily the same.
    ///
    /// Results that are an input or a view of one are borrowed from it. Results never borrow from
    /// `prepared`: of a tensor bound to the program they share the elements, or have a copy.
    ///
    /// # Errors
    /// Where the program was prepared by another runtime or in another epoch, the engines are not
    /// its targets', the inputs do not fit it or its specialisation; and what commands fail with.
    pub fn run<'a>(
        &self,
        engines: &mut [&mut dyn Engine],
        prepared: &Prepared,
        inputs: &[TensorRead<'a>],
    ) -> Result<Vec<Output<'a>>> {
        const CALL: &str = "Runtime::run";
        let inputs = compiled::complete_reads(CALL, prepared.program_ref(), inputs)?;
        execute::run(self, CALL, engines, prepared, &inputs)
    }

    /// As [`run`](Runtime::run), the results written into the caller's tensors. A tensor that is
    /// compact and shares its storage with no other is computed in place; the others are replaced.
    ///
    /// # Errors
    /// Those of [`run`](Runtime::run), and [`Error::Output`] where a tensor's dtype or shape is
    /// not the result's. After an error of a command the contents of `outputs` are unspecified.
    pub fn run_into(
        &self,
        engines: &mut [&mut dyn Engine],
        prepared: &Prepared,
        inputs: &[TensorRead<'_>],
        outputs: &mut [&mut Tensor],
    ) -> Result<()> {
        const CALL: &str = "Runtime::run_into";
        let inputs = compiled::complete_reads(CALL, prepared.program_ref(), inputs)?;
        execute::run_into(self, CALL, engines, prepared, &inputs, outputs)
    }

    /// Runs once, drops the results and waits, so that whatever an engine sets up at its first
    /// use is set up.
    ///
    /// # Errors
    /// Those of [`run`](Runtime::run).
    pub fn warm_up(
        &self,
        engines: &mut [&mut dyn Engine],
        prepared: &Prepared,
        inputs: &[TensorRead<'_>],
    ) -> Result<()> {
        const CALL: &str = "Runtime::warm_up";
        let inputs = compiled::complete_reads(CALL, prepared.program_ref(), inputs)?;
        drop(execute::run(self, CALL, engines, prepared, &inputs)?);
        engines.iter_mut().try_for_each(|engine| engine.synchronize())
    }

    /// What the cache of prepared programs holds and did.
    pub fn prepared_cache_stats(&self) -> CacheStats {
        self.state.cache.stats()
    }

    /// The bounds of the cache of prepared programs.
    pub fn prepared_cache_limits(&self) -> CacheLimits {
        self.state.cache.limits()
    }

    /// Bounds the cache of prepared programs. Entries in excess are forgotten at once; programs in
    /// preparation in excess are finished, and no more begun. Those in the caller's hands stay
    /// usable.
    ///
    /// # Errors
    /// Where a limit is 0 that has to be positive: entries, bytes, or keys in preparation.
    pub fn set_prepared_cache_limits(&self, limits: CacheLimits) -> Result<()> {
        self.state.cache.set_limits("Runtime::set_prepared_cache_limits", limits)
    }

    /// Forgets all prepared programs and failures. Programs in the caller's hands stay usable;
    /// preparations under way go on and are kept.
    pub fn clear_prepared_cache(&self) {
        self.state.cache.clear();
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let snapshot = self.snapshot();
        f.debug_struct("Runtime")
            .field("epoch", &snapshot.epoch)
            .field("engines", &snapshot.engines)
            .field("cache", &self.prepared_cache_stats())
            .finish()
    }
}
