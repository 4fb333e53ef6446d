//! Where `run_into` writes.

use smallvec::SmallVec;

use crate::Result;
use crate::dtype::{DType, Scalar};
use crate::tensor::{Tensor, TypedTensor};

/// A value that a result is written over: a tensor, whose memory is used again, or a scalar's [`Place`].
pub trait Destination {
    /// The dtype of a scalar; none of a tensor.
    fn scalar(&self) -> Option<DType>;
    /// The tensor to write to; none for a scalar.
    fn tensor(&mut self) -> Option<&mut Tensor>;
    /// Takes a scalar from the tensor that was written for it.
    ///
    /// # Errors
    /// Where it is of another dtype, or no scalar.
    fn put(&mut self, written: &Tensor) -> Result<()>;
}

impl<T: Scalar, const R: usize> Destination for TypedTensor<T, R> {
    fn scalar(&self) -> Option<DType> {
        None
    }

    fn tensor(&mut self) -> Option<&mut Tensor> {
        // A run leaves dtype and shape as they are, or refuses the tensor.
        Some(self.as_dyn_mut())
    }

    fn put(&mut self, _: &Tensor) -> Result<()> {
        Ok(())
    }
}

/// The place of a scalar.
#[derive(Debug)]
pub struct Place<'a, T>(pub &'a mut T);

impl<T: Scalar> Destination for Place<'_, T> {
    fn scalar(&self) -> Option<DType> {
        Some(T::DTYPE)
    }

    fn tensor(&mut self) -> Option<&mut Tensor> {
        None
    }

    fn put(&mut self, written: &Tensor) -> Result<()> {
        *self.0 = written.item()?;
        Ok(())
    }
}

/// The tensors that results are written to: those of the destinations, and for scalars others, which `scalars` brings.
pub(crate) fn destination_tensors<'t>(
    destinations: &'t mut [&mut dyn Destination],
    scalars: &'t mut [Tensor],
) -> SmallVec<[&'t mut Tensor; 8]> {
    let mut scalars = scalars.iter_mut();
    destinations.iter_mut().filter_map(|destination| destination.tensor().or_else(|| scalars.next())).collect()
}
