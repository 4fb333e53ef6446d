//! Where `run_into` writes.

use smallvec::SmallVec;

use crate::Result;
use crate::dtype::Scalar;
use crate::tensor::{Tensor, TypedTensor};

/// A value that a result is written over: a tensor, whose memory is used again, or a scalar's [`Place`].
pub trait Destination {
    /// The tensor to write to, taken out of the value.
    ///
    /// # Errors
    /// None for the implementations here.
    fn take(&mut self) -> Result<Tensor>;
    /// Puts the written tensor into the value.
    ///
    /// # Errors
    /// Where it is of another dtype or rank.
    fn put(&mut self, tensor: Tensor) -> Result<()>;
}

impl<T: Scalar, const R: usize> Destination for TypedTensor<T, R> {
    fn take(&mut self) -> Result<Tensor> {
        let empty = TypedTensor::from_vec_col_major([0; R], Vec::new())?;
        Ok(std::mem::replace(self, empty).into_dyn())
    }

    fn put(&mut self, tensor: Tensor) -> Result<()> {
        *self = tensor.try_into_typed()?;
        Ok(())
    }
}

/// The place of a scalar.
#[derive(Debug)]
pub struct Place<'a, T>(pub &'a mut T);

impl<T: Scalar> Destination for Place<'_, T> {
    fn take(&mut self) -> Result<Tensor> {
        Ok(Tensor::scalar(self.0.to_value()))
    }

    fn put(&mut self, tensor: Tensor) -> Result<()> {
        *self.0 = tensor.item()?;
        Ok(())
    }
}

/// Lets `run` write over the values.
pub(crate) fn write_into(
    destinations: &mut [&mut dyn Destination],
    run: impl FnOnce(&mut [&mut Tensor]) -> Result<()>,
) -> Result<()> {
    let mut tensors: SmallVec<[Tensor; 2]> =
        destinations.iter_mut().map(|destination| destination.take()).collect::<Result<_>>()?;
    let written = run(&mut tensors.iter_mut().collect::<SmallVec<[&mut Tensor; 2]>>());
    // Also after an error, so that the caller keeps the memory.
    destinations.iter_mut().zip(tensors).try_for_each(|(destination, tensor)| destination.put(tensor))?;
    written
}
