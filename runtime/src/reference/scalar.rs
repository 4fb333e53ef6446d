//! What every elementwise operation does to one entry, for every dtype that has it.
//!
//! These are the meanings of the core operations. The reference engine applies them entry by
//! entry; other engines use them where they have no kernel of their own.

use tenferro_core::{Complex, Complex32, Complex64, Num, Scalar};

use super::complex;

/// Operations of every number. Integers wrap.
pub trait Arithmetic: Num {
    /// The dtype of moduli and parts: that of the parts of a complex number, its own otherwise.
    type Part: Ordered;

    /// `a + b`
    fn add(self, other: Self) -> Self;
    /// `a - b`
    fn sub(self, other: Self) -> Self;
    /// `a * b`
    fn mul(self, other: Self) -> Self;
    /// `a / b`; of integers truncated toward zero, and 0 where `b` is 0.
    fn div(self, other: Self) -> Self;
    /// `-x`
    fn neg(self) -> Self;
    /// `x / |x|`, 0 at 0 and at NaN.
    fn sign(self) -> Self;
    /// `|x|`
    fn abs(self) -> Self::Part;
    /// The complex conjugate.
    fn conj(self) -> Self;
    /// The real part.
    fn real(self) -> Self::Part;
    /// The imaginary part.
    fn imag(self) -> Self::Part;
}

/// Operations of numbers that `<` compares.
pub trait Ordered: Arithmetic<Part = Self> + PartialOrd {
    /// The identity of [`maximum`](Ordered::maximum): -inf, or the least integer.
    const LOWEST: Self;
    /// The identity of [`minimum`](Ordered::minimum): inf, or the largest integer.
    const HIGHEST: Self;

    /// The remainder of `a / b` with the sign of `a`; of integers `a` where `b` is 0.
    fn rem(self, other: Self) -> Self;

    /// The larger, NaN if either is.
    fn maximum(self, other: Self) -> Self {
        if self > other || is_nan(self) { self } else { other }
    }

    /// The smaller, NaN if either is.
    fn minimum(self, other: Self) -> Self {
        if self < other || is_nan(self) { self } else { other }
    }
}

/// Functions of floats, real or complex; principal branches.
pub trait Analytic: Arithmetic {
    /// `e^x`
    fn exp(self) -> Self;
    /// `e^x - 1`, exact near 0.
    fn expm1(self) -> Self;
    /// The natural logarithm.
    fn log(self) -> Self;
    /// `log(1 + x)`, exact near 0.
    fn log1p(self) -> Self;
    /// The sine.
    fn sin(self) -> Self;
    /// The cosine.
    fn cos(self) -> Self;
    /// The tangent.
    fn tan(self) -> Self;
    /// The inverse sine.
    fn asin(self) -> Self;
    /// The inverse cosine.
    fn acos(self) -> Self;
    /// The inverse tangent.
    fn atan(self) -> Self;
    /// The hyperbolic sine.
    fn sinh(self) -> Self;
    /// The hyperbolic cosine.
    fn cosh(self) -> Self;
    /// The hyperbolic tangent.
    fn tanh(self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// `1 / sqrt(x)`
    fn rsqrt(self) -> Self;
    /// `a^b`, C's pow for reals.
    fn pow(self, exponent: Self) -> Self;
    /// Neither infinite nor NaN.
    fn is_finite(self) -> bool;
}

/// Functions of real floats alone.
pub trait RealFunction: Analytic {
    /// The complex number of which this is a part.
    type Whole: Scalar;

    /// `2 / sqrt(pi)` times the integral of `e^(-t^2)` from 0 to x.
    fn erf(self) -> Self;
    /// `1 - erf(x)`, exact where that is small.
    fn erfc(self) -> Self;
    /// The cube root.
    fn cbrt(self) -> Self;
    /// The next integer at or below.
    fn floor(self) -> Self;
    /// The next integer at or above.
    fn ceil(self) -> Self;
    /// The nearest integer, of two the even one.
    fn round(self) -> Self;
    /// The angle of the point `(x, y)`, where `self` is `y`.
    fn atan2(self, x: Self) -> Self;
    /// The complex number of these parts.
    fn complex(self, im: Self) -> Self::Whole;
}

/// Whether a value is unequal to itself, which NaN alone is.
#[inline]
#[allow(clippy::eq_op)]
pub fn is_nan<T: Scalar>(x: T) -> bool {
    x != x
}

macro_rules! real {
    ($T:ident, $erf:path, $erfc:path) => {
        impl Arithmetic for $T {
            type Part = $T;

            #[inline]
            fn add(self, other: Self) -> Self {
                self + other
            }
            #[inline]
            fn sub(self, other: Self) -> Self {
                self - other
            }
            #[inline]
            fn mul(self, other: Self) -> Self {
                self * other
            }
            #[inline]
            fn div(self, other: Self) -> Self {
                self / other
            }
            #[inline]
            fn neg(self) -> Self {
                -self
            }
            #[inline]
            fn sign(self) -> Self {
                if self == 0.0 || self.is_nan() { 0.0 } else { self.signum() }
            }
            #[inline]
            fn abs(self) -> Self {
                self.abs()
            }
            #[inline]
            fn conj(self) -> Self {
                self
            }
            #[inline]
            fn real(self) -> Self {
                self
            }
            #[inline]
            fn imag(self) -> Self {
                0.0
            }
        }

        impl Ordered for $T {
            const LOWEST: Self = $T::NEG_INFINITY;
            const HIGHEST: Self = $T::INFINITY;

            #[inline]
            fn rem(self, other: Self) -> Self {
                self % other
            }
        }

        impl Analytic for $T {
            #[inline]
            fn exp(self) -> Self {
                self.exp()
            }
            #[inline]
            fn expm1(self) -> Self {
                self.exp_m1()
            }
            #[inline]
            fn log(self) -> Self {
                self.ln()
            }
            #[inline]
            fn log1p(self) -> Self {
                self.ln_1p()
            }
            #[inline]
            fn sin(self) -> Self {
                self.sin()
            }
            #[inline]
            fn cos(self) -> Self {
                self.cos()
            }
            #[inline]
            fn tan(self) -> Self {
                self.tan()
            }
            #[inline]
            fn asin(self) -> Self {
                self.asin()
            }
            #[inline]
            fn acos(self) -> Self {
                self.acos()
            }
            #[inline]
            fn atan(self) -> Self {
                self.atan()
            }
            #[inline]
            fn sinh(self) -> Self {
                self.sinh()
            }
            #[inline]
            fn cosh(self) -> Self {
                self.cosh()
            }
            #[inline]
            fn tanh(self) -> Self {
                self.tanh()
            }
            #[inline]
            fn sqrt(self) -> Self {
                self.sqrt()
            }
            #[inline]
            fn rsqrt(self) -> Self {
                1.0 / self.sqrt()
            }
            #[inline]
            fn pow(self, exponent: Self) -> Self {
                self.powf(exponent)
            }
            #[inline]
            fn is_finite(self) -> bool {
                self.is_finite()
            }
        }

        impl RealFunction for $T {
            type Whole = Complex<$T>;

            #[inline]
            fn erf(self) -> Self {
                $erf(self)
            }
            #[inline]
            fn erfc(self) -> Self {
                $erfc(self)
            }
            #[inline]
            fn cbrt(self) -> Self {
                self.cbrt()
            }
            #[inline]
            fn floor(self) -> Self {
                self.floor()
            }
            #[inline]
            fn ceil(self) -> Self {
                self.ceil()
            }
            #[inline]
            fn round(self) -> Self {
                self.round_ties_even()
            }
            #[inline]
            fn atan2(self, x: Self) -> Self {
                self.atan2(x)
            }
            #[inline]
            fn complex(self, im: Self) -> Self::Whole {
                Complex::new(self, im)
            }
        }
    };
}

real!(f32, libm::erff, libm::erfcf);
real!(f64, libm::erf, libm::erfc);

macro_rules! integer {
    ($T:ident) => {
        impl Arithmetic for $T {
            type Part = $T;

            #[inline]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline]
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline]
            fn div(self, other: Self) -> Self {
                if other == 0 { 0 } else { self.wrapping_div(other) }
            }
            #[inline]
            fn neg(self) -> Self {
                self.wrapping_neg()
            }
            #[inline]
            fn sign(self) -> Self {
                self.signum()
            }
            #[inline]
            fn abs(self) -> Self {
                self.wrapping_abs()
            }
            #[inline]
            fn conj(self) -> Self {
                self
            }
            #[inline]
            fn real(self) -> Self {
                self
            }
            #[inline]
            fn imag(self) -> Self {
                0
            }
        }

        impl Ordered for $T {
            const LOWEST: Self = $T::MIN;
            const HIGHEST: Self = $T::MAX;

            #[inline]
            fn rem(self, other: Self) -> Self {
                if other == 0 { self } else { self.wrapping_rem(other) }
            }
        }
    };
}

integer!(i32);
integer!(i64);

/// Complex numbers of single precision are computed in double precision and rounded once, but
/// for sums and products.
macro_rules! complex_numbers {
    ($T:ident, $Part:ident, $widen:expr, $narrow:expr) => {
        impl Arithmetic for $T {
            type Part = $Part;

            #[inline]
            fn add(self, other: Self) -> Self {
                self + other
            }
            #[inline]
            fn sub(self, other: Self) -> Self {
                self - other
            }
            #[inline]
            fn mul(self, other: Self) -> Self {
                self * other
            }
            #[inline]
            fn div(self, other: Self) -> Self {
                $narrow(complex::div($widen(self), $widen(other)))
            }
            #[inline]
            fn neg(self) -> Self {
                -self
            }
            #[inline]
            fn sign(self) -> Self {
                $narrow(complex::sign($widen(self)))
            }
            #[inline]
            fn abs(self) -> $Part {
                self.re.hypot(self.im)
            }
            #[inline]
            fn conj(self) -> Self {
                Self::new(self.re, -self.im)
            }
            #[inline]
            fn real(self) -> $Part {
                self.re
            }
            #[inline]
            fn imag(self) -> $Part {
                self.im
            }
        }

        impl Analytic for $T {
            #[inline]
            fn exp(self) -> Self {
                $narrow(complex::exp($widen(self)))
            }
            #[inline]
            fn expm1(self) -> Self {
                $narrow(complex::expm1($widen(self)))
            }
            #[inline]
            fn log(self) -> Self {
                $narrow(complex::log($widen(self)))
            }
            #[inline]
            fn log1p(self) -> Self {
                $narrow(complex::log1p($widen(self)))
            }
            #[inline]
            fn sin(self) -> Self {
                $narrow(complex::sin($widen(self)))
            }
            #[inline]
            fn cos(self) -> Self {
                $narrow(complex::cos($widen(self)))
            }
            #[inline]
            fn tan(self) -> Self {
                $narrow(complex::tan($widen(self)))
            }
            #[inline]
            fn asin(self) -> Self {
                $narrow(complex::asin($widen(self)))
            }
            #[inline]
            fn acos(self) -> Self {
                $narrow(complex::acos($widen(self)))
            }
            #[inline]
            fn atan(self) -> Self {
                $narrow(complex::atan($widen(self)))
            }
            #[inline]
            fn sinh(self) -> Self {
                $narrow(complex::sinh($widen(self)))
            }
            #[inline]
            fn cosh(self) -> Self {
                $narrow(complex::cosh($widen(self)))
            }
            #[inline]
            fn tanh(self) -> Self {
                $narrow(complex::tanh($widen(self)))
            }
            #[inline]
            fn sqrt(self) -> Self {
                $narrow(complex::sqrt($widen(self)))
            }
            #[inline]
            fn rsqrt(self) -> Self {
                $narrow(complex::div(Complex64::ONE, complex::sqrt($widen(self))))
            }
            #[inline]
            fn pow(self, exponent: Self) -> Self {
                $narrow(complex::pow($widen(self), $widen(exponent)))
            }
            #[inline]
            fn is_finite(self) -> bool {
                self.re.is_finite() && self.im.is_finite()
            }
        }
    };
}

complex_numbers!(Complex32, f32, |z: Complex32| Complex64::new(z.re.into(), z.im.into()), |z: Complex64| {
    Complex32::new(z.re as f32, z.im as f32)
});
complex_numbers!(Complex64, f64, std::convert::identity, std::convert::identity);

/// `x` as another dtype: integers truncate and saturate, real dtypes take the real part, `bool`
/// tests `!= 0`, and `true` is 1.
#[inline]
pub fn convert<S: Convert, T: Convert>(x: S) -> T {
    T::from_number(x.to_number())
}

/// A number without loss, between two dtypes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// An integer.
    Integer(i64),
    /// A real float.
    Real(f64),
    /// A complex float.
    Complex(Complex64),
}

/// Dtypes that [`convert`] to one another: all.
pub trait Convert: Scalar {
    /// The value as a number.
    fn to_number(self) -> Number;
    /// The nearest value.
    fn from_number(number: Number) -> Self;
}

macro_rules! convert {
    ($T:ty, $x:ident => $number:expr, $i:ident => $integer:expr, $r:ident => $real:expr, $z:ident => $complex:expr) => {
        impl Convert for $T {
            #[inline]
            fn to_number(self) -> Number {
                let $x = self;
                $number
            }
            #[inline]
            fn from_number(number: Number) -> Self {
                match number {
                    Number::Integer($i) => $integer,
                    Number::Real($r) => $real,
                    Number::Complex($z) => $complex,
                }
            }
        }
    };
}

convert!(f64, x => Number::Real(x), i => i as f64, r => r, z => z.re);
convert!(f32, x => Number::Real(x.into()), i => i as f32, r => r as f32, z => z.re as f32);
convert!(i64, x => Number::Integer(x), i => i, r => r as i64, z => z.re as i64);
convert!(i32, x => Number::Integer(x.into()), i => i.clamp(i32::MIN.into(), i32::MAX.into()) as i32, r => r as i32, z => z.re as i32);
convert!(bool, x => Number::Integer(x.into()), i => i != 0, r => r != 0.0, z => z != Complex64::ZERO);
convert!(Complex64, x => Number::Complex(x), i => Complex64::new(i as f64, 0.0), r => Complex64::new(r, 0.0), z => z);
convert!(
    Complex32,
    x => Number::Complex(Complex64::new(x.re.into(), x.im.into())),
    i => Complex32::new(i as f32, 0.0),
    r => Complex32::new(r as f32, 0.0),
    z => Complex32::new(z.re as f32, z.im as f32)
);
