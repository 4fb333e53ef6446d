//! The operations that make entries or put them elsewhere. Where entries go is a part of the output, given by strides.

use tenferro_core::{Layout, Scalar, Shape, Strides, Tensor, TensorView};
use tenferro_runtime::Result;
use tenferro_runtime::reference::scalar::{Convert, convert};

use super::copy;
use crate::nest::{Axes, Axis, axes_of};
use crate::workers::Workers;

/// Copies a view into a compact tensor of as many entries.
pub(crate) fn copy_view<T: Scalar>(workers: &Workers, source: &TensorView<'_>, output: &mut Tensor) -> Result<()> {
    // column-major order is the same whatever the output's own shape
    let axes = axes_of([&Layout::col_major(source.shape())?, source.layout()]);
    place::<T>(workers, source, axes, 0, output)
}

/// Each entry is its index along an axis.
pub(crate) fn iota<T: Convert>(axis: usize, output: &mut Tensor) -> Result<()> {
    let inner: usize = output.shape()[..axis].iter().product();
    let extent = output.shape()[axis];
    for (i, row) in output.as_mut_slice::<T>()?.chunks_mut(inner.max(1)).enumerate() {
        row.fill(convert((i % extent.max(1)) as i64));
    }
    Ok(())
}

/// The last axis becomes the diagonal of the last two axes of the output.
pub(crate) fn embed_diagonal<T: Scalar>(workers: &Workers, source: &TensorView<'_>, output: &mut Tensor) -> Result<()> {
    output.as_mut_slice::<T>()?.fill(T::ZERO);
    let rank = output.rank();
    let diagonal = output.layout().diagonal(rank - 2, rank - 1)?;
    place::<T>(workers, source, axes_of([&diagonal, source.layout()]), 0, output)
}

/// The operands one after the other along an axis.
pub(crate) fn concatenate<T: Scalar>(
    workers: &Workers,
    axis: usize,
    operands: &[TensorView<'_>],
    output: &mut Tensor,
) -> Result<()> {
    let stride = output.layout().strides()[axis] as usize;
    let strides = Strides::from_slice(output.layout().strides());
    let mut begin = 0;
    for operand in operands {
        let axes = axes_into(&strides, operand);
        place::<T>(workers, operand, axes, begin * stride, output)?;
        begin += operand.shape()[axis];
    }
    Ok(())
}

/// Entry `i` of an axis goes to `low + i * step`, if that is inside; the second operand is everywhere else.
pub(crate) fn pad<T: Scalar>(
    workers: &Workers,
    (low, steps): (&[i64], &[i64]),
    operands: &[TensorView<'_>],
    output: &mut Tensor,
) -> Result<()> {
    output.as_mut_slice::<T>()?.fill(operands[1].item::<T>()?);
    let source = &operands[0];
    let mut start = Shape::new();
    let mut limit = Shape::new();
    let mut to = 0;
    let mut strides = Strides::from_slice(output.layout().strides());
    for (axis, stride) in strides.iter_mut().enumerate() {
        let (low, step) = (low[axis], steps[axis]);
        let (extent, room) = (source.shape()[axis] as i64, output.shape()[axis] as i64);
        let first = (-low).max(0).div_euclid(step) + i64::from((-low).max(0) % step > 0);
        // The entries below `room` are those before the first that is not.
        let end = ((room - low).max(0) + step - 1).div_euclid(step).min(extent);
        start.push(first.min(extent) as usize);
        limit.push(end.max(first.min(extent)) as usize);
        to += (low + first * step).max(0) * *stride as i64;
        *stride *= step as isize;
    }
    let inside = source.slice(&start, &limit, &Shape::from_elem(1, source.rank()))?;
    if inside.is_empty() {
        return Ok(());
    }
    let axes = axes_into(&strides, &inside);
    place::<T>(workers, &inside, axes, to as usize, output)
}

/// The triangle on or below (`lower`) or above the diagonal `column - row = k`, zero elsewhere.
pub(crate) fn triangle<T: Scalar>(
    workers: &Workers,
    ([row, column], k, lower): ([usize; 2], i64, bool),
    source: &TensorView<'_>,
    output: &mut Tensor,
) -> Result<()> {
    copy_view::<T>(workers, source, output)?;
    let (inner, outer) = (row.min(column), row.max(column));
    let layout = output.layout().clone();
    let (step, extent) = (layout.strides()[outer], layout.shape()[inner] as i64);
    let axes = axes_of([&layout]);
    for i in 0..layout.shape()[outer] as i64 {
        // The part along the inner axis that goes, at index i of the outer one.
        let (first, end) = match (lower, inner == row) {
            (true, true) => (0, i.saturating_sub(k)),
            (false, true) => (i.saturating_sub(k).saturating_add(1), extent),
            (true, false) => (i.saturating_add(k).saturating_add(1), extent),
            (false, false) => (0, i.saturating_add(k)),
        };
        let (first, end) = (first.clamp(0, extent), end.clamp(0, extent));
        let part = axes.iter().enumerate().filter(|(axis, _)| *axis != outer).map(|(axis, &whole)| Axis {
            extent: if axis == inner { (end - first).max(0) as usize } else { whole.extent },
            // The zero that is written everywhere.
            strides: [whole.strides[0], 0],
        });
        let to = i as usize * step as usize + first as usize * layout.strides()[inner] as usize;
        copy(workers, part, (output.as_mut_slice::<T>()?, to), (&[T::ZERO], 0));
    }
    Ok(())
}

/// The axes of a source that goes to where strides of the output say.
pub(super) fn axes_into(strides: &[isize], source: &TensorView<'_>) -> Axes<2> {
    let axes = strides.iter().zip(source.shape()).zip(source.layout().strides());
    axes.map(|((&to, &extent), &from)| Axis { extent, strides: [to, from] }).collect()
}

pub(super) fn place<T: Scalar>(
    workers: &Workers,
    source: &TensorView<'_>,
    axes: Axes<2>,
    to: usize,
    output: &mut Tensor,
) -> Result<()> {
    if source.is_empty() {
        return Ok(());
    }
    let from = (source.buffer::<T>()?, source.layout().offset() as isize);
    copy(workers, axes, (output.as_mut_slice::<T>()?, to), from);
    Ok(())
}
