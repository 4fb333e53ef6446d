//! The borrowed tensor whose dtype and rank are known at run time.

use std::ops::Deref;
use std::sync::Arc;

use super::dynamic::contiguous;
use super::view_methods::dynamic_view_methods;
use super::{Layout, Slice, Tensor, TypedView};
use crate::dtype::{DType, Elements, Scalar};
use crate::error::{Error, Result};
use crate::with_dtype;

/// Borrowed elements of any dtype, laid out as any layout says.
///
/// ```
/// use tenferro_core::TensorView;
/// let numbers = [1.0, 2.0, 3.0, 4.0];
/// let view = TensorView::from_slice_col_major([2, 2], &numbers)?.transpose(&[1, 0])?;
/// assert_eq!(view.to_vec_col_major::<f64>()?, [1.0, 3.0, 2.0, 4.0]);
/// # Ok::<(), tenferro_core::Error>(())
/// ```
#[derive(Clone)]
pub struct TensorView<'a> {
    pub(super) layout: ViewLayout<'a>,
    pub(super) elements: Elements<'a>,
}

/// A layout kept elsewhere, or by the view. Either way a view is small: programs make several a command.
#[derive(Clone)]
pub(super) enum ViewLayout<'a> {
    Borrowed(&'a Layout),
    Kept(Arc<Layout>),
}

impl Deref for ViewLayout<'_> {
    type Target = Layout;

    #[inline]
    fn deref(&self) -> &Layout {
        match self {
            ViewLayout::Borrowed(layout) => layout,
            ViewLayout::Kept(layout) => layout,
        }
    }
}

impl<'a> TensorView<'a> {
    dynamic_view_methods!();

    /// A view of a slice that holds the elements in column-major order.
    ///
    /// # Errors
    /// The length of the slice is not the number of elements of the shape.
    pub fn from_slice_col_major<T: Scalar>(shape: impl AsRef<[usize]>, values: &'a [T]) -> Result<TensorView<'a>> {
        let op = "from_slice_col_major";
        let layout = Layout::col_major_for(op, shape.as_ref())?;
        check_len(op, &layout, values.len())?;
        Ok(TensorView::kept(layout, T::erase(values)))
    }

    /// A view of one value, of rank 0.
    ///
    /// ```
    /// use tenferro_core::TensorView;
    /// assert_eq!(TensorView::scalar(&2.5).item::<f64>()?, 2.5);
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    pub fn scalar<T: Scalar>(value: &'a T) -> TensorView<'a> {
        TensorView::trusted(Layout::scalar(), T::erase(std::slice::from_ref(value)))
    }

    /// A view of a slice that holds the elements with the last axis varying fastest.
    ///
    /// # Errors
    /// The length of the slice is not the number of elements of the shape.
    pub fn from_slice_row_major<T: Scalar>(shape: impl AsRef<[usize]>, values: &'a [T]) -> Result<TensorView<'a>> {
        let op = "from_slice_row_major";
        let layout = Layout::row_major_for(op, shape.as_ref())?;
        check_len(op, &layout, values.len())?;
        Ok(TensorView::kept(layout, T::erase(values)))
    }

    /// A view of a slice through any layout.
    ///
    /// # Errors
    /// The layout reaches beyond the slice.
    pub fn from_slice_with_layout<T: Scalar>(layout: Layout, values: &'a [T]) -> Result<TensorView<'a>> {
        check_reach("from_slice_with_layout", &layout, values.len())?;
        Ok(TensorView::kept(layout, T::erase(values)))
    }

    /// The same elements through a layout that is kept elsewhere, which makes the view cheap.
    ///
    /// # Errors
    /// The layout reaches beyond the elements there are.
    pub fn through<'v>(&self, layout: &'v Layout) -> Result<TensorView<'v>>
    where
        'a: 'v,
    {
        check_reach("through", layout, self.buffer_len())?;
        Ok(TensorView::trusted(layout, self.elements))
    }

    /// The same view, its layout borrowed from this one.
    #[inline]
    pub fn reborrow(&self) -> TensorView<'_> {
        TensorView::trusted(&self.layout, self.elements)
    }

    /// The whole underlying buffer with its dtype.
    #[inline]
    pub fn elements(&self) -> Elements<'a> {
        self.elements
    }

    /// The whole underlying buffer, to be read at the positions the [layout](Self::layout) names.
    ///
    /// # Errors
    /// `T` is not the type of the elements.
    pub fn buffer<T: Scalar>(&self) -> Result<&'a [T]> {
        self.buffer_for("buffer")
    }

    /// The elements, which must be contiguous, in column-major order.
    ///
    /// # Errors
    /// `T` is not the type of the elements, or they are [not contiguous](Layout::is_contiguous).
    pub fn as_slice<T: Scalar>(&self) -> Result<&'a [T]> {
        contiguous("as_slice", self.buffer_for("as_slice")?, &self.layout, "copy it with `to_tensor`")
    }

    /// The element at an index.
    ///
    /// # Errors
    /// `T` is not the type of the elements, or the index is outside the shape.
    pub fn get<T: Scalar>(&self, index: &[usize]) -> Result<T> {
        Ok(self.buffer_for("get")?[self.layout.index(index)?])
    }

    /// The only element.
    ///
    /// # Errors
    /// `T` is not the type of the elements, or there is not exactly one.
    pub fn item<T: Scalar>(&self) -> Result<T> {
        let buffer = self.buffer_for("item")?;
        if self.len() != 1 {
            return Err(Error::Shape {
                op: "item".into(),
                argument: "tensor".into(),
                expected: "exactly one element".into(),
                actual: format!("{:?}", self.shape()),
            });
        }
        Ok(buffer[self.layout.offset()])
    }

    /// The elements in column-major order, copied.
    ///
    /// # Errors
    /// `T` is not the type of the elements.
    pub fn to_vec_col_major<T: Scalar>(&self) -> Result<Vec<T>> {
        Ok(gather(self.buffer_for("to_vec_col_major")?, &self.layout))
    }

    /// The elements with the last axis varying fastest, copied.
    ///
    /// # Errors
    /// `T` is not the type of the elements.
    pub fn to_vec_row_major<T: Scalar>(&self) -> Result<Vec<T>> {
        let buffer = self.buffer_for("to_vec_row_major")?;
        Ok(gather(buffer, &self.layout.t()))
    }

    /// A contiguous copy that owns its elements.
    ///
    /// # Errors
    /// There is no memory for the copy.
    pub fn to_tensor(&self) -> Result<Tensor> {
        with_dtype!(self.dtype(), T => {
            Tensor::gathered(self.buffer::<T>()?, &self.layout)
        })
    }

    /// The elements, in column-major order, as another shape; `None` if that needs a copy.
    ///
    /// # Errors
    /// The numbers of elements differ.
    pub fn reshape(&self, shape: &[usize]) -> Result<Option<TensorView<'a>>> {
        Ok(self.layout.reshape(shape)?.map(|layout| self.relaid(layout)))
    }

    /// The view with dtype and rank in its type.
    ///
    /// # Errors
    /// The dtype is not that of `T`, or the rank is not `R`.
    pub fn try_into_typed<T: Scalar, const R: usize>(self) -> Result<TypedView<'a, T, R>> {
        self.check_typed::<T, R>()?;
        Ok(TypedView::trusted(self))
    }

    /// A layout that is known to fit the elements.
    #[inline]
    pub(super) fn trusted(layout: &'a Layout, elements: Elements<'a>) -> TensorView<'a> {
        TensorView { layout: ViewLayout::Borrowed(layout), elements }
    }

    /// The same for a layout that is kept nowhere else.
    fn kept(layout: Layout, elements: Elements<'a>) -> TensorView<'a> {
        TensorView { layout: ViewLayout::Kept(Arc::new(layout)), elements }
    }

    pub(super) fn check_typed<T: Scalar, const R: usize>(&self) -> Result<()> {
        let op = "try_into_typed";
        if self.dtype() != T::DTYPE {
            return Err(wrong_dtype::<T>(op, self.dtype()));
        }
        if self.rank() != R {
            return Err(Error::Rank { op: op.into(), argument: "tensor".into(), expected: R, actual: self.rank() });
        }
        Ok(())
    }

    pub(super) fn buffer_for<T: Scalar>(&self, op: &'static str) -> Result<&'a [T]> {
        T::recover(self.elements).ok_or_else(|| wrong_dtype::<T>(op, self.dtype()))
    }

    fn buffer_len(&self) -> usize {
        self.elements.len()
    }

    fn relaid(&self, layout: Layout) -> TensorView<'a> {
        TensorView::kept(layout, self.elements)
    }
}

/// The elements of a buffer in the column-major order of a layout over it.
pub(super) fn gather<T: Scalar>(buffer: &[T], layout: &Layout) -> Vec<T> {
    if let Some(range) = layout.contiguous_range() {
        return buffer[range].to_vec();
    }
    let mut gathered = vec![T::ZERO; layout.len()];
    gather_into(buffer, layout, &mut gathered);
    gathered
}

/// Fills `destination` with the elements of a buffer in the column-major order of a layout over it that is not empty.
pub(super) fn gather_into<T: Scalar>(buffer: &[T], layout: &Layout, destination: &mut [T]) {
    let runs = layout.runs();
    for (start, run) in runs.starts.zip(destination.chunks_exact_mut(runs.len)) {
        if runs.stride == 1 {
            run.copy_from_slice(&buffer[start..][..runs.len]);
        } else {
            let mut position = start;
            for slot in run {
                *slot = buffer[position];
                position = position.wrapping_add_signed(runs.stride);
            }
        }
    }
}

pub(super) fn wrong_dtype<T: Scalar>(op: &'static str, actual: DType) -> Error {
    Error::DType { op: op.into(), argument: "tensor".into(), expected: T::DTYPE.name().into(), actual }
}

/// Refuses a number of elements that is not the layout's.
pub(super) fn check_len(op: &'static str, layout: &Layout, actual: usize) -> Result<()> {
    if layout.len() == actual {
        return Ok(());
    }
    Err(Error::Length {
        op: op.into(),
        argument: "values".into(),
        shape: layout.shape().into(),
        expected: layout.len(),
        actual,
    })
}

/// Refuses a layout that reaches beyond the elements there are.
pub(super) fn check_reach(op: &'static str, layout: &Layout, available: usize) -> Result<()> {
    let needed = layout.required_len();
    if needed <= available {
        return Ok(());
    }
    Err(Error::Argument {
        op: op.into(),
        argument: "layout".into(),
        message: format!(
            "of shape {:?} with strides {:?} and offset {} needs {needed} elements, there are {available}",
            layout.shape(),
            layout.strides(),
            layout.offset()
        ),
    })
}
