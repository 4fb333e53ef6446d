//! Kernels and inputs that several tests share.

use tenferro::dtype::ScalarValue;
use tenferro::prelude::*;

tenferro! {
    /// Mean squared error of a linear model.
    #[grad(w, b)]
    pub fn mse<T: Real>(w: T[d], b: T, x: T[n, d], y: T[n]) -> T {
        let r[i] = x[i, j] * w[j] + b - y[i];
        mean(r * r)
    }

    /// Mean negative log-likelihood of a logistic model.
    #[grad(w)]
    pub fn logistic<T: Real>(w: T[d], x: T[n, d], y: T[n]) -> T {
        let z[i] = x[i, j] * w[j];
        mean(softplus(z) - y * z)
    }

    /// Scaled dot-product attention, one head.
    pub fn attention<T: Real>(q: T[n, d], k: T[m, d], v: T[m, e]) -> T[n, e] {
        let score[i, j] = q[i, c] * k[j, c] / sqrt(d);
        let p[i, j] = softmax[j](score[i, j]);
        einsum("nm,me->ne", p, v)
    }

    /// Sum and normalised entries.
    pub fn normalise<T: Real>(x: T[n]) -> (total: T, share: T[n]) {
        let total = sum(x);
        (total, x / total)
    }
}

/// The element with this value.
pub fn element<T: Real>(value: f64) -> T {
    T::from_value(ScalarValue::from_f64(value, T::DTYPE)).unwrap()
}

/// The value of this element.
pub fn value<T: Real>(element: T) -> f64 {
    match element.to_value() {
        ScalarValue::F32(v) => v.into(),
        ScalarValue::F64(v) => v,
        other => unreachable!("{other} is not real"),
    }
}

/// Entries in [-1, 1) that look random and are the same on every run.
pub fn tensor<T: Real, const R: usize>(shape: [usize; R], seed: u64) -> TypedTensor<T, R> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    TypedTensor::from_fn(shape, |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        element((state >> 11) as f64 / (1u64 << 52) as f64 - 1.0)
    })
    .unwrap()
}

/// `x + h * v`.
pub fn moved<T: Real, const R: usize>(x: &TypedTensor<T, R>, h: f64, v: &TypedTensor<T, R>) -> TypedTensor<T, R> {
    TypedTensor::from_fn(x.shape(), |at| element(value(x[at]) + h * value(v[at]))).unwrap()
}

/// The sum of the products of entries.
pub fn inner<T: Real, const R: usize>(x: &TypedTensor<T, R>, y: &TypedTensor<T, R>) -> f64 {
    x.iter().zip(y.iter()).map(|(a, b)| value(a) * value(b)).sum()
}

/// `(x - y) / 2h`.
pub fn central<T: Real, const R: usize>(
    ahead: &TypedTensor<T, R>,
    behind: &TypedTensor<T, R>,
    h: f64,
) -> TypedTensor<T, R> {
    let quotient = |at| element((value(ahead[at]) - value(behind[at])) / (2.0 * h));
    TypedTensor::from_fn(ahead.shape(), quotient).unwrap()
}

/// Panics unless all entries are within `tolerance` of one another.
#[track_caller]
pub fn assert_close<T: Real, const R: usize>(x: &TypedTensor<T, R>, y: &TypedTensor<T, R>, tolerance: f64) {
    assert_eq!(x.shape(), y.shape());
    for (a, b) in x.iter().zip(y.iter()) {
        assert_near(value(a), value(b), tolerance);
    }
}

/// Panics unless the numbers are within `tolerance` of one another.
#[track_caller]
pub fn assert_near(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs())), "{a} is not near {b}");
}
