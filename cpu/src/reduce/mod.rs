//! Reductions: axes whose entries are combined to one.
//!
//! Sums are blocked: runs of a fixed length are added in lanes and the sums of runs pairwise, which keeps the error
//! near that of pairwise summation (Higham 1993) and the result independent of the number of threads.

mod arg;
mod fold;
mod scan;

pub(crate) use arg::best;
pub(crate) use fold::{Reducer, all, any, max, min, product, sum};
pub(crate) use scan::scan;

use crate::movement::{gather, gather_points};
use crate::nest::{Axes, Axis, Walk, fuse, points, tile};
use crate::region::{Element, Scratch, TILE};
use crate::workers::{Split, Workers};

/// Entries that are combined in lanes, one after the other.
const RUN: usize = 1024;
/// Rows that are combined one after the other.
const ROWS: usize = 64;
/// With fewer entries than this to a result, results are made side by side instead.
const SHORT: usize = 32;
/// Fewer entries are not worth waking other threads for.
const PARALLEL: usize = 1 << 16;

/// A reduction of an operand of known layout, its loops ordered.
#[derive(Debug)]
pub(crate) struct Reduction {
    /// In the order of the output, which is compact.
    kept: Axes<1>,
    reduced: Axes<1>,
    /// Entries to a result.
    count: usize,
    /// Whether results are made one by one.
    is_along: bool,
}

impl Reduction {
    pub fn new(kept: Axes<1>, mut reduced: Axes<1>) -> Self {
        let count = points(&reduced);
        reduced.sort_by_key(|axis| axis.strides[0].unsigned_abs());
        let (kept, reduced) = (fuse(kept), fuse(reduced));
        let shortest = |axes: &[Axis<1>]| axes.iter().map(|axis| axis.strides[0].unsigned_abs()).min();
        let nearer = shortest(&reduced).is_some_and(|r| shortest(&kept).is_none_or(|k| r < k));
        let is_along = kept.is_empty() || count >= SHORT && nearer;
        Self { kept, reduced, count, is_along }
    }

    /// Reduces `data`, from position `start` on, to the compact output.
    pub fn run<T: Element>(
        &self,
        workers: &Workers,
        reducer: Reducer<T>,
        (data, start): (&[T], isize),
        output: &mut [T],
    ) {
        if self.count == 0 || output.is_empty() {
            output.fill(reducer.empty);
            return;
        }
        let total = self.count.saturating_mul(output.len());
        let work = Work { reduction: self, reducer, data, start };
        workers.run(total >= PARALLEL, |split| {
            if self.is_along {
                work.along(split, output);
            } else {
                work.across(split, output);
            }
        });
    }
}

/// A reduction under way.
struct Work<'a, T> {
    reduction: &'a Reduction,
    reducer: Reducer<T>,
    data: &'a [T],
    start: isize,
}

impl<T: Element> Work<'_, T> {
    /// Each result by itself: its entries are combined in runs.
    fn along(&self, split: Split, output: &mut [T]) {
        let Reduction { kept, count, .. } = self.reduction;
        let count = *count;
        let block = (PARALLEL / count).max(1);
        let blocks = output.len().div_ceil(block);
        split.for_each_part(output, blocks, &|i| i * block, &|i, part: &mut [T]| {
            let mut walk = Walk::new(kept, [self.start], i * block);
            for result in part {
                *result = self.run(split, walk.positions[0], 0, count);
                walk.step();
            }
        });
    }

    /// The entries `first..end` of one result.
    fn run(&self, split: Split, start: isize, first: usize, end: usize) -> T {
        let len = end - first;
        if len <= RUN {
            return match self.reduction.reduced[..] {
                [Axis { strides: [1], .. }] => (self.reducer.fold)(&self.data[start as usize + first..][..len]),
                _ => {
                    let mut entries = Scratch::<T>::new(len);
                    gather_points(self.data, start, &self.reduction.reduced, first, &mut entries);
                    (self.reducer.fold)(&entries)
                }
            };
        }
        let middle = first + len.div_ceil(RUN).div_ceil(2) * RUN;
        let low = || self.run(split, start, first, middle);
        let high = || self.run(split, start, middle, end);
        let (low, high) = split.only_if(len >= PARALLEL).join(low, high);
        (self.reducer.combine)(low, high)
    }

    /// Tiles of results side by side: rows of entries are combined into them.
    fn across(&self, split: Split, output: &mut [T]) {
        let Reduction { kept, count, .. } = self.reduction;
        let (axes, steps) = tile(kept, TILE);
        let (inner, outer) = kept.split_at(axes);
        // Some axis is kept, or the results would have been made one by one.
        let Some((last, whole)) = inner.split_last() else { return };
        let inside = points(whole);
        let slices = last.extent.div_ceil(steps);
        let begin = |block: usize| (block / slices * last.extent + block % slices * steps) * inside;
        split.for_each_part(output, slices * points(outer), &begin, &|block, part: &mut [T]| {
            let [mut start] = Walk::new(outer, [self.start], block / slices).positions;
            let first = block % slices * steps;
            start += first as isize * last.strides[0];
            let mut tile = Axes::from_slice(inner);
            tile[axes - 1].extent = steps.min(last.extent - first);
            self.rows(split, &tile, start, (0, *count), part);
        });
    }

    /// The rows `first..end` of a tile of results.
    fn rows(&self, split: Split, tile: &[Axis<1>], start: isize, (first, end): (usize, usize), results: &mut [T]) {
        let len = end - first;
        if len > ROWS {
            let middle = first + len.div_ceil(ROWS).div_ceil(2) * ROWS;
            let mut other = Scratch::<T>::new(results.len());
            let low = &mut *results;
            let low = || self.rows(split, tile, start, (first, middle), low);
            let high = || self.rows(split, tile, start, (middle, end), &mut other);
            split.only_if(len * points(tile) >= PARALLEL).join(low, high);
            (self.reducer.accumulate)(results, &other);
            return;
        }
        results.fill(self.reducer.empty);
        let contiguous = matches!(fuse(tile.iter().copied())[..], [] | [Axis { strides: [1], .. }]);
        let mut buffer = (!contiguous).then(|| Scratch::<T>::new(results.len()));
        let mut walk = Walk::new(&self.reduction.reduced, [start], first);
        for _ in first..end {
            let [position] = walk.positions;
            let row = match &mut buffer {
                None => &self.data[position as usize..][..results.len()],
                Some(buffer) => {
                    gather(self.data, position, tile, buffer);
                    buffer
                }
            };
            (self.reducer.accumulate)(results, row);
            walk.step();
        }
    }
}
