//! A tensor as an argument, owned by the caller or borrowed.

use super::{Layout, Tensor, TensorView, TypedTensor, TypedView};
use crate::dtype::{DType, Scalar};

/// A tensor to be read: a reference to an owned one, a view, or a tensor made for the purpose.
///
/// A tensor can be kept by sharing its elements; a view has to be copied for that.
#[derive(Clone)]
pub enum TensorRead<'a> {
    /// A reference to a tensor.
    Tensor(&'a Tensor),
    /// A view.
    View(TensorView<'a>),
    /// A copy of what could not be read where it lies.
    Owned(Tensor),
}

impl<'a> TensorRead<'a> {
    /// The dtype of the elements.
    pub fn dtype(&self) -> DType {
        match self {
            TensorRead::Tensor(tensor) => tensor.dtype(),
            TensorRead::View(view) => view.dtype(),
            TensorRead::Owned(tensor) => tensor.dtype(),
        }
    }

    /// The extents.
    pub fn shape(&self) -> &[usize] {
        match self {
            TensorRead::Tensor(tensor) => tensor.shape(),
            TensorRead::View(view) => view.shape(),
            TensorRead::Owned(tensor) => tensor.shape(),
        }
    }

    /// Where the elements lie in the underlying buffer.
    pub fn layout(&self) -> &Layout {
        match self {
            TensorRead::Tensor(tensor) => tensor.layout(),
            TensorRead::View(view) => view.layout(),
            TensorRead::Owned(tensor) => tensor.layout(),
        }
    }

    /// The elements for as long as the caller lends them; `None` for a tensor made for the purpose.
    pub fn lent(&self) -> Option<TensorView<'a>> {
        match self {
            TensorRead::Tensor(tensor) => Some(tensor.view()),
            TensorRead::View(view) => Some(view.clone()),
            TensorRead::Owned(_) => None,
        }
    }

    /// The elements.
    #[inline]
    pub fn view(&self) -> TensorView<'_> {
        match self {
            TensorRead::Tensor(tensor) => tensor.view(),
            TensorRead::View(view) => view.reborrow(),
            TensorRead::Owned(tensor) => tensor.view(),
        }
    }
}

impl<'a> From<&'a Tensor> for TensorRead<'a> {
    fn from(tensor: &'a Tensor) -> Self {
        TensorRead::Tensor(tensor)
    }
}

impl<'a> From<TensorView<'a>> for TensorRead<'a> {
    fn from(view: TensorView<'a>) -> Self {
        TensorRead::View(view)
    }
}

impl<'a, T: Scalar, const R: usize> From<&'a TypedTensor<T, R>> for TensorRead<'a> {
    fn from(tensor: &'a TypedTensor<T, R>) -> Self {
        TensorRead::Tensor(tensor.as_dyn())
    }
}

impl<'a, T: Scalar, const R: usize> From<TypedView<'a, T, R>> for TensorRead<'a> {
    fn from(view: TypedView<'a, T, R>) -> Self {
        TensorRead::View(view.into_dyn())
    }
}
