//! Functions of one complex number, without the overflow and cancellation of the plain formulas.

use std::f64::consts::{FRAC_PI_2, LN_2};

use tenferro_core::Complex64;

const fn c(re: f64, im: f64) -> Complex64 {
    Complex64::new(re, im)
}

/// `a * b` where a zero `a` wins over an infinite `b`.
fn scaled(a: f64, b: f64) -> f64 {
    if a == 0.0 { a } else { a * b }
}

/// The sum of five terms with one rounding or little more (Neumaier 1974).
fn sum(terms: [f64; 5]) -> f64 {
    let (mut total, mut lost) = (0.0_f64, 0.0);
    for term in terms {
        let next = total + term;
        lost += if total.abs() >= term.abs() { (total - next) + term } else { (term - next) + total };
        total = next;
    }
    total + lost
}

/// A square and its rounding error.
fn square(x: f64) -> (f64, f64) {
    let square = x * x;
    (square, x.mul_add(x, -square))
}

/// Division by the larger part first (Smith 1962).
pub(super) fn div(a: Complex64, b: Complex64) -> Complex64 {
    if b.re == 0.0 && b.im == 0.0 {
        return c(a.re / b.re, a.im / b.re);
    }
    if b.re.is_infinite() || b.im.is_infinite() {
        if !(a.re.is_finite() && a.im.is_finite()) || b.re.is_nan() || b.im.is_nan() {
            return c(f64::NAN, f64::NAN);
        }
        return c(0.0, 0.0);
    }
    if b.re.abs() >= b.im.abs() {
        let ratio = b.im / b.re;
        let scale = b.re + b.im * ratio;
        c((a.re + a.im * ratio) / scale, (a.im - a.re * ratio) / scale)
    } else {
        let ratio = b.re / b.im;
        let scale = b.re * ratio + b.im;
        c((a.re * ratio + a.im) / scale, (a.im * ratio - a.re) / scale)
    }
}

/// `z / |z|`, 0 at 0 and at NaN.
pub(super) fn sign(z: Complex64) -> Complex64 {
    let largest = z.re.abs().max(z.im.abs());
    if largest == 0.0 || z.re.is_nan() || z.im.is_nan() {
        return Complex64::ZERO;
    }
    let z = if largest.is_infinite() {
        let part = |x: f64| if x.is_infinite() { x.signum() } else { 0.0_f64.copysign(x) };
        c(part(z.re), part(z.im))
    } else {
        c(z.re / largest, z.im / largest)
    };
    let modulus = z.re.hypot(z.im);
    c(z.re / modulus, z.im / modulus)
}

pub(super) fn exp(z: Complex64) -> Complex64 {
    if z.im == 0.0 {
        return c(z.re.exp(), z.im);
    }
    if z.re == f64::NEG_INFINITY {
        return c(0.0, 0.0);
    }
    let (sin, cos) = z.im.sin_cos();
    // In two factors, so that a large one meets a small sine before it overflows.
    let half = (z.re * 0.5).exp();
    if z.re > 700.0 {
        return c(half * cos * half, half * sin * half);
    }
    let modulus = z.re.exp();
    c(modulus * cos, modulus * sin)
}

/// With `e^x cos y - 1 = (e^x - 1) cos y - 2 sin(y/2)^2`.
pub(super) fn expm1(z: Complex64) -> Complex64 {
    if z.im == 0.0 {
        return c(z.re.exp_m1(), z.im);
    }
    if z.re > 1.0 || z.re == f64::NEG_INFINITY {
        return exp(z) - 1.0;
    }
    let (sin, cos) = z.im.sin_cos();
    let half = (0.5 * z.im).sin();
    c(z.re.exp_m1() * cos - 2.0 * half * half, z.re.exp() * sin)
}

/// The logarithm of the modulus, exact near the unit circle.
fn log_modulus(z: Complex64) -> f64 {
    let modulus = z.re.hypot(z.im);
    if modulus > 0.5 && modulus < 2.0 {
        let ((xx, xe), (yy, ye)) = (square(z.re), square(z.im));
        return 0.5 * sum([-1.0, xx, yy, xe, ye]).ln_1p();
    }
    if modulus == f64::INFINITY && z.re.is_finite() && z.im.is_finite() {
        return (z.re * 0.5).hypot(z.im * 0.5).ln() + LN_2;
    }
    modulus.ln()
}

pub(super) fn log(z: Complex64) -> Complex64 {
    c(log_modulus(z), z.im.atan2(z.re))
}

/// With `|1 + z|^2 = 1 + 2x + x^2 + y^2`.
pub(super) fn log1p(z: Complex64) -> Complex64 {
    if z.re.abs() > 0.5 || z.im.abs() > 0.5 {
        // 1 + x is inexact, but no longer small.
        return log(c(1.0 + z.re, z.im));
    }
    let ((xx, xe), (yy, ye)) = (square(z.re), square(z.im));
    c(0.5 * sum([2.0 * z.re, xx, yy, xe, ye]).ln_1p(), z.im.atan2(1.0 + z.re))
}

pub(super) fn sin(z: Complex64) -> Complex64 {
    let (sin, cos) = z.re.sin_cos();
    c(scaled(sin, z.im.cosh()), if z.im == 0.0 { z.im * cos } else { cos * z.im.sinh() })
}

pub(super) fn cos(z: Complex64) -> Complex64 {
    let (sin, cos) = z.re.sin_cos();
    c(cos * z.im.cosh(), -scaled(sin, z.im.sinh()))
}

pub(super) fn tan(z: Complex64) -> Complex64 {
    let w = tanh(c(-z.im, z.re));
    c(w.im, -w.re)
}

/// Kahan's formula (1987), which neither overflows nor cancels.
pub(super) fn tanh(z: Complex64) -> Complex64 {
    let (x, y) = (z.re, z.im);
    if x.abs() > 22.0 {
        let (sin, cos) = y.sin_cos();
        return c(1.0_f64.copysign(x), 4.0 * sin * cos * (-2.0 * x.abs()).exp());
    }
    let tan = y.tan();
    let secant2 = 1.0 + tan * tan;
    let sinh = x.sinh();
    let cosh = (1.0 + sinh * sinh).sqrt();
    if tan.is_infinite() {
        return c(cosh / sinh, 1.0 / tan);
    }
    let denominator = 1.0 + secant2 * sinh * sinh;
    c(secant2 * cosh * sinh / denominator, tan / denominator)
}

/// `sin(iz) / i`
pub(super) fn sinh(z: Complex64) -> Complex64 {
    let w = sin(c(-z.im, z.re));
    c(w.im, -w.re)
}

/// `cos(iz)`
pub(super) fn cosh(z: Complex64) -> Complex64 {
    cos(c(-z.im, z.re))
}

/// The roots of `1 - z` and `1 + z`.
fn roots_about_one(z: Complex64) -> (Complex64, Complex64) {
    (sqrt(c(1.0 - z.re, -z.im)), sqrt(c(1.0 + z.re, z.im)))
}

/// Beyond this modulus the roots of `1 - z` and `1 + z` differ by a factor of i, and their product may overflow.
const FAR: f64 = 1e150;

/// `log(2 |z|)` where that is large.
fn far_logarithm(z: Complex64) -> f64 {
    log_modulus(z) + LN_2
}

/// Kahan's formula (1987).
pub(super) fn asin(z: Complex64) -> Complex64 {
    if z.re.abs().max(z.im.abs()) > FAR {
        return c(z.re.atan2(z.im.abs()), far_logarithm(z).copysign(z.im));
    }
    let (below, above) = roots_about_one(z);
    c(z.re.atan2((below * above).re), (below.conj() * above).im.asinh())
}

/// Kahan's formula (1987).
pub(super) fn acos(z: Complex64) -> Complex64 {
    if z.re.abs().max(z.im.abs()) > FAR {
        return c(z.im.abs().atan2(z.re), far_logarithm(z).copysign(-z.im));
    }
    let (below, above) = roots_about_one(z);
    c(2.0 * below.re.atan2(above.re), (above.conj() * below).im.asinh())
}

/// With `|z + i|^2 / |z - i|^2 = 1 + 4y / |z - i|^2` above the real axis.
pub(super) fn atan(z: Complex64) -> Complex64 {
    let (x, y) = (z.re, z.im.abs());
    if x.abs().max(y) > FAR {
        let modulus = x.hypot(y);
        return c(
            FRAC_PI_2.copysign(x),
            if modulus.is_infinite() { 0.0 } else { y / modulus / modulus }.copysign(z.im),
        );
    }
    let angle = 0.5 * (2.0 * x).atan2((1.0 - y) * (1.0 + y) - x * x);
    let rest = 1.0 - y;
    c(angle, (0.25 * (4.0 * y / (x * x + rest * rest)).ln_1p()).copysign(z.im))
}

pub(super) fn sqrt(z: Complex64) -> Complex64 {
    if z.re == 0.0 && z.im == 0.0 {
        return c(0.0, z.im);
    }
    if z.im.is_infinite() {
        return c(f64::INFINITY, z.im);
    }
    // Powers of 4 in, powers of 2 out: the sum under the root stays in range.
    let largest = z.re.abs().max(z.im.abs());
    let (scale, back) = match largest {
        l if l > 1e300 => (0.0625, 4.0),
        l if l < 1e-290 => (2.0_f64.powi(108), 2.0_f64.powi(-54)),
        _ => (1.0, 1.0),
    };
    let (x, y) = (z.re * scale, z.im * scale);
    let root = (0.5 * (x.abs() + x.hypot(y))).sqrt();
    let other = y.abs() / (2.0 * root) * back;
    let root = root * back;
    if x >= 0.0 { c(root, other.copysign(y)) } else { c(other, root.copysign(y)) }
}

/// The largest whole exponent for which products are no less exact than the logarithm.
const PRODUCTS: f64 = 64.0;

/// `e^(b log a)`, for small whole `b` as products, so that `a^1` is `a` and `a^2` is `a * a`; `0^b` is 0 where the real
/// part of `b` is positive, and 1 for `b = 0`.
pub(super) fn pow(a: Complex64, b: Complex64) -> Complex64 {
    if b == Complex64::ZERO {
        return Complex64::ONE;
    }
    if a == Complex64::ZERO {
        return match b.re {
            re if re > 0.0 => Complex64::ZERO,
            re if re < 0.0 && b.im == 0.0 => c(f64::INFINITY, 0.0),
            _ => c(f64::NAN, f64::NAN),
        };
    }
    if b.im == 0.0 && b.re.fract() == 0.0 && b.re.abs() <= PRODUCTS {
        let power = a.powu(b.re.abs() as u32);
        let power = if b.re < 0.0 { div(Complex64::ONE, power) } else { power };
        // Where parts overflow the logarithm still tells 0 from infinity.
        if power.is_finite() {
            return power;
        }
    }
    let log = log(a);
    let exponent = c(b.re * log.re - b.im * log.im, b.re * log.im + b.im * log.re);
    exp(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: Complex64, b: Complex64, tolerance: f64) {
        assert!((a - b).norm() <= tolerance * b.norm(), "{a} is not {b}");
    }

    #[test]
    fn small_arguments_keep_their_digits() {
        let z = c(1e-10, 2e-10);
        close(expm1(z), z + z * z * 0.5, 1e-15);
        close(log1p(z), z - z * z * 0.5, 1e-15);
        // Next to the unit circle, and to x = -y^2 / 2; the exact values of these very floats.
        assert!((log(c(0.6, 0.8)).re - 2.2204460492503132e-17).abs() < 1e-31);
        assert!((log1p(c(-5e-9, 1e-4)).re - 1.2500000374604557e-17).abs() < 1e-31);
    }

    #[test]
    fn large_arguments_do_not_overflow() {
        close(tanh(c(800.0, 1.0)), c(1.0, 0.0), 1e-15);
        close(tan(c(1.0, 800.0)), c(0.0, 1.0), 1e-15);
        close(sqrt(c(1e308, 1e308)), c(1.09868411346781e154, 4.550898605622273e153), 1e-14);
        close(div(c(1e300, 1e300), c(1e300, 1e300)), c(1.0, 0.0), 1e-15);
        close(log(c(1e308, 1e308)), c(1e308_f64.ln() + 0.5 * LN_2, 0.5 * FRAC_PI_2), 1e-15);
        close(sign(c(3e307, -4e307)), c(0.6, -0.8), 1e-15);
    }

    #[test]
    fn inverse_functions_undo_their_functions() {
        for z in [c(0.3, 0.4), c(-2.0, 1e-3), c(1e-9, -2e-9), c(0.5, -3.0), c(-0.2, 0.9)] {
            close(sin(asin(z)), z, 1e-14);
            close(cos(acos(z)), z, 1e-7); // the cosine is flat where it is near 1
            close(tan(atan(z)), z, 1e-14);
            close(asin(z) + acos(z), c(FRAC_PI_2, 0.0), 1e-15);
        }
        // sqrt(1e40) times itself, and far beyond where that would overflow
        close(asin(c(1e20, 1e20)), c(std::f64::consts::FRAC_PI_4, 47.091422630720835), 1e-15);
        close(acos(c(-1e300, 0.0)), c(std::f64::consts::PI, -691.4686750787736), 1e-15);
        close(atan(c(1e300, 1.0)), c(FRAC_PI_2, 0.0), 1e-15);
        assert_eq!(atan(c(0.0, 1.0)).im, f64::INFINITY);
    }

    #[test]
    fn each_side_of_a_cut_has_its_own_value() {
        close(asin(c(2.0, 0.0)), c(FRAC_PI_2, 1.3169578969248166), 1e-15);
        close(asin(c(2.0, -0.0)), c(FRAC_PI_2, -1.3169578969248166), 1e-15);
        close(acos(c(2.0, 0.0)), c(0.0, -1.3169578969248166), 1e-15);
        close(atan(c(0.0, 2.0)), c(FRAC_PI_2, 0.5493061443340549), 1e-15);
        close(atan(c(-0.0, 2.0)), c(-FRAC_PI_2, 0.5493061443340549), 1e-15);
    }

    #[test]
    fn whole_powers_are_products() {
        for z in [c(3.0, 4.0), c(-1.5, 0.25), c(0.0, 1.0), c(1e-3, -7.0), c(1e150, 1e140)] {
            assert_eq!(pow(z, c(1.0, 0.0)), z);
            assert_eq!(pow(z, c(2.0, 0.0)), z * z);
            assert_eq!(pow(z, c(-1.0, 0.0)), div(c(1.0, 0.0), z));
            close(pow(z, c(-2.0, 0.0)) * (z * z), c(1.0, 0.0), 1e-15);
        }
        assert_eq!(pow(c(0.0, 1.0), c(3.0, 0.0)), c(0.0, -1.0));
        assert_eq!(pow(c(1.0, 1.0), c(64.0, 0.0)), c(2f64.powi(32), 0.0));
        // Beyond the range, and beside the whole numbers.
        assert_eq!(pow(c(1e200, 1e200), c(-2.0, 0.0)).norm(), 0.0);
        assert!(pow(c(1e200, 1e200), c(3.0, 0.0)).norm().is_infinite());
        close(pow(c(3.0, 4.0), c(65.0, 0.0)), pow(c(3.0, 4.0), c(64.0, 0.0)) * c(3.0, 4.0), 1e-13);
        close(pow(c(3.0, 4.0), c(0.5, 0.0)), c(2.0, 1.0), 1e-15);
    }

    #[test]
    fn roots_lie_on_the_principal_branch() {
        close(sqrt(c(-4.0, 0.0)), c(0.0, 2.0), 1e-15);
        close(sqrt(c(-4.0, -0.0)), c(0.0, -2.0), 1e-15);
        for z in [c(3.0, 4.0), c(-3.0, 4.0), c(1e-300, -1e-300), c(-2.0, -1e-20)] {
            let root = sqrt(z);
            close(root * root, z, 1e-14);
        }
    }
}
