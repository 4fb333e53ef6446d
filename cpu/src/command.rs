//! The commands of this engine: a name and a function.

use std::fmt;

use tenferro_core::{Tensor, TensorView};
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
