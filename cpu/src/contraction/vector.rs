//! Vectors of the small kernels: AVX2 with FMA where the machine has it, plain arrays elsewhere.

use tenferro_core::Scalar;

/// Vectors that [`Vector::store_across`] writes side by side.
pub(super) const ACROSS: usize = 4;

/// A few numbers, computed on at once.
///
/// # Safety
/// All methods ask that the machine has the instructions of the type, and pointers to be valid for what is read or
/// written; they need not be aligned.
pub(super) trait Vector: Copy {
    type Item: Scalar;
    const LANES: usize;

    /// The same number in each lane.
    unsafe fn spread(number: Self::Item) -> Self;
    unsafe fn load(from: *const Self::Item) -> Self;
    unsafe fn store(self, to: *mut Self::Item);
    /// `self + a * b`
    unsafe fn add_product(self, a: Self, b: Self) -> Self;
    /// Lane `i` of vector `j` goes to `to + i * stride + j`.
    unsafe fn store_across(vectors: [Self; ACROSS], to: *mut Self::Item, stride: isize);
}

macro_rules! portable {
    ($T:ty, $lanes:literal) => {
        impl Vector for [$T; $lanes] {
            type Item = $T;
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn spread(number: $T) -> Self {
                [number; $lanes]
            }

            #[inline(always)]
            unsafe fn load(from: *const $T) -> Self {
                // SAFETY: passed on to the caller.
                unsafe { from.cast::<Self>().read_unaligned() }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $T) {
                // SAFETY: passed on to the caller.
                unsafe { to.cast::<Self>().write_unaligned(self) }
            }

            #[inline(always)]
            unsafe fn add_product(mut self, a: Self, b: Self) -> Self {
                for (lane, (a, b)) in self.iter_mut().zip(a.iter().zip(b)) {
                    *lane += a * b;
                }
                self
            }

            #[inline(always)]
            unsafe fn store_across(vectors: [Self; ACROSS], to: *mut $T, stride: isize) {
                for i in 0..$lanes {
                    for (j, vector) in vectors.iter().enumerate() {
                        // SAFETY: passed on to the caller.
                        unsafe { *to.offset(i as isize * stride + j as isize) = vector[i] };
                    }
                }
            }
        }
    };
}

portable!(f64, 4);
portable!(f32, 8);

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::{ACROSS, Vector};

    impl Vector for __m256d {
        type Item = f64;
        const LANES: usize = 4;

        #[inline(always)]
        unsafe fn spread(number: f64) -> Self {
            // SAFETY: passed on to the caller.
            unsafe { _mm256_set1_pd(number) }
        }

        #[inline(always)]
        unsafe fn load(from: *const f64) -> Self {
            // SAFETY: passed on to the caller.
            unsafe { _mm256_loadu_pd(from) }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut f64) {
            // SAFETY: passed on to the caller.
            unsafe { _mm256_storeu_pd(to, self) }
        }

        #[inline(always)]
        unsafe fn add_product(self, a: Self, b: Self) -> Self {
            // SAFETY: passed on to the caller.
            unsafe { _mm256_fmadd_pd(a, b, self) }
        }

        #[inline(always)]
        unsafe fn store_across([a, b, c, d]: [Self; ACROSS], to: *mut f64, stride: isize) {
            // SAFETY: passed on to the caller.
            unsafe {
                let (ab_even, ab_odd) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
                let (cd_even, cd_odd) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
                _mm256_storeu_pd(to, _mm256_permute2f128_pd::<0x20>(ab_even, cd_even));
                _mm256_storeu_pd(to.offset(stride), _mm256_permute2f128_pd::<0x20>(ab_odd, cd_odd));
                _mm256_storeu_pd(to.offset(2 * stride), _mm256_permute2f128_pd::<0x31>(ab_even, cd_even));
                _mm256_storeu_pd(to.offset(3 * stride), _mm256_permute2f128_pd::<0x31>(ab_odd, cd_odd));
            }
        }
    }

    impl Vector for __m256 {
        type Item = f32;
        const LANES: usize = 8;

        #[inline(always)]
        unsafe fn spread(number: f32) -> Self {
            // SAFETY: passed on to the caller.
            unsafe { _mm256_set1_ps(number) }
        }

        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            // SAFETY: passed on to the caller.
            unsafe { _mm256_loadu_ps(from) }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            // SAFETY: passed on to the caller.
            unsafe { _mm256_storeu_ps(to, self) }
        }

        #[inline(always)]
        unsafe fn add_product(self, a: Self, b: Self) -> Self {
            // SAFETY: passed on to the caller.
            unsafe { _mm256_fmadd_ps(a, b, self) }
        }

        #[inline(always)]
        unsafe fn store_across([a, b, c, d]: [Self; ACROSS], to: *mut f32, stride: isize) {
            // SAFETY: passed on to the caller.
            unsafe {
                // Pairs of lanes, then fours: those of lane `i` in the lower half, of lane `i + 4` in the upper.
                let (ab_low, ab_high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
                let (cd_low, cd_high) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
                let lines = [
                    _mm256_shuffle_ps::<0x44>(ab_low, cd_low),
                    _mm256_shuffle_ps::<0xee>(ab_low, cd_low),
                    _mm256_shuffle_ps::<0x44>(ab_high, cd_high),
                    _mm256_shuffle_ps::<0xee>(ab_high, cd_high),
                ];
                let mut to = to;
                for line in lines {
                    _mm_storeu_ps(to, _mm256_castps256_ps128(line));
                    _mm_storeu_ps(to.wrapping_offset(4 * stride), _mm256_extractf128_ps::<1>(line));
                    to = to.wrapping_offset(stride);
                }
            }
        }
    }
}
