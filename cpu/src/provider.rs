//! From core operations to kernels.

use tenferro_core::ops::{CoreOp, OpClass};
use tenferro_core::{DType, Scalar, Tensor, TensorView, with_dtype};
use tenferro_runtime::reference::scalar::Arithmetic;
use tenferro_runtime::{Engine, Preparation, PrepareRequest, Provider, Result};

use crate::command::command;
use crate::dtypes::{numeric, ordered};
use crate::movement;
use crate::nest::{Axes, axes_of};
use crate::reduce::{self, Reducer};
use crate::region;

/// Chooses the kernels of core operations.
pub(crate) struct CpuProvider;

impl Provider for CpuProvider {
    fn prepare(&self, request: &PrepareRequest<'_>) -> Result<Preparation> {
        let (Some(op), Some(output)) = (request.core_op(), request.outputs().first()) else {
            return Ok(Preparation::Unsupported);
        };
        let data = (0..).zip(request.inputs()).find(|(i, _)| op.row().control(*i).is_none());
        let dtype = data.map_or(output.dtype, |(_, operand)| operand.dtype);
        let (needs, choose): (_, fn(&_, _, &_) -> _) = match op.class() {
            OpClass::Elementwise => (request.metadata(), elementwise),
            OpClass::Reduction => (request.metadata(), reduction),
            OpClass::Creation => (request.metadata(), placement),
            OpClass::Movement => (request.attributes(), placement),
            OpClass::Layout => return Ok(Preparation::Unsupported),
        };
        request.with(needs, || Ok(choose(op, dtype, request).unwrap_or(Preparation::Unsupported)))
    }
}

fn elementwise(op: &CoreOp, dtype: DType, _: &PrepareRequest<'_>) -> Option<Preparation> {
    let kernel = region::kernel(op, dtype)?;
    Some(command(op.name(), move |engine, inputs, output| match inputs {
        [x] => region::run(&engine.workers, kernel, [x], output),
        [a, b] => region::run(&engine.workers, kernel, [a, b], output),
        [condition, a, b] => region::run(&engine.workers, kernel, [condition, a, b], output),
        _ => unreachable!("elementwise operations have one to three operands"),
    }))
}

fn reduction(op: &CoreOp, dtype: DType, _: &PrepareRequest<'_>) -> Option<Preparation> {
    let name = op.name();
    match op {
        CoreOp::Sum { axes } => numeric!(dtype, T => reducing::<T>(name, axes, reduce::sum())),
        CoreOp::Prod { axes } => numeric!(dtype, T => reducing::<T>(name, axes, reduce::product())),
        CoreOp::Any { axes } => (dtype == DType::Bool).then(|| reducing(name, axes, reduce::any())),
        CoreOp::All { axes } => (dtype == DType::Bool).then(|| reducing(name, axes, reduce::all())),
        CoreOp::Max { axes } => ordered!(dtype, T => reducing::<T>(name, axes, reduce::max())),
        CoreOp::Min { axes } => ordered!(dtype, T => reducing::<T>(name, axes, reduce::min())),
        CoreOp::ArgMax { axis } => ordered!(dtype, T => finding(name, *axis, |a: T, b| a > b)),
        CoreOp::ArgMin { axis } => ordered!(dtype, T => finding(name, *axis, |a: T, b| a < b)),
        CoreOp::CumSum { axis } => numeric!(dtype, T => cumulating(name, *axis, T::add)),
        CoreOp::CumProd { axis } => numeric!(dtype, T => cumulating(name, *axis, T::mul)),
        CoreOp::LinearRecurrence { axis } => numeric!(dtype, T => recurring::<T>(name, *axis)),
        _ => None,
    }
}

fn placement(op: &CoreOp, dtype: DType, request: &PrepareRequest<'_>) -> Option<Preparation> {
    let name = op.name();
    match op {
        CoreOp::Iota { axis, .. } => {
            let axis = *axis as usize;
            numeric!(dtype, T => command(name, move |_, _, output| movement::iota::<T>(axis, output)))
        }
        CoreOp::EmbedDiag => Some(with_dtype!(dtype, T => command(name, |engine, inputs, output| {
            movement::embed_diagonal::<T>(&engine.workers, &inputs[0], output)
        }))),
        CoreOp::Concatenate { axis } => {
            let axis = *axis as usize;
            Some(with_dtype!(dtype, T => command(name, move |engine, inputs, output| {
                movement::concatenate::<T>(&engine.workers, axis, inputs, output)
            })))
        }
        CoreOp::Pad { low, interior, .. } => {
            let low: Vec<i64> = low.iter().map(|dim| request.dim(dim)).collect::<Option<_>>()?;
            let steps: Vec<i64> = interior.iter().map(|&interior| i64::from(interior) + 1).collect();
            Some(with_dtype!(dtype, T => command(name, move |engine, inputs, output| {
                movement::pad::<T>(&engine.workers, (&low, &steps), inputs, output)
            })))
        }
        CoreOp::Tril { row, column, k } => {
            Some(with_dtype!(dtype, T => triangle::<T>(name, [*row, *column], *k, true)))
        }
        CoreOp::Triu { row, column, k } => {
            Some(with_dtype!(dtype, T => triangle::<T>(name, [*row, *column], *k, false)))
        }
        CoreOp::Gather { axis } => {
            let along = (name, *axis as usize);
            Some(with_dtype!(dtype, T => command(name, move |engine, inputs, output| {
                movement::gather_along::<T>(&engine.workers, along, inputs, output)
            })))
        }
        CoreOp::Scatter { axis } => Some(with_dtype!(dtype, T => scattering(name, *axis, |_: T, update: T| update))),
        CoreOp::ScatterAdd { axis } => numeric!(dtype, T => scattering(name, *axis, T::add)),
        CoreOp::DynamicSlice { .. } => Some(with_dtype!(dtype, T => command(name, |engine, inputs, output| {
            movement::dynamic_slice::<T>(&engine.workers, inputs, output)
        }))),
        CoreOp::DynamicUpdateSlice => Some(with_dtype!(dtype, T => command(name, |engine, inputs, output| {
            movement::dynamic_update_slice::<T>(&engine.workers, inputs, output)
        }))),
        _ => None,
    }
}

fn triangle<T: Scalar>(name: &'static str, axes: [u32; 2], k: i64, lower: bool) -> Preparation {
    let axes = axes.map(|axis| axis as usize);
    command(name, move |engine, inputs, output| {
        movement::triangle::<T>(&engine.workers, (axes, k, lower), &inputs[0], output)
    })
}

fn scattering<T: Scalar>(
    name: &'static str,
    axis: u32,
    combine: impl Fn(T, T) -> T + Copy + Send + Sync + 'static,
) -> Preparation {
    let along = (name, axis as usize);
    command(name, move |engine, inputs, output| movement::scatter::<T>(&engine.workers, along, combine, inputs, output))
}

/// The axes of a view that stay, and those that are reduced.
fn split_axes(view: &TensorView<'_>, reduced: &[u32]) -> (Axes<1>, Axes<1>) {
    let axes = axes_of([view.layout()]);
    let is_reduced = |axis: usize| reduced.contains(&(axis as u32));
    let pick = |wanted: bool| (0..axes.len()).filter(|&i| is_reduced(i) == wanted).map(|i| axes[i]).collect();
    (pick(false), pick(true))
}

fn reducing<T: Scalar>(name: &'static str, axes: &[u32], reducer: Reducer<T>) -> Preparation {
    let axes = axes.to_vec();
    command(name, move |engine, inputs, output| {
        let source = (inputs[0].buffer::<T>()?, inputs[0].layout().offset() as isize);
        let axes = split_axes(&inputs[0], &axes);
        reduce::reduce(&engine.workers, reducer, axes, source, output.as_mut_slice::<T>()?);
        Ok(())
    })
}

fn finding<T: Scalar>(
    name: &'static str,
    axis: u32,
    beats: impl Fn(T, T) -> bool + Copy + Send + Sync + 'static,
) -> Preparation {
    command(name, move |engine, inputs, output| {
        let source = (inputs[0].buffer::<T>()?, inputs[0].layout().offset() as isize);
        let (kept, found) = split_axes(&inputs[0], &[axis]);
        reduce::best(&engine.workers, beats, (&kept, found[0]), source, output.as_mut_slice::<i64>()?);
        Ok(())
    })
}

/// The extent of an axis, and the number of entries from one index along it to the next.
fn run_of(output: &Tensor, axis: u32) -> (usize, usize) {
    let (below, rest) = output.shape().split_at(axis as usize);
    (rest[0], below.iter().product())
}

fn cumulating<T: Arithmetic>(
    name: &'static str,
    axis: u32,
    combine: impl Fn(T, T) -> T + Copy + Send + Sync + 'static,
) -> Preparation {
    command(name, move |engine, inputs, output| {
        movement::copy_view::<T>(&engine.workers, &inputs[0], output)?;
        let run = run_of(output, axis);
        reduce::scan(&engine.workers, run, output.as_mut_slice()?, |previous, own, _| combine(previous, own));
        Ok(())
    })
}

fn recurring<T: Arithmetic>(name: &'static str, axis: u32) -> Preparation {
    command(name, move |engine, inputs, output| {
        movement::copy_view::<T>(&engine.workers, &inputs[1], output)?;
        let mut factors = engine.allocate(output.dtype(), output.shape())?;
        movement::copy_view::<T>(&engine.workers, &inputs[0], &mut factors)?;
        let run = run_of(output, axis);
        let a = factors.as_slice::<T>()?;
        reduce::scan(&engine.workers, run, output.as_mut_slice()?, |z, b, position| a[position].mul(z).add(b));
        engine.recycle(factors);
        Ok(())
    })
}
