//! The places of a run's tensors, whose memory serves one run after the other.

use std::cell::Cell;
use std::mem;
use std::ops::{Deref, DerefMut};

use tenferro_core::Tensor;

/// A place for one tensor.
#[derive(Default)]
pub(super) enum Slot<'o> {
    #[default]
    Empty,
    Owned(Tensor),
    /// The caller's, which an output is computed into.
    Lent(&'o mut Tensor),
}

impl Slot<'_> {
    #[inline]
    pub fn tensor(&self) -> &Tensor {
        match self {
            Self::Owned(tensor) => tensor,
            Self::Lent(tensor) => tensor,
            Self::Empty => unreachable!("a value is read between its step and its release"),
        }
    }

    #[inline]
    pub fn tensor_mut(&mut self) -> &mut Tensor {
        match self {
            Self::Owned(tensor) => tensor,
            Self::Lent(tensor) => tensor,
            Self::Empty => unreachable!("a slot is filled before its step"),
        }
    }

    /// The tensor, if it is the run's own.
    pub fn take(&mut self) -> Option<Tensor> {
        match mem::take(self) {
            Self::Owned(tensor) => Some(tensor),
            other => {
                *self = other;
                None
            }
        }
    }
}

/// The slots of a run. Their memory is the thread's, so a run allocates none: it is taken for the
/// time of the run, and a run within the run, or one after a panic, begins with new memory.
pub(super) struct Slots<'o>(Vec<Slot<'o>>);

thread_local! {
    static MEMORY: Cell<Vec<Slot<'static>>> = const { Cell::new(Vec::new()) };
}

impl Slots<'_> {
    /// So many empty slots.
    pub fn new(count: usize) -> Self {
        // Nothing is left where the thread is about to end.
        let mut slots = MEMORY.try_with(Cell::take).unwrap_or_default();
        slots.resize_with(count, Slot::default);
        Self(slots)
    }
}

impl Drop for Slots<'_> {
    fn drop(&mut self) {
        let slots = emptied(mem::take(&mut self.0));
        // As above.
        let _ = MEMORY.try_with(|memory| memory.set(slots));
    }
}

impl<'o> Deref for Slots<'o> {
    type Target = [Slot<'o>];

    fn deref(&self) -> &[Slot<'o>] {
        &self.0
    }
}

impl DerefMut for Slots<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// An empty vector of elements that differ in lifetimes, on the memory of the old one, for that is
/// where the standard library collects what comes of a vector of equal layout.
pub(super) fn emptied<T, U>(mut vec: Vec<T>) -> Vec<U> {
    vec.clear();
    vec.into_iter().map(|_| unreachable!("the vector is empty")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_stays_with_the_thread() {
        let address = |slots: &Slots<'_>| slots.as_ptr().addr();
        let first = {
            let mut lent = Tensor::scalar(1.0);
            let mut slots = Slots::new(5);
            slots[4] = Slot::Lent(&mut lent);
            slots[3] = Slot::Owned(Tensor::scalar(2.0));
            address(&slots)
        };
        let slots = Slots::new(3);
        assert_eq!((slots.len(), address(&slots)), (3, first));
        assert!(slots.iter().all(|slot| matches!(slot, Slot::Empty)));
        let within = Slots::new(5);
        assert_ne!(address(&within), first);
    }
}
