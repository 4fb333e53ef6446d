//! Batched products of small real matrices whose batch is contiguous: a vector holds the same entry of several matrices.

use tenferro_core::{DType, Scalar};

use super::direct::{COLUMNS, LANES, ROWS, Work, dispatch, has_vectors, tile};
use super::matrix::{Exclusive, Shared, within};
use super::multiply::Strides;
use super::vector::Vector;
use super::{A, B, C, Groups};
use crate::nest::{Axes, Axis, Walk, fuse, operand, points};
use crate::region::{Element, Scratch};
use crate::workers::Workers;

/// A shorter batch leaves too many lanes empty.
const SHORTEST: usize = 4;
/// Most entries of a matrix: those of the matrices of one cache line fit the second cache.
const LARGEST: usize = 1 << 13;
/// Products of more multiplications are made of copies without strides: large strides share few sets of the caches.
const IN_PLACE: usize = 12 * 12 * 12;
/// Columns of the right operand that stay in the first cache while all rows of the left go by.
const BLOCK: usize = 2 * COLUMNS;
/// Multiplications for which other threads are woken.
const PARALLEL: usize = 1 << 20;

/// Products along a batch that is contiguous in both operands and the result.
#[derive(Clone, Debug)]
pub(crate) struct Across {
    sizes: (usize, usize, usize),
    strides: [Strides; 3],
    batch: usize,
    /// The other batch axes.
    outer: Axes<3>,
}

impl Across {
    /// Where it pays.
    pub fn plan(dtype: DType, groups: &Groups) -> Option<Self> {
        let lane = groups.batch.iter().position(|axis| axis.strides == [1; 3] && axis.extent >= SHORTEST)?;
        let mut outer = groups.batch.clone();
        let batch = outer.remove(lane).extent;
        // Each group as one axis, if it is.
        let one = |axes: &Axes<3>, by: usize| {
            let mut axes = axes.clone();
            axes.sort_by_key(|axis| axis.strides[by].unsigned_abs());
            let axes = fuse(axes);
            let first = axes.first().copied().unwrap_or(Axis { extent: 1, strides: [0; 3] });
            (axes.len() <= 1).then_some(first)
        };
        let (left, right, summed) = (one(&groups.left, C)?, one(&groups.right, C)?, one(&groups.summed, A)?);
        let (m, n, k) = (left.extent, right.extent, summed.extent);
        let is_small = m.saturating_mul(k).max(k.saturating_mul(n)) <= LARGEST;
        let strides = [(left, summed, A), (summed, right, B), (left, right, C)];
        let strides = strides.map(|(row, column, i)| Strides { row: row.strides[i], column: column.strides[i] });
        (has_vectors(dtype) && m > 1 && n > 1 && is_small).then_some(Self { sizes: (m, n, k), strides, batch, outer })
    }

    /// Computes the result. Blocks are runs of the batch of one cache line.
    pub fn run<T: Element>(&self, workers: &Workers, a: (&[T], usize), b: (&[T], usize), c: &mut [T]) {
        let Self { sizes: (m, n, k), strides, batch, .. } = *self;
        let reach = |(data, start): (&[T], usize), i: usize, [rows, columns]: [usize; 2]| {
            let inner = [(batch, 1), (rows, strides[i].row), (columns, strides[i].column)];
            let inner = inner.map(|(extent, stride)| Axis { extent, strides: [stride] });
            let axes = inner.into_iter().chain(operand(&self.outer, i));
            assert!(within(axes, start, data.len()), "an operand's entries lie within its buffer");
        };
        reach(a, A, [m, k]);
        reach(b, B, [k, n]);
        reach((c, 0), C, [m, n]);
        let (a, b) = (Shared(a.0.as_ptr().wrapping_add(a.1)), Shared(b.0.as_ptr().wrapping_add(b.1)));
        let c = Exclusive(c.as_mut_ptr());

        let line = 64 / size_of::<T>();
        let runs = batch.div_ceil(line);
        let blocks = runs * points(&self.outer);
        let block = |index: usize| {
            let first = index % runs * line;
            let starts = Walk::new(&self.outer, [first as isize; 3], index / runs).positions;
            let lanes = line.min(batch - first);
            let is_packed = lanes < line || m * n * k > IN_PLACE;
            let mut copies = [(m, k), (k, n)].map(|(rows, columns)| {
                let len = if is_packed { line * rows.next_multiple_of(ROWS) * columns } else { 0 };
                Scratch::<T>::new(len)
            });
            let [copy_a, copy_b] = &mut copies;
            let run = Run {
                sizes: self.sizes,
                lanes,
                a: (a.get().wrapping_offset(starts[A]), strides[A]),
                b: (b.get().wrapping_offset(starts[B]), strides[B]),
                c: (c.get().wrapping_offset(starts[C]), strides[C]),
                copies: is_packed.then_some([copy_a.as_mut_ptr(), copy_b.as_mut_ptr()]),
            };
            // SAFETY: the plan was made for a dtype that has vectors; `reach` has shown that all entries lie within the
            // slices, of which `c` is exclusively borrowed; the result is compact over its axes, so its entries are
            // distinct, and blocks do not overlap; the copies have a line for each entry of a matrix.
            unsafe { dispatch::<T>(run) };
        };
        let work = m.saturating_mul(n).saturating_mul(k).saturating_mul(batch).saturating_mul(points(&self.outer));
        workers.run(blocks > 1 && work >= PARALLEL, |split| split.for_each(blocks, &block));
    }
}

/// Matrices in memory for each of a few neighbouring points of the batch.
struct Run<T> {
    sizes: (usize, usize, usize),
    lanes: usize,
    a: (*const T, Strides),
    b: (*const T, Strides),
    c: (*mut T, Strides),
    /// Memory for copies of both operands, whole vectors of each entry; without it, `lanes` are whole vectors.
    copies: Option<[*mut T; 2]>,
}

impl<T> Work<T> for Run<T> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Self { sizes: (m, n, k), lanes, a, b, c, copies } = self;
        let (a, b, c) = ((a.0.cast::<V::Item>(), a.1), (b.0.cast::<V::Item>(), b.1), (c.0.cast::<V::Item>(), c.1));
        let vectors = lanes.div_ceil(V::LANES);
        // From one vector of lanes to the next; the copy of `a` is in panels of the rows of a tile.
        let (entries_a, entries_b) = (m.next_multiple_of(ROWS) * k, k * n);
        let (mut a_apart, mut b_apart) = (V::LANES, V::LANES);
        let width = V::LANES as isize;
        let (mut a, mut b, mut panel) = (a, b, a.1.row);
        // SAFETY: the caller vouches for the operands, the result and the copies.
        unsafe {
            if let Some([copy_a, copy_b]) = copies {
                let (copy_a, copy_b) = (copy_a.cast::<V::Item>(), copy_b.cast::<V::Item>());
                let place = |row: usize, column: usize| (row / ROWS * k + column) * ROWS + row % ROWS;
                pack::<V>(lanes, (m, k), a, copy_a, entries_a, place);
                pack::<V>(lanes, (k, n), b, copy_b, entries_b, |row, column| column * k + row);
                a = (copy_a, Strides { row: width, column: ROWS as isize * width });
                b = (copy_b, Strides { row: width, column: k as isize * width });
                panel = k as isize * width;
                (a_apart, b_apart) = (entries_a * V::LANES, entries_b * V::LANES);
            }
            for first in (0..n).step_by(BLOCK) {
                let end = n.min(first + BLOCK);
                for vector in 0..vectors {
                    let count = V::LANES.min(lanes - vector * V::LANES);
                    let b = (b.0.add(vector * b_apart), b.1);
                    let c = (c.0.add(vector * V::LANES), c.1);
                    for i in (0..m).step_by(ROWS) {
                        let a = (a.0.add(vector * a_apart).offset(i as isize * panel), a.1);
                        for j in (first..end).step_by(COLUMNS) {
                            let place = (i, j, COLUMNS.min(end - j));
                            match ROWS.min(m - i) {
                                ROWS => entries::<V, ROWS>(place, k, count, a, b, c),
                                _ => entries::<V, 1>(place, k, count, a, b, c),
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Copies the vectors of each entry of a matrix, with zeros beyond the last lane: vector `v` of an entry goes to place
/// `v * entries + place(row, column)` of vectors.
///
/// # Safety
/// All `lanes` of each entry are valid for reading, and whole vectors of all places for writing.
#[inline(always)]
unsafe fn pack<V: Vector>(
    lanes: usize,
    (rows, columns): (usize, usize),
    (from, strides): (*const V::Item, Strides),
    to: *mut V::Item,
    entries: usize,
    place: impl Fn(usize, usize) -> usize,
) {
    for column in 0..columns {
        for row in 0..rows {
            let from = from.wrapping_offset(row as isize * strides.row + column as isize * strides.column);
            let place = place(row, column);
            for (vector, first) in (0..lanes).step_by(V::LANES).enumerate() {
                // SAFETY: passed on to the caller.
                unsafe {
                    let (from, to) = (from.add(first), to.add((vector * entries + place) * V::LANES));
                    if first + V::LANES <= lanes {
                        V::load(from).store(to);
                    } else {
                        V::spread(V::Item::ZERO).store(to);
                        to.copy_from_nonoverlapping(from, lanes - first);
                    }
                }
            }
        }
    }
}

/// A tile of the result of `P` rows and so many columns; `a` is at its first row.
///
/// # Safety
/// Whole vectors of all entries of the operands are valid for reading, and `count` lanes of those of the tile for
/// writing.
#[inline(always)]
unsafe fn entries<V: Vector, const P: usize>(
    (i, j, columns): (usize, usize, usize),
    k: usize,
    count: usize,
    (a, a_strides): (*const V::Item, Strides),
    (b, b_strides): (*const V::Item, Strides),
    (c, c_strides): (*mut V::Item, Strides),
) {
    let b = b.wrapping_offset(j as isize * b_strides.column);
    let c = c.wrapping_offset(i as isize * c_strides.row + j as isize * c_strides.column);
    // Beyond the last column, it is computed once more.
    let mut apart = [0; COLUMNS];
    for (column, apart) in apart.iter_mut().enumerate() {
        *apart = column.min(columns - 1) as isize * b_strides.column;
    }
    // SAFETY: passed on to the caller.
    unsafe {
        let sums = tile::<V, P, false>(k, (a, a_strides.column, a_strides.row), (b, b_strides.row, apart));
        for column in 0..COLUMNS {
            if column < columns {
                for (row, sums) in sums.iter().enumerate() {
                    let c = c.offset(row as isize * c_strides.row + column as isize * c_strides.column);
                    if count == V::LANES {
                        sums[column].store(c);
                    } else {
                        let mut lanes = [V::Item::ZERO; LANES];
                        sums[column].store(lanes.as_mut_ptr());
                        c.copy_from_nonoverlapping(lanes.as_ptr(), count);
                    }
                }
            }
        }
    }
}
