//! How entries are combined: sums, products, extrema and truth.

use tenferro_core::Scalar;
use tenferro_runtime::reference::scalar::{Arithmetic, Ordered};

/// Sums in flight at once, enough to fill the vector units.
const LANES: usize = 16;

/// An associative combination of entries.
#[derive(Clone, Copy)]
pub(crate) struct Reducer<T> {
    /// The result of no entry.
    pub empty: T,
    /// Combines two results.
    pub combine: fn(T, T) -> T,
    /// Combines a slice.
    pub fold: fn(&[T]) -> T,
    /// Combines a slice into another of equal length, entry by entry.
    pub accumulate: fn(&mut [T], &[T]),
}

/// The sum.
pub(crate) fn sum<T: Arithmetic>() -> Reducer<T> {
    Reducer {
        empty: T::ZERO,
        combine: T::add,
        fold: |entries| fold(entries, T::ZERO, T::add),
        accumulate: |results, entries| accumulate(results, entries, T::add),
    }
}

/// The product.
pub(crate) fn product<T: Arithmetic>() -> Reducer<T> {
    Reducer {
        empty: T::ONE,
        combine: T::mul,
        fold: |entries| fold(entries, T::ONE, T::mul),
        accumulate: |results, entries| accumulate(results, entries, T::mul),
    }
}

/// Whether any is true.
pub(crate) fn any() -> Reducer<bool> {
    Reducer {
        empty: false,
        combine: |a, b| a | b,
        fold: |entries| fold(entries, false, |a, b| a | b),
        accumulate: |results, entries| accumulate(results, entries, |a, b| a | b),
    }
}

/// Whether all are true.
pub(crate) fn all() -> Reducer<bool> {
    Reducer {
        empty: true,
        combine: |a, b| a & b,
        fold: |entries| fold(entries, true, |a, b| a & b),
        accumulate: |results, entries| accumulate(results, entries, |a, b| a & b),
    }
}

/// The largest, NaN if any is.
pub(crate) fn max<T: Ordered>() -> Reducer<T> {
    Reducer {
        empty: T::LOWEST,
        combine: T::maximum,
        fold: |entries| fold(entries, T::LOWEST, T::maximum),
        accumulate: |results, entries| accumulate(results, entries, T::maximum),
    }
}

/// The smallest, NaN if any is.
pub(crate) fn min<T: Ordered>() -> Reducer<T> {
    Reducer {
        empty: T::HIGHEST,
        combine: T::minimum,
        fold: |entries| fold(entries, T::HIGHEST, T::minimum),
        accumulate: |results, entries| accumulate(results, entries, T::minimum),
    }
}

#[inline(always)]
fn fold<T: Scalar>(entries: &[T], empty: T, f: impl Fn(T, T) -> T) -> T {
    let mut lanes = [empty; LANES];
    let (whole, rest) = entries.as_chunks::<LANES>();
    for chunk in whole {
        for (lane, &entry) in lanes.iter_mut().zip(chunk) {
            *lane = f(*lane, entry);
        }
    }
    for (lane, &entry) in lanes.iter_mut().zip(rest) {
        *lane = f(*lane, entry);
    }
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for i in 0..width {
            lanes[i] = f(lanes[i], lanes[i + width]);
        }
    }
    lanes[0]
}

#[inline(always)]
fn accumulate<T: Scalar>(results: &mut [T], entries: &[T], f: impl Fn(T, T) -> T) {
    for (result, &entry) in results.iter_mut().zip(entries) {
        *result = f(*result, entry);
    }
}
