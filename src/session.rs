//! [`Session`]: a runtime and one engine together, the everyday handle.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use smallvec::SmallVec;

use crate::Result;
use crate::cpu::CpuEngine;
use crate::einsum::Equations;
use crate::kernel::{Destination, KernelProgram, Results, destination_tensors};
use crate::recent::{Recent, until_current};
use crate::runtime::reference::{self, ReferenceEngine};
use crate::runtime::{
    Engine, EngineRegistration, EngineTarget, Error, ExtensionModule, Prepared, Profile, ProgramRef, Runtime,
};
use crate::tensor::{Tensor, TensorRead};

/// A runtime, an engine, and the standard operation families: what a kernel's methods run on.
///
/// A session remembers what it prepared from each kernel for the last few argument shapes, so that
/// a call with shapes seen before neither hashes nor lowers anything.
///
/// ```
/// use tenferro::prelude::*;
///
/// tenferro! {
///     fn mean_square(x: f64[n]) -> f64 { mean(x * x) }
/// }
///
/// let mut session = Session::cpu();
/// let x = TypedTensor::from_vec_col_major([2], vec![1.0, 3.0])?;
/// assert_eq!(mean_square.run(&mut session, &x)?, 5.0);
/// # Ok::<(), tenferro::Error>(())
/// ```
pub struct Session {
    runtime: Runtime,
    engine: Box<dyn Engine>,
    targets: [EngineTarget; 1],
    /// What was prepared, by the slot of the program.
    recent: Vec<Recent>,
    /// Tells sessions apart.
    id: u64,
    /// The einsums of one-shot calls.
    pub(crate) equations: Equations,
}

impl Session {
    /// A session on a serial CPU engine.
    pub fn cpu() -> Self {
        Self::on_cpu(CpuEngine::serial())
    }

    /// A session on a CPU engine with a pool of this many threads, 0 for one a core. Results are bitwise those of
    /// [`cpu`](Session::cpu).
    ///
    /// # Errors
    /// Where the threads cannot be started.
    pub fn cpu_with_threads(threads: usize) -> Result<Self> {
        let engine = CpuEngine::with_threads(threads).map_err(|error| Error::Argument {
            call: "Session::cpu_with_threads",
            argument: "threads",
            message: error.to_string(),
        })?;
        Ok(Self::on_cpu(engine))
    }

    fn on_cpu(engine: CpuEngine) -> Self {
        let modules = [crate::cpu::families::einsum::module()];
        Self::with_engine(engine, crate::cpu::runtime_engine_registration(), modules)
            .expect("one engine and its own modules cannot conflict")
    }

    /// A session on the reference engine: plain loops, slow, the oracle of the tests.
    pub fn reference() -> Self {
        Self::with_engine(ReferenceEngine::new(), reference::registration(), [reference::module()])
            .expect("one engine and its own modules cannot conflict")
    }

    /// A session on any engine, with its registration and the operation families it has.
    ///
    /// # Errors
    /// Where two modules execute one family.
    pub fn with_engine(
        engine: impl Engine,
        registration: EngineRegistration,
        modules: impl IntoIterator<Item = Arc<dyn ExtensionModule>>,
    ) -> Result<Self> {
        let mut builder = Runtime::builder().register_engine(registration)?;
        for module in modules {
            builder = builder.install_extension_module(module)?;
        }
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Ok(Self {
            runtime: builder.build()?,
            targets: [engine.target()],
            engine: Box::new(engine),
            recent: Vec::new(),
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            equations: Equations::default(),
        })
    }

    /// The runtime, which holds configuration and prepared programs.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// The engine.
    pub fn engine(&mut self) -> &mut dyn Engine {
        &mut *self.engine
    }

    /// The engine's target, for [`Runtime::prepare`].
    pub fn target(&self) -> &EngineTarget {
        &self.targets[0]
    }

    /// The number of this session, as no other has.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// The parts that running a prepared program takes.
    pub(crate) fn parts(&mut self) -> (&Runtime, &mut dyn Engine, &[EngineTarget; 1]) {
        (&self.runtime, &mut *self.engine, &self.targets)
    }

    /// Runs a program built at run time, preparing it where that was not done before.
    ///
    /// # Errors
    /// Where the inputs do not fit the program, or the engine lacks an operation or fails.
    pub fn run(&mut self, program: impl Into<ProgramRef>, inputs: &[TensorRead<'_>]) -> Result<Vec<Tensor>> {
        let program = program.into();
        let outputs = until_current(|_| {
            let prepared = self.runtime.prepare(program.clone(), inputs, &self.targets)?;
            self.runtime.run(&mut [&mut *self.engine], &prepared, inputs)
        })?;
        outputs.into_iter().map(|output| output.into_tensor(&mut *self.engine)).collect()
    }

    /// Records every command that runs on this session's runtime while `body` does; see
    /// [`Runtime::profile`].
    ///
    /// ```
    /// use tenferro::prelude::*;
    ///
    /// tenferro! {
    ///     fn norm(x: f64[n]) -> f64 { sum(x * x) }
    /// }
    ///
    /// let mut cpu = Session::cpu();
    /// let x = TypedTensor::from_vec_col_major([2], vec![3.0, 4.0])?;
    /// let (result, profile) = cpu.profile(|cpu| norm.run(cpu, &x));
    /// assert_eq!(result?, 25.0);
    /// assert_eq!(profile.runs()[0].program, "norm");
    /// println!("{profile}");
    /// # Ok::<(), tenferro::Error>(())
    /// ```
    pub fn profile<R>(&mut self, body: impl FnOnce(&mut Self) -> R) -> (R, Profile) {
        let runtime = self.runtime.clone();
        runtime.profile(|| body(self))
    }

    /// Runs a kernel's program.
    pub(crate) fn call<'s, 'a>(
        &'s mut self,
        program: &'static KernelProgram,
        inputs: &[TensorRead<'a>],
    ) -> Result<Results<'s, 'a>> {
        let outputs = self
            .with_prepared(program, inputs, |runtime, engine, prepared| runtime.run(&mut [engine], prepared, inputs))?;
        Ok(Results::new(&mut *self.engine, outputs))
    }

    /// Runs a kernel's program and writes the results over `outputs`. After an error scalars are as they were.
    pub(crate) fn call_into(
        &mut self,
        program: &'static KernelProgram,
        inputs: &[TensorRead<'_>],
        outputs: &mut [&mut dyn Destination],
    ) -> Result<()> {
        // Scalars are computed in tensors of the engine, if its memory is the host's as that of results is.
        let is_host = self.target().allocation_domain.is_none();
        let mut scalars: SmallVec<[Tensor; 2]> = SmallVec::new();
        for output in outputs.iter_mut().filter_map(|output| output.scalar()) {
            scalars.push(if is_host { self.engine.allocate(output, &[])? } else { Tensor::allocate(output, &[])? });
        }
        let mut tensors = destination_tensors(outputs, &mut scalars);
        let written = self.with_prepared(program, inputs, |runtime, engine, prepared| {
            runtime.run_into(&mut [engine], prepared, inputs, &mut tensors)
        });
        drop(tensors);
        let mut left = scalars.into_iter();
        for output in outputs.iter_mut().filter(|output| output.scalar().is_some()) {
            let Some(scalar) = left.next() else { break };
            if written.is_ok() {
                output.put(&scalar)?;
            }
            if is_host {
                self.engine.recycle(scalar);
            }
        }
        written
    }

    fn with_prepared<R>(
        &mut self,
        program: &'static KernelProgram,
        inputs: &[TensorRead<'_>],
        mut run: impl FnMut(&Runtime, &mut dyn Engine, &Prepared) -> Result<R>,
    ) -> Result<R> {
        let slot = program.slot.index();
        if slot >= self.recent.len() {
            self.recent.resize_with(slot + 1, Recent::default);
        }
        let recent = &mut self.recent[slot];
        until_current(|is_another| {
            let prepared = match recent.position(inputs) {
                Some(position) if !is_another => recent.prepared(position),
                position => {
                    if let Some(position) = position {
                        recent.forget(position);
                    }
                    let prepared = self.runtime.prepare(&program.program, inputs, &self.targets)?;
                    recent.remember(inputs, prepared)
                }
            };
            run(&self.runtime, &mut *self.engine, prepared)
        })
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("target", self.target()).field("runtime", &self.runtime).finish()
    }
}
