//! A slice of elements whose dtype is known at run time.

use num_complex::Complex;

use super::DType;

/// Borrowed elements of any dtype.
#[derive(Debug, Clone, Copy)]
pub enum Elements<'a> {
    /// Of dtype `f32`.
    F32(&'a [f32]),
    /// Of dtype `f64`.
    F64(&'a [f64]),
    /// Of dtype `c32`.
    C32(&'a [Complex<f32>]),
    /// Of dtype `c64`.
    C64(&'a [Complex<f64>]),
    /// Of dtype `i32`.
    I32(&'a [i32]),
    /// Of dtype `i64`.
    I64(&'a [i64]),
    /// Of dtype `bool`.
    Bool(&'a [bool]),
}

impl<'a> Elements<'a> {
    /// The dtype.
    pub fn dtype(&self) -> DType {
        match self {
            Elements::F32(_) => DType::F32,
            Elements::F64(_) => DType::F64,
            Elements::C32(_) => DType::C32,
            Elements::C64(_) => DType::C64,
            Elements::I32(_) => DType::I32,
            Elements::I64(_) => DType::I64,
            Elements::Bool(_) => DType::Bool,
        }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            Elements::F32(slice) => slice.len(),
            Elements::F64(slice) => slice.len(),
            Elements::C32(slice) => slice.len(),
            Elements::C64(slice) => slice.len(),
            Elements::I32(slice) => slice.len(),
            Elements::I64(slice) => slice.len(),
            Elements::Bool(slice) => slice.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `len` elements from position `start` on.
    ///
    /// # Panics
    /// There are fewer.
    #[inline]
    pub fn range(self, start: usize, len: usize) -> Elements<'a> {
        match self {
            Elements::F32(slice) => Elements::F32(&slice[start..][..len]),
            Elements::F64(slice) => Elements::F64(&slice[start..][..len]),
            Elements::C32(slice) => Elements::C32(&slice[start..][..len]),
            Elements::C64(slice) => Elements::C64(&slice[start..][..len]),
            Elements::I32(slice) => Elements::I32(&slice[start..][..len]),
            Elements::I64(slice) => Elements::I64(&slice[start..][..len]),
            Elements::Bool(slice) => Elements::Bool(&slice[start..][..len]),
        }
    }
}

/// What makes [`Scalar`](super::Scalar) closed: the way between a slice and [`Elements`].
pub trait Element: Sized {
    fn erase(slice: &[Self]) -> Elements<'_>;
    fn recover(elements: Elements<'_>) -> Option<&[Self]>;
}
