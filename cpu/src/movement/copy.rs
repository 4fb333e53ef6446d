//! Copies between arrays of any strides: permutations, and writing into a part of an array.

use tenferro_core::Scalar;

use super::transpose::{SIDE, transpose};
use crate::nest::{Axes, Axis, Walk, advance, fuse, points};
use crate::workers::{Split, Workers};

/// A copy with fewer elements is not worth waking other threads for.
const PARALLEL: usize = 1 << 17;
/// Elements of one block of work.
const BLOCK: usize = 1 << 15;

/// Bytes that the caches would not keep until they are used.
const BEYOND_CACHES: usize = 1 << 23;

/// Where a copy writes, in strides: `[destination, source]` of every axis.
pub(crate) type CopyAxes = Axes<2>;

/// Copies `source` from position `from` on to `destination` from position `to` on. Positions of the destination must
/// be distinct and its strides positive.
pub(crate) fn copy<T: Scalar>(
    workers: &Workers,
    axes: impl IntoIterator<Item = Axis<2>>,
    (destination, to): (&mut [T], usize),
    (source, from): (&[T], isize),
) {
    let mut axes: CopyAxes = axes.into_iter().collect();
    if points(&axes) == 0 {
        return;
    }
    axes.sort_by_key(|axis| axis.strides[0]);
    let axes = fuse(axes);
    let destination = &mut destination[to..];
    let Some((outer, inner)) = axes.split_last() else {
        destination[0] = source[from as usize];
        return;
    };
    // The largest stride of the destination cuts it into ranges, if no inner axis reaches beyond it.
    let span: usize = inner.iter().map(|axis| (axis.extent - 1) * axis.strides[0] as usize).sum();
    let separate = span < outer.strides[0] as usize;
    let total = points(&axes);
    let beyond_caches = total.saturating_mul(size_of::<T>()) >= BEYOND_CACHES;
    if !separate || total < PARALLEL || workers.threads() == 1 {
        return copy_block(&axes, destination, source, from, beyond_caches);
    }
    let steps = (BLOCK * outer.extent).div_ceil(total).next_multiple_of(SIDE).min(outer.extent);
    workers.run(true, |split: Split| {
        let start = |block: usize| block * steps * outer.strides[0] as usize;
        split.for_each_part(destination, outer.extent.div_ceil(steps), &start, &|block, part: &mut [T]| {
            let mut axes = axes.clone();
            let outer = &mut axes[inner.len()];
            outer.extent = steps.min(outer.extent - block * steps);
            let from = from + (block * steps) as isize * outer.strides[1];
            copy_block(&axes, part, source, from, beyond_caches);
        });
    });
}

/// The same on one thread; `axes` are fused, the shortest stride of the destination first.
fn copy_block<T: Scalar>(axes: &[Axis<2>], destination: &mut [T], source: &[T], from: isize, beyond_caches: bool) {
    let (row, outer) = match axes.split_first() {
        Some((row, outer)) => (*row, outer),
        None => return destination[0] = source[from as usize],
    };
    // The axis along which the source is nearest to contiguous.
    let column = (0..outer.len()).min_by_key(|&i| outer[i].strides[1].unsigned_abs());
    match column {
        Some(i) if row.strides[1] != 1 && outer[i].strides[1] == 1 && row.strides[0] == 1 => {
            let mut rest = CopyAxes::from_slice(outer);
            let column = rest.remove(i);
            let (s, d) = (row.strides[1], column.strides[0] as usize);
            each_point(&rest, from, |to, from| {
                transpose((row.extent, s), (column.extent, d), &mut destination[to..], source, from, beyond_caches);
            });
        }
        _ => each_point(outer, from, |to, from| copy_row(row, &mut destination[to..], source, from)),
    }
}

fn each_point(axes: &[Axis<2>], from: isize, mut work: impl FnMut(usize, isize)) {
    let mut walk = Walk::new(axes, [0, from], 0);
    for _ in 0..points(axes) {
        work(walk.positions[0] as usize, walk.positions[1]);
        walk.step();
    }
}

pub(super) fn copy_row<T: Scalar>(axis: Axis<2>, destination: &mut [T], source: &[T], from: isize) {
    match axis.strides {
        [1, 1] => destination[..axis.extent].copy_from_slice(&source[from as usize..][..axis.extent]),
        [1, 0] => destination[..axis.extent].fill(source[from as usize]),
        strides => {
            let mut positions = [0, from];
            for _ in 0..axis.extent {
                destination[positions[0] as usize] = source[positions[1] as usize];
                advance(&mut positions, strides, 1);
            }
        }
    }
}
