//! One prepared piece of work.

use std::fmt;

use tenferro_core::{Tensor, TensorView};

use crate::engine::Engine;
use crate::error::Result;

/// An operation with its kernel chosen. Everything that can be decided from what the program was
/// specialised for is decided when the command is made; [`execute`](Command::execute) only works.
pub trait Command: fmt::Debug + Send + Sync {
    /// Computes the outputs.
    ///
    /// `inputs` are views of any strides. Each of `outputs` is compact, column-major, of the
    /// right dtype and shape, of unspecified contents, and shares its storage with nothing.
    ///
    /// # Errors
    /// Only what cannot be known before the data is seen.
    fn execute(&self, engine: &mut dyn Engine, inputs: &[TensorView<'_>], outputs: &mut [&mut Tensor]) -> Result<()>;

    /// What is computed, for messages and profiles.
    fn name(&self) -> &str;
}
