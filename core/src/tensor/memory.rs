//! Memory of tensors: where it comes from, and where it goes.
//!
//! Large blocks that nobody needs any more are kept for the next to ask for as much, because touching fresh pages costs
//! more than most kernels that fill them. So a loop that makes and drops results of megabytes maps their pages once.

use std::alloc::{self, alloc, alloc_zeroed, dealloc};
use std::mem;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};

/// Every storage starts at a multiple of this, the length of a cache line and of the longest vector register.
pub(super) const ALIGNMENT: usize = 64;

/// The alignment the system allocator gives at no cost. Asking it for more makes zeroed memory slow: it is then
/// written instead of mapped.
const BASE_ALIGNMENT: usize = 16;

/// From this size on memory is put on huge pages where the system grants them: mapping small ones takes longer than
/// most kernels that fill them.
const HUGE: usize = 4 << 20;

/// From this size on blocks are kept when they are given back: the system allocator keeps smaller ones itself.
const LARGE: usize = 1 << 20;

/// Bytes that are kept unless told otherwise.
const RESERVE_LIMIT: usize = 512 << 20;

/// One allocation of initialised bytes.
#[derive(Clone, Copy)]
struct Block {
    /// The first byte that is a multiple of `ALIGNMENT`.
    start: NonNull<u8>,
    /// Bytes from `start` on: a positive multiple of `ALIGNMENT`.
    capacity: usize,
    base: NonNull<u8>,
    layout: alloc::Layout,
}

// SAFETY: a `Block` is plain data; who may touch its bytes is settled by `Memory` and `Reserve`, its only owners.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

/// The only owner of a block.
pub(super) struct Memory(Block);

impl Memory {
    /// Bytes that are all 0.
    pub(super) fn zeroed(bytes: usize) -> Result<Memory> {
        match Reserve::take(bytes) {
            Some(memory) => {
                // SAFETY: the block is that long, and has no other owner.
                unsafe { memory.start().as_ptr().write_bytes(0, memory.capacity()) };
                Ok(memory)
            }
            // SAFETY: `allocate` calls this with a layout of non-zero size.
            None => Memory::allocate(bytes, |layout| unsafe { alloc_zeroed(layout) }),
        }
    }

    /// Bytes of unspecified value.
    pub(super) fn unspecified(bytes: usize) -> Result<Memory> {
        Reserve::take(bytes).map_or_else(|| Memory::zeroed(bytes), Ok)
    }

    /// Memory whose first `bytes` bytes the caller has to fill; the rest is initialised, to values unspecified.
    pub(super) fn uninit(bytes: usize) -> Result<Memory> {
        if let Some(memory) = Reserve::take(bytes) {
            return Ok(memory);
        }
        // SAFETY: `allocate` calls this with a layout of non-zero size.
        let memory = Memory::allocate(bytes, |layout| unsafe { alloc(layout) })?;
        // SAFETY: the tail lies within the capacity, and the memory is not shared yet.
        unsafe {
            let tail = memory.start().as_ptr().add(bytes);
            tail.write_bytes(0, memory.capacity() - bytes);
        }
        Ok(memory)
    }

    fn allocate(bytes: usize, allocate: impl Fn(alloc::Layout) -> *mut u8) -> Result<Memory> {
        let out_of_memory = || Error::OutOfMemory { bytes };
        let capacity = capacity_for(bytes).ok_or_else(out_of_memory)?;
        let layout = capacity
            .checked_add(ALIGNMENT - BASE_ALIGNMENT)
            .and_then(|size| alloc::Layout::from_size_align(size, BASE_ALIGNMENT).ok())
            .ok_or_else(out_of_memory)?;
        let base = NonNull::new(allocate(layout)).or_else(|| {
            // What is kept for later may be what is missing now.
            trim_reserve(0);
            NonNull::new(allocate(layout))
        });
        let base = base.ok_or_else(out_of_memory)?;
        if capacity >= HUGE {
            advise_huge_pages(base, layout.size());
        }
        let shift = base.as_ptr().addr().wrapping_neg() % ALIGNMENT;
        Ok(Memory(Block {
            // SAFETY: a multiple of `BASE_ALIGNMENT` is at most `ALIGNMENT - BASE_ALIGNMENT` short of one of
            // `ALIGNMENT`, and the allocation is that much longer than `capacity`.
            start: unsafe { base.add(shift) },
            capacity,
            base,
            layout,
        }))
    }

    /// The first byte, at a multiple of [`ALIGNMENT`].
    #[inline]
    pub(super) fn start(&self) -> NonNull<u8> {
        self.0.start
    }

    /// The number of bytes.
    pub(super) fn capacity(&self) -> usize {
        self.0.capacity
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.0.capacity >= LARGE {
            return Reserve::keep(Memory(self.0));
        }
        free(self.0);
    }
}

/// The bytes that are allocated for so many.
fn capacity_for(bytes: usize) -> Option<usize> {
    bytes.max(1).checked_next_multiple_of(ALIGNMENT)
}

/// Gives a block back to the system. Its owner calls this, and nobody owns it afterwards.
fn free(block: Block) {
    // SAFETY: `base` was allocated with `layout` and is freed nowhere else.
    unsafe { dealloc(block.base.as_ptr(), block.layout) };
}

/// Large blocks that nobody needs.
struct Reserve {
    /// The one kept longest first.
    blocks: Vec<Block>,
    bytes: usize,
    limit: usize,
}

static RESERVE: Mutex<Reserve> = Mutex::new(Reserve { blocks: Vec::new(), bytes: 0, limit: RESERVE_LIMIT });

impl Reserve {
    fn lock() -> MutexGuard<'static, Reserve> {
        // Nothing panics while it is held.
        RESERVE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The block of this capacity that was used last: its pages are the warmest.
    fn take(bytes: usize) -> Option<Memory> {
        let capacity = capacity_for(bytes).filter(|&capacity| capacity >= LARGE)?;
        let mut reserve = Reserve::lock();
        let index = reserve.blocks.iter().rposition(|block| block.capacity == capacity)?;
        let block = reserve.blocks.remove(index);
        reserve.bytes -= capacity;
        Some(Memory(block))
    }

    fn keep(memory: Memory) {
        let block = memory.0;
        mem::forget(memory);
        let mut reserve = Reserve::lock();
        if block.capacity > reserve.limit {
            drop(reserve);
            return free(block);
        }
        reserve.blocks.push(block);
        reserve.bytes += block.capacity;
        let limit = reserve.limit;
        let excess = reserve.shrink(limit);
        drop(reserve);
        excess.into_iter().for_each(free);
    }

    /// Takes the oldest blocks out until at most so many bytes are left, to be freed without the lock: that may take
    /// long. Nothing is allocated where nothing is taken.
    #[must_use]
    fn shrink(&mut self, limit: usize) -> Vec<Block> {
        let mut excess = 0;
        while self.bytes > limit {
            self.bytes -= self.blocks[excess].capacity;
            excess += 1;
        }
        self.blocks.drain(..excess).collect()
    }
}

/// Bytes of large blocks (1 MiB or more each) that tensors gave back and that are kept for the next ones.
pub fn reserved_bytes() -> usize {
    Reserve::lock().bytes
}

/// Keeps at most so many bytes of large blocks from now on, 512 MiB at first; what is beyond goes back to the system.
///
/// ```
/// use tenferro_core::tensor::{reserved_bytes, set_reserve_limit};
/// use tenferro_core::{DType, Tensor};
/// drop(Tensor::zeros(DType::F64, [1 << 20])?);
/// assert!(reserved_bytes() >= 8 << 20);
/// set_reserve_limit(0);
/// assert_eq!(reserved_bytes(), 0);
/// # Ok::<(), tenferro_core::Error>(())
/// ```
pub fn set_reserve_limit(bytes: usize) {
    let mut reserve = Reserve::lock();
    reserve.limit = bytes;
    let excess = reserve.shrink(bytes);
    drop(reserve);
    excess.into_iter().for_each(free);
}

/// Gives kept blocks back to the system until at most so many bytes are left. The limit stays.
pub fn trim_reserve(bytes: usize) {
    let excess = Reserve::lock().shrink(bytes);
    excess.into_iter().for_each(free);
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

    /// Held by tests that look for what others would give back.
    static RESERVE_IN_USE: Mutex<()> = Mutex::new(());

    #[test]
    fn large_blocks_are_used_again() {
        let _guard = RESERVE_IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        // A capacity that no other test asks for.
        let bytes = LARGE + 17 * ALIGNMENT;
        let memory = Memory::zeroed(bytes).unwrap();
        let start = memory.start();
        // SAFETY: the block is that long, and its only owner is here.
        unsafe { start.as_ptr().write_bytes(7, bytes) };
        drop(memory);
        assert!(reserved_bytes() >= bytes);
        assert!(Memory::unspecified(bytes + ALIGNMENT).unwrap().start() != start);
        let memory = Memory::zeroed(bytes).unwrap();
        assert_eq!(memory.start(), start);
        // SAFETY: as above; all bytes are initialised.
        let contents = unsafe { std::slice::from_raw_parts(start.as_ptr(), bytes) };
        assert!(contents.iter().all(|&byte| byte == 0));
        drop(memory);
        let kept = || Reserve::lock().blocks.iter().any(|block| block.capacity == bytes);
        assert!(kept());
        trim_reserve(0);
        assert!(!kept());
    }

    #[test]
    fn what_is_kept_gives_way_to_what_is_needed() {
        let _guard = RESERVE_IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        // A capacity that no other test asks for.
        let bytes = LARGE + 19 * ALIGNMENT;
        let kept = || Reserve::lock().blocks.iter().any(|block| block.capacity == bytes);
        drop(Memory::zeroed(bytes).unwrap());
        assert!(kept());
        // As if there were no more while the block is kept.
        let scarce = |layout| match kept() {
            true => std::ptr::null_mut(),
            // SAFETY: `allocate` calls this with a layout of non-zero size.
            false => unsafe { alloc_zeroed(layout) },
        };
        assert_eq!(Memory::allocate(1, scarce).unwrap().capacity(), ALIGNMENT);
        assert!(!kept());
        assert!(matches!(Memory::allocate(1, |_| std::ptr::null_mut()), Err(Error::OutOfMemory { bytes: 1 })));
    }

    #[test]
    fn the_reserve_is_bounded() {
        let block = |capacity: usize| {
            let memory = Memory::zeroed(capacity).unwrap();
            let block = memory.0;
            mem::forget(memory);
            block
        };
        let blocks = vec![block(LARGE), block(2 * LARGE), block(LARGE)];
        let mut reserve = Reserve { blocks, bytes: 4 * LARGE, limit: 4 * LARGE };
        reserve.shrink(3 * LARGE).into_iter().for_each(free);
        // The oldest goes first.
        assert_eq!(reserve.blocks.iter().map(|block| block.capacity).collect::<Vec<_>>(), [2 * LARGE, LARGE]);
        reserve.shrink(0).into_iter().for_each(free);
        assert_eq!((reserve.blocks.len(), reserve.bytes), (0, 0));
    }
}
