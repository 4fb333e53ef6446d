//! Slices whose dtype is known at run time, so that one tile loop serves every operation on every dtype.

use tenferro_core::{Complex, DType, Result, Scalar, Tensor, TensorView, with_dtype};

use crate::workers::Cut;

/// An element type that can be told apart at run time.
pub(crate) trait Element: Scalar {
    fn wrap(slice: &[Self]) -> Elements<'_>;
    fn wrap_mut(slice: &mut [Self]) -> ElementsMut<'_>;
    fn zeros(len: usize) -> Buffer;
    /// The slice. Kernels are chosen by dtype, so it is always of this one.
    fn of(elements: Elements<'_>) -> &[Self];
    /// The slice, to be written.
    fn of_mut(elements: ElementsMut<'_>) -> &mut [Self];
}

macro_rules! elements {
    ($($variant:ident($T:ty)),*) => {
        /// Borrowed elements.
        #[derive(Clone, Copy)]
        pub(crate) enum Elements<'a> { $($variant(&'a [$T])),* }

        /// Exclusively borrowed elements.
        pub(crate) enum ElementsMut<'a> { $($variant(&'a mut [$T])),* }

        /// Owned elements.
        pub(crate) enum Buffer { $($variant(Vec<$T>)),* }

        $(impl Element for $T {
            fn wrap(slice: &[Self]) -> Elements<'_> {
                Elements::$variant(slice)
            }

            fn wrap_mut(slice: &mut [Self]) -> ElementsMut<'_> {
                ElementsMut::$variant(slice)
            }

            fn zeros(len: usize) -> Buffer {
                Buffer::$variant(vec![Self::ZERO; len])
            }

            fn of(elements: Elements<'_>) -> &[Self] {
                match elements {
                    Elements::$variant(slice) => slice,
                    _ => unreachable!("a kernel reads elements of its own dtype"),
                }
            }

            fn of_mut(elements: ElementsMut<'_>) -> &mut [Self] {
                match elements {
                    ElementsMut::$variant(slice) => slice,
                    _ => unreachable!("a kernel writes elements of its own dtype"),
                }
            }
        })*

        impl<'a> Elements<'a> {
            pub fn dtype(self) -> DType {
                match self { $(Self::$variant(_) => <$T>::DTYPE),* }
            }

            /// `len` elements from position `start` on.
            pub fn range(self, start: usize, len: usize) -> Elements<'a> {
                match self { $(Self::$variant(slice) => Self::$variant(&slice[start..][..len])),* }
            }
        }

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
                match self { $(Self::$variant(vec) => vec.len()),* }
            }

            pub fn range(&self, start: usize, len: usize) -> Elements<'_> {
                match self { $(Self::$variant(vec) => Elements::$variant(&vec[start..][..len])),* }
            }

            /// Brings `len` strided elements to the front.
            pub fn gather(&mut self, source: Elements<'_>, start: isize, axes: &[Axis<1>], len: usize) {
                match (self, source) {
                    $((Self::$variant(vec), Elements::$variant(data)) => {
                        gather(data, start, axes, &mut vec[..len]);
                    })*
                    _ => unreachable!("a buffer is made for its operand's dtype"),
                }
            }
        }
    };
}

use crate::movement::gather;
use crate::nest::Axis;

elements! {
    F32(f32), F64(f64), C32(Complex<f32>), C64(Complex<f64>), I32(i32), I64(i64), Bool(bool)
}

impl<'a> Elements<'a> {
    /// The whole buffer behind a view.
    pub fn behind(view: &TensorView<'a>) -> Result<Self> {
        with_dtype!(view.dtype(), T => Ok(T::wrap(view.buffer::<T>()?)))
    }
}

impl<'a> ElementsMut<'a> {
    /// The elements of a compact tensor.
    pub fn of_tensor(tensor: &'a mut Tensor) -> Result<Self> {
        with_dtype!(tensor.dtype(), T => Ok(T::wrap_mut(tensor.as_mut_slice::<T>()?)))
    }
}

impl Buffer {
    pub fn zeros(dtype: DType, len: usize) -> Buffer {
        with_dtype!(dtype, T => <T as Element>::zeros(len))
    }
}
