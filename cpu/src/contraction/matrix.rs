//! Contractions as matrix products, straight from strided operands where the groups of axes allow it.

use tenferro_core::{DType, Scalar};
use tenferro_runtime::Result;

use super::direct::{self, Product};
use super::multiply::{Strides, multiply};
use super::{A, B, C, Groups};
use crate::memory::BufferPool;
use crate::movement::{CopyAxes, copy};
use crate::nest::{Axes, Axis, Walk, fuse, operand, points};
use crate::workers::Workers;

/// A product of fewer multiplications is made by plain loops,
const SMALL: usize = 3 * 3 * 3;
/// and one of fewer than these where the loops can run along a contiguous batch.
const SMALL_ACROSS: usize = 8 * 8 * 8;
/// Multiplications of one block of work, more where there are many.
const BLOCK: usize = 1 << 21;
/// Of one contraction, at most about so many blocks.
const BLOCKS: usize = 16;
/// Blocks end at multiples of these, which the register tiles of the kernels divide.
const ROWS: usize = 96;
const COLUMNS: usize = 32;

/// A matrix product for each point of a batch.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    m: usize,
    n: usize,
    k: usize,
    batch: Axes<3>,
    strides: [Strides; 3],
    /// Copies that are made first, where an operand's groups are not each one axis.
    packed: [Option<Packed>; 2],
    /// A copy of the result that is made last, likewise.
    unpacked: Option<Packed>,
    /// Whether each product is so small that its operands are best read where they lie.
    is_small: bool,
}

/// A compact copy of an operand, in the order in which the product wants it.
#[derive(Clone, Debug)]
struct Packed {
    len: usize,
    /// `[operand, copy]`
    strides: Axes<2>,
}

impl Matrix {
    /// Whether the kernel is worth its overhead.
    pub fn pays(groups: &Groups) -> bool {
        let [m, n, k] = [&groups.left, &groups.right, &groups.summed].map(|axes| points(axes));
        let across = groups.batch.iter().any(|axis| axis.strides == [1; 3]);
        m > 1 && n > 1 && m.saturating_mul(n).saturating_mul(k) > if across { SMALL_ACROSS } else { SMALL }
    }

    /// Orders the axes of each group and decides what to copy.
    pub fn plan(dtype: DType, mut groups: Groups) -> Self {
        let Groups { batch, left, right, summed } = &mut groups;
        batch.sort_by_key(|axis| axis.strides[C]);
        left.sort_by_key(|axis| axis.strides[C]);
        right.sort_by_key(|axis| axis.strides[C]);
        let unpacked = (!is_matrix(left, right, C)).then(|| {
            left.sort_by_key(|axis| axis.strides[A].unsigned_abs());
            right.sort_by_key(|axis| axis.strides[B].unsigned_abs());
            pack([left, right, batch], C)
        });
        // The order of summation that spares the larger copy.
        let copies = |summed: &Axes<3>| {
            let a = !is_matrix(left, summed, A);
            let b = !is_matrix(summed, right, B);
            let cost = usize::from(a) * points(left) + usize::from(b) * points(right);
            (cost, a, b)
        };
        let ordered_by = |i: usize| {
            let mut order = summed.clone();
            order.sort_by_key(|axis| axis.strides[i].unsigned_abs());
            order
        };
        let mut order = ordered_by(A);
        let mut chosen = copies(&order);
        let other = ordered_by(B);
        if copies(&other).0 < chosen.0 {
            chosen = copies(&other);
            order = other;
        }
        let (_, a, b) = chosen;
        *summed = order;
        let packed = [a.then(|| pack([left, summed, batch], A)), b.then(|| pack([summed, right, batch], B))];

        let stride = |axes: &Axes<3>, i: usize| axes.first().map_or(1, |axis| axis.strides[i]);
        let (m, n, k) = (points(left), points(right), points(summed));
        Self {
            m,
            n,
            k,
            strides: [
                Strides { row: stride(left, A), column: stride(summed, A) },
                Strides { row: stride(summed, B), column: stride(right, B) },
                Strides { row: stride(left, C), column: stride(right, C) },
            ],
            batch: fuse(batch.iter().copied()),
            packed,
            unpacked,
            is_small: direct::pays(dtype, m, n, k),
        }
    }

    /// Computes the result.
    pub fn run<T: Scalar>(
        &self,
        workers: &Workers,
        pool: &mut BufferPool,
        a: (&[T], usize),
        b: (&[T], usize),
        c: &mut [T],
    ) -> Result<()> {
        let mut copies = [None, None];
        for ((slot, packed), (data, start)) in copies.iter_mut().zip(&self.packed).zip([a, b]) {
            if let Some(packed) = packed {
                let mut tensor = pool.allocate(T::DTYPE, &[packed.len])?;
                let to = (tensor.as_mut_slice::<T>()?, 0);
                copy(workers, packed.gathering(), to, (data, start as isize));
                *slot = Some(tensor);
            }
        }
        let operand = |i: usize, original| match &copies[i] {
            Some(tensor) => Ok((tensor.as_slice::<T>()?, 0)),
            None => Ok::<_, tenferro_core::Error>(original),
        };
        let (left, right) = (operand(A, a)?, operand(B, b)?);
        match &self.unpacked {
            None => self.multiply(workers, left, right, c),
            Some(unpacked) => {
                let mut tensor = pool.allocate(T::DTYPE, &[unpacked.len])?;
                self.multiply(workers, left, right, tensor.as_mut_slice::<T>()?);
                copy(workers, unpacked.scattering(), (c, 0), (tensor.as_slice::<T>()?, 0));
                pool.recycle(tensor);
            }
        }
        copies.into_iter().flatten().for_each(|tensor| pool.recycle(tensor));
        Ok(())
    }

    /// The products, block by block. Blocks depend on the sizes alone.
    fn multiply<T: Scalar>(&self, workers: &Workers, a: (&[T], usize), b: (&[T], usize), c: &mut [T]) {
        let Self { m, n, k, strides, .. } = *self;
        let reach = |(data, start): (&[T], usize), i: usize, [rows, columns]: [usize; 2]| {
            let inner = [(rows, strides[i].row), (columns, strides[i].column)];
            let inner = inner.map(|(extent, stride)| Axis { extent, strides: [stride] });
            let axes = inner.into_iter().chain(operand(&self.batch, i));
            assert!(within(axes, start, data.len()), "an operand's entries lie within its buffer");
        };
        reach(a, A, [m, k]);
        reach(b, B, [k, n]);
        reach((c, 0), C, [m, n]);
        let (a, b) = (Shared(a.0.as_ptr().wrapping_add(a.1)), Shared(b.0.as_ptr().wrapping_add(b.1)));
        let c = Exclusive(c.as_mut_ptr());

        let work = m.saturating_mul(n).saturating_mul(k);
        let batches = points(&self.batch);
        let (rows, columns) = block_shape(m, n, k);
        let (row_blocks, column_blocks) = (m.div_ceil(rows), n.div_ceil(columns));
        let together = (BLOCK / work).clamp(1, batches);
        let block = |index: usize| {
            let (i, index) = (index % row_blocks * rows, index / row_blocks);
            let (j, index) = (index % column_blocks * columns, index / column_blocks);
            let first = index * together;
            let mut walk = Walk::new(&self.batch, [0; 3], first);
            for _ in first..batches.min(first + together) {
                let [at_a, at_b, at_c] = walk.positions;
                let (i, j) = (i as isize, j as isize);
                let a = a.get().wrapping_offset(at_a + i * strides[A].row);
                let b = b.get().wrapping_offset(at_b + j * strides[B].column);
                let c = c.get().wrapping_offset(at_c + i * strides[C].row + j * strides[C].column);
                let sizes = (rows.min(m - i as usize), columns.min(n - j as usize), k);
                // SAFETY: the plan was made for a dtype that has a kernel; summed axes are not empty, so `k` is not 0;
                // `reach` has shown that all entries lie within the slices, of which `c` is exclusively borrowed; the
                // result is compact over its axes, so its entries are distinct, and blocks do not overlap.
                unsafe {
                    let (a, b, c) = ((a, strides[A]), (b, strides[B]), (c, strides[C]));
                    match self.is_small {
                        true => direct::multiply(Product { sizes, a, b, c }),
                        false => multiply(sizes, a, b, c),
                    }
                }
                walk.step();
            }
        };
        let blocks = row_blocks * column_blocks * batches.div_ceil(together);
        let total = work.saturating_mul(batches);
        workers.run(blocks > 1 && total >= BLOCK, |split| split.for_each(blocks, &block));
    }
}

/// The extents of a block of the result.
fn block_shape(m: usize, n: usize, k: usize) -> (usize, usize) {
    let work = m.saturating_mul(n).saturating_mul(k);
    if work < 2 * BLOCK {
        return (m, n);
    }
    let area = BLOCK.max(work / BLOCKS) / k;
    let rows = area.isqrt().max(1).next_multiple_of(ROWS).min(m);
    let columns = (area / rows).max(1).next_multiple_of(COLUMNS).min(n);
    (rows, columns)
}

/// Whether the rows and the columns of operand `i` are each one axis, and one of them is contiguous.
fn is_matrix(rows: &[Axis<3>], columns: &[Axis<3>], i: usize) -> bool {
    let one = |axes: &[Axis<3>]| fuse(operand(axes, i)).len() <= 1;
    let contiguous = |axes: &[Axis<3>]| axes.first().is_none_or(|axis| axis.strides[i].unsigned_abs() == 1);
    one(rows) && one(columns) && (contiguous(rows) || contiguous(columns))
}

/// Gives operand `i` compact strides over its axes, and says how to copy it.
fn pack(groups: [&mut Axes<3>; 3], i: usize) -> Packed {
    let mut len = 1;
    let mut strides = Axes::new();
    for axis in groups.into_iter().flatten() {
        strides.push(Axis { extent: axis.extent, strides: [axis.strides[i], len as isize] });
        axis.strides[i] = len as isize;
        len *= axis.extent;
    }
    Packed { len, strides }
}

impl Packed {
    /// The axes of the copy from the operand.
    fn gathering(&self) -> CopyAxes {
        let reversed = |axis: &Axis<2>| Axis { strides: [axis.strides[1], axis.strides[0]], ..*axis };
        self.strides.iter().map(reversed).collect()
    }

    /// The axes of the copy to the operand.
    fn scattering(&self) -> CopyAxes {
        self.strides.clone()
    }
}

/// Whether all points of a nest lie within `0..len`.
pub(super) fn within(axes: impl IntoIterator<Item = Axis<1>>, start: usize, len: usize) -> bool {
    let (mut low, mut high) = (start as isize, start as isize);
    for axis in axes {
        let reach = (axis.extent as isize - 1) * axis.strides[0];
        low += reach.min(0);
        high += reach.max(0);
    }
    low >= 0 && (high as usize) < len
}

/// A pointer that blocks on other threads read through.
pub(super) struct Shared<T>(pub *const T);
// SAFETY: only shared slices of `Scalar`s, which are plain data, are read through it.
unsafe impl<T: Scalar> Sync for Shared<T> {}
impl<T> Shared<T> {
    pub fn get(&self) -> *const T {
        self.0
    }
}

/// A pointer that blocks on other threads write through, each its own entries.
pub(super) struct Exclusive<T>(pub *mut T);
// SAFETY: see the call of `multiply`: blocks do not overlap.
unsafe impl<T: Scalar> Sync for Exclusive<T> {}
impl<T> Exclusive<T> {
    pub fn get(&self) -> *mut T {
        self.0
    }
}
