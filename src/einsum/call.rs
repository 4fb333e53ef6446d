//! Einsums in one call.

use super::concrete::reads;
use super::equation::Equation;
use crate::dtype::ScalarValue;
use crate::tensor::{Tensor, TensorRead};
use crate::{Result, Session};

/// The einsum of tensors at hand: of any one numeric dtype, any ranks and any strides.
///
/// The equation is text such as `"ij,jk->ik"`, an [`EinsumNotation`](crate::einsum::EinsumNotation) or integer labels,
/// [`Subscripts`](crate::einsum::Subscripts). Any axis of extent 1 stretches to the extent that its label has elsewhere.
/// The session remembers the last 128 equations it ran, each for 16 shapes, so that a repeated call neither reads text nor
/// plans.
///
/// # Errors
/// An equation that is wrong or does not fit the operands, with the place under a caret; operands of different dtypes;
/// and those of the engine.
///
/// ```
/// use tenferro::prelude::*;
/// use tenferro::einsum::Subscripts;
/// use tenferro::tensor::TensorRead;
///
/// let mut session = Session::cpu();
/// let a = Tensor::from_vec_row_major([2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let product = einsum(&mut session, "ij,kj->ik", &[&a, &a])?;
/// assert_eq!(product.to_vec_row_major::<f64>()?, [14.0, 32.0, 32.0, 77.0]);
///
/// // Operands of different kinds are passed as what the runtime reads, views among them.
/// let x = TypedTensor::from_vec([1.0, 0.0].to_vec());
/// let transposed = a.view().transpose(&[1, 0])?;
/// let operands = [TensorRead::from(transposed), TensorRead::from(&x)];
/// let y = einsum(&mut session, &Subscripts::new([vec![0, 1], vec![1]], [0]), &operands)?;
/// assert_eq!(y.as_slice::<f64>()?, [1.0, 2.0, 3.0]);
///
/// let error = einsum(&mut session, "ij,jk->ik", &[&a, &a]).unwrap_err();
/// assert!(error.to_string().contains("label `j` is 3 on axis 1 of operand 0, but 2 on axis 0 of operand 1"));
/// # Ok::<(), tenferro::Error>(())
/// ```
pub fn einsum<'e, 'a, O>(session: &mut Session, equation: impl Into<Equation<'e>>, operands: &[O]) -> Result<Tensor>
where
    O: Clone + Into<TensorRead<'a>>,
{
    session.equations.get(equation.into(), false)?.run(session, operands)
}

/// Computes `alpha * einsum + beta * out` into `out`, as BLAS does: where `beta` is 0 the old value is not looked at,
/// and not even `NaN` in it matters.
///
/// The operands are read even where `alpha` is 0, and their `NaN` stays.
///
/// `alpha` and `beta` are of the operands' dtype. Integers wrap. See [`einsum`](crate::einsum()) for the rest.
///
/// # Errors
/// Those of [`einsum`](crate::einsum()); an `out` whose dtype or shape is not the result's; an `alpha` or `beta` of
/// another dtype.
///
/// ```
/// use tenferro::prelude::*;
///
/// let mut session = Session::cpu();
/// let x = Tensor::from_vec_col_major([2], vec![1.0, 2.0])?;
/// let mut out = Tensor::full([2, 2], 1.0)?;
/// einsum_into(&mut session, "i,j->ij", &[&x, &x], 10.0, 0.5, &mut out)?;
/// assert_eq!(out.to_vec_row_major::<f64>()?, [10.5, 20.5, 20.5, 40.5]);
/// # Ok::<(), tenferro::Error>(())
/// ```
pub fn einsum_into<'e, 'a, O>(
    session: &mut Session,
    equation: impl Into<Equation<'e>>,
    operands: &[O],
    alpha: impl Into<ScalarValue>,
    beta: impl Into<ScalarValue>,
    out: &mut Tensor,
) -> Result<()>
where
    O: Clone + Into<TensorRead<'a>>,
{
    session.equations.get(equation.into(), false)?.run_into(session, operands, alpha, beta, out)
}

/// The einsum of two or fewer operands with these labels, the first conjugated or not: what the products by name are.
pub(super) fn product(
    session: &mut Session,
    labels: &tenferro_einsum::Subscripts,
    operands: &[TensorRead<'_>],
    conjugates: bool,
) -> Result<Tensor> {
    session.equations.get(Equation::Labels(labels), conjugates)?.compute(session, &reads(operands), &[])
}
