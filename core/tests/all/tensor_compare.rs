//! Equality, exact and within a tolerance.

use tenferro_core::{Complex, Mismatch, Tensor, TypedTensor, all_close, compare};

fn scalars_close<T: tenferro_core::Scalar>(actual: T, expected: T, rtol: f64, atol: f64) -> bool {
    all_close(&TypedTensor::scalar(actual), &TypedTensor::scalar(expected), rtol, atol)
}

#[test]
fn equality_reads_through_layouts() {
    let a = TypedTensor::from_rows([[1.0, 2.0], [3.0, 4.0]]);
    let b = TypedTensor::from_rows([[1.0, 3.0], [2.0, 4.0]]);
    assert_eq!(a, b.transpose([1, 0]).unwrap());
    assert_ne!(a, b);
    assert_ne!(Tensor::scalar(1.0), Tensor::scalar(1.0_f32));
    assert_ne!(Tensor::scalar(f64::NAN), Tensor::scalar(f64::NAN));
    assert_eq!(Tensor::scalar(0.0), Tensor::scalar(-0.0));
    assert_ne!(Tensor::full([0, 2], 1).unwrap(), Tensor::full([2, 0], 1).unwrap());
}

#[test]
fn tolerance_is_absolute_plus_relative_to_what_is_expected() {
    assert!(scalars_close(10.2, 10.0, 0.01, 0.1));
    assert!(!scalars_close(10.21, 10.0, 0.01, 0.1));
    assert!(scalars_close(1.000_001_f32, 1.0, 1e-5, 0.0));
    assert!(scalars_close(Complex::new(3.0, 4.0), Complex::new(3.03, 4.04), 0.01, 0.0));
    assert!(!scalars_close(Complex::new(3.0, 4.0), Complex::new(3.06, 4.08), 0.01, 0.0));
}

#[test]
fn special_values_match_themselves() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    assert!(scalars_close(nan, nan, 0.0, 0.0));
    assert!(scalars_close(inf, inf, 0.0, 0.0));
    assert!(!scalars_close(inf, -inf, 1.0, 1.0));
    assert!(!scalars_close(1e300, inf, 1.0, 1.0));
    assert!(!scalars_close(inf, 1e300, 1.0, 1.0));
    assert!(!scalars_close(nan, 0.0, 1.0, inf));
    assert!(scalars_close(0.0, -0.0, 0.0, 0.0));
    assert!(scalars_close(Complex::new(nan, 1.0), Complex::new(nan, 1.1), 0.1, 0.0));
    assert!(!scalars_close(Complex::new(nan, 1.0), Complex::new(nan, 2.0), 0.1, 0.0));
    assert!(!scalars_close(Complex::new(nan, 1.0), Complex::new(1.0, nan), 1.0, 1.0));
}

#[test]
fn integers_and_booleans_must_be_equal() {
    assert!(!scalars_close(1_000_000, 1_000_001, 1.0, 1.0));
    assert!(scalars_close(-7_i64, -7, 0.0, 0.0));
    assert!(!scalars_close(true, false, 1.0, 1.0));
}

#[test]
fn a_mismatch_says_where() {
    let a = TypedTensor::from_rows([[1.0, 2.0], [3.0, 4.0]]);
    let mut b = a.clone();
    b[[0, 1]] = 2.5;
    b[[1, 1]] = 4.5;
    let mismatch = compare(&a, &b, 0.0, 0.1).unwrap_err();
    assert_eq!(mismatch.to_string(), "2.0 at [0, 1], expected 2.5 (the worst of 2 elements that differ)");
    let mismatch = compare(&a, &a.reshape([4]).unwrap(), 0.0, 0.0).unwrap_err();
    assert_eq!(mismatch.to_string(), "shape [2, 2], expected [4]");
    let mismatch = compare(&a, &a.map(|_| 1_i32), 0.0, 0.0).unwrap_err();
    assert!(matches!(mismatch, Mismatch::DType { .. }));
    assert_eq!(mismatch.to_string(), "dtype f64, expected i32");
}

#[test]
fn a_tolerance_that_allows_nothing_is_refused() {
    let one = Tensor::scalar(1.0);
    for (rtol, atol) in [(-1.0, 0.0), (0.0, -1e-9), (f64::NAN, 0.0), (0.0, f64::NAN)] {
        let mismatch = compare(&one, &one, rtol, atol).unwrap_err();
        assert!(matches!(mismatch, Mismatch::Tolerance { .. }), "{mismatch}");
    }
    assert_eq!(
        compare(&one, &one, -1.0, 0.0).unwrap_err().to_string(),
        "the tolerance rtol = -1, atol = 0 is negative or NaN"
    );
}
