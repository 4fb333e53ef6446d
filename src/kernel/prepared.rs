//! Kernels prepared for engines of the caller's.

use std::fmt;
use std::marker::PhantomData;

use smallvec::SmallVec;

use super::Kernel;
use super::arguments::Arguments;
use super::results::Results;
use crate::Result;
use crate::runtime::{self, Engine, EngineTarget, Runtime};

/// A kernel prepared for engines and argument shapes. Threads may share it, each bringing an engine.
///
/// ```
/// use tenferro::prelude::*;
/// use tenferro::cpu::CpuEngine;
/// use tenferro::runtime::Engine;
///
/// tenferro! {
///     fn dot(x: f64[n], y: f64[n]) -> f64 { x[i] * y[i] -> [] }
/// }
///
/// let session = Session::cpu();
/// let mut engine = CpuEngine::serial();
/// let prepared = dot.prepare(session.runtime(), &[engine.target()], ([3], [3]))?;
/// let x = TypedTensor::from_vec_col_major([3], vec![1.0, 2.0, 3.0])?;
/// assert_eq!(prepared.run(&mut [&mut engine], (&x, &x))?, 14.0);
/// # Ok::<(), tenferro::Error>(())
/// ```
pub struct Prepared<K, T = ()> {
    runtime: Runtime,
    prepared: runtime::Prepared,
    kernel: PhantomData<fn() -> (K, T)>,
}

impl<K: Kernel<T>, T> Prepared<K, T> {
    /// Prepares for compact arguments of these shapes.
    #[doc(hidden)]
    pub fn new(runtime: &Runtime, targets: &[EngineTarget], shapes: &[&[usize]]) -> Result<Self> {
        let program = K::program();
        let inputs: SmallVec<[_; 4]> =
            shapes.iter().enumerate().map(|(i, shape)| (program.input_meta(i).dtype, *shape)).collect();
        let prepared = runtime.prepare_for_shapes(program, &inputs, targets)?;
        Ok(Self { runtime: runtime.clone(), prepared, kernel: PhantomData })
    }

    /// Runs the kernel on engines of the targets that it was prepared for, in their order. The arguments
    /// are a tuple in the order of the kernel's signature.
    ///
    /// # Errors
    /// Where sizes do not agree, the kernel was prepared for other shapes or engines, the runtime was
    /// reconfigured since, or an engine fails.
    pub fn run(&self, engines: &mut [&mut dyn Engine], arguments: impl Arguments<K::Inputs>) -> Result<K::Output> {
        let outputs = self.runtime.run(engines, &self.prepared, &arguments.read()?)?;
        // There is a first engine: the runtime refuses to run on none.
        K::output(&mut Results::new(&mut *engines[0], outputs))
    }

    /// The prepared program without its types.
    pub fn untyped(&self) -> &runtime::Prepared {
        &self.prepared
    }
}

impl<K, T> Clone for Prepared<K, T> {
    fn clone(&self) -> Self {
        Self { runtime: self.runtime.clone(), prepared: self.prepared.clone(), kernel: PhantomData }
    }
}

impl<K: Kernel<T>, T> fmt::Debug for Prepared<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").field("kernel", &K::NAME).field("prepared", &self.prepared).finish()
    }
}
