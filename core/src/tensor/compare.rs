//! Equality of tensors, exact and within a tolerance.

use std::fmt;

use num_complex::Complex;

use super::{Tensor, TensorRead, TensorView, TypedTensor, TypedView};
use crate::dtype::{DType, Element, Scalar, ScalarValue};
use crate::with_dtype;

/// How two tensors differ.
#[derive(Debug, Clone, PartialEq)]
pub enum Mismatch {
    /// Their dtypes differ.
    DType {
        /// The dtype found.
        actual: DType,
        /// The dtype expected.
        expected: DType,
    },
    /// The tolerance is negative or NaN, so that nothing can be within it.
    Tolerance {
        /// The tolerance relative to what is expected.
        rtol: f64,
        /// The absolute tolerance.
        atol: f64,
    },
    /// Their shapes differ.
    Shape {
        /// The shape found.
        actual: Vec<usize>,
        /// The shape expected.
        expected: Vec<usize>,
    },
    /// Some elements differ by more than is allowed.
    Elements {
        /// How many elements do.
        count: usize,
        /// The index of the worst of them: the one that exceeds what is allowed by most, the first among equals.
        index: Vec<usize>,
        /// That element as found.
        actual: ScalarValue,
        /// That element as expected.
        expected: ScalarValue,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::DType { actual, expected } => {
                write!(f, "dtype {actual}, expected {expected}")
            }
            Mismatch::Tolerance { rtol, atol } => {
                write!(f, "the tolerance rtol = {rtol}, atol = {atol} is negative or NaN")
            }
            Mismatch::Shape { actual, expected } => {
                write!(f, "shape {actual:?}, expected {expected:?}")
            }
            Mismatch::Elements { count, index, actual, expected } => {
                write!(f, "{actual} at {index:?}, expected {expected} (the worst of {count} elements that differ)")
            }
        }
    }
}

impl std::error::Error for Mismatch {}

/// Whether [`compare`] finds no difference.
///
/// ```
/// use tenferro_core::{Tensor, all_close};
/// let third = Tensor::scalar(1.0 / 3.0);
/// assert!(all_close(&third, &Tensor::scalar(0.333_333_4), 1e-6, 0.0));
/// ```
pub fn all_close<'a, 'b>(
    actual: impl Into<TensorRead<'a>>,
    expected: impl Into<TensorRead<'b>>,
    rtol: f64,
    atol: f64,
) -> bool {
    compare(actual, expected, rtol, atol).is_ok()
}

/// Compares dtypes, shapes, and elements within a tolerance: `|actual - expected| <= atol + rtol * |expected|`.
///
/// Complex numbers are compared by modulus. NaN equals NaN, infinities have to be the same, and integers and booleans
/// must match exactly.
///
/// # Errors
/// The tolerance is negative or NaN; or how they differ: of the elements, how many do and the worst of them.
pub fn compare<'a, 'b>(
    actual: impl Into<TensorRead<'a>>,
    expected: impl Into<TensorRead<'b>>,
    rtol: f64,
    atol: f64,
) -> Result<(), Mismatch> {
    if !(rtol >= 0.0 && atol >= 0.0) {
        return Err(Mismatch::Tolerance { rtol, atol });
    }
    let (actual, expected) = (actual.into(), expected.into());
    let (actual, expected) = (actual.view(), expected.view());
    if actual.dtype() != expected.dtype() {
        return Err(Mismatch::DType { actual: actual.dtype(), expected: expected.dtype() });
    }
    if actual.shape() != expected.shape() {
        return Err(Mismatch::Shape { actual: actual.shape().into(), expected: expected.shape().into() });
    }
    let mut worst: Option<(f64, usize, ScalarValue, ScalarValue)> = None;
    let mut count = 0;
    for (number, (a, e)) in values(&actual).zip(values(&expected)).enumerate() {
        let excess = excess(a, e, rtol, atol);
        if excess > 0.0 {
            count += 1;
            if worst.is_none_or(|(most, ..)| excess > most) {
                worst = Some((excess, number, a, e));
            }
        }
    }
    match worst {
        None => Ok(()),
        Some((_, number, a, e)) => {
            Err(Mismatch::Elements { count, index: index_of(number, actual.shape()), actual: a, expected: e })
        }
    }
}

/// The elements in column-major order, with their dtype.
fn values<'a>(view: &TensorView<'a>) -> Box<dyn Iterator<Item = ScalarValue> + 'a> {
    with_dtype!(view.dtype(), T => {
        // The type is that of the dtype, so the buffer is there.
        let buffer = T::recover(view.elements).unwrap_or_default();
        Box::new(view.layout().offsets().map(|position| buffer[position].to_value()))
    })
}

/// By how much two elements differ beyond what is allowed; not positive if they are close.
fn excess(actual: ScalarValue, expected: ScalarValue, rtol: f64, atol: f64) -> f64 {
    let (Some(a), Some(e)) = (as_complex(actual), as_complex(expected)) else {
        return difference(actual, expected);
    };
    // A bound that is NaN, as 0 times infinity, allows nothing.
    let beyond = |difference: f64, size: f64| {
        let excess = difference - (atol + rtol * size);
        if excess.is_nan() { f64::INFINITY } else { excess }
    };
    if a.is_finite() && e.is_finite() {
        return beyond((a - e).norm(), e.norm());
    }
    // A modulus says nothing here: infinities and NaN must match, and a part that is finite must be close.
    let part = |x: f64, y: f64| match () {
        () if x == y || (x.is_nan() && y.is_nan()) => 0.0,
        () if x.is_finite() && y.is_finite() => beyond((x - y).abs(), y.abs()),
        () => f64::INFINITY,
    };
    part(a.re, e.re).max(part(a.im, e.im))
}

/// How far apart two integers are; 1 for booleans that differ.
fn difference(actual: ScalarValue, expected: ScalarValue) -> f64 {
    let integer = |value| match value {
        ScalarValue::I32(i) => i128::from(i),
        ScalarValue::I64(i) => i128::from(i),
        ScalarValue::Bool(b) => i128::from(b),
        ScalarValue::F32(_) | ScalarValue::F64(_) | ScalarValue::C32(_) | ScalarValue::C64(_) => 0,
    };
    (integer(actual) - integer(expected)).unsigned_abs() as f64
}

/// A float as a complex number; integers and booleans have no tolerance.
fn as_complex(value: ScalarValue) -> Option<Complex<f64>> {
    match value {
        ScalarValue::F32(x) => Some(f64::from(x).into()),
        ScalarValue::F64(x) => Some(x.into()),
        ScalarValue::C32(z) => Some(Complex::new(z.re.into(), z.im.into())),
        ScalarValue::C64(z) => Some(z),
        ScalarValue::I32(_) | ScalarValue::I64(_) | ScalarValue::Bool(_) => None,
    }
}

/// The index of the `number`th element in column-major order.
fn index_of(number: usize, shape: &[usize]) -> Vec<usize> {
    let cut = |rest: &mut usize, &extent: &usize| {
        let index = *rest % extent;
        *rest /= extent;
        Some(index)
    };
    shape.iter().scan(number, cut).collect()
}

/// Equal dtypes, shapes and elements; as for floats, `NaN` equals nothing.
impl PartialEq for TensorView<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.shape() == other.shape()
            && with_dtype!(self.dtype(), T => {
                match (self.iter::<T>(), other.iter::<T>()) {
                    (Ok(a), Ok(b)) => a.eq(b),
                    _ => false,
                }
            })
    }
}

impl PartialEq for Tensor {
    fn eq(&self, other: &Self) -> bool {
        self.view() == other.view()
    }
}

impl<T: Scalar, const R: usize> PartialEq for TypedTensor<T, R> {
    fn eq(&self, other: &Self) -> bool {
        self.as_dyn() == other.as_dyn()
    }
}

impl<T: Scalar, const R: usize> PartialEq for TypedView<'_, T, R> {
    fn eq(&self, other: &Self) -> bool {
        self.as_dyn() == other.as_dyn()
    }
}
