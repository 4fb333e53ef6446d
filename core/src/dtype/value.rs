//! One element of any dtype, as a value.

use std::fmt;
use std::hash::{Hash, Hasher};

use num_complex::Complex;

use super::{DType, Scalar};
use crate::with_dtype;

/// One element of any dtype.
///
/// Equality and hash are those of the bits: `NaN` equals itself and `-0.0` differs from `0.0`, so that values can
/// be part of a key.
#[derive(Debug, Clone, Copy)]
pub enum ScalarValue {
    /// An `f32`.
    F32(f32),
    /// An `f64`.
    F64(f64),
    /// A `Complex<f32>`.
    C32(Complex<f32>),
    /// A `Complex<f64>`.
    C64(Complex<f64>),
    /// An `i32`.
    I32(i32),
    /// An `i64`.
    I64(i64),
    /// A `bool`.
    Bool(bool),
}

impl ScalarValue {
    /// The dtype of the value.
    pub const fn dtype(self) -> DType {
        match self {
            ScalarValue::F32(_) => DType::F32,
            ScalarValue::F64(_) => DType::F64,
            ScalarValue::C32(_) => DType::C32,
            ScalarValue::C64(_) => DType::C64,
            ScalarValue::I32(_) => DType::I32,
            ScalarValue::I64(_) => DType::I64,
            ScalarValue::Bool(_) => DType::Bool,
        }
    }

    /// 0, or `false`.
    pub fn zero(dtype: DType) -> ScalarValue {
        with_dtype!(dtype, T => T::ZERO.to_value())
    }

    /// 1, or `true`.
    pub fn one(dtype: DType) -> ScalarValue {
        with_dtype!(dtype, T => T::ONE.to_value())
    }

    /// Whether the value is 0, of either sign, or `false`.
    pub fn is_zero(self) -> bool {
        match self {
            ScalarValue::F32(x) => x == 0.0,
            ScalarValue::F64(x) => x == 0.0,
            ScalarValue::C32(z) => z == Complex::ZERO,
            ScalarValue::C64(z) => z == Complex::ZERO,
            ScalarValue::I32(i) => i == 0,
            ScalarValue::I64(i) => i == 0,
            ScalarValue::Bool(b) => !b,
        }
    }

    /// The value nearest to a real number: floats round, integers truncate and saturate, `bool` is `value != 0`.
    ///
    /// ```
    /// use tenferro_core::{DType, ScalarValue};
    /// assert_eq!(ScalarValue::from_f64(-2.7, DType::I32), ScalarValue::I32(-2));
    /// ```
    pub fn from_f64(value: f64, dtype: DType) -> ScalarValue {
        match dtype {
            DType::F32 => ScalarValue::F32(value as f32),
            DType::F64 => ScalarValue::F64(value),
            DType::C32 => ScalarValue::C32(Complex::new(value as f32, 0.0)),
            DType::C64 => ScalarValue::C64(Complex::new(value, 0.0)),
            DType::I32 => ScalarValue::I32(value as i32),
            DType::I64 => ScalarValue::I64(value as i64),
            DType::Bool => ScalarValue::Bool(value != 0.0),
        }
    }

    /// The bit pattern; unique together with the dtype.
    fn bits(self) -> (u64, u64) {
        match self {
            ScalarValue::F32(x) => (x.to_bits().into(), 0),
            ScalarValue::F64(x) => (x.to_bits(), 0),
            ScalarValue::C32(z) => (z.re.to_bits().into(), z.im.to_bits().into()),
            ScalarValue::C64(z) => (z.re.to_bits(), z.im.to_bits()),
            ScalarValue::I32(i) => (i as u64, 0),
            ScalarValue::I64(i) => (i as u64, 0),
            ScalarValue::Bool(b) => (b.into(), 0),
        }
    }
}

impl PartialEq for ScalarValue {
    fn eq(&self, other: &Self) -> bool {
        self.dtype() == other.dtype() && self.bits() == other.bits()
    }
}

impl Eq for ScalarValue {}

impl Hash for ScalarValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.dtype(), self.bits()).hash(state);
    }
}

impl<T: Scalar> From<T> for ScalarValue {
    fn from(value: T) -> Self {
        value.to_value()
    }
}

/// The shortest decimal that reads back: `1.0`, `1+2i`, `7`, `true`.
impl fmt::Display for ScalarValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScalarValue::F32(x) => write!(f, "{x:?}"),
            ScalarValue::F64(x) => write!(f, "{x:?}"),
            ScalarValue::C32(z) => write_complex(f, z),
            ScalarValue::C64(z) => write_complex(f, z),
            ScalarValue::I32(i) => write!(f, "{i}"),
            ScalarValue::I64(i) => write!(f, "{i}"),
            ScalarValue::Bool(b) => write!(f, "{b}"),
        }
    }
}

fn write_complex<F: fmt::Debug>(f: &mut fmt::Formatter<'_>, z: &Complex<F>) -> fmt::Result {
    let part = |x: &F| {
        let text = format!("{x:?}");
        text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
    };
    let (re, im) = (part(&z.re), part(&z.im));
    let sign = if im.starts_with('-') { "" } else { "+" };
    write!(f, "{re}{sign}{im}i")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equality_is_bitwise() {
        let nan = ScalarValue::F64(f64::NAN);
        assert_eq!(nan, nan);
        assert_ne!(ScalarValue::F64(0.0), ScalarValue::F64(-0.0));
        assert_ne!(ScalarValue::I32(1), ScalarValue::I64(1));
    }

    #[test]
    fn display_reads_back() {
        let shown = |value: ScalarValue| value.to_string();
        assert_eq!(shown(1.0_f64.into()), "1.0");
        assert_eq!(shown(0.1_f32.into()), "0.1");
        assert_eq!(shown(1e300_f64.into()), "1e300");
        assert_eq!(shown(Complex::new(1.0_f64, -2.5).into()), "1-2.5i");
        assert_eq!(shown(Complex::new(0.0_f32, f32::NAN).into()), "0+NaNi");
        assert_eq!(shown((-3_i64).into()), "-3");
        assert_eq!(shown(true.into()), "true");
    }

    #[test]
    fn from_f64_follows_the_dtype() {
        assert_eq!(ScalarValue::from_f64(1e20, DType::I32), i32::MAX.into());
        assert_eq!(ScalarValue::from_f64(0.5, DType::Bool), true.into());
        for dtype in DType::ALL {
            assert_eq!(ScalarValue::from_f64(0.0, dtype), ScalarValue::zero(dtype));
            assert_eq!(ScalarValue::from_f64(1.0, dtype), ScalarValue::one(dtype));
        }
    }
}
