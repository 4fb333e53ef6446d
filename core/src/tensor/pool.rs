//! What a pool of buffers needs: tensors of unspecified contents, and their memory taken again.

use super::storage::Storage;
use super::{Layout, Tensor};
use crate::dtype::DType;
use crate::error::Result;

impl Tensor {
    /// A contiguous tensor to be written: its contents are initialised, but unspecified.
    ///
    /// # Errors
    /// The shape is larger than memory.
    pub fn allocate(dtype: DType, shape: &[usize]) -> Result<Tensor> {
        let layout = Layout::col_major_for("allocate", shape)?;
        let storage = Storage::unspecified(dtype, layout.len())?;
        Ok(Tensor { layout, storage })
    }

    /// Whether no other tensor shares the elements.
    pub fn is_unique(&self) -> bool {
        self.storage.is_unique()
    }

    /// The bytes of memory behind the tensor, whatever its shape.
    pub fn byte_capacity(&self) -> usize {
        self.storage.byte_capacity()
    }

    /// The same memory as a contiguous tensor of another dtype and shape, its contents unspecified.
    ///
    /// ```
    /// use tenferro_core::{DType, Tensor};
    /// let old = Tensor::zeros(DType::F64, [100])?;
    /// let new = old.reuse(DType::C32, &[10, 10]).expect("unique, and large enough");
    /// assert_eq!(new.shape(), [10, 10]);
    /// assert!(new.reuse(DType::F64, &[1000]).is_err());
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// The tensor itself, if its memory is shared or too small, or the shape is larger than memory.
    #[allow(clippy::result_large_err)] // The error is the argument, given back.
    pub fn reuse(self, dtype: DType, shape: &[usize]) -> Result<Tensor, Tensor> {
        let Ok(layout) = Layout::col_major_for("reuse", shape) else {
            return Err(self);
        };
        match self.storage.reuse(dtype, layout.len()) {
            Ok(storage) => Ok(Tensor { layout, storage }),
            Err(storage) => Err(Tensor { layout: self.layout, storage }),
        }
    }
}
