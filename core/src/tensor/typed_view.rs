//! The borrowed tensor with dtype and rank in its type.

use std::marker::PhantomData;
use std::ops::Index;

use super::layout::check_rank;
use super::typed::outside;
use super::view::gather;
use super::view_methods::typed_view_methods;
use super::{Layout, Slice, TensorView, TypedTensor};
use crate::dtype::Scalar;
use crate::error::{Error, Result};

/// Borrowed elements of `T` with `R` axes, laid out as any layout says.
///
/// ```
/// use tenferro_core::{TypedView, s};
/// let numbers = [1, 2, 3, 4, 5, 6];
/// let view = TypedView::from_slice_col_major([2, 3], &numbers)?;
/// assert_eq!(view.slice::<2>(&s![.., 1..])?[[1, 0]], 4);
/// # Ok::<(), tenferro_core::Error>(())
/// ```
#[derive(Clone)]
pub struct TypedView<'a, T, const R: usize> {
    /// Of dtype `T` and rank `R`.
    pub(super) inner: TensorView<'a>,
    element: PhantomData<T>,
}

impl<'a, T: Scalar, const R: usize> TypedView<'a, T, R> {
    typed_view_methods!(TypedView<'a>);

    /// A view of a slice that holds the elements in column-major order.
    ///
    /// # Errors
    /// The length of the slice is not the number of elements of the shape.
    pub fn from_slice_col_major(shape: [usize; R], values: &'a [T]) -> Result<Self> {
        Ok(Self::trusted(TensorView::from_slice_col_major(shape, values)?))
    }

    /// A view of a slice that holds the elements with the last axis varying fastest.
    ///
    /// # Errors
    /// The length of the slice is not the number of elements of the shape.
    pub fn from_slice_row_major(shape: [usize; R], values: &'a [T]) -> Result<Self> {
        Ok(Self::trusted(TensorView::from_slice_row_major(shape, values)?))
    }

    /// A view of a slice through any layout.
    ///
    /// # Errors
    /// The layout reaches beyond the slice, or its rank is not `R`.
    pub fn from_slice_with_layout(layout: Layout, values: &'a [T]) -> Result<Self> {
        TensorView::from_slice_with_layout(layout, values)?.try_into_typed()
    }

    /// The whole underlying buffer, to be read at the positions the [layout](Self::layout) names.
    pub fn buffer(&self) -> &'a [T] {
        // The dtype is that of `T`, so the slice is there.
        T::recover(self.inner.elements).unwrap_or_default()
    }

    /// The elements, which must be contiguous, in column-major order.
    ///
    /// # Errors
    /// They are [not contiguous](Layout::is_contiguous).
    pub fn as_slice(&self) -> Result<&'a [T]> {
        self.inner.as_slice()
    }

    /// A contiguous copy that owns its elements.
    ///
    /// # Errors
    /// There is no memory for the copy.
    pub fn to_tensor(&self) -> Result<TypedTensor<T, R>> {
        Ok(TypedTensor::trusted(self.inner.to_tensor()?))
    }

    /// The elements, in column-major order, as another shape; `None` if that needs a copy.
    ///
    /// # Errors
    /// The numbers of elements differ.
    pub fn reshape<const N: usize>(&self, shape: [usize; N]) -> Result<Option<TypedView<'a, T, N>>> {
        Ok(self.inner.reshape(&shape)?.map(TypedView::trusted))
    }

    /// The view without its types, borrowed.
    pub fn as_dyn(&self) -> &TensorView<'a> {
        &self.inner
    }

    /// The view without its types.
    pub fn into_dyn(self) -> TensorView<'a> {
        self.inner
    }

    /// A view that is known to have dtype `T` and rank `R`.
    pub(super) fn trusted(inner: TensorView<'a>) -> Self {
        TypedView { inner, element: PhantomData }
    }

    /// A view of dtype `T`, if it has rank `R`.
    fn ranked(op: &'static str, inner: TensorView<'a>) -> Result<Self> {
        check_rank(op, "result", R, inner.rank())?;
        Ok(Self::trusted(inner))
    }

    fn element(&self, index: [usize; R]) -> Option<&'a T> {
        let position = self.layout().position(&index)?;
        self.buffer().get(position)
    }
}

impl<T: Scalar, const R: usize> Index<[usize; R]> for TypedView<'_, T, R> {
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

impl<'a, T: Scalar, const R: usize> From<&'a TypedTensor<T, R>> for TypedView<'a, T, R> {
    fn from(tensor: &'a TypedTensor<T, R>) -> Self {
        tensor.view()
    }
}

impl<'a, T: Scalar, const R: usize> TryFrom<TensorView<'a>> for TypedView<'a, T, R> {
    type Error = Error;

    fn try_from(view: TensorView<'a>) -> Result<Self> {
        view.try_into_typed()
    }
}
