//! Bringing a few strided elements together, so that kernels see slices.

use tenferro_core::Scalar;

use super::transpose::transpose;
use crate::nest::{Axis, Walk};

/// Copies the points of a nest, the first axis fastest, to `out`, which has room for just these.
///
/// Meant for tiles: both sides fit the first cache.
pub(crate) fn gather<T: Scalar>(data: &[T], start: isize, axes: &[Axis<1>], out: &mut [T]) {
    match axes {
        [] => out[0] = data[start as usize],
        [axis] => gather_row(data, start, axis.strides[0], out),
        // Read along the shorter stride.
        [inner, outer] if outer.strides[0].unsigned_abs() < inner.strides[0].unsigned_abs() => {
            if outer.strides[0] == 1 {
                let (rows, columns) = ((inner.extent, inner.strides[0]), (outer.extent, inner.extent));
                return transpose(rows, columns, out, data, start, false);
            }
            for i in 0..inner.extent {
                let mut position = start + i as isize * inner.strides[0];
                for element in out[i..].iter_mut().step_by(inner.extent) {
                    *element = data[position as usize];
                    position += outer.strides[0];
                }
            }
        }
        [inner @ .., outer] => {
            let mut position = start;
            for part in out.chunks_exact_mut(out.len() / outer.extent) {
                gather(data, position, inner, part);
                position += outer.strides[0];
            }
        }
    }
}

/// Copies the points of a nest from number `first` on to `out`.
pub(crate) fn gather_points<T: Scalar>(data: &[T], start: isize, axes: &[Axis<1>], first: usize, mut out: &mut [T]) {
    let Some((row, outer)) = axes.split_first() else { return gather(data, start, axes, out) };
    let mut walk = Walk::new(outer, [start], first / row.extent);
    let mut i = first % row.extent;
    while !out.is_empty() {
        let (part, rest) = out.split_at_mut((row.extent - i).min(out.len()));
        gather_row(data, walk.positions[0] + i as isize * row.strides[0], row.strides[0], part);
        walk.step();
        i = 0;
        out = rest;
    }
}

fn gather_row<T: Scalar>(data: &[T], start: isize, stride: isize, out: &mut [T]) {
    match stride {
        1 => out.copy_from_slice(&data[start as usize..][..out.len()]),
        0 => out.fill(data[start as usize]),
        _ => {
            let mut position = start;
            for element in out {
                *element = data[position as usize];
                position += stride;
            }
        }
    }
}
