//! The product of two operands over pairs of axes.
//!
//! It is an einsum under another name and no operation of its own: one executor and one derivative serve both, and a
//! chain of products is planned as a whole.

use tenferro_core::program::{ProgramBuilder, ValueId};
use tenferro_core::{Error, Result};

use crate::apply::einsum_with;
use crate::planning::EinsumOptimize;
use crate::subscripts::Subscripts;

/// Adds the sum over the `contracting` pairs of axes (of `lhs`, of `rhs`) of the products of entries, for each index of
/// the `batch` pairs. Axes of the result: those of `lhs` in no pair, those of `rhs` in no pair, batch.
///
/// # Errors
/// An axis that does not exist or stands in two pairs, paired extents or dtypes that differ.
///
/// ```
/// use tenferro_core::{dtype::DType, program::ProgramBuilder};
/// let mut b = ProgramBuilder::new("products");
/// let (n, m, k, batch) = (b.size("n"), b.size("m"), b.size("k"), b.size("batch"));
/// let x = b.input("x", DType::F64, &[batch.clone(), n, m.clone()])?;
/// let y = b.input("y", DType::F64, &[m, k, batch])?;
/// let z = tenferro_einsum::dot_general(&mut b, x, y, &[(2, 0)], &[(0, 2)])?;
/// assert_eq!(b.size_names().meta(b.meta(z)), "f64[n, k, batch]");
/// # Ok::<(), tenferro_core::Error>(())
/// ```
pub fn dot_general(
    b: &mut ProgramBuilder,
    lhs: ValueId,
    rhs: ValueId,
    contracting: &[(u32, u32)],
    batch: &[(u32, u32)],
) -> Result<ValueId> {
    let (left, right) = (b.meta(lhs).rank() as u32, b.meta(rhs).rank() as u32);
    let pairs = || contracting.iter().chain(batch).copied();
    check("lhs", pairs().map(|(l, _)| l), left)?;
    check("rhs", pairs().map(|(_, r)| r), right)?;

    let partner = |axis: u32| pairs().find(|&(_, r)| r == axis).map(|(l, _)| l);
    let right_label = |axis: u32| partner(axis).unwrap_or(left + axis);
    let left_free = (0..left).filter(|&axis| pairs().all(|(l, _)| l != axis));
    let right_free = (0..right).filter(|&axis| partner(axis).is_none()).map(right_label);
    let output: Vec<u32> = left_free.chain(right_free).chain(batch.iter().map(|&(l, _)| l)).collect();
    let inputs = vec![(0..left).collect(), (0..right).map(right_label).collect()];
    einsum_with(b, Subscripts::new(inputs, output), EinsumOptimize::Auto, &[lhs, rhs])
}

/// Every axis exists and stands in one pair.
fn check(operand: &'static str, axes: impl Iterator<Item = u32> + Clone, rank: u32) -> Result<()> {
    for (i, axis) in axes.clone().enumerate() {
        if axis >= rank {
            return Err(Error::axis("dot_general", operand, axis as usize, rank as usize));
        }
        if axes.clone().take(i).any(|other| other == axis) {
            return Err(Error::argument("dot_general", operand, format!("has axis {axis} in two pairs")));
        }
    }
    Ok(())
}
