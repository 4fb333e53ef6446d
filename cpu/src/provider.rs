//! From core operations to kernels.

use tenferro_core::ops::{CoreOp, OpClass};
use tenferro_core::{DType, Layout, Scalar, Tensor, TensorView, with_dtype};
use tenferro_runtime::reference::scalar::Arithmetic;
use tenferro_runtime::{Engine, Error, Preparation, PrepareRequest, Provider, Result};

use crate::command::{command, planned};
use crate::dtypes::{numeric, ordered};
use crate::engine::CpuEngine;
use crate::movement;
use crate::nest::{Axes, axes_of};
use crate::reduce::{self, Reducer, Reduction};
use crate::region::{self, Element, ElementsMut, Kernel, Nest};

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

fn elementwise(op: &CoreOp, dtype: DType, request: &PrepareRequest<'_>) -> Option<Preparation> {
    let kernel = region::kernel(op, dtype)?;
    match request.inputs().len() {
        1 => Some(applying::<1>(op.name(), kernel)),
        2 => Some(applying::<2>(op.name(), kernel)),
        3 => Some(applying::<3>(op.name(), kernel)),
        _ => None,
    }
}

fn applying<const N: usize>(name: &'static str, kernel: Kernel) -> Preparation {
    planned(name, move |layouts| {
        let layouts: [&Layout; N] = operands(name, layouts)?;
        let starts = layouts.map(|layout| layout.offset() as isize);
        let nest = Nest::new(axes_of(layouts));
        Ok(move |engine: &mut CpuEngine, inputs: &[TensorView<'_>], output: &mut Tensor| {
            let inputs: &[TensorView<'_>; N] = operands(name, inputs)?;
            let sources = std::array::from_fn(|i| inputs[i].elements());
            nest.run(&engine.workers, kernel, sources, starts, ElementsMut::of_tensor(output)?);
            Ok(())
        })
    })
}

/// So many operands, as the operation has.
fn operands<'a, T, A: TryFrom<&'a [T]>>(name: &str, operands: &'a [T]) -> Result<A> {
    let message = || format!("cannot work on {} operands", operands.len());
    operands.try_into().map_err(|_| Error::Execution { op: name.to_owned(), message: message() })
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

/// The axes of an operand that stay, and those that are reduced.
fn split_axes(layout: &Layout, reduced: &[u32]) -> (Axes<1>, Axes<1>) {
    let axes = axes_of([layout]);
    let is_reduced = |axis: usize| reduced.contains(&(axis as u32));
    let pick = |wanted: bool| (0..axes.len()).filter(|&i| is_reduced(i) == wanted).map(|i| axes[i]).collect();
    (pick(false), pick(true))
}

fn reducing<T: Element>(name: &'static str, axes: &[u32], reducer: Reducer<T>) -> Preparation {
    let axes = axes.to_vec();
    planned(name, move |layouts| {
        let [layout]: [&Layout; 1] = operands(name, layouts)?;
        let start = layout.offset() as isize;
        let (kept, reduced) = split_axes(layout, &axes);
        let reduction = Reduction::new(kept, reduced);
        Ok(move |engine: &mut CpuEngine, inputs: &[TensorView<'_>], output: &mut Tensor| {
            let source = (inputs[0].buffer::<T>()?, start);
            reduction.run(&engine.workers, reducer, source, output.as_mut_slice::<T>()?);
            Ok(())
        })
    })
}

fn finding<T: Scalar>(
    name: &'static str,
    axis: u32,
    beats: impl Fn(T, T) -> bool + Copy + Send + Sync + 'static,
) -> Preparation {
    planned(name, move |layouts| {
        let [layout]: [&Layout; 1] = operands(name, layouts)?;
        let start = layout.offset() as isize;
        let (kept, found) = split_axes(layout, &[axis]);
        Ok(move |engine: &mut CpuEngine, inputs: &[TensorView<'_>], output: &mut Tensor| {
            let source = (inputs[0].buffer::<T>()?, start);
            reduce::best(&engine.workers, beats, (&kept, found[0]), source, output.as_mut_slice::<i64>()?);
            Ok(())
        })
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
