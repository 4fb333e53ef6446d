//! Tensors made from values.

use super::iter::Indices;
use super::storage::Storage;
use super::view::{check_len, gather_into};
use super::{Layout, Tensor};
use crate::dtype::{DType, Scalar, ScalarValue};
use crate::error::Result;
use crate::with_dtype;

impl Tensor {
    /// A tensor of the values, the first axis varying fastest.
    ///
    /// # Errors
    /// The number of values is not that of the shape.
    pub fn from_vec_col_major<T: Scalar>(shape: impl AsRef<[usize]>, values: Vec<T>) -> Result<Tensor> {
        let op = "from_vec_col_major";
        let layout = Layout::col_major_for(op, shape.as_ref())?;
        check_len(op, &layout, values.len())?;
        Ok(Tensor { layout, storage: Storage::from_slice(&values)? })
    }

    /// A tensor of the values, the last axis varying fastest. They are stored in column-major order.
    ///
    /// ```
    /// use tenferro_core::Tensor;
    /// let a = Tensor::from_vec_row_major([2, 3], vec![1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(a.as_slice::<i32>()?, [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// The number of values is not that of the shape.
    pub fn from_vec_row_major<T: Scalar>(shape: impl AsRef<[usize]>, values: Vec<T>) -> Result<Tensor> {
        let op = "from_vec_row_major";
        let layout = Layout::row_major_for(op, shape.as_ref())?;
        check_len(op, &layout, values.len())?;
        Tensor::gathered(&values, &layout)
    }

    /// A tensor whose element at `index` is `element(index)`, called in column-major order.
    ///
    /// # Errors
    /// The shape is larger than memory.
    pub fn from_fn<T: Scalar>(shape: impl AsRef<[usize]>, mut element: impl FnMut(&[usize]) -> T) -> Result<Tensor> {
        let shape = shape.as_ref();
        let mut tensor = Tensor::zeros(T::DTYPE, shape)?;
        let mut indices = Indices::new(shape);
        for slot in tensor.as_mut_slice()? {
            *slot = element(indices.current());
            indices.advance();
        }
        Ok(tensor)
    }

    /// A tensor of one value throughout, whose dtype it has.
    ///
    /// # Errors
    /// The shape is larger than memory.
    pub fn full(shape: impl AsRef<[usize]>, value: impl Into<ScalarValue>) -> Result<Tensor> {
        let value = value.into();
        let mut tensor = Tensor::zeros(value.dtype(), shape)?;
        with_dtype!(value.dtype(), T => {
            tensor.as_mut_slice::<T>()?.fill(T::from_value(value).unwrap_or_default());
        });
        Ok(tensor)
    }

    /// A tensor of 0 (`false`) throughout.
    ///
    /// # Errors
    /// The shape is larger than memory.
    pub fn zeros(dtype: DType, shape: impl AsRef<[usize]>) -> Result<Tensor> {
        let layout = Layout::col_major_for("zeros", shape.as_ref())?;
        let storage = Storage::zeroed(dtype, layout.len())?;
        Ok(Tensor { layout, storage })
    }

    /// A tensor of rank 0.
    ///
    /// ```
    /// use tenferro_core::Tensor;
    /// assert_eq!(Tensor::scalar(2.5).item::<f64>()?, 2.5);
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    pub fn scalar(value: impl Into<ScalarValue>) -> Tensor {
        or_out_of_memory(Tensor::full([], value))
    }

    /// A contiguous copy of the elements a layout names.
    pub(super) fn gathered<T: Scalar>(buffer: &[T], layout: &Layout) -> Result<Tensor> {
        let storage = match layout.contiguous_range() {
            Some(range) => Storage::from_slice(&buffer[range])?,
            None => {
                let mut storage = Storage::zeroed(T::DTYPE, layout.len())?;
                if let Some(destination) = storage.slice_mut() {
                    gather_into(buffer, layout, destination);
                }
                storage
            }
        };
        Ok(Tensor { layout: layout.compacted(), storage })
    }
}

/// The tensor, for constructors whose shape is sound and which, like `Vec`, do not report exhausted memory.
pub(super) fn or_out_of_memory<T>(made: Result<T>) -> T {
    made.unwrap_or_else(|error| panic!("{error}"))
}
