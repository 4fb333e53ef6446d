//! Slices whose dtype is known at run time, so that one tile loop serves every operation on every dtype.

use std::cell::RefCell;
use std::mem;
use std::ops::{Deref, DerefMut};

use tenferro_core::{Complex, DType, Elements, Result, Scalar, Tensor, with_dtype};

use crate::movement::gather;
use crate::nest::Axis;
use crate::workers::Cut;

/// An element type that can be told apart at run time.
pub(crate) trait Element: Scalar {
    fn wrap(slice: &[Self]) -> Elements<'_>;
    fn wrap_mut(slice: &mut [Self]) -> ElementsMut<'_>;
    /// The slice. Kernels are chosen by dtype, so it is always of this one.
    fn of(elements: Elements<'_>) -> &[Self];
    /// The slice, to be written.
    fn of_mut(elements: ElementsMut<'_>) -> &mut [Self];
    fn scratch(len: usize) -> Buffer;
    /// Looks at the vectors that the thread keeps; not where it is about to end.
    fn idle<R>(look: impl FnOnce(&mut Vec<Vec<Self>>) -> R) -> Option<R>;
}

/// Elements for the time of a tile, on memory that the thread keeps. Their contents are unspecified.
pub(crate) struct Scratch<T: Element> {
    elements: Vec<T>,
    len: usize,
}

/// So many vectors of each dtype a thread keeps.
const KEPT: usize = 4;

impl<T: Element> Scratch<T> {
    pub fn new(len: usize) -> Self {
        let mut elements = T::idle(Vec::pop).flatten().unwrap_or_default();
        if elements.len() < len {
            elements.resize(len, T::ZERO);
        }
        Self { elements, len }
    }
}

impl<T: Element> Drop for Scratch<T> {
    fn drop(&mut self) {
        let elements = mem::take(&mut self.elements);
        T::idle(|idle| {
            if idle.len() < KEPT {
                idle.push(elements);
            }
        });
    }
}

impl<T: Element> Deref for Scratch<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.elements[..self.len]
    }
}

impl<T: Element> DerefMut for Scratch<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.elements[..self.len]
    }
}

macro_rules! elements {
    ($($variant:ident($T:ty)),*) => {
        /// Exclusively borrowed elements.
        pub(crate) enum ElementsMut<'a> { $($variant(&'a mut [$T])),* }

        /// Scratch elements.
        pub(crate) enum Buffer { $($variant(Scratch<$T>)),* }

        $(impl Element for $T {
            #[inline]
            fn wrap(slice: &[Self]) -> Elements<'_> {
                Elements::$variant(slice)
            }

            #[inline]
            fn wrap_mut(slice: &mut [Self]) -> ElementsMut<'_> {
                ElementsMut::$variant(slice)
            }

            #[inline]
            fn of(elements: Elements<'_>) -> &[Self] {
                match elements {
                    Elements::$variant(slice) => slice,
                    _ => unreachable!("a kernel reads elements of its own dtype"),
                }
            }

            #[inline]
            fn of_mut(elements: ElementsMut<'_>) -> &mut [Self] {
                match elements {
                    ElementsMut::$variant(slice) => slice,
                    _ => unreachable!("a kernel writes elements of its own dtype"),
                }
            }

            fn scratch(len: usize) -> Buffer {
                Buffer::$variant(Scratch::new(len))
            }

            fn idle<R>(look: impl FnOnce(&mut Vec<Vec<Self>>) -> R) -> Option<R> {
                thread_local! {
                    static IDLE: RefCell<Vec<Vec<$T>>> = const { RefCell::new(Vec::new()) };
                }
                IDLE.try_with(|idle| look(&mut idle.borrow_mut())).ok()
            }
        })*

        impl ElementsMut<'_> {
            pub fn len(&self) -> usize {
                match self { $(Self::$variant(slice) => slice.len()),* }
            }

            /// `len` elements from position `start` on.
            pub fn range(&mut self, start: usize, len: usize) -> ElementsMut<'_> {
                match self { $(Self::$variant(slice) => ElementsMut::$variant(&mut slice[start..][..len])),* }
            }
        }

        impl Cut for ElementsMut<'_> {
            fn cut(self, position: usize) -> (Self, Self) {
                match self {
                    $(Self::$variant(slice) => {
                        let (low, high) = slice.split_at_mut(position);
                        (Self::$variant(low), Self::$variant(high))
                    })*
                }
            }
        }

        impl Buffer {
            pub fn len(&self) -> usize {
                match self { $(Self::$variant(scratch) => scratch.len()),* }
            }

            pub fn range(&self, start: usize, len: usize) -> Elements<'_> {
                match self { $(Self::$variant(scratch) => Elements::$variant(&scratch[start..][..len])),* }
            }

            /// Brings `len` strided elements to the front.
            pub fn gather(&mut self, source: Elements<'_>, start: isize, axes: &[Axis<1>], len: usize) {
                match (self, source) {
                    $((Self::$variant(scratch), Elements::$variant(data)) => {
                        gather(data, start, axes, &mut scratch[..len]);
                    })*
                    _ => unreachable!("a buffer is made for its operand's dtype"),
                }
            }
        }
    };
}

elements! {
    F32(f32), F64(f64), C32(Complex<f32>), C64(Complex<f64>), I32(i32), I64(i64), Bool(bool)
}

impl<'a> ElementsMut<'a> {
    /// The elements of a compact tensor.
    #[inline]
    pub fn of_tensor(tensor: &'a mut Tensor) -> Result<Self> {
        with_dtype!(tensor.dtype(), T => Ok(T::wrap_mut(tensor.as_mut_slice::<T>()?)))
    }
}

impl Buffer {
    pub fn new(dtype: DType, len: usize) -> Buffer {
        with_dtype!(dtype, T => T::scratch(len))
    }
}
