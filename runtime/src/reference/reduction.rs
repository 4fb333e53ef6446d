//! Reductions and scans: the axes in question are brought to the front, and what varies fastest
//! is then combined from first to last.

use tenferro_core::Scalar;
use tenferro_core::ops::CoreOp;

use super::kernel::{Kernel, for_dtype};
use super::scalar::{Arithmetic, Ordered, is_nan};
use crate::prepare::PrepareRequest;

/// The kernel of a reduction on this operand, if it has it.
pub(super) fn kernel(op: &CoreOp, request: &PrepareRequest<'_>) -> Option<Kernel> {
    let name = op.name();
    let [operand] = request.inputs() else { return None };
    let (dtype, rank) = (operand.dtype, operand.rank());
    match op {
        CoreOp::Sum { axes } => {
            for_dtype!(numeric: dtype, T => fold::<T>(name, axes, rank, T::ZERO, Arithmetic::add))
        }
        CoreOp::Max { axes } => {
            for_dtype!(ordered: dtype, T => fold::<T>(name, axes, rank, T::LOWEST, Ordered::maximum))
        }
        CoreOp::Min { axes } => {
            for_dtype!(ordered: dtype, T => fold::<T>(name, axes, rank, T::HIGHEST, Ordered::minimum))
        }
        CoreOp::ArgMax { axis } => for_dtype!(ordered: dtype, T => winner(name, *axis, rank, |a: T, b| a > b)),
        CoreOp::ArgMin { axis } => for_dtype!(ordered: dtype, T => winner(name, *axis, rank, |a: T, b| a < b)),
        CoreOp::CumSum { axis } => for_dtype!(numeric: dtype, T => running_sum::<T>(name, *axis, rank)),
        _ => None,
    }
}

/// All axes, those of `axes` first and in order.
fn to_front(axes: &[u32], rank: usize) -> Vec<usize> {
    let reduced = |axis: &usize| axes.contains(&(*axis as u32));
    (0..rank).filter(reduced).chain((0..rank).filter(|axis| !reduced(axis))).collect()
}

fn fold<T: Scalar>(
    name: &'static str,
    axes: &[u32],
    rank: usize,
    empty: T,
    combine: impl Fn(T, T) -> T + Send + Sync + 'static,
) -> Kernel {
    let (order, reduced) = (to_front(axes, rank), axes.len());
    Kernel::new(name, move |inputs, output| {
        let view = inputs[0].transpose(&order)?;
        let count = view.shape()[..reduced].iter().product();
        let mut entries = view.iter::<T>()?;
        for y in output.as_mut_slice::<T>()? {
            *y = entries.by_ref().take(count).fold(empty, &combine);
        }
        Ok(())
    })
}

/// The index of the first entry that no other beats. The first NaN beats all.
fn winner<T: Scalar>(
    name: &'static str,
    axis: u32,
    rank: usize,
    beats: impl Fn(T, T) -> bool + Send + Sync + 'static,
) -> Kernel {
    let order = to_front(&[axis], rank);
    Kernel::new(name, move |inputs, output| {
        let view = inputs[0].transpose(&order)?;
        let count = view.shape()[0];
        let mut entries = view.iter::<T>()?;
        for y in output.as_mut_slice::<i64>()? {
            let mut best: Option<(i64, T)> = None;
            for (i, x) in (0..).zip(entries.by_ref().take(count)) {
                if best.is_none_or(|(_, b)| !is_nan(b) && (is_nan(x) || beats(x, b))) {
                    best = Some((i, x));
                }
            }
            // A guard of the program sees to it that there is an entry.
            *y = best.map_or(0, |(i, _)| i);
        }
        Ok(())
    })
}

fn running_sum<T: Arithmetic>(name: &'static str, axis: u32, rank: usize) -> Kernel {
    let order = to_front(&[axis], rank);
    Kernel::new(name, move |inputs, output| {
        let view = inputs[0].transpose(&order)?;
        let count = view.shape()[0];
        let mut entries = view.iter::<T>()?;
        let mut positions = output.layout().transpose(&order)?.offsets();
        let sums = output.as_mut_slice::<T>()?;
        while entries.len() > 0 {
            let run = positions.by_ref().zip(entries.by_ref()).take(count);
            run.fold(T::ZERO, |total, (position, x)| {
                sums[position] = Arithmetic::add(total, x);
                sums[position]
            });
        }
        Ok(())
    })
}
