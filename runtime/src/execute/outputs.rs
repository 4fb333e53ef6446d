//! What a run gives back.

use tenferro_core::{DType, Tensor, TensorView};

use crate::engine::Engine;
use crate::error::Result;

/// A result: computed, or an input (or a view of one), which is not copied. It is in host memory,
/// whichever engine made it.
#[derive(Debug)]
pub enum Output<'a> {
    /// A compact tensor.
    Owned(Tensor),
    /// A view of an input.
    Borrowed(TensorView<'a>),
}

impl Output<'_> {
    /// The dtype.
    pub fn dtype(&self) -> DType {
        match self {
            Self::Owned(tensor) => tensor.dtype(),
            Self::Borrowed(view) => view.dtype(),
        }
    }

    /// The extents.
    pub fn shape(&self) -> &[usize] {
        match self {
            Self::Owned(tensor) => tensor.shape(),
            Self::Borrowed(view) => view.shape(),
        }
    }

    /// The elements.
    pub fn view(&self) -> TensorView<'_> {
        match self {
            Self::Owned(tensor) => tensor.view(),
            Self::Borrowed(view) => view.clone(),
        }
    }

    /// The result as a tensor of its own, in host memory; what is borrowed is copied, by the engine
    /// where that is in host memory too.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn into_tensor(self, engine: &mut dyn Engine) -> Result<Tensor> {
        match self {
            Self::Owned(tensor) => Ok(tensor),
            Self::Borrowed(view) => {
                let is_host = engine.target().allocation_domain.is_none();
                copied(is_host.then_some(engine), &view)
            }
        }
    }
}

/// A compact copy in the engine's memory, without one in the host's.
pub(super) fn copied(engine: Option<&mut dyn Engine>, view: &TensorView<'_>) -> Result<Tensor> {
    let Some(engine) = engine else { return Ok(view.to_tensor()?) };
    let mut tensor = engine.allocate(view.dtype(), view.shape())?;
    engine.copy(view, &mut tensor)?;
    Ok(tensor)
}
