//! Moving entries to and from places that an operand of indices names.
//!
//! The operands walk one nest in which the indexed array stands still along the axis: an index says how far it goes.
//! Indices that hold for whole rows, as repeated ones do, move rows.

use tenferro_core::{Scalar, Shape, Strides, Tensor, TensorView};
use tenferro_runtime::Result;
use tenferro_runtime::reference::indexing::{checked, clamped};

use super::copy::copy_row;
use super::place::{axes_into, copy_view, place};
use crate::nest::{Axes, Axis, Walk, advance, axes_of, fuse, points};
use crate::workers::Workers;

/// Fewer entries are not worth waking other threads for.
const PARALLEL: usize = 1 << 16;
/// Entries of one block of work.
const BLOCK: usize = 1 << 14;

/// The operation's name, for messages, and its axis.
type Along = (&'static str, usize);

/// Along axis 0, `output[i, j] = x[indices[i, j], j]`.
pub(crate) fn gather<T: Scalar>(
    workers: &Workers,
    along: Along,
    operands: &[TensorView<'_>],
    output: &mut Tensor,
) -> Result<()> {
    let (x, indices) = (&operands[0], &operands[1]);
    check(along, indices, x.shape()[along.1])?;
    if indices.is_empty() {
        return Ok(());
    }
    let reach = x.layout().strides()[along.1];
    let axes = fuse(output.layout().strides().iter().enumerate().map(|(i, &to)| Axis {
        extent: output.shape()[i],
        strides: [to, indices.layout().strides()[i], if i == along.1 { 0 } else { x.layout().strides()[i] }],
    }));
    let starts = [0, indices.layout().offset() as isize, x.layout().offset() as isize];
    let (index, source) = (indices.buffer::<i64>()?, x.buffer::<T>()?);
    let target = output.as_mut_slice::<T>()?;
    let total = target.len();
    workers.run(total >= PARALLEL, |split| {
        split.for_each_part(target, total.div_ceil(BLOCK), &|block| block * BLOCK, &|block, part: &mut [T]| {
            let first = block * BLOCK;
            rows(&axes, starts, first..first + part.len(), |[to, at, from], row| {
                let part = &mut part[to as usize - first..];
                let [to, at_step, from_step] = row.strides;
                if at_step == 0 {
                    let row = Axis { extent: row.extent, strides: [to, from_step] };
                    return copy_row(row, part, source, from + index[at as usize] as isize * reach);
                }
                let mut positions = [0, at, from];
                for _ in 0..row.extent {
                    let [to, at, from] = positions;
                    part[to as usize] = source[(from + index[at as usize] as isize * reach) as usize];
                    advance(&mut positions, row.strides, 1);
                }
            });
        });
    });
    Ok(())
}

/// Along axis 0, x with `updates[i, j]` combined into `[indices[i, j], j]`, in their order along the axis.
pub(crate) fn scatter<T: Scalar>(
    workers: &Workers,
    along: Along,
    combine: impl Fn(T, T) -> T + Sync,
    operands: &[TensorView<'_>],
    output: &mut Tensor,
) -> Result<()> {
    let (axis, indices, updates) = (along.1, &operands[1], &operands[2]);
    check(along, indices, output.shape()[axis])?;
    copy_view::<T>(workers, &operands[0], output)?;
    if indices.is_empty() {
        return Ok(());
    }
    let reach = output.layout().strides()[axis];
    let axes = fuse(updates.shape().iter().enumerate().map(|(i, &extent)| Axis {
        extent,
        strides: [
            if i == axis { 0 } else { output.layout().strides()[i] },
            indices.layout().strides()[i],
            updates.layout().strides()[i],
        ],
    }));
    let starts = [0, indices.layout().offset() as isize, updates.layout().offset() as isize];
    let (index, source) = (indices.buffer::<i64>()?, updates.buffer::<T>()?);
    // Updates meet only within one slab: the axis and those before it.
    let (taken, slab): (usize, usize) =
        (updates.shape()[..=axis].iter().product(), output.shape()[..=axis].iter().product());
    let slabs = updates.len() / taken;
    let each = BLOCK.div_ceil(taken).min(slabs);
    let target = output.as_mut_slice::<T>()?;
    workers.run(updates.len() >= PARALLEL, |split| {
        split.for_each_part(target, slabs.div_ceil(each), &|block| block * each * slab, &|block, part: &mut [T]| {
            let (first, last) = (block * each, slabs.min((block + 1) * each));
            rows(&axes, starts, first * taken..last * taken, |[to, at, from], row| {
                let mut positions = [to - (first * slab) as isize, at, from];
                for _ in 0..row.extent {
                    let [to, at, from] = positions;
                    let entry = &mut part[(to + index[at as usize] as isize * reach) as usize];
                    *entry = combine(*entry, source[from as usize]);
                    advance(&mut positions, row.strides, 1);
                }
            });
        });
    });
    Ok(())
}

/// The part that begins at the starts of the second operand, moved to where it fits.
pub(crate) fn dynamic_slice<T: Scalar>(
    workers: &Workers,
    operands: &[TensorView<'_>],
    output: &mut Tensor,
) -> Result<()> {
    let start = clamped(&operands[1], operands[0].shape(), output.shape())?;
    let limit: Shape = start.iter().zip(output.shape()).map(|(start, size)| start + size).collect();
    copy_view::<T>(workers, &operands[0].slice(&start, &limit, &Shape::from_elem(1, limit.len()))?, output)
}

/// x with the part that begins at the starts of the third operand, moved to where it fits, replaced.
pub(crate) fn dynamic_update_slice<T: Scalar>(
    workers: &Workers,
    operands: &[TensorView<'_>],
    output: &mut Tensor,
) -> Result<()> {
    copy_view::<T>(workers, &operands[0], output)?;
    let update = &operands[1];
    let start = clamped(&operands[2], output.shape(), update.shape())?;
    let strides = Strides::from_slice(output.layout().strides());
    let to = start.iter().zip(&strides).map(|(start, stride)| start * *stride as usize).sum();
    place::<T>(workers, update, axes_into(&strides, update), to, output)
}

/// Refuses the first index, in column-major order, that the axis does not have.
fn check((op, axis): Along, indices: &TensorView<'_>, extent: usize) -> Result<()> {
    if indices.is_empty() {
        return Ok(());
    }
    // Repeated indices need but one look.
    let axes: Axes<1> = axes_of([indices.layout()]).into_iter().filter(|axis| axis.strides[0] != 0).collect();
    let index = indices.buffer::<i64>()?;
    let mut walk = Walk::new(&axes, [indices.layout().offset() as isize], 0);
    for _ in 0..points(&axes) {
        checked(op, index[walk.visit()[0] as usize], axis, extent)?;
    }
    Ok(())
}

/// Visits points of a nest by rows, parts of its first axis: where each begins, and its extent and strides.
fn rows<const N: usize>(
    axes: &[Axis<N>],
    starts: [isize; N],
    points: std::ops::Range<usize>,
    mut visit: impl FnMut([isize; N], Axis<N>),
) {
    let (row, outer) = match axes.split_first() {
        Some((row, outer)) => (*row, outer),
        None => (Axis { extent: 1, strides: [0; N] }, axes),
    };
    let mut walk = Walk::new(outer, starts, points.start / row.extent);
    let (mut skipped, mut left) = (points.start % row.extent, points.len());
    while left > 0 {
        let extent = left.min(row.extent - skipped);
        let mut positions = walk.visit();
        advance(&mut positions, row.strides, skipped as isize);
        visit(positions, Axis { extent, ..row });
        left -= extent;
        skipped = 0;
    }
}
