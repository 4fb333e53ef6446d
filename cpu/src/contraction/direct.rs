//! Products of small real matrices, read at their strides: what is small is in the caches, and packing would cost more
//! than it spares.
//!
//! A tile of the result is kept in registers while its terms are added one after the other, as in the inner kernel of
//! Goto and van de Geijn, *Anatomy of High-Performance Matrix Multiplication* (ACM TOMS 34, 2008), section 4.2.

use std::mem::MaybeUninit;

use tenferro_core::{DType, Scalar};

use super::multiply::Strides;
use super::vector::{ACROSS, Vector};

/// Most multiplications of a product that is made here,
const LARGEST: usize = 64 * 64 * 64;
/// and most terms of a sum.
const DEEPEST: usize = 128;
/// Vectors of a tile along its rows, and its columns.
pub(super) const ROWS: usize = 2;
pub(super) const COLUMNS: usize = ACROSS;
/// Most lanes of a vector.
pub(super) const LANES: usize = 8;

/// Whether there are vectors of this dtype.
pub(super) fn has_vectors(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F64)
}

/// Whether a product is small enough.
pub(super) fn pays(dtype: DType, m: usize, n: usize, k: usize) -> bool {
    has_vectors(dtype) && k <= DEEPEST && m.saturating_mul(n).saturating_mul(k) <= LARGEST
}

/// `c = a * b`: matrices in memory, `a` of `m` rows and `k` columns, `b` of `n` columns.
#[derive(Clone, Copy)]
pub(super) struct Product<T> {
    pub sizes: (usize, usize, usize),
    pub a: (*const T, Strides),
    pub b: (*const T, Strides),
    pub c: (*mut T, Strides),
}

impl<T: Scalar> Product<T> {
    fn cast<S>(self) -> Product<S> {
        let Self { sizes, a, b, c } = self;
        Product { sizes, a: (a.0.cast(), a.1), b: (b.0.cast(), b.1), c: (c.0.cast(), c.1) }
    }

    /// The same product transposed where that lets the vectors run along contiguous rows of the left operand and of
    /// the result, or of one of them.
    fn turned(self) -> Self {
        let rate = |left: Strides, result: isize| 2 * usize::from(left.row == 1) + usize::from(result == 1);
        let other = |strides: Strides| Strides { row: strides.column, column: strides.row };
        let Self { sizes: (m, n, k), a, b, c } = self;
        if rate(other(b.1), c.1.column) <= rate(a.1, c.1.row) {
            return self;
        }
        Product { sizes: (n, m, k), a: (b.0, other(b.1)), b: (a.0, other(a.1)), c: (c.0, other(c.1)) }
    }
}

/// A kernel over vectors of any type, and its operands.
pub(super) trait Work<T> {
    /// # Safety
    /// The machine has the instructions of `V`, whose numbers are `T`s, and what the kernel asks of its operands holds.
    unsafe fn run<V: Vector>(self);
}

/// Runs a kernel on the best vectors of this machine.
///
/// # Safety
/// [`has_vectors`] is true for `T`, and what the kernel asks of its operands holds.
pub(super) unsafe fn dispatch<T: Scalar>(work: impl Work<T>) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        use std::arch::x86_64::{__m256, __m256d};

        #[target_feature(enable = "avx2,fma")]
        unsafe fn with_avx2<T, V: Vector>(work: impl Work<T>) {
            // SAFETY: passed on to the caller.
            unsafe { work.run::<V>() }
        }
        // SAFETY: the instructions were detected, the numbers of the vectors are those of the dtype, and the caller
        // vouches for the rest.
        return unsafe {
            match T::DTYPE {
                DType::F64 => with_avx2::<T, __m256d>(work),
                DType::F32 => with_avx2::<T, __m256>(work),
                _ => {}
            }
        };
    }
    // SAFETY: arrays need no instructions; the rest as above.
    unsafe {
        match T::DTYPE {
            DType::F64 => work.run::<[f64; 4]>(),
            DType::F32 => work.run::<[f32; 8]>(),
            _ => {}
        }
    }
}

/// # Safety
/// [`pays`] is true for the dtype and the sizes; every entry of the matrices lies within memory valid for reading (`a`,
/// `b`) or writing (`c`), entries of `c` are distinct and nothing else reads or writes them meanwhile.
pub(super) unsafe fn multiply<T: Scalar>(product: Product<T>) {
    // SAFETY: passed on to the caller.
    unsafe { dispatch(product.turned()) }
}

impl<T: Scalar> Work<T> for Product<T> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let product = self.cast::<V::Item>();
        let (m, ..) = product.sizes;
        let mut panel = [const { MaybeUninit::<V::Item>::uninit() }; ROWS * LANES * DEEPEST];
        let mut i = 0;
        // SAFETY: rows `i..m` are rows of the matrices; the caller vouches for the rest. A panel has room for two
        // vectors of rows of as many columns as the caller's check of the sizes allows.
        unsafe {
            while m - i > V::LANES {
                let rows = (m - i).min(2 * V::LANES);
                product.rows::<V, 2>(i, rows, panel.as_mut_ptr().cast());
                i += rows;
            }
            if i < m {
                product.rows::<V, 1>(i, m - i, panel.as_mut_ptr().cast());
            }
        }
    }
}

impl<T: Scalar> Product<T> {
    /// Rows `i..i + rows` of the result, at most `P` vectors of them.
    ///
    /// # Safety
    /// As for [`multiply`], and `panel` has room for `P` vectors for each column of `a`.
    #[inline(always)]
    unsafe fn rows<V: Vector<Item = T>, const P: usize>(&self, i: usize, rows: usize, panel: *mut T) {
        let Self { sizes: (_, n, k), a: (a, a_strides), b: (b, b_strides), c: (c, c_strides) } = *self;
        let whole = rows == P * V::LANES;
        let a = a.wrapping_offset(i as isize * a_strides.row);
        // Rows that vectors cannot be loaded from are copied, with zeros beyond the last.
        let (a, a_next) = if whole && a_strides.row == 1 {
            (a, a_strides.column)
        } else {
            let width = P * V::LANES;
            for step in 0..k {
                let column = a.wrapping_offset(step as isize * a_strides.column);
                // SAFETY: the caller vouches for the rows of `a` and the room of the panel.
                unsafe {
                    for row in 0..rows {
                        *panel.add(step * width + row) = *column.wrapping_offset(row as isize * a_strides.row);
                    }
                    for row in rows..width {
                        *panel.add(step * width + row) = T::ZERO;
                    }
                }
            }
            (panel.cast_const(), width as isize)
        };
        for j in (0..n).step_by(COLUMNS) {
            let columns = COLUMNS.min(n - j);
            // Beyond the last column, it is computed once more.
            let mut apart = [0; COLUMNS];
            for (column, apart) in apart.iter_mut().enumerate() {
                *apart = column.min(columns - 1) as isize * b_strides.column;
            }
            let b = b.wrapping_offset(j as isize * b_strides.column);
            let c = c.wrapping_offset(i as isize * c_strides.row + j as isize * c_strides.column);
            // SAFETY: the loads are those of `k` whole columns of `a` or of the panel, and of entries of `b`; the
            // stores those of `rows` and `columns` of `c`.
            unsafe {
                let sums = tile::<V, P, true>(k, (a, a_next, V::LANES as isize), (b, b_strides.row, apart));
                if whole && c_strides.row == 1 {
                    for (p, sums) in sums.into_iter().enumerate() {
                        for (column, sum) in sums.into_iter().enumerate() {
                            if column < columns {
                                sum.store(c.offset(column as isize * c_strides.column).add(p * V::LANES));
                            }
                        }
                    }
                } else if whole && columns == COLUMNS && c_strides.column == 1 {
                    for (p, sums) in sums.into_iter().enumerate() {
                        let c = c.offset((p * V::LANES) as isize * c_strides.row);
                        V::store_across(sums, c, c_strides.row);
                    }
                } else {
                    let mut entries = [T::ZERO; COLUMNS * ROWS * LANES];
                    for (p, sums) in sums.into_iter().enumerate() {
                        for (column, sum) in sums.into_iter().enumerate() {
                            sum.store(entries.as_mut_ptr().add((column * P + p) * V::LANES));
                        }
                    }
                    for (column, entries) in entries.chunks(P * V::LANES).take(columns).enumerate() {
                        let c = c.wrapping_offset(column as isize * c_strides.column);
                        for (row, &entry) in entries.iter().take(rows).enumerate() {
                            *c.wrapping_offset(row as isize * c_strides.row) = entry;
                        }
                    }
                }
            }
        }
    }
}

/// The sums of `k` products: `P` vectors of `a`, so far apart, times a number each of the columns of `b` or, unless
/// `SPREAD`, times a vector.
///
/// # Safety
/// All that is loaded is valid for reading, and the machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn tile<V: Vector, const P: usize, const SPREAD: bool>(
    k: usize,
    (mut a, a_next, a_apart): (*const V::Item, isize, isize),
    (mut b, b_next, b_apart): (*const V::Item, isize, [isize; COLUMNS]),
) -> [[V; COLUMNS]; P] {
    // SAFETY: passed on to the caller.
    unsafe {
        let zero = V::spread(V::Item::ZERO);
        let mut sums = [[zero; COLUMNS]; P];
        for _ in 0..k {
            let mut rows = [zero; P];
            for (p, row) in rows.iter_mut().enumerate() {
                *row = V::load(a.offset(p as isize * a_apart));
            }
            for column in 0..COLUMNS {
                let b = b.offset(b_apart[column]);
                let factor = if SPREAD { V::spread(*b) } else { V::load(b) };
                for p in 0..P {
                    sums[p][column] = sums[p][column].add_product(rows[p], factor);
                }
            }
            a = a.wrapping_offset(a_next);
            b = b.wrapping_offset(b_next);
        }
        sums
    }
}
