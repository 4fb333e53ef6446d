//! The pool of buffers: memory once obtained from the system is kept and used again, because touching fresh pages
//! costs more than most kernels.

use tenferro_core::{DType, Result, Tensor};

/// Buffers free for use, by size class.
///
/// A class holds buffers of one capacity. There are four classes to an octave, so that at most a fifth of a buffer is
/// wasted.
pub(crate) struct BufferPool {
    classes: Vec<Vec<Tensor>>,
    bytes: usize,
    limit: usize,
}

/// The smallest buffer, a cache line.
const SMALLEST: usize = 64;

impl BufferPool {
    /// A pool that keeps at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { classes: Vec::new(), bytes: 0, limit }
    }

    /// A tensor of unspecified contents.
    pub fn allocate(&mut self, dtype: DType, shape: &[usize]) -> Result<Tensor> {
        let elements = shape.iter().try_fold(1_usize, |product, &extent| product.checked_mul(extent));
        let class = elements.and_then(|elements| elements.checked_mul(dtype.size())).and_then(class_holding);
        let Some((class, capacity)) = class else {
            return Tensor::allocate(dtype, shape); // says what is wrong with the shape
        };
        let free = self.classes.get_mut(class).and_then(Vec::pop);
        let buffer = match free {
            Some(buffer) => {
                self.bytes -= capacity;
                buffer
            }
            // Of any dtype but `bool`, whose memory would have to be zeroed.
            None => {
                let elements = [capacity / DType::F32.size()];
                Tensor::allocate(DType::F32, &elements).or_else(|_| {
                    // What is free in other classes may be what is missing; and large blocks go back to the reserve,
                    // which gives way itself.
                    self.trim(0);
                    Tensor::allocate(DType::F32, &elements)
                })?
            }
        };
        match buffer.reuse(dtype, shape) {
            Ok(tensor) => Ok(tensor),
            Err(_) => Tensor::allocate(dtype, shape),
        }
    }

    /// Takes a tensor back, unless it is shared, no pool made it, or the pool is full.
    pub fn recycle(&mut self, tensor: Tensor) {
        let capacity = tensor.byte_capacity();
        let Some((class, holds)) = class_holding(capacity) else { return };
        if holds != capacity || capacity > self.limit.saturating_sub(self.bytes) || !tensor.is_unique() {
            return;
        }
        if self.classes.len() <= class {
            self.classes.resize_with(class + 1, Vec::new);
        }
        self.bytes += capacity;
        self.classes[class].push(tensor);
    }

    /// Changes the limit, giving memory back where the pool holds more.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
        self.trim(limit);
    }

    /// Gives memory back, the largest buffers first, until at most so many bytes are left.
    pub fn trim(&mut self, bytes: usize) {
        for class in self.classes.iter_mut().rev() {
            while self.bytes > bytes
                && let Some(buffer) = class.pop()
            {
                self.bytes -= buffer.byte_capacity();
            }
        }
    }

    /// Bytes free for use.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The smallest class that holds `bytes`, and its capacity.
fn class_holding(bytes: usize) -> Option<(usize, usize)> {
    let lines = bytes.max(1).div_ceil(SMALLEST);
    if lines <= 4 {
        return Some((lines, lines * SMALLEST));
    }
    // 4 to 8 quarters of the largest power of two below.
    let shift = (lines - 1).ilog2() - 2;
    let quarters = ((lines - 1) >> shift) + 1;
    let capacity = quarters.checked_shl(shift).filter(|lines| lines >> shift == quarters)?.checked_mul(SMALLEST)?;
    Some((shift as usize * 4 + quarters, capacity))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_what_they_say() {
        let mut last = (0, 0);
        for bytes in 0..100_000 {
            let (class, capacity) = class_holding(bytes).unwrap();
            assert!(capacity >= bytes && capacity % SMALLEST == 0);
            assert!(bytes < 5 * SMALLEST || capacity <= bytes + bytes / 4 + SMALLEST);
            assert_eq!(class_holding(capacity), Some((class, capacity)));
            assert!(last == (class, capacity) || (class > last.0 && capacity > last.1), "{bytes}");
            last = (class, capacity);
        }
        assert_eq!(class_holding(usize::MAX), None);
    }

    #[test]
    fn memory_is_used_again() {
        let mut pool = BufferPool::new(1 << 20);
        let tensor = pool.allocate(DType::F64, &[100, 10]).unwrap();
        let address = tensor.as_slice::<f64>().unwrap().as_ptr().addr();
        pool.recycle(tensor);
        assert!(pool.bytes() >= 8000);
        let tensor = pool.allocate(DType::I32, &[2000]).unwrap();
        assert_eq!(tensor.as_slice::<i32>().unwrap().as_ptr().addr(), address);
        assert_eq!(pool.bytes(), 0);
    }

    #[test]
    fn the_pool_is_bounded_and_keeps_no_shared_memory() {
        let mut pool = BufferPool::new(1 << 12);
        let large = pool.allocate(DType::F64, &[1000]).unwrap();
        pool.recycle(large);
        assert_eq!(pool.bytes(), 0);
        let shared = pool.allocate(DType::F64, &[100]).unwrap();
        pool.recycle(shared.clone());
        assert_eq!(pool.bytes(), 0);
        pool.recycle(shared);
        assert!(pool.bytes() >= 800);
        let (small, large) = (pool.allocate(DType::F64, &[8]).unwrap(), pool.allocate(DType::F64, &[200]).unwrap());
        pool.recycle(small);
        pool.recycle(large);
        pool.trim(1000);
        assert!(pool.bytes() > 0 && pool.bytes() <= 1000);
        pool.set_limit(0);
        assert_eq!(pool.bytes(), 0);
        assert!(pool.allocate(DType::F64, &[usize::MAX, 2]).is_err());
    }
}
