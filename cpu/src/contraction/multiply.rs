//! The matrix kernel: one product of two strided matrices on one thread.
//!
//! On x86-64 this is the kernel of `faer` (AVX-512, or AVX2 with FMA, chosen when the program runs), elsewhere the one
//! of `gemm`. Both pack panels of the left operand as they go, so strides need not be short.

use tenferro_core::{DType, Scalar};

/// A matrix in memory: its strides along rows and columns, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Strides {
    /// From one row to the next.
    pub row: isize,
    /// From one column to the next.
    pub column: isize,
}

/// Whether [`multiply`] can be used for this dtype on this machine.
pub(crate) fn has_kernel(dtype: DType) -> bool {
    dtype.is_float() && kernel::is_supported()
}

/// `c = a * b`, where `a` has `m` rows and `k` columns and `b` has `n` columns.
///
/// # Safety
/// [`has_kernel`] is true for `T`, `k` is not 0, every entry of the three matrices lies within memory valid for reading
/// (`a`, `b`) or writing (`c`), entries of `c` are distinct and nothing else reads or writes them meanwhile.
pub(crate) unsafe fn multiply<T: Scalar>(
    (m, n, k): (usize, usize, usize),
    (a, a_strides): (*const T, Strides),
    (b, b_strides): (*const T, Strides),
    (c, c_strides): (*mut T, Strides),
) {
    // SAFETY: passed on to the caller.
    unsafe { kernel::multiply((m, n, k), (a, a_strides), (b, b_strides), (c, c_strides)) }
}

#[cfg(target_arch = "x86_64")]
mod kernel {
    use std::ptr::null;
    use std::sync::LazyLock;

    use private_gemm_x86::{Accum, DType as KernelDType, DstKind, IType, InstrSet, gemm};
    use tenferro_core::{DType, Scalar};

    use super::Strides;

    static INSTRUCTIONS: LazyLock<Option<InstrSet>> = LazyLock::new(|| {
        if is_x86_feature_detected!("avx512f") {
            Some(InstrSet::Avx512)
        } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            Some(InstrSet::Avx256)
        } else {
            None
        }
    });

    pub(super) fn is_supported() -> bool {
        INSTRUCTIONS.is_some()
    }

    pub(super) unsafe fn multiply<T: Scalar>(
        (m, n, k): (usize, usize, usize),
        (a, a_strides): (*const T, Strides),
        (b, b_strides): (*const T, Strides),
        (c, c_strides): (*mut T, Strides),
    ) {
        let dtype = match T::DTYPE {
            DType::F32 => KernelDType::F32,
            DType::F64 => KernelDType::F64,
            DType::C32 => KernelDType::C32,
            DType::C64 => KernelDType::C64,
            DType::I32 | DType::I64 | DType::Bool => return,
        };
        let Some(instructions) = *INSTRUCTIONS else { return };
        let alpha = T::ONE;
        // SAFETY: the caller vouches for the matrices; the null pointers stand for "no index lists" and "no diagonal";
        // the instructions were detected, all of which go with AVX; one thread is asked for.
        unsafe {
            gemm(
                dtype,
                IType::U64,
                instructions,
                m,
                n,
                k,
                c.cast(),
                c_strides.row,
                c_strides.column,
                null(),
                null(),
                DstKind::Full,
                Accum::Replace,
                a.cast(),
                a_strides.row,
                a_strides.column,
                false,
                null(),
                0,
                b.cast(),
                b_strides.row,
                b_strides.column,
                false,
                (&raw const alpha).cast(),
                1,
            );
            clear_upper_halves();
        }
    }

    /// The kernel leaves the upper halves of the vector registers in use, and as long as they are, code without AVX is
    /// slowed down by an order of magnitude.
    #[target_feature(enable = "avx")]
    fn clear_upper_halves() {
        std::arch::x86_64::_mm256_zeroupper();
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod kernel {
    use gemm::Parallelism;
    use tenferro_core::{Complex32, Complex64, DType, Scalar};

    use super::Strides;

    pub(super) fn is_supported() -> bool {
        true
    }

    pub(super) unsafe fn multiply<T: Scalar>(
        sizes: (usize, usize, usize),
        a: (*const T, Strides),
        b: (*const T, Strides),
        c: (*mut T, Strides),
    ) {
        // SAFETY: the caller vouches for the matrices, and the types are those of the dtypes.
        unsafe {
            match T::DTYPE {
                DType::F32 => multiply_as::<T, f32>(sizes, a, b, c, [0.0, 1.0]),
                DType::F64 => multiply_as::<T, f64>(sizes, a, b, c, [0.0, 1.0]),
                DType::C32 => multiply_as::<T, Complex32>(sizes, a, b, c, [Complex32::ZERO, Complex32::ONE]),
                DType::C64 => multiply_as::<T, Complex64>(sizes, a, b, c, [Complex64::ZERO, Complex64::ONE]),
                DType::I32 | DType::I64 | DType::Bool => {}
            }
        }
    }

    unsafe fn multiply_as<T, E: 'static>(
        (m, n, k): (usize, usize, usize),
        (a, a_strides): (*const T, Strides),
        (b, b_strides): (*const T, Strides),
        (c, c_strides): (*mut T, Strides),
        [alpha, beta]: [E; 2],
    ) {
        // SAFETY: as above; `alpha` scales what was in `c`, which is not read.
        unsafe {
            gemm::gemm(
                m,
                n,
                k,
                c.cast::<E>(),
                c_strides.column,
                c_strides.row,
                false,
                a.cast::<E>(),
                a_strides.column,
                a_strides.row,
                b.cast::<E>(),
                b_strides.column,
                b_strides.row,
                alpha,
                beta,
                false,
                false,
                false,
                Parallelism::None,
            );
        }
    }
}
