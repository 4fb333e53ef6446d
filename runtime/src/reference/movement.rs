//! Operations that make or move entries: where each entry goes is the layout of a view of the
//! output.

use tenferro_core::ops::CoreOp;
use tenferro_core::{Layout, Scalar, Shape, Tensor, TensorView, with_dtype};

use super::indexing;
use super::kernel::{Kernel, for_dtype};
use super::scalar::convert;
use crate::error::Result;
use crate::prepare::PrepareRequest;

/// The kernel of such an operation on these operands, if they have it.
pub(super) fn kernel(op: &CoreOp, request: &PrepareRequest<'_>) -> Option<Kernel> {
    let name = op.name();
    let dtype = request.outputs().first()?.dtype;
    match op {
        CoreOp::Iota { axis, .. } => {
            let axis = *axis as usize;
            for_dtype!(numeric: dtype, T => Kernel::new(name, move |_, output| iota(axis, output, convert::<i64, T>)))
        }
        CoreOp::EmbedDiag => Some(with_dtype!(dtype, T => Kernel::new(name, embed_diag::<T>))),
        CoreOp::Concatenate { axis } => {
            let axis = *axis as usize;
            Some(with_dtype!(dtype, T => Kernel::new(name, move |inputs, output| {
                concatenate::<T>(axis, inputs, output)
            })))
        }
        CoreOp::Pad { low, interior, .. } => {
            let low: Vec<i64> = low.iter().map(|dim| request.dim(dim)).collect::<Option<_>>()?;
            let step: Vec<i64> = interior.iter().map(|&interior| i64::from(interior) + 1).collect();
            Some(with_dtype!(dtype, T => Kernel::new(name, move |inputs, output| {
                pad::<T>(&low, &step, inputs, output)
            })))
        }
        CoreOp::Tril { row, column, k } => {
            let (axes, k) = ([*row as usize, *column as usize], *k);
            Some(with_dtype!(dtype, T => Kernel::new(name, move |inputs, output| {
                triangle::<T>(axes, |distance| distance <= k, &inputs[0], output)
            })))
        }
        CoreOp::Triu { row, column, k } => {
            let (axes, k) = ([*row as usize, *column as usize], *k);
            Some(with_dtype!(dtype, T => Kernel::new(name, move |inputs, output| {
                triangle::<T>(axes, |distance| distance >= k, &inputs[0], output)
            })))
        }
        other => indexing::kernel(other, request),
    }
}

fn iota<T: Scalar>(axis: usize, output: &mut Tensor, value: impl Fn(i64) -> T) -> Result<()> {
    let stride: usize = output.shape()[..axis].iter().product();
    let extent = output.shape()[axis];
    for (i, y) in output.as_mut_slice::<T>()?.iter_mut().enumerate() {
        *y = value((i / stride % extent) as i64);
    }
    Ok(())
}

/// Writes the entries of a view where a layout of the output says.
pub(super) fn place<T: Scalar>(view: &TensorView<'_>, layout: &Layout, output: &mut Tensor) -> Result<()> {
    let entries = view.iter::<T>()?;
    let target = output.as_mut_slice::<T>()?;
    layout.offsets().zip(entries).for_each(|(position, x)| target[position] = x);
    Ok(())
}

fn embed_diag<T: Scalar>(inputs: &[TensorView<'_>], output: &mut Tensor) -> Result<()> {
    output.as_mut_slice::<T>()?.fill(T::ZERO);
    let rank = output.rank();
    let diagonal = output.layout().diagonal(rank - 2, rank - 1)?;
    place::<T>(&inputs[0], &diagonal, output)
}

fn concatenate<T: Scalar>(axis: usize, inputs: &[TensorView<'_>], output: &mut Tensor) -> Result<()> {
    let rank = output.rank();
    let mut start: Shape = vec![0; rank].into();
    let mut limit: Shape = output.shape().into();
    for input in inputs {
        limit[axis] = start[axis] + input.shape()[axis];
        let part = output.layout().strided_slice(&start, &limit, &vec![1; rank])?;
        place::<T>(input, &part, output)?;
        start[axis] = limit[axis];
    }
    Ok(())
}

/// Entry `i` goes to `low + i * step` on every axis, if that is inside.
fn pad<T: Scalar>(low: &[i64], step: &[i64], inputs: &[TensorView<'_>], output: &mut Tensor) -> Result<()> {
    output.as_mut_slice::<T>()?.fill(inputs[1].item::<T>()?);
    let (source, layout) = (&inputs[0], output.layout().clone());
    let target = output.as_mut_slice::<T>()?;
    let mut index: Shape = vec![0; source.rank()].into();
    for x in source.iter::<T>()? {
        let place = |axis: usize| usize::try_from(low[axis] + index[axis] as i64 * step[axis]).ok();
        let place: Option<Shape> = (0..index.len()).map(place).collect();
        if let Some(position) = place.and_then(|place| layout.index(&place).ok()) {
            target[position] = x;
        }
        advance(&mut index, source.shape());
    }
    Ok(())
}

/// Entries stay where the distance from row to column is wanted.
fn triangle<T: Scalar>(
    [row, column]: [usize; 2],
    wanted: impl Fn(i64) -> bool,
    source: &TensorView<'_>,
    output: &mut Tensor,
) -> Result<()> {
    let mut index: Shape = vec![0; source.rank()].into();
    for (y, x) in output.as_mut_slice::<T>()?.iter_mut().zip(source.iter::<T>()?) {
        *y = if wanted(index[column] as i64 - index[row] as i64) { x } else { T::ZERO };
        advance(&mut index, source.shape());
    }
    Ok(())
}

/// The next index, first axis fastest; after the last, the first again.
pub(super) fn advance(index: &mut [usize], shape: &[usize]) {
    for (i, &extent) in index.iter_mut().zip(shape) {
        *i += 1;
        if *i < extent {
            return;
        }
        *i = 0;
    }
}
