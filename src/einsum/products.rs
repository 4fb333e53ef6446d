//! Products by their usual names, with NumPy's rules for ranks. Each is one einsum.

use super::call::product;
use crate::einsum::Subscripts;
use crate::tensor::{Tensor, TensorRead};
use crate::{Result, Session};
use tenferro_core::Error;

/// The axes that [`tensordot`] sums over.
#[derive(Clone, Copy, Debug)]
pub enum TensordotAxes<'x> {
    /// The last so many axes of `a` with the first ones of `b`, in order.
    Count(usize),
    /// Each of these axes of `a` with that of `b` at the same place.
    Pairs(&'x [usize], &'x [usize]),
}

impl From<usize> for TensordotAxes<'_> {
    fn from(count: usize) -> Self {
        Self::Count(count)
    }
}

impl<'x> From<(&'x [usize], &'x [usize])> for TensordotAxes<'x> {
    fn from((a, b): (&'x [usize], &'x [usize])) -> Self {
        Self::Pairs(a, b)
    }
}

impl<'x, const N: usize, const M: usize> From<(&'x [usize; N], &'x [usize; M])> for TensordotAxes<'x> {
    fn from((a, b): (&'x [usize; N], &'x [usize; M])) -> Self {
        Self::Pairs(a, b)
    }
}

/// The sum over pairs of axes of the products of entries. Axes of the result: those of `a` that are in no pair, then
/// those of `b`.
///
/// # Errors
/// Lists of different lengths, an axis that does not exist or is named twice, paired extents that differ, operands of
/// different dtypes.
///
/// ```
/// use tenferro::prelude::*;
/// use tenferro::einsum::tensordot;
///
/// let mut session = Session::cpu();
/// let a = TypedTensor::<f64, 3>::ones([2, 3, 4])?;
/// let b = TypedTensor::<f64, 3>::ones([4, 3, 5])?;
/// let c = tensordot(&mut session, &a, &b, (&[1, 2], &[1, 0]))?;
/// assert_eq!(c.shape(), [2, 5]);
/// assert_eq!(tensordot(&mut session, &a, &b, 1)?.shape(), [2, 3, 3, 5]);
/// # Ok::<(), tenferro::Error>(())
/// ```
pub fn tensordot<'a, 'b, 'x>(
    session: &mut Session,
    a: impl Into<TensorRead<'a>>,
    b: impl Into<TensorRead<'b>>,
    axes: impl Into<TensordotAxes<'x>>,
) -> Result<Tensor> {
    let pair = Pair::new("tensordot", a.into(), b.into());
    let (rank_a, rank_b) = pair.ranks();
    let pairs: Vec<(usize, usize)> = match axes.into() {
        TensordotAxes::Count(count) => {
            if count > rank_a.min(rank_b) {
                let message = format!("are {count}, but {}", pair.shapes());
                return Err(Error::argument("tensordot", "axes", message).into());
            }
            (0..count).map(|i| (rank_a - count + i, i)).collect()
        }
        TensordotAxes::Pairs(of_a, of_b) => {
            if of_a.len() != of_b.len() {
                let message = format!("pair {of_a:?} of `a` with {of_b:?} of `b`, which are not as many");
                return Err(Error::argument("tensordot", "axes", message).into());
            }
            check_axes("tensordot", "axes_a", of_a, rank_a)?;
            check_axes("tensordot", "axes_b", of_b, rank_b)?;
            of_a.iter().copied().zip(of_b.iter().copied()).collect()
        }
    };
    pair.contract(session, &pairs)
}

/// The matrix product over the last axis of `a` and the one but last of `b`, for each index of the axes before them,
/// which stretch where they are 1 or missing. An operand of rank 1 is a row on the left and a column on the right, and
/// its axis is not in the result.
///
/// # Errors
/// An operand of rank 0, extents that do not agree, operands of different dtypes.
///
/// ```
/// use tenferro::prelude::*;
/// use tenferro::einsum::matmul;
///
/// let mut session = Session::cpu();
/// let batch = TypedTensor::<f32, 3>::ones([5, 2, 3])?;
/// let matrix = TypedTensor::<f32, 2>::ones([3, 4])?;
/// assert_eq!(matmul(&mut session, &batch, &matrix)?.shape(), [5, 2, 4]);
///
/// let error = matmul(&mut session, &matrix, &matrix).unwrap_err();
/// assert!(error.to_string().contains("[3, 4]"));
/// # Ok::<(), tenferro::Error>(())
/// ```
pub fn matmul<'a, 'b>(
    session: &mut Session,
    a: impl Into<TensorRead<'a>>,
    b: impl Into<TensorRead<'b>>,
) -> Result<Tensor> {
    let pair = Pair::new("matmul", a.into(), b.into());
    let (rank_a, rank_b) = pair.ranks();
    for (argument, rank) in [("a", rank_a), ("b", rank_b)] {
        if rank == 0 {
            return Err(Error::Rank { op: "matmul".into(), argument: argument.into(), expected: 1, actual: 0 }.into());
        }
    }
    let summed_b = rank_b.saturating_sub(2);
    pair.check((rank_a - 1, summed_b))?;
    // Labels: row, summed, column, then the batch as counted from its last axis.
    const ROW: u32 = 0;
    const SUMMED: u32 = 1;
    const COLUMN: u32 = 2;
    let batch_label = |from_last: usize| COLUMN + 1 + from_last as u32;
    let batches = |rank: usize| (0..rank.saturating_sub(2)).rev().map(batch_label);
    let rows = (rank_a > 1).then_some(ROW);
    let columns = (rank_b > 1).then_some(COLUMN);
    for from_last in 0..rank_a.min(rank_b).saturating_sub(2) {
        let (axis_a, axis_b) = (rank_a - 3 - from_last, rank_b - 3 - from_last);
        let (of_a, of_b) = (pair.a.shape()[axis_a], pair.b.shape()[axis_b]);
        if of_a != of_b && of_a != 1 && of_b != 1 {
            return Err(pair.disagreement((axis_a, axis_b)));
        }
    }
    let left = batches(rank_a).chain(rows).chain([SUMMED]).collect();
    let right = batches(rank_b).chain([SUMMED]).chain(columns).collect();
    let output: Vec<u32> = batches(rank_a.max(rank_b)).chain(rows).chain(columns).collect();
    product(session, &Subscripts::new([left, right], output), &[pair.a, pair.b], false)
}

/// The product over the last axis of `a` and the one but last of `b`, or its only one; a scalar multiplies. Axes of the
/// result: the others of `a`, then those of `b`.
///
/// # Errors
/// Extents that differ, operands of different dtypes.
///
/// ```
/// use tenferro::prelude::*;
/// use tenferro::einsum::dot;
///
/// let mut session = Session::cpu();
/// let x = TypedTensor::from_vec(vec![1, 2, 3]);
/// assert_eq!(dot(&mut session, &x, &x)?.item::<i32>()?, 14);
/// # Ok::<(), tenferro::Error>(())
/// ```
pub fn dot<'a, 'b>(
    session: &mut Session,
    a: impl Into<TensorRead<'a>>,
    b: impl Into<TensorRead<'b>>,
) -> Result<Tensor> {
    let pair = Pair::new("dot", a.into(), b.into());
    match pair.ranks() {
        (0, _) | (_, 0) => pair.contract(session, &[]),
        (rank_a, rank_b) => pair.contract(session, &[(rank_a - 1, rank_b.saturating_sub(2))]),
    }
}

/// The sum over the last axes of both; a scalar multiplies. Axes of the result: the others of `a`, then those of `b`.
///
/// # Errors
/// Last extents that differ, operands of different dtypes.
///
/// ```
/// use tenferro::prelude::*;
/// use tenferro::einsum::inner;
///
/// let mut session = Session::cpu();
/// let a = TypedTensor::<f64, 3>::ones([2, 3, 4])?;
/// let x = TypedTensor::<f64, 1>::ones([4])?;
/// assert_eq!(inner(&mut session, &a, &x)?.shape(), [2, 3]);
/// # Ok::<(), tenferro::Error>(())
/// ```
pub fn inner<'a, 'b>(
    session: &mut Session,
    a: impl Into<TensorRead<'a>>,
    b: impl Into<TensorRead<'b>>,
) -> Result<Tensor> {
    let pair = Pair::new("inner", a.into(), b.into());
    match pair.ranks() {
        (0, _) | (_, 0) => pair.contract(session, &[]),
        (rank_a, rank_b) => pair.contract(session, &[(rank_a - 1, rank_b - 1)]),
    }
}

/// The sum of the products of entries, those of `a` conjugated: a scalar. Operands of different shapes are read entry by
/// entry with the last axis fastest.
///
/// # Errors
/// Operands with different numbers of entries, or of different dtypes.
///
/// ```
/// use tenferro::dtype::Complex64;
/// use tenferro::prelude::*;
/// use tenferro::einsum::vdot;
///
/// let mut session = Session::cpu();
/// let z = TypedTensor::from_vec(vec![Complex64::new(0.0, 1.0), Complex64::new(2.0, 0.0)]);
/// assert_eq!(vdot(&mut session, &z, &z)?.item::<Complex64>()?, Complex64::new(5.0, 0.0));
/// # Ok::<(), tenferro::Error>(())
/// ```
pub fn vdot<'a, 'b>(
    session: &mut Session,
    a: impl Into<TensorRead<'a>>,
    b: impl Into<TensorRead<'b>>,
) -> Result<Tensor> {
    let pair = Pair::new("vdot", a.into(), b.into());
    let count = |x: &TensorRead<'_>| x.view().len();
    if count(&pair.a) != count(&pair.b) {
        let (expected, actual) = (format!("as many entries as `a` with shape {:?}", pair.a.shape()), pair.b.shape());
        return Err(Error::shape("vdot", "b", expected, format!("{actual:?}")).into());
    }
    if pair.a.shape() == pair.b.shape() {
        let labels: Vec<u32> = (0..pair.a.shape().len() as u32).collect();
        return product(session, &Subscripts::new([labels.clone(), labels], []), &[pair.a, pair.b], true);
    }
    let (a, b) = (ravel(&pair.a)?, ravel(&pair.b)?);
    product(session, &Subscripts::new([vec![0], vec![0]], []), &[(&a).into(), (&b).into()], true)
}

/// All products of an entry of `a` and one of `b`, as a matrix with a row for each entry of `a`. Operands of other ranks
/// than 1 are read entry by entry with the last axis fastest.
///
/// # Errors
/// Operands of different dtypes.
///
/// ```
/// use tenferro::prelude::*;
/// use tenferro::einsum::outer;
///
/// let mut session = Session::cpu();
/// let (x, y) = (TypedTensor::from_vec(vec![1.0, 2.0]), TypedTensor::from_vec(vec![3.0, 4.0, 5.0]));
/// let products = outer(&mut session, &x, &y)?;
/// assert_eq!(products.to_vec_row_major::<f64>()?, [3.0, 4.0, 5.0, 6.0, 8.0, 10.0]);
/// # Ok::<(), tenferro::Error>(())
/// ```
pub fn outer<'a, 'b>(
    session: &mut Session,
    a: impl Into<TensorRead<'a>>,
    b: impl Into<TensorRead<'b>>,
) -> Result<Tensor> {
    let pair = Pair::new("outer", a.into(), b.into());
    if pair.ranks() == (1, 1) {
        return pair.contract(session, &[]);
    }
    let (a, b) = (ravel(&pair.a)?, ravel(&pair.b)?);
    Pair::new("outer", (&a).into(), (&b).into()).contract(session, &[])
}

/// The Kronecker product: axis by axis, the indices of `a` counted slowly and those of `b` fast. The operand of lower
/// rank gets axes of extent 1 in front.
///
/// # Errors
/// Operands of different dtypes, a result that is larger than memory.
///
/// ```
/// use tenferro::prelude::*;
/// use tenferro::einsum::kron;
///
/// let mut session = Session::cpu();
/// let (x, y) = (TypedTensor::from_vec(vec![1, 10]), TypedTensor::from_vec(vec![1, 2, 3]));
/// assert_eq!(kron(&mut session, &x, &y)?.as_slice::<i32>()?, [1, 2, 3, 10, 20, 30]);
/// # Ok::<(), tenferro::Error>(())
/// ```
pub fn kron<'a, 'b>(
    session: &mut Session,
    a: impl Into<TensorRead<'a>>,
    b: impl Into<TensorRead<'b>>,
) -> Result<Tensor> {
    let (a, b) = (a.into(), b.into());
    let rank = a.shape().len().max(b.shape().len());
    // An axis of the result is one of `b` and one of `a`, in the order in which they vary; labels are even for `a`.
    let labels = |x: &TensorRead<'_>, odd: u32| -> Vec<u32> {
        (rank - x.shape().len()..rank).map(|axis| 2 * axis as u32 + odd).collect()
    };
    let (left, right) = (labels(&a, 0), labels(&b, 1));
    let both = (0..rank as u32).flat_map(|axis| [2 * axis + 1, 2 * axis]);
    let output: Vec<u32> = both.filter(|label| left.contains(label) || right.contains(label)).collect();
    let extent =
        |x: &TensorRead<'_>, axis: usize| (axis + x.shape().len()).checked_sub(rank).map_or(1, |axis| x.shape()[axis]);
    let shape: Vec<usize> = (0..rank).map(|axis| extent(&a, axis).saturating_mul(extent(&b, axis))).collect();
    let products = product(session, &Subscripts::new([left, right], output), &[a, b], false)?;
    Ok(products.reshape(&shape)?)
}

/// The sum of the entries whose indices along two axes are equal, for each index of the other axes.
///
/// # Errors
/// An axis that does not exist, or the same one twice.
///
/// ```
/// use tenferro::prelude::*;
/// use tenferro::einsum::trace;
///
/// let mut session = Session::cpu();
/// let a = TypedTensor::from_rows([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
/// assert_eq!(trace(&mut session, &a, 0, 1)?.item::<f64>()?, 6.0);
/// # Ok::<(), tenferro::Error>(())
/// ```
pub fn trace<'a>(session: &mut Session, a: impl Into<TensorRead<'a>>, axis1: usize, axis2: usize) -> Result<Tensor> {
    let read = a.into();
    let view = read.view();
    let shape = view.shape().to_vec();
    check_axes("trace", "axes", &[axis1, axis2], shape.len())?;
    // The diagonal of what need not be square.
    let common = shape[axis1].min(shape[axis2]);
    let limit: Vec<usize> =
        (0..shape.len()).map(|axis| if axis == axis1 || axis == axis2 { common } else { shape[axis] }).collect();
    let square = view.strided_slice(&vec![0; shape.len()], &limit, &vec![1; shape.len()])?;
    let label = |axis: usize| if axis == axis2 { axis1 as u32 } else { axis as u32 };
    let labels: Vec<u32> = (0..shape.len()).map(label).collect();
    let output: Vec<u32> = labels.iter().copied().filter(|&label| label != axis1 as u32).collect();
    product(session, &Subscripts::new([labels], output), &[square.into()], false)
}

/// Two operands of a product, and the name that messages begin with.
struct Pair<'a, 'b> {
    name: &'static str,
    a: TensorRead<'a>,
    b: TensorRead<'b>,
}

impl<'a, 'b> Pair<'a, 'b> {
    fn new(name: &'static str, a: TensorRead<'a>, b: TensorRead<'b>) -> Self {
        Self { name, a, b }
    }

    fn ranks(&self) -> (usize, usize) {
        (self.a.shape().len(), self.b.shape().len())
    }

    fn shapes(&self) -> String {
        format!("`a` has shape {:?} and `b` {:?}", self.a.shape(), self.b.shape())
    }

    /// The sum over pairs of axes; left over are the axes of `a`, then those of `b`.
    fn contract(self, session: &mut Session, pairs: &[(usize, usize)]) -> Result<Tensor> {
        pairs.iter().try_for_each(|&axes| self.check(axes))?;
        let (rank_a, rank_b) = self.ranks();
        let left: Vec<u32> = (0..rank_a as u32).collect();
        let right: Vec<u32> = (0..rank_b)
            .map(|axis| match pairs.iter().find(|&&(_, of_b)| of_b == axis) {
                Some(&(of_a, _)) => of_a as u32,
                None => (rank_a + axis) as u32,
            })
            .collect();
        let free = |label: &u32| !(left.contains(label) && right.contains(label));
        let output: Vec<u32> = left.iter().chain(&right).copied().filter(free).collect();
        product(session, &Subscripts::new([left, right], output), &[self.a, self.b], false)
    }

    /// Refuses axes of different extents: unlike the labels of an einsum they do not stretch.
    fn check(&self, axes: (usize, usize)) -> Result<()> {
        if self.a.shape()[axes.0] == self.b.shape()[axes.1] { Ok(()) } else { Err(self.disagreement(axes)) }
    }

    fn disagreement(&self, (of_a, of_b): (usize, usize)) -> crate::Error {
        let (a, b) = (self.a.shape(), self.b.shape());
        let expected = format!("extent {} on axis {of_b}, as on axis {of_a} of `a` with shape {a:?}", a[of_a]);
        Error::shape(self.name, "b", expected, format!("{b:?}")).into()
    }
}

/// Refuses axes that do not exist or are named twice.
fn check_axes(op: &'static str, argument: &'static str, axes: &[usize], rank: usize) -> Result<()> {
    for (i, &axis) in axes.iter().enumerate() {
        if axis >= rank {
            return Err(Error::axis(op, argument, axis, rank).into());
        }
        if axes[..i].contains(&axis) {
            return Err(Error::argument(op, argument, format!("name axis {axis} twice")).into());
        }
    }
    Ok(())
}

/// The entries one after the other, the last axis fastest.
fn ravel(x: &TensorRead<'_>) -> Result<Tensor> {
    match x {
        TensorRead::Tensor(tensor) if tensor.rank() == 1 => Ok((*tensor).clone()),
        _ => {
            let view = x.view();
            let reversed: Vec<usize> = (0..view.rank()).rev().collect();
            Ok(view.transpose(&reversed)?.to_tensor()?.reshape(&[view.len()])?)
        }
    }
}
