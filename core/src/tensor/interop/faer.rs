//! Matrices and columns of the crate `faer`.
//!
//! A matrix of `faer` leaves gaps between its columns, which may not even be initialised, so it is copied; a
//! contiguous column is read where it lies.

use ::faer::{Col, ColRef, Mat, MatRef};

use crate::dtype::Scalar;
use crate::error::{Error, Result};
use crate::tensor::{TypedTensor, TypedView};

impl<'a, T: Scalar> TypedView<'a, T, 2> {
    /// The elements as a matrix view, in the same memory.
    ///
    /// # Errors
    /// On neither axis are neighbours next to each other in memory.
    pub fn as_faer(&self) -> Result<MatRef<'a, T>> {
        let layout = self.layout();
        let [rows, columns] = self.shape();
        if layout.is_empty() {
            return Ok(MatRef::from_column_major_slice(&[], rows, columns));
        }
        let reversed: Vec<usize> = (0..2).filter(|&axis| layout.strides()[axis] < 0).collect();
        let forward = layout.reverse(&reversed)?;
        let elements = &self.buffer()[forward.offset()..];
        // The neighbours of lone elements may lie anywhere, so also next to them.
        let stride = |axis: usize| if forward.shape()[axis] == 1 { 1 } else { forward.strides()[axis].unsigned_abs() };
        let matrix = match (stride(0), stride(1)) {
            (1, column) => MatRef::from_column_major_slice_with_stride(elements, rows, columns, column),
            (row, 1) => MatRef::from_row_major_slice_with_stride(elements, rows, columns, row),
            _ => {
                return Err(Error::NotContiguous {
                    op: "as_faer".into(),
                    shape: layout.shape().into(),
                    strides: layout.strides().into(),
                    advice: "copy it with `to_tensor`",
                });
            }
        };
        let matrix = if reversed.contains(&0) { matrix.reverse_rows() } else { matrix };
        Ok(if reversed.contains(&1) { matrix.reverse_cols() } else { matrix })
    }
}

impl<'a, T: Scalar> TypedView<'a, T, 1> {
    /// The elements of a column, in the same memory.
    ///
    /// # Errors
    /// There are gaps between the elements; [`TypedTensor::from_faer`] copies them.
    pub fn from_faer(column: ColRef<'a, T>) -> Result<Self> {
        match column.try_as_col_major() {
            Some(column) => TypedView::from_slice_col_major([column.nrows()], column.as_slice()),
            None => Err(Error::NotContiguous {
                op: "from_faer".into(),
                shape: vec![column.nrows()],
                strides: vec![column.row_stride()],
                advice: "copy it with `TypedTensor::from_faer`",
            }),
        }
    }
}

impl<T: Scalar> TypedTensor<T, 2> {
    /// A copy of a matrix of any strides.
    ///
    /// ```
    /// use faer::mat;
    /// use tenferro_core::TypedTensor;
    /// let m = mat![[1.0, 2.0], [3.0, 4.0]];
    /// let a = TypedTensor::<_, 2>::from_faer(m.transpose())?;
    /// assert_eq!(a, TypedTensor::from([[1.0, 3.0], [2.0, 4.0]]));
    /// assert_eq!(a.view().as_faer()?, m.transpose());
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// There is no memory for the copy.
    pub fn from_faer(matrix: MatRef<'_, T>) -> Result<Self> {
        TypedTensor::from_fn([matrix.nrows(), matrix.ncols()], |[i, j]| matrix[(i, j)])
    }

    /// A copy as a matrix. The memory itself cannot become that of a matrix, which pads its columns.
    pub fn to_faer(&self) -> Mat<T> {
        let [rows, columns] = self.shape();
        Mat::from_fn(rows, columns, |i, j| self[[i, j]])
    }
}

impl<T: Scalar> TypedTensor<T, 1> {
    /// A copy of a column of any stride.
    ///
    /// # Errors
    /// There is no memory for the copy.
    pub fn from_faer(column: ColRef<'_, T>) -> Result<Self> {
        TypedTensor::from_fn([column.nrows()], |[i]| column[i])
    }

    /// A copy as a column.
    pub fn to_faer(&self) -> Col<T> {
        Col::from_fn(self.len(), |i| self[[i]])
    }
}
