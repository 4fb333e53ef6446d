//! The tensor with dtype and rank in its type.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use super::construct::or_out_of_memory;
use super::layout::check_rank;
use super::view::gather;
use super::view_methods::typed_view_methods;
use super::{Layout, Slice, Tensor, TypedView};
use crate::dtype::Scalar;
use crate::error::{Error, Result};

/// An owned tensor of `T` with `R` axes, in host memory.
///
/// Clones and views share the elements, which are reference-counted; writing to shared elements copies them first.
///
/// ```
/// use tenferro_core::TypedTensor;
/// let mut a = TypedTensor::from_rows([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
/// assert_eq!(a.shape(), [2, 3]);
/// assert_eq!(a.as_slice()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
///
/// let columns = a.transpose([1, 0])?;
/// a[[1, 2]] = 0.0;
/// assert_eq!((a[[1, 2]], columns[[2, 1]]), (0.0, 6.0));
/// # Ok::<(), tenferro_core::Error>(())
/// ```
#[derive(Clone)]
pub struct TypedTensor<T, const R: usize> {
    /// Of dtype `T` and rank `R`.
    pub(super) inner: Tensor,
    element: PhantomData<T>,
}

impl<T: Scalar, const R: usize> TypedTensor<T, R> {
    typed_view_methods!(TypedTensor);

    /// A tensor of the values, the first axis varying fastest.
    ///
    /// # Errors
    /// The number of values is not that of the shape.
    pub fn from_vec_col_major(shape: [usize; R], values: Vec<T>) -> Result<Self> {
        Ok(Self::trusted(Tensor::from_vec_col_major(shape, values)?))
    }

    /// A tensor of the values, the last axis varying fastest. They are stored in column-major order.
    ///
    /// # Errors
    /// The number of values is not that of the shape.
    pub fn from_vec_row_major(shape: [usize; R], values: Vec<T>) -> Result<Self> {
        Ok(Self::trusted(Tensor::from_vec_row_major(shape, values)?))
    }

    /// A tensor whose element at `index` is `element(index)`, called in column-major order.
    ///
    /// ```
    /// use tenferro_core::TypedTensor;
    /// let a = TypedTensor::from_fn([2, 3], |[i, j]| (10 * i + j) as i64)?;
    /// assert_eq!(a.to_string(), "[[ 0  1  2]\n [10 11 12]]");
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// The shape is larger than memory.
    pub fn from_fn(shape: [usize; R], mut element: impl FnMut([usize; R]) -> T) -> Result<Self> {
        let tensor = Tensor::from_fn(shape, |index| element(std::array::from_fn(|axis| index[axis])))?;
        Ok(Self::trusted(tensor))
    }

    /// A tensor of one value throughout.
    ///
    /// # Errors
    /// The shape is larger than memory.
    pub fn full(shape: [usize; R], value: T) -> Result<Self> {
        Ok(Self::trusted(Tensor::full(shape, value)?))
    }

    /// A tensor of 0 (`false`) throughout.
    ///
    /// # Errors
    /// The shape is larger than memory.
    pub fn zeros(shape: [usize; R]) -> Result<Self> {
        Ok(Self::trusted(Tensor::zeros(T::DTYPE, shape)?))
    }

    /// A tensor of 1 (`true`) throughout.
    ///
    /// # Errors
    /// The shape is larger than memory.
    pub fn ones(shape: [usize; R]) -> Result<Self> {
        Self::full(shape, T::ONE)
    }

    /// The elements, which must be contiguous, in column-major order.
    ///
    /// # Errors
    /// They are [not contiguous](Layout::is_contiguous).
    pub fn as_slice(&self) -> Result<&[T]> {
        self.inner.as_slice()
    }

    /// The elements in column-major order, to be written. They are copied first if they are shared or not contiguous.
    ///
    /// # Errors
    /// There is no memory for the copy.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        self.inner.as_mut_slice()
    }

    /// A tensor of the same elements that is contiguous: `self` if it is, else a copy.
    ///
    /// # Errors
    /// There is no memory for the copy.
    pub fn to_contiguous(&self) -> Result<Self> {
        Ok(Self::trusted(self.inner.to_contiguous()?))
    }

    /// The elements, in column-major order, as another shape. They are copied only if no layout can say that.
    ///
    /// # Errors
    /// The numbers of elements differ, or there is no memory for a copy.
    pub fn reshape<const N: usize>(&self, shape: [usize; N]) -> Result<TypedTensor<T, N>> {
        Ok(TypedTensor::trusted(self.inner.reshape(&shape)?))
    }

    /// A tensor of `f` of every element, called in column-major order.
    ///
    /// # Panics
    /// There is no memory for the result.
    pub fn map<U: Scalar>(&self, f: impl FnMut(T) -> U) -> TypedTensor<U, R> {
        let mapped = self.to_vec_col_major().into_iter().map(f).collect();
        or_out_of_memory(TypedTensor::from_vec_col_major(self.shape(), mapped))
    }

    /// The same elements, borrowed.
    pub fn view(&self) -> TypedView<'_, T, R> {
        TypedView::trusted(self.inner.view())
    }

    /// The tensor without its types, borrowed.
    pub fn as_dyn(&self) -> &Tensor {
        &self.inner
    }

    /// The tensor without its types, to be written. Whoever asks for it leaves dtype and rank as they are; where they
    /// are not, the tensor has no elements to be read by its types.
    #[doc(hidden)]
    pub fn as_dyn_mut(&mut self) -> &mut Tensor {
        &mut self.inner
    }

    /// The tensor without its types.
    pub fn into_dyn(self) -> Tensor {
        self.inner
    }

    /// A tensor that is known to have dtype `T` and rank `R`.
    pub(super) fn trusted(inner: Tensor) -> Self {
        TypedTensor { inner, element: PhantomData }
    }

    /// A tensor of dtype `T`, if it has rank `R`.
    pub(super) fn ranked(op: &'static str, inner: Tensor) -> Result<Self> {
        check_rank(op, "result", R, inner.rank())?;
        Ok(Self::trusted(inner))
    }

    pub(super) fn buffer(&self) -> &[T] {
        // The dtype is that of `T`, so the slice is there.
        self.inner.storage.slice().unwrap_or_default()
    }

    fn element(&self, index: [usize; R]) -> Option<&T> {
        let position = self.layout().position(&index)?;
        self.buffer().get(position)
    }
}

impl<T: Scalar> TypedTensor<T, 0> {
    /// A tensor of rank 0.
    pub fn scalar(value: T) -> Self {
        TypedTensor::trusted(Tensor::scalar(value))
    }

    /// The element.
    ///
    /// ```
    /// use tenferro_core::TypedTensor;
    /// assert_eq!(TypedTensor::scalar(7).item(), 7);
    /// ```
    pub fn item(&self) -> T {
        self[[]]
    }
}

impl<T: Scalar> TypedTensor<T, 1> {
    /// A vector of the values.
    pub fn from_vec(values: Vec<T>) -> Self {
        or_out_of_memory(TypedTensor::from_vec_col_major([values.len()], values))
    }
}

impl<T: Scalar> TypedTensor<T, 2> {
    /// The matrix with those rows.
    ///
    /// ```
    /// use tenferro_core::TypedTensor;
    /// let a = TypedTensor::from_rows([[1, 2], [3, 4]]);
    /// assert_eq!(a[[0, 1]], 2);
    /// ```
    pub fn from_rows<const ROWS: usize, const COLUMNS: usize>(rows: [[T; COLUMNS]; ROWS]) -> Self {
        Self::from(rows)
    }

    /// The identity matrix of `n` rows.
    ///
    /// # Errors
    /// The matrix is larger than memory.
    pub fn eye(n: usize) -> Result<Self> {
        let mut identity = TypedTensor::zeros([n, n])?;
        let diagonal = identity.as_mut_slice()?.iter_mut().step_by(n + 1);
        diagonal.for_each(|element| *element = T::ONE);
        Ok(identity)
    }
}

impl<T: Scalar, const R: usize> Index<[usize; R]> for TypedTensor<T, R> {
    type Output = T;

    /// # Panics
    /// The index is outside the shape.
    #[track_caller]
    fn index(&self, index: [usize; R]) -> &T {
        match self.element(index) {
            Some(element) => element,
            None => outside(index, self.shape()),
        }
    }
}

impl<T: Scalar, const R: usize> IndexMut<[usize; R]> for TypedTensor<T, R> {
    /// Copies the elements first if they are shared or not contiguous.
    ///
    /// # Panics
    /// The index is outside the shape, or there is no memory for the copy.
    #[track_caller]
    fn index_mut(&mut self, index: [usize; R]) -> &mut T {
        let shape = self.shape();
        let elements = or_out_of_memory(self.as_mut_slice());
        let inside = index.iter().zip(shape).all(|(&i, extent)| i < extent);
        if !inside {
            outside(index, shape);
        }
        let axes = index.into_iter().zip(shape).rev();
        &mut elements[axes.fold(0, |position, (i, extent)| position * extent + i)]
    }
}

#[track_caller]
pub(super) fn outside<const R: usize>(index: [usize; R], shape: [usize; R]) -> ! {
    panic!("index {index:?} is outside shape {shape:?}")
}

impl<T: Scalar, const R: usize> TryFrom<Tensor> for TypedTensor<T, R> {
    type Error = Error;

    fn try_from(tensor: Tensor) -> Result<Self> {
        tensor.try_into_typed()
    }
}

impl<T: Scalar, const R: usize> From<TypedTensor<T, R>> for Tensor {
    fn from(tensor: TypedTensor<T, R>) -> Self {
        tensor.into_dyn()
    }
}
