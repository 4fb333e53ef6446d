//! The commands of this engine: a name and a function.

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;
use tenferro_core::{Layout, Tensor, TensorView};
use tenferro_runtime::{Command, Engine, Error, Preparation, Result};

use crate::engine::CpuEngine;

/// A command that fills its only output.
struct CpuCommand<F> {
    name: &'static str,
    run: F,
}

/// The answer to a request: a command that runs a function.
pub(crate) fn command<F>(name: &'static str, run: F) -> Preparation
where
    F: Fn(&mut CpuEngine, &[TensorView<'_>], &mut Tensor) -> Result<()> + Send + Sync + 'static,
{
    Preparation::command(CpuCommand { name, run })
}

impl<F> Command for CpuCommand<F>
where
    F: Fn(&mut CpuEngine, &[TensorView<'_>], &mut Tensor) -> Result<()> + Send + Sync,
{
    fn execute(&self, engine: &mut dyn Engine, inputs: &[TensorView<'_>], outputs: &mut [&mut Tensor]) -> Result<()> {
        match (engine.downcast_mut(), outputs) {
            (Some(engine), [output]) => (self.run)(engine, inputs, output),
            (None, _) => Err(self.misused("needs a `CpuEngine`")),
            (_, outputs) => Err(self.misused(&format!("has one output, not {}", outputs.len()))),
        }
    }

    fn name(&self) -> &str {
        self.name
    }
}

/// A command whose loops depend on its operands' layouts.
struct Planned<P> {
    name: &'static str,
    plan: P,
    /// What it counts for, where shapes do not say.
    flops: Option<f64>,
}

/// The answer to a request: a command for which `plan` makes the function to run on operands of given layouts.
pub(crate) fn planned<P, F>(name: &'static str, plan: P) -> Preparation
where
    P: Fn(&[&Layout]) -> Result<F> + Send + Sync + 'static,
    F: Fn(&mut CpuEngine, &[TensorView<'_>], &mut Tensor) -> Result<()> + Send + Sync + 'static,
{
    Preparation::command(Planned { name, plan, flops: None })
}

/// The same for a command of so many operations.
pub(crate) fn counted<P, F>(name: &'static str, flops: f64, plan: P) -> Preparation
where
    P: Fn(&[&Layout]) -> Result<F> + Send + Sync + 'static,
    F: Fn(&mut CpuEngine, &[TensorView<'_>], &mut Tensor) -> Result<()> + Send + Sync + 'static,
{
    Preparation::command(Planned { name, plan, flops: Some(flops) })
}

impl<P, F> Command for Planned<P>
where
    P: Fn(&[&Layout]) -> Result<F> + Send + Sync,
    F: Fn(&mut CpuEngine, &[TensorView<'_>], &mut Tensor) -> Result<()> + Send + Sync + 'static,
{
    fn execute(&self, engine: &mut dyn Engine, inputs: &[TensorView<'_>], outputs: &mut [&mut Tensor]) -> Result<()> {
        let layouts: SmallVec<[&Layout; 4]> = inputs.iter().map(|view| view.layout()).collect();
        CpuCommand { name: self.name, run: (self.plan)(&layouts)? }.execute(engine, inputs, outputs)
    }

    fn bind(&self, inputs: &[&Layout]) -> Result<Option<Arc<dyn Command>>> {
        Ok(Some(Arc::new(CpuCommand { name: self.name, run: (self.plan)(inputs)? })))
    }

    fn flops(&self, _: &[&Layout]) -> Option<f64> {
        self.flops
    }

    fn name(&self) -> &str {
        self.name
    }
}

impl<F> CpuCommand<F> {
    fn misused(&self, message: &str) -> Error {
        Error::Execution { op: self.name.to_owned(), message: message.to_owned() }
    }
}

impl<F> fmt::Debug for CpuCommand<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cpu {}", self.name)
    }
}

impl<P> fmt::Debug for Planned<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cpu {}", self.name)
    }
}
