//! What may be passed for an argument of a kernel.

use crate::Result;
use crate::dtype::Scalar;
use crate::tensor::{TensorRead, TensorView, TypedTensor, TypedView};

/// A value that reads as a tensor of `T` with `R` axes: `&TypedTensor<T, R>`, `TypedView<T, R>` or a
/// reference to one; with the feature `ndarray` also array views of that crate, or references to arrays and views. Any
/// strides will do.
///
/// Arguments of rank 0 are no operands: they are passed as Rust scalars.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tensor of `{T}` with {R} axes",
    label = "expected a `&TypedTensor<{T}, {R}>` or a view of one",
    note = "the element type and the number of axes are those of the kernel's signature"
)]
pub trait Operand<T: Scalar, const R: usize>: sealed::Sealed {
    /// The value as the runtime reads it.
    fn read(&self) -> TensorRead<'_>;
}

impl<T: Scalar, const R: usize> Operand<T, R> for &TypedTensor<T, R> {
    fn read(&self) -> TensorRead<'_> {
        TensorRead::Tensor(self.as_dyn())
    }
}

impl<T: Scalar, const R: usize> Operand<T, R> for TypedView<'_, T, R> {
    fn read(&self) -> TensorRead<'_> {
        TensorRead::View(self.as_dyn().reborrow())
    }
}

impl<T: Scalar, const R: usize> Operand<T, R> for &TypedView<'_, T, R> {
    fn read(&self) -> TensorRead<'_> {
        TensorRead::View(self.as_dyn().reborrow())
    }
}

pub(super) mod sealed {
    use super::{Scalar, TypedTensor, TypedView};

    pub trait Sealed {}
    impl<T: Scalar, const R: usize> Sealed for &TypedTensor<T, R> {}
    impl<T: Scalar, const R: usize> Sealed for TypedView<'_, T, R> {}
    impl<T: Scalar, const R: usize> Sealed for &TypedView<'_, T, R> {}
}

/// A Rust scalar as the runtime reads it.
#[doc(hidden)]
pub fn scalar<T: Scalar>(value: &T) -> Result<TensorRead<'_>> {
    Ok(TensorRead::View(TensorView::scalar(value)))
}
