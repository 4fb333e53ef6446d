//! Arrays of the crate `ndarray` as arguments of kernels.

use ndarray::{ArrayBase, ArrayView, Data, Dim, Dimension};

use super::Operand;
use super::operand::sealed::Sealed;
use crate::dtype::Scalar;
use crate::tensor::{Tensor, TensorRead, TensorView};

impl<T: Scalar, S: Data<Elem = T>, const R: usize> Operand<T, R> for &ArrayBase<S, Dim<[usize; R]>>
where
    Dim<[usize; R]>: Dimension,
{
    fn read(&self) -> TensorRead<'_> {
        read(self.view())
    }
}

impl<T: Scalar, const R: usize> Operand<T, R> for ArrayView<'_, T, Dim<[usize; R]>>
where
    Dim<[usize; R]>: Dimension,
{
    fn read(&self) -> TensorRead<'_> {
        read(self.view())
    }
}

impl<T: Scalar, S: Data<Elem = T>, const R: usize> Sealed for &ArrayBase<S, Dim<[usize; R]>> {}
impl<T: Scalar, const R: usize> Sealed for ArrayView<'_, T, Dim<[usize; R]>> {}

/// An array as the runtime reads it: where it lies if its elements fill a range of memory in whatever order, else a
/// copy.
fn read<T: Scalar, D: Dimension>(array: ArrayView<'_, T, D>) -> TensorRead<'_> {
    match TensorView::from_ndarray(array.clone()) {
        Ok(view) => TensorRead::View(view),
        // Like `Vec`, this does not report exhausted memory, which is all that can go wrong.
        Err(_) => TensorRead::Owned(Tensor::from_ndarray(&array).unwrap_or_else(|error| panic!("{error}"))),
    }
}
