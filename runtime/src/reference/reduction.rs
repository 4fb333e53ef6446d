//! Reductions and scans: the axes in question are brought to the front, and what varies fastest
//! is then combined from first to last.

use tenferro_core::ops::CoreOp;
use tenferro_core::{DType, Scalar};

use super::kernel::{Kernel, for_dtype};
use super::scalar::{Arithmetic, Ordered, is_nan};
use crate::prepare::PrepareRequest;

/// The kernel of a reduction on this operand, if it has it.
pub(super) fn kernel(op: &CoreOp, request: &PrepareRequest<'_>) -> Option<Kernel> {
    let name = op.name();
    let operand = request.inputs().first()?;
    let (dtype, rank) = (operand.dtype, operand.rank());
    match op {
        CoreOp::Sum { axes } => {
            for_dtype!(numeric: dtype, T => fold::<T>(name, axes, rank, T::ZERO, Arithmetic::add))
        }
        CoreOp::Prod { axes } => {
            for_dtype!(numeric: dtype, T => fold::<T>(name, axes, rank, T::ONE, Arithmetic::mul))
        }
        CoreOp::Any { axes } => (dtype == DType::Bool).then(|| fold(name, axes, rank, false, |a, b| a | b)),
        CoreOp::All { axes } => (dtype == DType::Bool).then(|| fold(name, axes, rank, true, |a, b| a & b)),
        CoreOp::Max { axes } => {
            for_dtype!(ordered: dtype, T => fold::<T>(name, axes, rank, T::LOWEST, Ordered::maximum))
        }
        CoreOp::Min { axes } => {
            for_dtype!(ordered: dtype, T => fold::<T>(name, axes, rank, T::HIGHEST, Ordered::minimum))
        }
        CoreOp::ArgMax { axis } => for_dtype!(ordered: dtype, T => winner(name, *axis, rank, |a: T, b| a > b)),
        CoreOp::ArgMin { axis } => for_dtype!(ordered: dtype, T => winner(name, *axis, rank, |a: T, b| a < b)),
        CoreOp::CumSum { axis } => {
            for_dtype!(numeric: dtype, T => scan::<T, 1>(name, *axis, rank, |[x]| x, |z, [x]| z.add(x)))
        }
        CoreOp::CumProd { axis } => {
            for_dtype!(numeric: dtype, T => scan::<T, 1>(name, *axis, rank, |[x]| x, |z, [x]| z.mul(x)))
        }
        CoreOp::LinearRecurrence { axis } => {
            for_dtype!(numeric: dtype, T => scan::<T, 2>(name, *axis, rank, |[_, b]| b, |z, [a, b]| a.mul(z).add(b)))
        }
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

/// Along an axis, `first` of the operands' entries, then `next` of what came before and the operands' entries.
fn scan<T: Scalar, const N: usize>(
    name: &'static str,
    axis: u32,
    rank: usize,
    first: impl Fn([T; N]) -> T + Send + Sync + 'static,
    next: impl Fn(T, [T; N]) -> T + Send + Sync + 'static,
) -> Kernel {
    let order = to_front(&[axis], rank);
    Kernel::new(name, move |inputs, output| {
        let count = output.shape()[axis as usize];
        let mut entries = Vec::with_capacity(N);
        for input in inputs {
            entries.push(input.transpose(&order)?.to_vec_col_major::<T>()?);
        }
        let positions = output.layout().transpose(&order)?.offsets();
        let results = output.as_mut_slice::<T>()?;
        let mut before = T::ZERO;
        for (i, position) in positions.enumerate() {
            let own = std::array::from_fn(|operand| entries[operand][i]);
            before = if i % count == 0 { first(own) } else { next(before, own) };
            results[position] = before;
        }
        Ok(())
    })
}
