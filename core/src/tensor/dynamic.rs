//! The tensor whose dtype and rank are known at run time.

use super::storage::Storage;
use super::view::{TensorView, check_reach, wrong_dtype};
use super::view_methods::dynamic_view_methods;
use super::{Layout, Slice, TypedTensor};
use crate::dtype::{DType, Elements, Scalar};
use crate::error::{Error, Result};

/// An owned tensor of any dtype and rank.
///
/// Clones and views share the elements, which are reference-counted; writing to shared elements copies them first.
///
/// ```
/// use tenferro_core::{Tensor, s};
/// let a = Tensor::from_vec_col_major([2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// assert_eq!(a.to_string(), "[[1. 3. 5.]\n [2. 4. 6.]]");
///
/// let mut corner = a.slice(&s![.., ..2])?;
/// corner.as_mut_slice::<f64>()?[0] = 9.0;
/// assert_eq!(corner.to_vec_col_major::<f64>()?, [9.0, 2.0, 3.0, 4.0]);
/// assert_eq!(a.get::<f64>(&[0, 0])?, 1.0);
/// # Ok::<(), tenferro_core::Error>(())
/// ```
#[derive(Clone)]
pub struct Tensor {
    pub(super) layout: Layout,
    pub(super) storage: Storage,
}

impl Tensor {
    dynamic_view_methods!();

    /// The same elements, borrowed.
    #[inline]
    pub fn view(&self) -> TensorView<'_> {
        TensorView::trusted(&self.layout, self.elements())
    }

    /// The elements, which must be contiguous, in column-major order.
    ///
    /// # Errors
    /// `T` is not the type of the elements, or they are [not contiguous](Layout::is_contiguous).
    pub fn as_slice<T: Scalar>(&self) -> Result<&[T]> {
        let buffer = self.storage.slice::<T>().ok_or_else(|| wrong_dtype::<T>("as_slice", self.dtype()))?;
        contiguous("as_slice", buffer, &self.layout, "make it so with `to_contiguous`")
    }

    /// The elements in column-major order, to be written.
    ///
    /// They are copied first if they are shared or not contiguous.
    ///
    /// # Errors
    /// `T` is not the type of the elements, or there is no memory for the copy.
    pub fn as_mut_slice<T: Scalar>(&mut self) -> Result<&mut [T]> {
        let op = "as_mut_slice";
        if T::DTYPE != self.dtype() {
            return Err(wrong_dtype::<T>(op, self.dtype()));
        }
        let range = match self.layout.contiguous_range() {
            Some(range) if self.storage.is_unique() => range,
            _ => {
                *self = self.view().to_tensor()?;
                0..self.len()
            }
        };
        match self.storage.slice_mut() {
            Some(buffer) => Ok(&mut buffer[range]),
            // The dtype is right, and the storage has just been found or made unique.
            None => Err(wrong_dtype::<T>(op, T::DTYPE)),
        }
    }

    /// The elements in column-major order, copied.
    ///
    /// # Errors
    /// `T` is not the type of the elements.
    pub fn to_vec_col_major<T: Scalar>(&self) -> Result<Vec<T>> {
        self.view().to_vec_col_major()
    }

    /// The elements with the last axis varying fastest, copied.
    ///
    /// # Errors
    /// `T` is not the type of the elements.
    pub fn to_vec_row_major<T: Scalar>(&self) -> Result<Vec<T>> {
        self.view().to_vec_row_major()
    }

    /// A tensor of the same elements that is contiguous: `self` if it is, else a copy.
    ///
    /// # Errors
    /// There is no memory for the copy.
    pub fn to_contiguous(&self) -> Result<Tensor> {
        if self.layout.is_contiguous() { Ok(self.clone()) } else { self.view().to_tensor() }
    }

    /// The elements, in column-major order, as another shape. They are copied only if no layout can say that.
    ///
    /// # Errors
    /// The numbers of elements differ, or there is no memory for a copy.
    pub fn reshape(&self, shape: &[usize]) -> Result<Tensor> {
        match self.layout.reshape(shape)? {
            Some(layout) => Ok(self.relaid(layout)),
            None => {
                let mut compact = self.view().to_tensor()?;
                compact.layout = Layout::col_major_for("reshape", shape)?;
                Ok(compact)
            }
        }
    }

    /// The element at an index.
    ///
    /// # Errors
    /// `T` is not the type of the elements, or the index is outside the shape.
    pub fn get<T: Scalar>(&self, index: &[usize]) -> Result<T> {
        self.view().get(index)
    }

    /// The only element.
    ///
    /// # Errors
    /// `T` is not the type of the elements, or there is not exactly one.
    pub fn item<T: Scalar>(&self) -> Result<T> {
        self.view().item()
    }

    /// The tensor with dtype and rank in its type.
    ///
    /// ```
    /// use tenferro_core::Tensor;
    /// let a = Tensor::full([2, 2], 1.0)?.try_into_typed::<f64, 2>()?;
    /// assert_eq!(a[[1, 1]], 1.0);
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// The dtype is not that of `T`, or the rank is not `R`.
    pub fn try_into_typed<T: Scalar, const R: usize>(self) -> Result<TypedTensor<T, R>> {
        self.view().check_typed::<T, R>()?;
        Ok(TypedTensor::trusted(self))
    }

    #[inline]
    pub(super) fn elements(&self) -> Elements<'_> {
        self.storage.elements()
    }

    pub(super) fn buffer_len(&self) -> usize {
        self.storage.len()
    }

    /// Another layout over the same elements, known to fit.
    fn relaid(&self, layout: Layout) -> Tensor {
        Tensor { layout, storage: self.storage.clone() }
    }
}

/// The elements of a contiguous layout; `advice` says how to have them where it is not.
pub(super) fn contiguous<'a, T>(
    op: &'static str,
    buffer: &'a [T],
    layout: &Layout,
    advice: &'static str,
) -> Result<&'a [T]> {
    match layout.contiguous_range() {
        Some(range) => Ok(&buffer[range]),
        None => {
            let (shape, strides) = (layout.shape().into(), layout.strides().into());
            Err(Error::NotContiguous { op: op.into(), shape, strides, advice })
        }
    }
}
