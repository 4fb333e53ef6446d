//! Einsum as it is defined: nested loops over all labels, without a plan.

use std::sync::Arc;

use tenferro_core::extension::ExtensionOp;
use tenferro_core::{Error as CoreError, Tensor, TensorView};
use tenferro_einsum::{EinsumOp, FAMILY_ID};

use super::kernel::{Kernel, for_dtype};
use super::movement::advance;
use super::scalar::Arithmetic;
use crate::error::{Error, Result};
use crate::extension::FamilyExecutor;
use crate::prepare::{Preparation, PrepareRequest};

/// The executor of the einsum family.
pub(super) struct EinsumExecutor;

impl FamilyExecutor for EinsumExecutor {
    fn family_id(&self) -> &'static str {
        FAMILY_ID
    }

    fn prepare(&self, op: &dyn ExtensionOp, request: &PrepareRequest<'_>) -> Result<Preparation> {
        let Some(op) = op.as_any().downcast_ref::<EinsumOp>() else {
            let message = format!("a payload of this family is no einsum: {op:?}");
            return Err(Error::Execution { op: FAMILY_ID.to_owned(), message });
        };
        let Some(operand) = request.inputs().first() else { return Ok(Preparation::Unsupported) };
        let op = Arc::new(op.clone());
        let counted = Arc::clone(&op);
        request.with(request.extents_and_layouts(), || {
            let kernel = for_dtype!(numeric: operand.dtype, T => Kernel::new("einsum", move |inputs, output| {
                einsum::<T>(&op, inputs, output)
            }));
            // One loop over all labels, a product and a sum in it for each operand.
            let kernel = kernel.map(|kernel| {
                kernel.counting(move |inputs| {
                    let shapes: Vec<&[usize]> = inputs.iter().map(|input| input.shape()).collect();
                    let points: f64 = counted.extents(&shapes).ok()?.iter().map(|&extent| extent as f64).product();
                    Some(points * shapes.len() as f64)
                })
            });
            Ok(kernel.map_or(Preparation::Unsupported, Preparation::command))
        })
    }
}

/// An operand (or the output) as its entries and, for each label, how far they move when the
/// label goes up by one: not at all where an axis stretches, by several strides where the label
/// repeats.
struct Walk<'a, T> {
    entries: &'a [T],
    offset: usize,
    strides: Vec<isize>,
}

impl<T: Copy> Walk<'_, T> {
    fn at(&self, index: &[usize]) -> T {
        self.entries[position(self.offset, &self.strides, index)]
    }
}

fn position(offset: usize, strides: &[isize], index: &[usize]) -> usize {
    let moves = index.iter().zip(strides).map(|(&i, &stride)| (i as isize).wrapping_mul(stride));
    moves.fold(offset, usize::wrapping_add_signed)
}

fn einsum<T: Arithmetic>(op: &EinsumOp, inputs: &[TensorView<'_>], output: &mut Tensor) -> Result<()> {
    let shapes: Vec<&[usize]> = inputs.iter().map(TensorView::shape).collect();
    let extents = op.extents(&shapes)?;
    let strides = |labels: &[u32], strides: &[isize], stretches: &dyn Fn(usize) -> bool| {
        let mut sums = vec![0_isize; extents.len()];
        for (axis, &label) in labels.iter().enumerate().filter(|(axis, _)| !stretches(*axis)) {
            sums[label as usize] = sums[label as usize].wrapping_add(strides[axis]);
        }
        sums
    };
    let mut walks = Vec::with_capacity(inputs.len());
    for (i, (input, labels)) in inputs.iter().zip(op.inputs.iter()).enumerate() {
        let strides = strides(labels, input.layout().strides(), &|axis| op.stretches(i, axis));
        walks.push(Walk { entries: input.buffer::<T>()?, offset: input.layout().offset(), strides });
    }
    let target = strides(&op.output, output.layout().strides(), &|_| false);
    let sums = output.as_mut_slice::<T>()?;
    sums.fill(T::ZERO);
    let mut index = vec![0; extents.len()];
    let points = extents.iter().try_fold(1usize, |n, &extent| n.checked_mul(extent));
    let points = if extents.contains(&0) { Some(0) } else { points };
    let points = points.ok_or_else(|| CoreError::Overflow { op: "einsum".into(), shape: extents.clone() })?;
    for _ in 0..points {
        let product = walks.iter().map(|walk| walk.at(&index)).reduce(Arithmetic::mul);
        let sum = &mut sums[position(0, &target, &index)];
        *sum = Arithmetic::add(*sum, product.unwrap_or(T::ONE));
        advance(&mut index, &extents);
    }
    Ok(())
}
