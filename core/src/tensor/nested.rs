//! Tensors from nested arrays, slices and `Vec`s, written row by row as they are printed.

use super::construct::or_out_of_memory;
use super::{Shape, Tensor, TypedTensor};
use crate::dtype::Scalar;
use crate::error::{Error, Result};

/// Values nested to some depth: an element itself, or an array, slice or `Vec` of such.
///
/// The outermost level is the first axis.
pub trait Nested {
    /// The type of the elements at the innermost level.
    type Element: Scalar;

    /// Appends the extents of the levels, as the first entry of each has them; those below no entry are 0 where the
    /// type does not say.
    #[doc(hidden)]
    fn extents(sample: Option<&Self>, shape: &mut Shape);

    /// Appends the elements with the last level varying fastest; `place` is the index of `self`, and `shape` the
    /// extents of all levels.
    #[doc(hidden)]
    fn elements(&self, shape: &[usize], place: &mut Shape, elements: &mut Vec<Self::Element>) -> Result<()>;
}

impl<T: Scalar> Nested for T {
    type Element = T;

    fn extents(_: Option<&Self>, _: &mut Shape) {}

    fn elements(&self, _: &[usize], _: &mut Shape, elements: &mut Vec<T>) -> Result<()> {
        elements.push(*self);
        Ok(())
    }
}

impl<N: Nested> Nested for [N] {
    type Element = N::Element;

    fn extents(sample: Option<&Self>, shape: &mut Shape) {
        shape.push(sample.map_or(0, <[N]>::len));
        N::extents(sample.and_then(<[N]>::first), shape);
    }

    fn elements(&self, shape: &[usize], place: &mut Shape, elements: &mut Vec<N::Element>) -> Result<()> {
        let level = place.len();
        if self.len() != shape[level] {
            let message = format!("has {} entries at {:?}, expected {}", self.len(), &place[..], shape[level]);
            return Err(Error::argument("from_nested", "values", message));
        }
        for (i, entry) in self.iter().enumerate() {
            place.push(i);
            entry.elements(shape, place, elements)?;
            place.truncate(level);
        }
        Ok(())
    }
}

impl<N: Nested, const LEN: usize> Nested for [N; LEN] {
    type Element = N::Element;

    fn extents(sample: Option<&Self>, shape: &mut Shape) {
        shape.push(LEN);
        N::extents(sample.and_then(|entries| entries.first()), shape);
    }

    fn elements(&self, shape: &[usize], place: &mut Shape, elements: &mut Vec<N::Element>) -> Result<()> {
        self.as_slice().elements(shape, place, elements)
    }
}

impl<N: Nested> Nested for Vec<N> {
    type Element = N::Element;

    fn extents(sample: Option<&Self>, shape: &mut Shape) {
        <[N]>::extents(sample.map(Vec::as_slice), shape);
    }

    fn elements(&self, shape: &[usize], place: &mut Shape, elements: &mut Vec<N::Element>) -> Result<()> {
        self.as_slice().elements(shape, place, elements)
    }
}

impl<N: Nested> Nested for &[N] {
    type Element = N::Element;

    fn extents(sample: Option<&Self>, shape: &mut Shape) {
        <[N]>::extents(sample.copied(), shape);
    }

    fn elements(&self, shape: &[usize], place: &mut Shape, elements: &mut Vec<N::Element>) -> Result<()> {
        <[N]>::elements(self, shape, place, elements)
    }
}

impl Tensor {
    /// A tensor of nested values: the outermost level is the first axis.
    ///
    /// ```
    /// use tenferro_core::Tensor;
    /// let a = Tensor::from_nested(&vec![vec![1, 2, 3], vec![4, 5, 6]])?;
    /// assert_eq!(a.to_string(), "[[1 2 3]\n [4 5 6]]");
    /// let error = Tensor::from_nested(&[vec![1, 2], vec![3]]).unwrap_err();
    /// assert_eq!(error.to_string(), "from_nested: `values` has 1 entries at [1], expected 2");
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Two entries of a level differ in length.
    pub fn from_nested<N: Nested + ?Sized>(values: &N) -> Result<Tensor> {
        let mut shape = Shape::new();
        N::extents(Some(values), &mut shape);
        let mut elements = Vec::new();
        values.elements(&shape, &mut Shape::new(), &mut elements)?;
        Tensor::from_vec_row_major(shape, elements)
    }
}

impl<T: Scalar, const R: usize> TypedTensor<T, R> {
    /// A tensor of nested values: the outermost level is the first axis. Nested arrays are also taken by `from`.
    ///
    /// ```
    /// use tenferro_core::TypedTensor;
    /// let a = TypedTensor::<_, 2>::from_nested(&vec![[1.0, 2.0], [3.0, 4.0]])?;
    /// assert_eq!(a[[0, 1]], 2.0);
    /// assert_eq!(a, TypedTensor::from([[1.0, 2.0], [3.0, 4.0]]));
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Two entries of a level differ in length, or there are not `R` levels.
    pub fn from_nested<N: Nested<Element = T> + ?Sized>(values: &N) -> Result<Self> {
        let tensor = Tensor::from_nested(values)?;
        let (op, argument, actual) = ("from_nested".into(), "values".into(), tensor.rank());
        if actual != R {
            return Err(Error::Rank { op, argument, expected: R, actual });
        }
        tensor.try_into_typed()
    }
}

macro_rules! from_arrays {
    ($($R:literal: [$($extent:ident)*] $Array:ty;)*) => { $(
        impl<T: Scalar, $(const $extent: usize),*> From<$Array> for TypedTensor<T, $R> {
            /// The outermost level is the first axis.
            fn from(values: $Array) -> Self {
                // The lengths and the depth are those of the type, so nothing but memory can be short.
                or_out_of_memory(TypedTensor::from_nested(&values))
            }
        }
    )* };
}

from_arrays! {
    1: [A] [T; A];
    2: [A B] [[T; B]; A];
    3: [A B C] [[[T; C]; B]; A];
    4: [A B C D] [[[[T; D]; C]; B]; A];
    5: [A B C D E] [[[[[T; E]; D]; C]; B]; A];
    6: [A B C D E F] [[[[[[T; F]; E]; D]; C]; B]; A];
}

impl<T: Scalar> From<Vec<T>> for TypedTensor<T, 1> {
    fn from(values: Vec<T>) -> Self {
        TypedTensor::from_vec(values)
    }
}

impl<T: Scalar> From<&[T]> for TypedTensor<T, 1> {
    fn from(values: &[T]) -> Self {
        TypedTensor::from_vec(values.to_vec())
    }
}
