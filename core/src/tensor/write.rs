//! Writing single elements and slices of a tensor.

use super::view::wrong_dtype;
use super::{Slice, Tensor, TensorRead, TypedTensor, TypedView};
use crate::dtype::Scalar;
use crate::error::{Error, Result};
use crate::with_dtype;

impl Tensor {
    /// Writes the element at an index. The elements are copied first if they are shared or not contiguous.
    ///
    /// # Errors
    /// `T` is not the type of the elements, the index is outside the shape, or there is no memory for the copy.
    pub fn set<T: Scalar>(&mut self, index: &[usize], element: T) -> Result<()> {
        if T::DTYPE != self.dtype() {
            return Err(wrong_dtype::<T>("set", self.dtype()));
        }
        let position = self.layout().compacted().index(index).map_err(|error| error.of("set"))?;
        self.as_mut_slice()?[position] = element;
        Ok(())
    }

    /// Writes values over the part that [`s!`](crate::s) names, to whose shape they are
    /// [broadcast](Self::broadcast_to). The elements are copied first if they are shared or not contiguous.
    ///
    /// ```
    /// use tenferro_core::{Tensor, TypedTensor, s};
    /// let mut a = Tensor::from(TypedTensor::from([[1, 2, 3], [4, 5, 6]]));
    /// a.assign(&s![.., ..;-2], &TypedTensor::from([7, 8]))?;
    /// assert_eq!(a.to_string(), "[[8 2 7]\n [8 5 7]]");
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// The dtypes differ, the slices do not fit the tensor or the values the part, or there is no memory for the copy.
    pub fn assign<'a>(&mut self, slices: &[Slice], values: impl Into<TensorRead<'a>>) -> Result<()> {
        let op = "assign";
        let values = values.into();
        let values = values.view();
        if values.dtype() != self.dtype() {
            let expected = self.dtype().name().into();
            return Err(Error::DType { op: op.into(), argument: "values".into(), expected, actual: values.dtype() });
        }
        let shape = self.layout().slice(slices)?;
        let shape = shape.shape();
        let values = values.broadcast_to(shape).map_err(|_| {
            let expected = format!("extents of 1 or those of {shape:?}, aligned at the last axes");
            Error::shape(op, "values", expected, format!("{:?}", values.shape()))
        })?;
        with_dtype!(self.dtype(), T => {
            let elements = values.iter::<T>()?;
            let part = self.layout().compacted().slice(slices)?;
            let written = self.as_mut_slice::<T>()?;
            part.offsets().zip(elements).for_each(|(position, element)| written[position] = element);
        });
        Ok(())
    }
}

impl<T: Scalar, const R: usize> TypedTensor<T, R> {
    /// As [`Tensor::assign`].
    ///
    /// # Errors
    /// As [`Tensor::assign`].
    pub fn assign<'a, const N: usize>(
        &mut self,
        slices: &[Slice],
        values: impl Into<TypedView<'a, T, N>>,
    ) -> Result<()> {
        self.inner.assign(slices, values.into().into_dyn())
    }

    /// Writes one value over the part that [`s!`](crate::s) names. The elements are copied first if they are shared or
    /// not contiguous.
    ///
    /// ```
    /// use tenferro_core::{TypedTensor, s};
    /// let mut a = TypedTensor::from([[1, 2], [3, 4]]);
    /// a.fill(&s![0], 9)?;
    /// assert_eq!(a, TypedTensor::from([[9, 9], [3, 4]]));
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// The slices do not fit the tensor, or there is no memory for the copy.
    pub fn fill(&mut self, slices: &[Slice], value: T) -> Result<()> {
        self.assign(slices, &TypedTensor::scalar(value))
    }
}
