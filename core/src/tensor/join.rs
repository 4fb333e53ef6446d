//! Tensors joined to one: stacked along a new axis, or concatenated along one they have.

use super::layout::Shape;
use super::{Tensor, TensorRead, TensorView, TypedTensor, TypedView};
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result, check_axes};
use crate::with_dtype;

impl Tensor {
    /// The tensors one after the other along an axis that they have.
    ///
    /// ```
    /// use tenferro_core::{Tensor, TypedTensor};
    /// let (a, b) = (TypedTensor::from([[1, 2]]), TypedTensor::from([[3, 4], [5, 6]]));
    /// let rows = Tensor::concatenate([&a, &b], 0)?;
    /// assert_eq!(rows.to_string(), "[[1 2]\n [3 4]\n [5 6]]");
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// There is no tensor, the axis does not exist, the dtypes, the ranks or the extents of other axes differ, or there
    /// is no memory for the result.
    pub fn concatenate<'a>(
        tensors: impl IntoIterator<Item = impl Into<TensorRead<'a>>>,
        axis: usize,
    ) -> Result<Tensor> {
        let tensors: Vec<TensorRead<'a>> = tensors.into_iter().map(Into::into).collect();
        let parts: Vec<_> = tensors.iter().map(TensorRead::view).collect();
        concatenate("concatenate", &parts, axis)
    }

    /// The tensors one after the other along a new axis, which is put before `axis`, or last where that is the rank.
    ///
    /// ```
    /// use tenferro_core::{Tensor, TypedTensor};
    /// let (a, b) = (TypedTensor::from([1, 2]), TypedTensor::from([3, 4]));
    /// assert_eq!(Tensor::stack([&a, &b], 0)?.to_string(), "[[1 2]\n [3 4]]");
    /// assert_eq!(Tensor::stack([&a, &b], 1)?.to_string(), "[[1 3]\n [2 4]]");
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// There is no tensor, `axis` is larger than the rank, the dtypes or shapes differ, or there is no memory for the
    /// result.
    pub fn stack<'a>(tensors: impl IntoIterator<Item = impl Into<TensorRead<'a>>>, axis: usize) -> Result<Tensor> {
        let op = "stack";
        let tensors: Vec<TensorRead<'a>> = tensors.into_iter().map(Into::into).collect();
        let parts: Vec<_> = tensors.iter().map(TensorRead::view).collect();
        if let Some(first) = parts.first() {
            for part in &parts {
                check_part(op, first, part, |_| true)?;
            }
            if axis > first.rank() {
                let message = format!("is {axis}, but the result has rank {}", first.rank() + 1);
                return Err(Error::argument(op, "axis", message));
            }
        }
        let parts: Vec<_> = parts.iter().map(|part| part.unsqueeze(axis)).collect::<Result<_>>()?;
        concatenate(op, &parts, axis)
    }
}

impl<T: Scalar, const R: usize> TypedTensor<T, R> {
    /// As [`Tensor::concatenate`].
    ///
    /// ```
    /// use tenferro_core::TypedTensor;
    /// let (a, b) = (TypedTensor::from([1, 2]), TypedTensor::from([3]));
    /// assert_eq!(TypedTensor::concatenate([&a, &b], 0)?, TypedTensor::from([1, 2, 3]));
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Tensor::concatenate`].
    pub fn concatenate<'a>(
        tensors: impl IntoIterator<Item = impl Into<TypedView<'a, T, R>>>,
        axis: usize,
    ) -> Result<Self> {
        let parts = tensors.into_iter().map(|tensor| tensor.into().into_dyn());
        Ok(Self::trusted(Tensor::concatenate(parts, axis)?))
    }

    /// As [`Tensor::stack`]; the result has `R` axes, the tensors one less.
    ///
    /// ```
    /// use tenferro_core::TypedTensor;
    /// let (a, b) = (TypedTensor::from([1, 2]), TypedTensor::from([3, 4]));
    /// let columns: TypedTensor<i32, 2> = TypedTensor::stack([&a, &b], 1)?;
    /// assert_eq!(columns, TypedTensor::from([[1, 3], [2, 4]]));
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Tensor::stack`]; or `R` is not `N + 1`.
    pub fn stack<'a, const N: usize>(
        tensors: impl IntoIterator<Item = impl Into<TypedView<'a, T, N>>>,
        axis: usize,
    ) -> Result<Self> {
        let parts = tensors.into_iter().map(|tensor| tensor.into().into_dyn());
        Self::ranked("stack", Tensor::stack(parts, axis)?)
    }
}

fn concatenate(op: &'static str, parts: &[TensorView<'_>], axis: usize) -> Result<Tensor> {
    let Some(first) = parts.first() else {
        return Err(Error::argument(op, "tensors", "names no tensor"));
    };
    check_axes(op, "axis", &[axis], first.rank())?;
    let mut total = 0_usize;
    for part in parts {
        check_part(op, first, part, |other| other != axis)?;
        // Too large a sum is too large a shape.
        total = total.saturating_add(part.shape()[axis]);
    }
    let mut shape = Shape::from_slice(first.shape());
    shape[axis] = total;
    let mut joined = Tensor::zeros(first.dtype(), &shape)?;
    with_dtype!(first.dtype(), T => write_parts::<T>(parts, axis, &mut joined)?);
    Ok(joined)
}

/// Copies the parts, which lie in the result as blocks: all of the axes before `axis` and an extent of that one.
fn write_parts<T: Scalar>(parts: &[TensorView<'_>], axis: usize, joined: &mut Tensor) -> Result<()> {
    let inner: usize = joined.shape()[..axis].iter().product();
    let period = inner * joined.shape()[axis];
    let elements = joined.as_mut_slice::<T>()?;
    let mut start = 0;
    for part in parts {
        let block = inner * part.shape()[axis];
        if part.is_empty() {
            continue;
        }
        let values = part.to_vec_col_major::<T>()?;
        for (period, values) in elements.chunks_exact_mut(period).zip(values.chunks_exact(block)) {
            period[start..][..block].copy_from_slice(values);
        }
        start += block;
    }
    Ok(())
}

/// Refuses a part whose dtype, rank or extent on an axis that must agree is not that of the first.
fn check_part(
    op: &'static str,
    first: &TensorView<'_>,
    part: &TensorView<'_>,
    must_agree: impl Fn(usize) -> bool,
) -> Result<()> {
    let dtype: DType = first.dtype();
    if part.dtype() != dtype {
        let expected = dtype.name().into();
        return Err(Error::DType { op: op.into(), argument: "tensors".into(), expected, actual: part.dtype() });
    }
    let agrees = |axis: usize| part.shape()[axis] == first.shape()[axis] || !must_agree(axis);
    if part.rank() != first.rank() || !(0..part.rank()).all(agrees) {
        let expected = format!("one that goes with {:?}", first.shape());
        return Err(Error::shape(op, "tensors", expected, format!("{:?}", part.shape())));
    }
    Ok(())
}
