//! Transposition of elements of 8 bytes in squares of 8, a cache line wide: each line is read once and written once,
//! however few lines of these strides the caches hold.

use tenferro_core::Scalar;

/// Elements of a line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 8;

/// As [`transpose`](super::transpose::transpose), for the squares that fit; gives the rows and the columns of all of
/// these.
#[cfg(target_arch = "x86_64")]
pub(super) fn transpose<T: Scalar>(
    (rows, s): (usize, isize),
    (columns, d): (usize, usize),
    destination: &mut [T],
    source: &[T],
    from: isize,
    beyond_caches: bool,
) -> (usize, usize) {
    let (rows, columns) = (rows - rows % LINE, columns - columns % LINE);
    if size_of::<T>() != 8 || rows == 0 || columns == 0 || !is_x86_feature_detected!("avx2") {
        return (0, 0);
    }
    let far = (rows as isize - 1) * s;
    let (low, high) = (from + far.min(0), from + far.max(0) + columns as isize);
    assert!(low >= 0 && high as usize <= source.len(), "a copy's entries lie within its source");
    assert!((columns - 1) * d + rows <= destination.len(), "a copy's entries lie within its destination");
    let to = destination.as_mut_ptr();
    let is_aligned = (to as usize).is_multiple_of(32) && d.is_multiple_of(4);
    let sizes = [rows, columns];
    let (to, from) = ((to.cast(), d), (source.as_ptr().wrapping_offset(from).cast(), s));
    // SAFETY: AVX2 was detected, elements are of 8 bytes, all entries lie within the slices, and streams are aligned.
    unsafe {
        match beyond_caches && is_aligned {
            true => squares::<true>(sizes, to, from),
            false => squares::<false>(sizes, to, from),
        }
    }
    (rows, columns)
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn transpose<T: Scalar>(
    _: (usize, isize),
    _: (usize, usize),
    _: &mut [T],
    _: &[T],
    _: isize,
    _: bool,
) -> (usize, usize) {
    (0, 0)
}

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// # Safety
/// Sizes are multiples of `LINE`, all entries are valid for reading or writing, and with `STREAM`, `to` is at a multiple
/// of 32 bytes and `d` a multiple of 4.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn squares<const STREAM: bool>(
    [rows, columns]: [usize; 2],
    (to, d): (*mut f64, usize),
    (from, s): (*const f64, isize),
) {
    for i in (0..rows).step_by(LINE) {
        for j in (0..columns).step_by(4) {
            // SAFETY: passed on to the caller.
            unsafe {
                let from = from.offset(i as isize * s).add(j);
                let (first, second) = (turn(from, s), turn(from.offset(4 * s), s));
                for (j, (first, second)) in (j..).zip(first.into_iter().zip(second)) {
                    let to = to.add(i + j * d);
                    if STREAM {
                        _mm256_stream_pd(to, first);
                        _mm256_stream_pd(to.add(4), second);
                    } else {
                        _mm256_storeu_pd(to, first);
                        _mm256_storeu_pd(to.add(4), second);
                    }
                }
            }
        }
    }
    if STREAM {
        // Streams are not in order with the writes that tell other threads of them.
        _mm_sfence();
    }
}

/// Four columns of four rows. Only moves, so the bits of any element are kept.
///
/// # Safety
/// The rows are valid for reading.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn turn(from: *const f64, s: isize) -> [__m256d; 4] {
    // SAFETY: passed on to the caller.
    let (a, b, c, d) = unsafe {
        let row = |i: isize| _mm256_loadu_pd(from.offset(i * s));
        (row(0), row(1), row(2), row(3))
    };
    let (ab_even, ab_odd) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
    let (cd_even, cd_odd) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
    [
        _mm256_permute2f128_pd::<0x20>(ab_even, cd_even),
        _mm256_permute2f128_pd::<0x20>(ab_odd, cd_odd),
        _mm256_permute2f128_pd::<0x31>(ab_even, cd_even),
        _mm256_permute2f128_pd::<0x31>(ab_odd, cd_odd),
    ]
}
