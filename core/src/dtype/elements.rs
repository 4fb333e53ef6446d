//! A slice of elements whose dtype is known at run time.

use num_complex::Complex;

use super::DType;

/// Borrowed elements of any dtype.
#[derive(Clone, Copy)]
pub enum Elements<'a> {
    F32(&'a [f32]),
    F64(&'a [f64]),
    C32(&'a [Complex<f32>]),
    C64(&'a [Complex<f64>]),
    I32(&'a [i32]),
    I64(&'a [i64]),
    Bool(&'a [bool]),
}

impl Elements<'_> {
    pub(crate) fn dtype(&self) -> DType {
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
}

/// What makes [`Scalar`](super::Scalar) closed: the way between a slice and [`Elements`].
pub trait Element: Sized {
    fn erase(slice: &[Self]) -> Elements<'_>;
    fn recover(elements: Elements<'_>) -> Option<&[Self]>;
}
