//! The engine: the threads it computes on, the memory it keeps, and how a runtime knows it.

use std::fmt;
use std::sync::Arc;

use rayon::ThreadPool;
use tenferro_core::{DType, Error as CoreError, Tensor, TensorView, with_dtype};
use tenferro_runtime::{
    ContextIdentity, Engine, EngineId, EngineRegistration, EngineTarget, ExtensionCacheStore, Result,
};

use crate::families::einsum::Lane;
use crate::movement;
use crate::provider::CpuProvider;
use crate::workers::Workers;

/// The id of CPU engines, of any number of threads.
pub const ENGINE_ID: EngineId = EngineId::from_static("tenferro-cpu.default.v1");

/// Bytes of free buffers that an engine keeps unless told otherwise.
const POOL_LIMIT: usize = 1 << 30;

/// The CPU engine.
///
/// Results do not depend on the number of threads: work is split by fixed blocks.
///
/// ```
/// use std::sync::Arc;
/// use tenferro_cpu::CpuEngine;
/// let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(2).build()?);
/// assert_eq!(CpuEngine::serial().threads(), 1);
/// assert_eq!(CpuEngine::new(pool).threads(), 2);
/// # Ok::<(), rayon::ThreadPoolBuildError>(())
/// ```
pub struct CpuEngine {
    pub(crate) workers: Workers,
    pub(crate) lane: Lane,
    /// One for each part of an einsum that is done at once with others.
    pub(crate) lanes: Vec<Lane>,
    /// Bytes of free buffers that all lanes keep together.
    pool_limit: usize,
    caches: ExtensionCacheStore,
}

impl CpuEngine {
    /// An engine that computes on the thread that runs it.
    pub fn serial() -> Self {
        Self::on(Workers::default())
    }

    /// An engine that computes on a pool, which several engines may share.
    pub fn new(pool: Arc<ThreadPool>) -> Self {
        Self::on(Workers::new(pool))
    }

    /// An engine with a pool of its own; of 0 threads means one for each core.
    ///
    /// # Errors
    /// Where the threads cannot be started.
    pub fn with_threads(threads: usize) -> Result<Self, rayon::ThreadPoolBuildError> {
        if threads == 1 {
            return Ok(Self::serial());
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        Ok(Self::new(Arc::new(pool)))
    }

    fn on(workers: Workers) -> Self {
        let (lane, lanes, caches) = (Lane::new(POOL_LIMIT), Vec::new(), ExtensionCacheStore::new());
        Self { workers, lane, lanes, pool_limit: POOL_LIMIT, caches }
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.workers.threads()
    }

    /// Keeps at most so many bytes of free buffers from now on; 1 GiB at first.
    pub fn set_pool_limit(&mut self, bytes: usize) {
        self.pool_limit = bytes;
        self.lanes.clear();
        self.lane.pool.set_limit(bytes);
    }

    /// Makes so many lanes at least. They share half of what the engine keeps.
    pub(crate) fn grow_lanes(&mut self, count: usize) {
        if self.lanes.len() < count {
            self.lanes.resize_with(count, || Lane::new(0));
            let half = self.pool_limit / 2;
            self.lane.pool.set_limit(half);
            self.lanes.iter_mut().for_each(|lane| lane.pool.set_limit(half / count));
        }
    }

    /// Bytes that the results of the steps of one einsum may take at once, where there is a choice.
    pub(crate) fn budget(&self) -> usize {
        self.pool_limit
    }

    /// Gives free buffers back, the largest of a thread's first, until at most so many bytes are left; the limit stays.
    ///
    /// Blocks of a megabyte or more go to the [reserve](tenferro_core::tensor::set_reserve_limit) that all tensors
    /// share.
    pub fn trim_pool(&mut self, bytes: usize) {
        let mut left = bytes;
        for lane in [&mut self.lane].into_iter().chain(&mut self.lanes) {
            lane.pool.trim(left);
            left -= lane.pool.bytes();
        }
    }

    /// Bytes of free buffers.
    pub fn pooled_bytes(&self) -> usize {
        [&self.lane].into_iter().chain(&self.lanes).map(|lane| lane.pool.bytes()).sum()
    }
}

impl fmt::Debug for CpuEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CpuEngine")
            .field("threads", &self.threads())
            .field("pooled_bytes", &self.pooled_bytes())
            .finish_non_exhaustive()
    }
}

impl Engine for CpuEngine {
    fn target(&self) -> EngineTarget {
        EngineTarget { engine_id: ENGINE_ID, context: ContextIdentity::of::<Self>(), allocation_domain: None }
    }

    fn allocate(&mut self, dtype: DType, shape: &[usize]) -> Result<Tensor> {
        Ok(self.lane.pool.allocate(dtype, shape)?)
    }

    fn recycle(&mut self, tensor: Tensor) {
        self.lane.pool.recycle(tensor);
    }

    fn copy(&mut self, source: &TensorView<'_>, destination: &mut Tensor) -> Result<()> {
        if source.len() != destination.len() {
            let (expected, actual) = (format!("{:?}", source.shape()), format!("{:?}", destination.shape()));
            return Err(CoreError::shape("copy", "destination", expected, actual).into());
        }
        with_dtype!(destination.dtype(), T => movement::copy_view::<T>(&self.workers, source, destination))
    }

    fn caches(&mut self) -> &mut ExtensionCacheStore {
        &mut self.caches
    }
}

/// The description of CPU engines, for
/// [`register_engine`](tenferro_runtime::RuntimeBuilder::register_engine).
pub fn runtime_engine_registration() -> EngineRegistration {
    EngineRegistration::new::<CpuEngine>(ENGINE_ID, Arc::new(CpuProvider))
}
