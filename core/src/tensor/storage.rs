//! Reference-counted memory of elements; the only unsafe code of the crate.

use std::alloc::{self, alloc, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::Arc;

use crate::dtype::{DType, Element, Elements, Scalar};
use crate::error::{Error, Result};
use crate::with_dtype;

/// Every storage starts at a multiple of this, the length of a cache line and of the longest vector register.
const ALIGNMENT: usize = 64;

/// The alignment the system allocator gives at no cost. Asking it for more makes zeroed memory slow: it is then
/// written instead of mapped.
const BASE_ALIGNMENT: usize = 16;

/// From this size on memory is put on huge pages where the system grants them: mapping small ones takes longer than
/// most kernels that fill them.
const HUGE: usize = 4 << 20;

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

    /// A copy of a slice.
    pub(super) fn from_slice<T: Scalar>(values: &[T]) -> Result<Storage> {
        let memory = Memory::uninit(size_of_val(values))?;
        // SAFETY: `values` and the new memory do not overlap, and the memory has room for the bytes of `values`.
        unsafe {
            values.as_ptr().copy_to_nonoverlapping(memory.start.as_ptr().cast(), values.len());
        }
        Ok(Storage { dtype: T::DTYPE, len: values.len(), memory: Arc::new(memory) })
    }

    /// The number of elements.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The bytes there is room for.
    pub(super) fn byte_capacity(&self) -> usize {
        self.memory.capacity
    }

    /// Whether no other tensor shares the memory.
    pub(super) fn is_unique(&self) -> bool {
        Arc::strong_count(&self.memory) == 1
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
        Some(unsafe { std::slice::from_raw_parts(self.memory.start.as_ptr().cast(), self.len) })
    }

    /// All elements, to be written; `None` if `T` is not their type or the memory is shared.
    pub(super) fn slice_mut<T: Scalar>(&mut self) -> Option<&mut [T]> {
        if T::DTYPE != self.dtype {
            return None;
        }
        let memory = Arc::get_mut(&mut self.memory)?;
        // SAFETY: as in `slice`; and `get_mut` has shown that this is the only handle, borrowed mutably.
        Some(unsafe { std::slice::from_raw_parts_mut(memory.start.as_ptr().cast(), self.len) })
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
        let Some(memory) = Arc::get_mut(&mut self.memory) else {
            return Err(self);
        };
        // Bytes that were not elements of a bool storage may be anything.
        let already_bools = self.dtype == DType::Bool && len <= self.len;
        if dtype == DType::Bool && !already_bools {
            // SAFETY: `bytes` do not exceed the capacity, and `get_mut` has shown that nobody else reads them.
            unsafe { memory.start.as_ptr().write_bytes(0, bytes) };
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

/// One allocation of initialised bytes.
struct Memory {
    /// The first byte that is a multiple of `ALIGNMENT`.
    start: NonNull<u8>,
    /// Bytes from `start` on: a positive multiple of `ALIGNMENT`.
    capacity: usize,
    base: NonNull<u8>,
    layout: alloc::Layout,
}

// SAFETY: a `Memory` owns its bytes, has no interior mutability and is tied to no thread.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    fn zeroed(bytes: usize) -> Result<Memory> {
        // SAFETY: `allocate` calls this with a layout of non-zero size.
        Memory::allocate(bytes, |layout| unsafe { alloc_zeroed(layout) })
    }

    /// Memory whose first `bytes` bytes the caller has to fill; the rest is zeroed.
    fn uninit(bytes: usize) -> Result<Memory> {
        // SAFETY: `allocate` calls this with a layout of non-zero size.
        let memory = Memory::allocate(bytes, |layout| unsafe { alloc(layout) })?;
        // SAFETY: the tail lies within the capacity, and the memory is not shared yet.
        unsafe {
            let tail = memory.start.as_ptr().add(bytes);
            tail.write_bytes(0, memory.capacity - bytes);
        }
        Ok(memory)
    }

    fn allocate(bytes: usize, allocate: impl FnOnce(alloc::Layout) -> *mut u8) -> Result<Memory> {
        let out_of_memory = || Error::OutOfMemory { bytes };
        let capacity = bytes.max(1).checked_next_multiple_of(ALIGNMENT).ok_or_else(out_of_memory)?;
        let layout = capacity
            .checked_add(ALIGNMENT - BASE_ALIGNMENT)
            .and_then(|size| alloc::Layout::from_size_align(size, BASE_ALIGNMENT).ok())
            .ok_or_else(out_of_memory)?;
        let base = NonNull::new(allocate(layout)).ok_or_else(out_of_memory)?;
        if capacity >= HUGE {
            advise_huge_pages(base, layout.size());
        }
        let shift = base.as_ptr().addr().wrapping_neg() % ALIGNMENT;
        Ok(Memory {
            // SAFETY: a multiple of `BASE_ALIGNMENT` is at most `ALIGNMENT - BASE_ALIGNMENT` short of one of
            // `ALIGNMENT`, and the allocation is that much longer than `capacity`.
            start: unsafe { base.add(shift) },
            capacity,
            base,
            layout,
        })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: `base` was allocated with `layout` and is freed nowhere else.
        unsafe { dealloc(self.base.as_ptr(), self.layout) };
    }
}

/// Asks for huge pages. Only a hint: where it is refused, nothing changes.
#[cfg(target_os = "linux")]
fn advise_huge_pages(start: NonNull<u8>, len: usize) {
    use std::ffi::{c_int, c_void};

    const PAGE: usize = 4096;
    const MADV_HUGEPAGE: c_int = 14;

    // SAFETY: this is how the C library, which std links, declares it.
    unsafe extern "C" {
        fn madvise(start: *mut c_void, len: usize, advice: c_int) -> c_int;
    }

    let before = start.addr().get() % PAGE;
    // SAFETY: the advice changes neither contents nor access of any page, and none beyond those of the allocation
    // are named.
    unsafe {
        madvise(start.as_ptr().wrapping_sub(before).cast(), before + len, MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages(_: NonNull<u8>, _: usize) {}

#[cfg(test)]
mod tests {
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
