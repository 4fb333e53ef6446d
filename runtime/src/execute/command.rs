//! One prepared piece of work.

use std::fmt;
use std::sync::Arc;

use tenferro_core::{Layout, Tensor, TensorView};

use crate::engine::Engine;
use crate::error::Result;

/// An operation with its kernel chosen. Everything that can be decided from what the program was
/// specialised for is decided when the command is made; what follows from the operands' layouts
/// when it is [bound](Command::bind); [`execute`](Command::execute) only works.
pub trait Command: fmt::Debug + Send + Sync {
    /// Computes the outputs.
    ///
    /// `inputs` are views of any strides. Each of `outputs` is compact, column-major, of the
    /// right dtype and shape, of unspecified contents, and shares its storage with nothing.
    ///
    /// # Errors
    /// Only what cannot be known before the data is seen.
    fn execute(&self, engine: &mut dyn Engine, inputs: &[TensorView<'_>], outputs: &mut [&mut Tensor]) -> Result<()>;

    /// A command that does the same for operands of these very layouts, where knowing them saves
    /// work in each run: loops are ordered, strides compared and copies planned here. The runtime
    /// binds once for each signature that a program is run with. `None`, the default, stands for
    /// the command itself.
    ///
    /// # Errors
    /// Where the command cannot work on such operands.
    fn bind(&self, inputs: &[&Layout]) -> Result<Option<Arc<dyn Command>>> {
        let _ = inputs;
        Ok(None)
    }

    /// The number of operations on operands of these layouts, for profiles. `None`, the default, stands
    /// for what the shapes say: of a core operation one for each element of the result, or of the
    /// operand where that is reduced, and nothing for what only moves elements. Of an operation family
    /// shapes say nothing; a product and its addition to a sum are two operations.
    fn flops(&self, inputs: &[&Layout]) -> Option<f64> {
        let _ = inputs;
        None
    }

    /// What is computed, for messages and profiles.
    fn name(&self) -> &str;
}
