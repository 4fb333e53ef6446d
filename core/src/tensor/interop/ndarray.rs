//! Arrays of the crate `ndarray`.
//!
//! Its views are read where they lie if their elements fill a range of memory, in whatever order. In the gaps of
//! other views somebody else may be writing (`multi_slice_mut` lends such views), so those are copied: a view of a
//! part is had by viewing the whole array and slicing that.

use ::ndarray::{Array, ArrayBase, ArrayD, ArrayView, ArrayViewD, Axis, Data, Dim, Dimension, IxDyn, ShapeBuilder};

use crate::dtype::Scalar;
use crate::error::{Error, Result};
use crate::tensor::{Layout, Strides, Tensor, TensorView, TypedTensor, TypedView};

impl<'a> TensorView<'a> {
    /// The elements of an array view, in the same memory.
    ///
    /// # Errors
    /// There are gaps between the elements; [`Tensor::from_ndarray`] copies them.
    pub fn from_ndarray<T: Scalar, D: Dimension>(array: ArrayView<'a, T, D>) -> Result<Self> {
        let (shape, strides) = (array.shape().to_vec(), array.strides().to_vec());
        match dense(array) {
            Some(elements) => TensorView::from_slice_with_layout(layout_of(&shape, &strides)?, elements),
            None => {
                let advice = "copy it with `Tensor::from_ndarray`";
                Err(Error::NotContiguous { op: "from_ndarray".into(), shape, strides, advice })
            }
        }
    }

    /// The elements as an array view, in the same memory.
    ///
    /// # Errors
    /// `T` is not the type of the elements.
    pub fn as_ndarray<T: Scalar>(&self) -> Result<ArrayViewD<'a, T>> {
        Ok(lend(self.buffer_for("as_ndarray")?, self.layout()))
    }
}

impl Tensor {
    /// A copy of an array of any strides.
    ///
    /// ```
    /// use ndarray::arr2;
    /// use tenferro_core::Tensor;
    /// let a = Tensor::from_ndarray(&arr2(&[[1, 2], [3, 4]]))?;
    /// assert_eq!(a.to_ndarray::<i32>()?, arr2(&[[1, 2], [3, 4]]).into_dyn());
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// There is no memory for the copy.
    pub fn from_ndarray<T: Scalar, S: Data<Elem = T>, D: Dimension>(array: &ArrayBase<S, D>) -> Result<Tensor> {
        if let Ok(view) = TensorView::from_ndarray(array.view()) {
            return view.to_tensor();
        }
        let mut copy = Tensor::zeros(T::DTYPE, array.shape())?;
        // Row-major order of the transpose is column-major order.
        for (slot, &element) in copy.iter_mut()?.zip(array.t()) {
            *slot = element;
        }
        Ok(copy)
    }

    /// The elements as an array view, in the same memory.
    ///
    /// # Errors
    /// `T` is not the type of the elements.
    pub fn as_ndarray<T: Scalar>(&self) -> Result<ArrayViewD<'_, T>> {
        self.view().as_ndarray()
    }

    /// A copy as an array. The memory itself cannot become that of an array: it is aligned to more than an element.
    ///
    /// # Errors
    /// `T` is not the type of the elements.
    pub fn to_ndarray<T: Scalar>(&self) -> Result<ArrayD<T>> {
        Ok(self.as_ndarray()?.to_owned())
    }
}

impl<'a, T: Scalar, const R: usize> TypedView<'a, T, R>
where
    Dim<[usize; R]>: Dimension,
{
    /// The elements of an array view, in the same memory.
    ///
    /// ```
    /// use ndarray::{Array2, s};
    /// use tenferro_core::TypedView;
    /// let array = Array2::from_shape_fn((2, 3), |(i, j)| 10 * i as i32 + j as i32);
    /// let view = TypedView::from_ndarray(array.slice(s![.., ..;-1]))?;
    /// assert_eq!(view[[1, 0]], 12);
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// There are gaps between the elements; [`TypedTensor::from_ndarray`] copies them.
    pub fn from_ndarray(array: ArrayView<'a, T, Dim<[usize; R]>>) -> Result<Self> {
        TensorView::from_ndarray(array)?.try_into_typed()
    }

    /// The elements as an array view, in the same memory.
    pub fn as_ndarray(&self) -> ArrayView<'a, T, Dim<[usize; R]>> {
        lend(self.buffer(), self.layout())
    }
}

impl<T: Scalar, const R: usize> TypedTensor<T, R>
where
    Dim<[usize; R]>: Dimension,
{
    /// A copy of an array of any strides.
    ///
    /// # Errors
    /// There is no memory for the copy.
    pub fn from_ndarray<S: Data<Elem = T>>(array: &ArrayBase<S, Dim<[usize; R]>>) -> Result<Self> {
        Tensor::from_ndarray(array)?.try_into_typed()
    }

    /// The elements as an array view, in the same memory.
    ///
    /// ```
    /// use tenferro_core::TypedTensor;
    /// let a = TypedTensor::from([[1.0, 2.0], [3.0, 4.0]]).t();
    /// assert_eq!(a.as_ndarray().row(0).to_vec(), [1.0, 3.0]);
    /// ```
    pub fn as_ndarray(&self) -> ArrayView<'_, T, Dim<[usize; R]>> {
        self.view().as_ndarray()
    }

    /// A copy as an array. The memory itself cannot become that of an array: it is aligned to more than an element.
    pub fn to_ndarray(&self) -> Array<T, Dim<[usize; R]>> {
        self.as_ndarray().to_owned()
    }
}

/// The range of memory that the elements fill; `None` if there are gaps.
fn dense<T, D: Dimension>(mut array: ArrayView<'_, T, D>) -> Option<&[T]> {
    if array.is_empty() {
        return Some(&[]);
    }
    for axis in 0..array.ndim() {
        // Repeated elements lie where one of them does.
        if array.strides()[axis] == 0 {
            array.collapse_axis(Axis(axis), 0);
        }
    }
    array.to_slice_memory_order()
}

/// Where the elements of an array lie in the memory they fill.
fn layout_of(shape: &[usize], strides: &[isize]) -> Result<Layout> {
    if shape.contains(&0) {
        return Layout::col_major(shape);
    }
    // Lone elements have no neighbour to be any distance from.
    let strides: Strides = shape.iter().zip(strides).map(|(&n, &stride)| if n == 1 { 0 } else { stride }).collect();
    Layout::new(shape, &strides, before_first(shape, &strides))
}

/// How far the first element lies behind the one with the lowest address, for a shape that is not empty.
fn before_first(shape: &[usize], strides: &[isize]) -> usize {
    shape.iter().zip(strides).map(|(&extent, &stride)| (extent - 1) * stride.min(0).unsigned_abs()).sum()
}

/// An array view of the elements that a layout names; `D` has its rank.
fn lend<'a, T, D: Dimension>(buffer: &'a [T], layout: &Layout) -> ArrayView<'a, T, D> {
    let dimension = |extents: &[usize]| D::from_dimension(&IxDyn(extents));
    let shape = layout.shape();
    let array = if layout.is_empty() {
        dimension(shape).map(|shape| ArrayView::from_shape(shape, &[]))
    } else {
        let neighbours = shape.iter().zip(layout.strides());
        let strides: Strides = neighbours.map(|(&n, &stride)| if n == 1 { 0 } else { stride }).collect();
        // As `ndarray` wants them: the slice starts at the lowest address, and strides wrap.
        let elements = &buffer[layout.offset() - before_first(shape, &strides)..];
        let wrapped: Vec<usize> = strides.iter().map(|&stride| stride as usize).collect();
        let both = dimension(shape).zip(dimension(&wrapped));
        both.map(|(shape, strides)| ArrayView::from_shape(shape.strides(strides), elements))
    };
    match array {
        Some(Ok(array)) => array,
        // A layout is held to the bounds that `ndarray` asks for when it is made.
        refused => {
            unreachable!("{layout:?} fits its {} elements, {:?}", buffer.len(), refused.map(|array| array.err()))
        }
    }
}
