//! The static programs of kernels, and the numbers by which a session finds what it prepared from them.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::dtype::Scalar;
use crate::program::SemanticProgram;

/// One program of a kernel, as `tenferro!` writes it.
#[derive(Debug)]
pub struct KernelProgram {
    /// The number under which sessions keep what they prepared.
    pub slot: Slot,
    /// The program.
    pub program: SemanticProgram,
}

/// A number that a program gets at its first use: small, and the same in every session.
#[derive(Debug)]
pub struct Slot(AtomicU32);

/// A slot that has no number yet.
const UNSET: u32 = u32::MAX;

impl Slot {
    /// A slot without a number.
    #[allow(clippy::new_without_default)] // only ever made in a static
    pub const fn new() -> Self {
        Self(AtomicU32::new(UNSET))
    }

    /// The number, given out at the first call.
    #[inline]
    pub(crate) fn index(&self) -> usize {
        match self.0.load(Ordering::Relaxed) {
            UNSET => self.assign(),
            index => index as usize,
        }
    }

    #[cold]
    fn assign(&self) -> usize {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let fresh = NEXT.fetch_add(1, Ordering::Relaxed);
        // Where two threads meet here the loser's number stays unused.
        match self.0.compare_exchange(UNSET, fresh, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => fresh as usize,
            Err(first) => first as usize,
        }
    }
}

/// Where the program for `T` stands among those of a generic kernel, which follow the order of `DType`.
#[inline]
pub const fn position<T: Scalar>() -> usize {
    T::DTYPE as usize
}
