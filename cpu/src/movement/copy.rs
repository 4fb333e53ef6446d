//! Copies between arrays of any strides: permutations, and writing into a part of an array.

use tenferro_core::Scalar;

use crate::nest::{Axes, Axis, Walk, advance, fuse, points};
use crate::workers::{Split, Workers};

/// A copy with fewer elements is not worth waking other threads for.
const PARALLEL: usize = 1 << 17;
/// Elements of one block of work.
const BLOCK: usize = 1 << 15;
/// The side of a block in which lines of both sides stay in the caches while a transposition uses them.
const SIDE: usize = 64;
/// The side of a block that is turned in registers.
const MICRO: usize = 8;

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
    if !separate || total < PARALLEL {
        return copy_block(&axes, destination, source, from);
    }
    let steps = (BLOCK * outer.extent).div_ceil(total).next_multiple_of(SIDE).min(outer.extent);
    workers.run(true, |split: Split| {
        let start = |block: usize| block * steps * outer.strides[0] as usize;
        split.for_each_part(destination, outer.extent.div_ceil(steps), &start, &|block, part: &mut [T]| {
            let mut axes = axes.clone();
            let outer = &mut axes[inner.len()];
            outer.extent = steps.min(outer.extent - block * steps);
            let from = from + (block * steps) as isize * outer.strides[1];
            copy_block(&axes, part, source, from);
        });
    });
}

/// The same on one thread; `axes` are fused, the shortest stride of the destination first.
fn copy_block<T: Scalar>(axes: &[Axis<2>], destination: &mut [T], source: &[T], from: isize) {
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
            each_point(&rest, from, |to, from| transpose(row, column, &mut destination[to..], source, from));
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

fn copy_row<T: Scalar>(axis: Axis<2>, destination: &mut [T], source: &[T], from: isize) {
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

/// `destination[i + j * d] = source[from + i * s + j]`, block by block.
fn transpose<T: Scalar>(row: Axis<2>, column: Axis<2>, destination: &mut [T], source: &[T], from: isize) {
    let (s, d) = (row.strides[1], column.strides[0] as usize);
    for j in (0..column.extent).step_by(SIDE) {
        for i in (0..row.extent).step_by(SIDE) {
            let (rows, columns) = (SIDE.min(row.extent - i), SIDE.min(column.extent - j));
            let destination = &mut destination[i + j * d..];
            transpose_block((rows, s), (columns, d), destination, source, from + i as isize * s + j as isize);
        }
    }
}

fn transpose_block<T: Scalar>(
    (rows, s): (usize, isize),
    (columns, d): (usize, usize),
    destination: &mut [T],
    source: &[T],
    from: isize,
) {
    let (whole_rows, whole_columns) = (rows - rows % MICRO, columns - columns % MICRO);
    for i in (0..whole_rows).step_by(MICRO) {
        for j in (0..whole_columns).step_by(MICRO) {
            let mut tile = [[T::ZERO; MICRO]; MICRO];
            for (r, line) in tile.iter_mut().enumerate() {
                let position = from + (i + r) as isize * s + j as isize;
                line.copy_from_slice(&source[position as usize..][..MICRO]);
            }
            for c in 0..MICRO {
                let line = &mut destination[i + (j + c) * d..][..MICRO];
                for (r, element) in line.iter_mut().enumerate() {
                    *element = tile[r][c];
                }
            }
        }
    }
    let mut plain = |i: usize, j: usize| {
        destination[i + j * d] = source[(from + i as isize * s + j as isize) as usize];
    };
    for j in 0..columns {
        let begin = if j < whole_columns { whole_rows } else { 0 };
        (begin..rows).for_each(|i| plain(i, j));
    }
}
