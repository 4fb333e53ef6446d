//! The Rust types an element can have, and the classes of them that generic code names.

use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

use num_complex::Complex;

use super::elements::{Element, Elements};
use super::{DType, ScalarValue};

/// A Rust type that a tensor can hold: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`, `i32`, `i64`, `bool`.
///
/// ```
/// use tenferro_core::{DType, Scalar, ScalarValue};
/// assert_eq!(f64::DTYPE, DType::F64);
/// assert_eq!(f64::from_value(ScalarValue::F64(2.0)), Some(2.0));
/// assert_eq!(f64::from_value(ScalarValue::F32(2.0)), None);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the type of a tensor element",
    note = "elements are `f32`, `f64`, `Complex<f32>`, `Complex<f64>`, `i32`, `i64` or `bool`"
)]
pub trait Scalar: Element + Copy + PartialEq + Debug + Default + Send + Sync + 'static {
    /// The dtype of the type.
    const DTYPE: DType;
    /// 0, or `false`.
    const ZERO: Self;
    /// 1, or `true`.
    const ONE: Self;

    /// The value with its dtype.
    fn to_value(self) -> ScalarValue;

    /// The value, if it has this dtype.
    fn from_value(value: ScalarValue) -> Option<Self>;
}

/// A number: every [`Scalar`] but `bool`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number of the tensor language",
    note = "`Num` is `f32`, `f64`, `Complex<f32>`, `Complex<f64>`, `i32` or `i64`"
)]
pub trait Num: Scalar {}

/// A number with derivatives, real or complex.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a float of the tensor language",
    note = "`Float` is `f32`, `f64`, `Complex<f32>` or `Complex<f64>`"
)]
pub trait Float:
    Num + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
}

/// A real number with derivatives.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a real float of the tensor language",
    note = "`Real` is `f32` or `f64`"
)]
pub trait Real: Float + PartialOrd {}

macro_rules! scalars {
    ($($T:ty: $variant:ident, $zero:expr, $one:expr, [$($class:ident)*];)*) => { $(
        impl Element for $T {
            fn erase(slice: &[Self]) -> Elements<'_> {
                Elements::$variant(slice)
            }

            fn recover(elements: Elements<'_>) -> Option<&[Self]> {
                match elements {
                    Elements::$variant(slice) => Some(slice),
                    _ => None,
                }
            }
        }

        impl Scalar for $T {
            const DTYPE: DType = DType::$variant;
            const ZERO: Self = $zero;
            const ONE: Self = $one;

            fn to_value(self) -> ScalarValue {
                ScalarValue::$variant(self)
            }

            fn from_value(value: ScalarValue) -> Option<Self> {
                match value {
                    ScalarValue::$variant(value) => Some(value),
                    _ => None,
                }
            }
        }

        $(impl $class for $T {})*
    )* };
}

scalars! {
    f32: F32, 0.0, 1.0, [Num Float Real];
    f64: F64, 0.0, 1.0, [Num Float Real];
    Complex<f32>: C32, Complex::new(0.0, 0.0), Complex::new(1.0, 0.0), [Num Float];
    Complex<f64>: C64, Complex::new(0.0, 0.0), Complex::new(1.0, 0.0), [Num Float];
    i32: I32, 0, 1, [Num];
    i64: I64, 0, 1, [Num];
    bool: Bool, false, true, [];
}
