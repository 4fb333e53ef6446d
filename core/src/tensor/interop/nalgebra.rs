//! Matrices and vectors of the crate `nalgebra`.
//!
//! Matrices that own their elements are read where they lie. Its views have gaps in which somebody else may be
//! writing, so they are copied.

use ::nalgebra::{DMatrix, DVector, Dim, Dyn, IsContiguous, Matrix, MatrixView, RawStorage, U1, Vector};

use crate::dtype::Scalar;
use crate::error::{Error, Result};
use crate::tensor::{Layout, TypedTensor, TypedView};

impl<'a, T: Scalar> TypedView<'a, T, 2> {
    /// The elements of a matrix, in the same memory.
    ///
    /// ```
    /// use nalgebra::Matrix2;
    /// use tenferro_core::TypedView;
    /// let m = Matrix2::new(1.0, 2.0, 3.0, 4.0);
    /// assert_eq!(TypedView::<_, 2>::from_nalgebra(&m)?[[0, 1]], 2.0);
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// None for matrices whose storage is what it says.
    pub fn from_nalgebra<R: Dim, C: Dim, S>(matrix: &'a Matrix<T, R, C, S>) -> Result<Self>
    where
        S: RawStorage<T, R, C> + IsContiguous,
    {
        TypedView::from_slice_col_major([matrix.nrows(), matrix.ncols()], matrix.as_slice())
    }

    /// The elements as a matrix view, in the same memory.
    ///
    /// # Errors
    /// An axis runs backwards or repeats elements, which no stride of `nalgebra` says.
    pub fn as_nalgebra(&self) -> Result<MatrixView<'a, T, Dyn, Dyn, Dyn, Dyn>> {
        let [rows, columns] = self.shape();
        let (elements, strides) = lend(self.buffer(), self.layout())?;
        let (row_stride, column_stride) = (Dyn(strides[0]), Dyn(strides[1]));
        Ok(MatrixView::from_slice_with_strides_generic(elements, Dyn(rows), Dyn(columns), row_stride, column_stride))
    }
}

impl<'a, T: Scalar> TypedView<'a, T, 1> {
    /// The elements of a vector, in the same memory.
    ///
    /// # Errors
    /// None for vectors whose storage is what it says.
    pub fn from_nalgebra<R: Dim, S>(vector: &'a Vector<T, R, S>) -> Result<Self>
    where
        S: RawStorage<T, R, U1> + IsContiguous,
    {
        TypedView::from_slice_col_major([vector.len()], vector.as_slice())
    }

    /// The elements as a vector view, in the same memory.
    ///
    /// # Errors
    /// The axis runs backwards or repeats elements, which no stride of `nalgebra` says.
    pub fn as_nalgebra(&self) -> Result<MatrixView<'a, T, Dyn, U1, Dyn, Dyn>> {
        let (elements, strides) = lend(self.buffer(), self.layout())?;
        let rows = Dyn(self.len());
        Ok(MatrixView::from_slice_with_strides_generic(elements, rows, U1, Dyn(strides[0]), Dyn(1)))
    }
}

impl<T: Scalar> TypedTensor<T, 2> {
    /// A copy of a matrix or matrix view.
    ///
    /// # Errors
    /// There is no memory for the copy.
    pub fn from_nalgebra<R: Dim, C: Dim, S: RawStorage<T, R, C>>(matrix: &Matrix<T, R, C, S>) -> Result<Self> {
        copy([matrix.nrows(), matrix.ncols()], matrix)
    }

    /// A copy as a matrix. The memory itself cannot become that of a `Vec`: it is aligned to more than an element.
    ///
    /// ```
    /// use nalgebra::Matrix2;
    /// use tenferro_core::TypedTensor;
    /// assert_eq!(TypedTensor::from([[1, 2], [3, 4]]).to_nalgebra(), Matrix2::new(1, 2, 3, 4));
    /// ```
    pub fn to_nalgebra(&self) -> DMatrix<T> {
        let [rows, columns] = self.shape();
        DMatrix::from_vec(rows, columns, self.to_vec_col_major())
    }
}

impl<T: Scalar> TypedTensor<T, 1> {
    /// A copy of a vector or vector view.
    ///
    /// # Errors
    /// There is no memory for the copy.
    pub fn from_nalgebra<R: Dim, S: RawStorage<T, R, U1>>(vector: &Vector<T, R, S>) -> Result<Self> {
        copy([vector.len()], vector)
    }

    /// A copy as a vector. The memory itself cannot become that of a `Vec`: it is aligned to more than an element.
    pub fn to_nalgebra(&self) -> DVector<T> {
        DVector::from_vec(self.to_vec_col_major())
    }
}

/// A copy of the elements, which `nalgebra` iterates over in column-major order.
fn copy<T: Scalar, R: Dim, C: Dim, S: RawStorage<T, R, C>, const RANK: usize>(
    shape: [usize; RANK],
    matrix: &Matrix<T, R, C, S>,
) -> Result<TypedTensor<T, RANK>> {
    let mut copy = TypedTensor::zeros(shape)?;
    for (slot, &element) in copy.iter_mut()?.zip(matrix.iter()) {
        *slot = element;
    }
    Ok(copy)
}

/// The elements from the first one on, and strides as `nalgebra` has them.
fn lend<'a, T>(buffer: &'a [T], layout: &Layout) -> Result<(&'a [T], Vec<usize>)> {
    if layout.is_empty() {
        // Strides with which no element is reached, however long the other axis.
        return Ok((&[], layout.shape().iter().map(|&extent| usize::from(extent == 0)).collect()));
    }
    let forward = |(&extent, &stride): (&usize, &isize)| match extent {
        // Iterators of `nalgebra` find the end of a column by its stride, so also that of a lone element.
        1 => Some(1),
        _ => usize::try_from(stride).ok().filter(|&stride| stride > 0),
    };
    match layout.shape().iter().zip(layout.strides()).map(forward).collect() {
        Some(strides) => Ok((&buffer[layout.offset()..], strides)),
        None => Err(Error::NotContiguous {
            op: "as_nalgebra".into(),
            shape: layout.shape().into(),
            strides: layout.strides().into(),
            advice: "copy it with `to_nalgebra`",
        }),
    }
}
