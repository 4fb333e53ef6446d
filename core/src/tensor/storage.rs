//! Reference-counted elements.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use super::memory::Memory;
use crate::dtype::{DType, Element, Elements, Scalar};
use crate::error::{Error, Result};
use crate::with_dtype;

/// Elements of one dtype, shared by every tensor that is a view of them.
#[derive(Clone)]
pub(super) struct Storage {
    dtype: DType,
    len: usize,
    memory: Arc<Memory>,
}

impl Storage {
    /// `len` elements, all 0.
    pub(super) fn zeroed(dtype: DType, len: usize) -> Result<Storage> {
        Ok(Storage { dtype, len, memory: Arc::new(Memory::zeroed(byte_len(dtype, len)?)?) })
    }

    /// `len` elements of unspecified value.
    pub(super) fn unspecified(dtype: DType, len: usize) -> Result<Storage> {
        if dtype == DType::Bool {
            // Any bytes are numbers, but only 0 and 1 are booleans.
            return Storage::zeroed(dtype, len);
        }
        Ok(Storage { dtype, len, memory: Arc::new(Memory::unspecified(byte_len(dtype, len)?)?) })
    }

    /// A copy of a slice.
    pub(super) fn from_slice<T: Scalar>(values: &[T]) -> Result<Storage> {
        let memory = Memory::uninit(size_of_val(values))?;
        // SAFETY: `values` and the new memory do not overlap, and the memory has room for the bytes of `values`.
        unsafe {
            values.as_ptr().copy_to_nonoverlapping(memory.start().as_ptr().cast(), values.len());
        }
        Ok(Storage { dtype: T::DTYPE, len: values.len(), memory: Arc::new(memory) })
    }

    /// The number of elements.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The bytes there is room for.
    pub(super) fn byte_capacity(&self) -> usize {
        self.memory.capacity()
    }

    /// Whether no other tensor shares the memory.
    pub(super) fn is_unique(&self) -> bool {
        // Pairs with the release of whoever shared the memory last, as in `Arc::get_mut`; no weak handle is ever made.
        let unique = Arc::strong_count(&self.memory) == 1;
        fence(Ordering::Acquire);
        unique
    }

    /// All elements; `None` if `T` is not their type.
    pub(super) fn slice<T: Scalar>(&self) -> Option<&[T]> {
        if T::DTYPE != self.dtype {
            return None;
        }
        // SAFETY: the memory is aligned to 64 bytes, more than any `T`, and lives as long as `self`. Its first `len`
        // elements are valid `T`s by the invariant of `Storage`: they were zeroed or copied from `T`s when it was made
        // or given this dtype (any initialised bytes are numbers; `reuse` keeps a `bool` 0 or 1). Nobody writes while
        // `self` is borrowed, for writing takes a `&mut` to the only handle.
        Some(unsafe { std::slice::from_raw_parts(self.memory.start().as_ptr().cast(), self.len) })
    }

    /// All elements, to be written; `None` if `T` is not their type or the memory is shared.
    pub(super) fn slice_mut<T: Scalar>(&mut self) -> Option<&mut [T]> {
        // Not by `Arc::get_mut`, whose locked instruction costs as much as many a kernel.
        if T::DTYPE != self.dtype || !self.is_unique() {
            return None;
        }
        // SAFETY: as in `slice`; and this is the only handle, borrowed mutably, so nobody can make another.
        Some(unsafe { std::slice::from_raw_parts_mut(self.memory.start().as_ptr().cast(), self.len) })
    }

    /// All elements with their dtype.
    pub(super) fn elements(&self) -> Elements<'_> {
        with_dtype!(self.dtype, T => {
            // The type is that of the dtype, so the slice is there.
            T::erase(self.slice::<T>().unwrap_or_default())
        })
    }

    /// The same memory for `len` elements of another dtype, contents unspecified; `self` is given back if it is shared
    /// or too small.
    pub(super) fn reuse(mut self, dtype: DType, len: usize) -> Result<Storage, Storage> {
        let capacity = self.byte_capacity();
        let bytes = match byte_len(dtype, len) {
            Ok(bytes) if bytes <= capacity => bytes,
            _ => return Err(self),
        };
        if !self.is_unique() {
            return Err(self);
        }
        // Bytes that were not elements of a bool storage may be anything.
        let already_bools = self.dtype == DType::Bool && len <= self.len;
        if dtype == DType::Bool && !already_bools {
            // SAFETY: `bytes` do not exceed the capacity, and this is the only handle, borrowed mutably.
            unsafe { self.memory.start().as_ptr().write_bytes(0, bytes) };
        }
        self.dtype = dtype;
        self.len = len;
        Ok(self)
    }
}

/// The bytes of `len` elements.
fn byte_len(dtype: DType, len: usize) -> Result<usize> {
    len.checked_mul(dtype.size()).ok_or(Error::OutOfMemory { bytes: usize::MAX })
}

#[cfg(test)]
mod tests {
    use super::super::memory::ALIGNMENT;
    use super::*;

    #[test]
    fn memory_is_aligned_and_zeroed() {
        for len in [0, 1, 15, 16, 17, 1000, 1 << 20] {
            let storage = Storage::zeroed(DType::F64, len).unwrap();
            let slice = storage.slice::<f64>().unwrap();
            assert_eq!(slice.as_ptr().addr() % ALIGNMENT, 0);
            assert_eq!(slice, vec![0.0; len]);
            assert_eq!(storage.byte_capacity() % ALIGNMENT, 0);
            assert!(storage.byte_capacity() >= 8 * len);
        }
    }

    #[test]
    fn shared_memory_is_neither_written_nor_reused() {
        let mut storage = Storage::from_slice(&[1, 2, 3]).unwrap();
        let other = storage.clone();
        assert!(!storage.is_unique());
        assert!(storage.slice_mut::<i32>().is_none());
        let mut storage = storage.reuse(DType::F32, 1).err().unwrap();
        drop(other);
        assert_eq!(storage.slice_mut::<i32>().unwrap(), [1, 2, 3]);
        assert_eq!(storage.slice::<f32>(), None);
    }

    #[test]
    fn reuse_keeps_bools_valid() {
        let storage = Storage::from_slice(&[-1_i64; 4]).unwrap();
        let storage = storage.reuse(DType::Bool, 32).ok().unwrap();
        assert_eq!(storage.slice::<bool>().unwrap(), [false; 32]);
        // Shrunk, overwritten beyond its length in another dtype, and grown again.
        let storage = storage.reuse(DType::Bool, 1).ok().unwrap();
        let mut storage = storage.reuse(DType::I64, 4).ok().unwrap();
        storage.slice_mut::<i64>().unwrap().fill(-1);
        let storage = storage.reuse(DType::Bool, 1).ok().unwrap();
        let storage = storage.reuse(DType::Bool, 32).ok().unwrap();
        assert_eq!(storage.slice::<bool>().unwrap(), [false; 32]);
        assert!(storage.reuse(DType::C64, 5).is_err());
    }

    #[test]
    fn too_much_is_an_error() {
        assert!(Storage::zeroed(DType::C64, usize::MAX / 2).is_err());
        assert!(Storage::zeroed(DType::Bool, isize::MAX as usize).is_err());
    }
}
