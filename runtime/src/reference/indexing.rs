//! Operations that operands of indices steer. What such an operand may hold is said here, for every engine.

use tenferro_core::ops::CoreOp;
use tenferro_core::{Error as CoreError, Scalar, Shape, Tensor, TensorView, with_dtype};

use super::kernel::{Kernel, for_dtype};
use super::movement::{advance, place};
use super::scalar::Arithmetic;
use crate::error::Result;
use crate::prepare::PrepareRequest;

/// An index along an axis, if the axis has it.
///
/// # Errors
/// A negative index, or one not below the extent; the message names all.
pub fn checked(op: &'static str, index: i64, axis: usize, extent: usize) -> Result<usize> {
    match usize::try_from(index) {
        Ok(index) if index < extent => Ok(index),
        _ => {
            let message = format!("hold {index}, which axis {axis} of extent {extent} does not have");
            Err(CoreError::argument(op, "indices", message).into())
        }
    }
}

/// Where a part of an array begins: each start is moved to the nearest index from which the part fits.
///
/// # Errors
/// Starts that are not i64.
pub fn clamped(starts: &TensorView<'_>, shape: &[usize], part: &[usize]) -> Result<Shape> {
    let room = shape.iter().zip(part).map(|(extent, size)| extent.saturating_sub(*size));
    let clamp = |(start, room): (i64, usize)| usize::try_from(start.max(0)).unwrap_or(room).min(room);
    Ok(starts.iter::<i64>()?.zip(room).map(clamp).collect())
}

/// The kernel of such an operation on these operands, if they have it.
pub(super) fn kernel(op: &CoreOp, request: &PrepareRequest<'_>) -> Option<Kernel> {
    let name = op.name();
    let dtype = request.outputs().first()?.dtype;
    match op {
        CoreOp::Gather { axis } => {
            let along = (name, *axis as usize);
            Some(with_dtype!(dtype, T => Kernel::new(name, move |inputs, output| gather::<T>(along, inputs, output))))
        }
        CoreOp::Scatter { axis } => {
            let along = (name, *axis as usize);
            Some(with_dtype!(dtype, T => Kernel::new(name, move |inputs, output| {
                scatter::<T>(along, |_, update| update, inputs, output)
            })))
        }
        CoreOp::ScatterAdd { axis } => {
            let along = (name, *axis as usize);
            for_dtype!(numeric: dtype, T => Kernel::new(name, move |inputs, output| {
                scatter::<T>(along, Arithmetic::add, inputs, output)
            }))
        }
        CoreOp::DynamicSlice { .. } => Some(with_dtype!(dtype, T => Kernel::new(name, dynamic_slice::<T>))),
        CoreOp::DynamicUpdateSlice => Some(with_dtype!(dtype, T => Kernel::new(name, dynamic_update_slice::<T>))),
        _ => None,
    }
}

/// Every index of the operand of indices, with the one along the axis replaced by what is held there.
fn targets(
    (op, axis): (&'static str, usize),
    indices: &TensorView<'_>,
    extent: usize,
) -> Result<impl Iterator<Item = Result<Shape>>> {
    let shape: Shape = indices.shape().into();
    let mut place: Shape = vec![0; shape.len()].into();
    Ok(indices.iter::<i64>()?.map(move |index| {
        let mut target = place.clone();
        target[axis] = checked(op, index, axis, extent)?;
        advance(&mut place, &shape);
        Ok(target)
    }))
}

fn gather<T: Scalar>(along: (&'static str, usize), inputs: &[TensorView<'_>], output: &mut Tensor) -> Result<()> {
    let sources = targets(along, &inputs[1], inputs[0].shape()[along.1])?;
    for (y, source) in output.as_mut_slice::<T>()?.iter_mut().zip(sources) {
        *y = inputs[0].get::<T>(&source?)?;
    }
    Ok(())
}

fn scatter<T: Scalar>(
    along: (&'static str, usize),
    combine: impl Fn(T, T) -> T,
    inputs: &[TensorView<'_>],
    output: &mut Tensor,
) -> Result<()> {
    let layout = output.layout().clone();
    place::<T>(&inputs[0], &layout, output)?;
    let entries = output.as_mut_slice::<T>()?;
    for (target, update) in targets(along, &inputs[1], layout.shape()[along.1])?.zip(inputs[2].iter::<T>()?) {
        let entry = &mut entries[layout.index(&target?)?];
        *entry = combine(*entry, update);
    }
    Ok(())
}

fn dynamic_slice<T: Scalar>(inputs: &[TensorView<'_>], output: &mut Tensor) -> Result<()> {
    let (start, layout) = (clamped(&inputs[1], inputs[0].shape(), output.shape())?, output.layout().clone());
    let limit: Shape = start.iter().zip(output.shape()).map(|(start, size)| start + size).collect();
    place::<T>(&inputs[0].strided_slice(&start, &limit, &vec![1; start.len()])?, &layout, output)
}

fn dynamic_update_slice<T: Scalar>(inputs: &[TensorView<'_>], output: &mut Tensor) -> Result<()> {
    let (update, layout) = (&inputs[1], output.layout().clone());
    place::<T>(&inputs[0], &layout, output)?;
    let start = clamped(&inputs[2], output.shape(), update.shape())?;
    let limit: Shape = start.iter().zip(update.shape()).map(|(start, size)| start + size).collect();
    place::<T>(update, &layout.strided_slice(&start, &limit, &vec![1; start.len()])?, output)
}
