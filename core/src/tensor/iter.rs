//! Iterating over elements, with or without their indices.

use super::layout::{Offsets, Shape};
use super::{Layout, Tensor, TensorView, TypedTensor, TypedView};
use crate::dtype::Scalar;
use crate::error::Result;

/// The elements of a tensor or view in column-major order.
#[derive(Debug, Clone)]
pub struct Iter<'a, T> {
    buffer: &'a [T],
    positions: Offsets,
}

impl<'a, T: Scalar> Iter<'a, T> {
    /// Over the positions of a layout that fits the buffer.
    pub(super) fn new(buffer: &'a [T], layout: &Layout) -> Self {
        Iter { buffer, positions: layout.offsets() }
    }
}

impl<T: Scalar> Iterator for Iter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.positions.next().map(|position| self.buffer[position])
    }

    fn fold<A, F: FnMut(A, T) -> A>(self, folded: A, mut f: F) -> A {
        let buffer = self.buffer;
        self.positions.fold(folded, |folded, position| f(folded, buffer[position]))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.positions.size_hint()
    }
}

impl<T: Scalar> ExactSizeIterator for Iter<'_, T> {}

impl<'a, T: Scalar, const R: usize> IntoIterator for &'a TypedTensor<T, R> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<'a, T: Scalar, const R: usize> IntoIterator for &TypedView<'a, T, R> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

/// The indices of a shape in column-major order.
pub(super) struct Indices<'a> {
    shape: &'a [usize],
    next: Shape,
}

impl<'a> Indices<'a> {
    pub(super) fn new(shape: &'a [usize]) -> Self {
        Indices { shape, next: Shape::from_elem(0, shape.len()) }
    }

    /// The index the walk is at.
    pub(super) fn current(&self) -> &[usize] {
        &self.next
    }

    /// Goes on to the next index; after the last comes the first.
    pub(super) fn advance(&mut self) {
        for (i, &extent) in self.next.iter_mut().zip(self.shape) {
            *i += 1;
            if *i < extent {
                break;
            }
            *i = 0;
        }
    }
}

impl<'a> TensorView<'a> {
    /// The elements in column-major order.
    ///
    /// # Errors
    /// `T` is not the type of the elements.
    pub fn iter<T: Scalar>(&self) -> Result<Iter<'a, T>> {
        Ok(Iter::new(self.buffer_for("iter")?, self.layout()))
    }

    /// The elements in column-major order, each with its index.
    ///
    /// # Errors
    /// `T` is not the type of the elements.
    pub fn indexed_iter<T: Scalar>(&self) -> Result<impl ExactSizeIterator<Item = (Shape, T)> + use<'_, 'a, T>> {
        Ok(with_indices(Iter::new(self.buffer_for("indexed_iter")?, self.layout()), self.shape(), Shape::from_slice))
    }
}

impl Tensor {
    /// The elements in column-major order.
    ///
    /// # Errors
    /// `T` is not the type of the elements.
    pub fn iter<T: Scalar>(&self) -> Result<Iter<'_, T>> {
        self.view().iter()
    }

    /// The elements in column-major order, each with its index.
    ///
    /// ```
    /// use tenferro_core::{Tensor, TypedTensor};
    /// let a = Tensor::from(TypedTensor::from([[1, 2], [3, 4]]));
    /// let (index, _) = a.indexed_iter::<i32>()?.find(|(_, element)| *element == 3).expect("it is there");
    /// assert_eq!(*index, [1, 0]);
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `T` is not the type of the elements.
    pub fn indexed_iter<T: Scalar>(&self) -> Result<impl ExactSizeIterator<Item = (Shape, T)> + use<'_, T>> {
        Ok(with_indices(self.iter()?, self.shape(), Shape::from_slice))
    }

    /// The elements in column-major order, to be written. They are copied first if they are shared or not contiguous.
    ///
    /// # Errors
    /// `T` is not the type of the elements, or there is no memory for the copy.
    pub fn iter_mut<T: Scalar>(&mut self) -> Result<std::slice::IterMut<'_, T>> {
        Ok(self.as_mut_slice()?.iter_mut())
    }
}

impl<T: Scalar, const R: usize> TypedTensor<T, R> {
    /// The elements in column-major order.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter::new(self.buffer(), self.layout())
    }

    /// The elements in column-major order, each with its index.
    ///
    /// ```
    /// use tenferro_core::TypedTensor;
    /// let a = TypedTensor::from([[1, 2], [3, 4]]);
    /// let trace: i32 = a.indexed_iter().filter(|([i, j], _)| i == j).map(|(_, element)| element).sum();
    /// assert_eq!(trace, 5);
    /// ```
    pub fn indexed_iter(&self) -> impl ExactSizeIterator<Item = ([usize; R], T)> + use<'_, T, R> {
        indexed(self.iter(), self.as_dyn().shape())
    }

    /// The elements in column-major order, to be written. They are copied first if they are shared or not contiguous.
    ///
    /// ```
    /// use tenferro_core::TypedTensor;
    /// let mut a = TypedTensor::from([[1, 2], [3, 4]]);
    /// a.iter_mut()?.for_each(|element| *element *= 10);
    /// assert_eq!(a, TypedTensor::from([[10, 20], [30, 40]]));
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// There is no memory for the copy.
    pub fn iter_mut(&mut self) -> Result<std::slice::IterMut<'_, T>> {
        Ok(self.as_mut_slice()?.iter_mut())
    }
}

impl<'a, T: Scalar, const R: usize> TypedView<'a, T, R> {
    /// The elements in column-major order.
    pub fn iter(&self) -> Iter<'a, T> {
        Iter::new(self.buffer(), self.layout())
    }

    /// The elements in column-major order, each with its index.
    pub fn indexed_iter(&self) -> impl ExactSizeIterator<Item = ([usize; R], T)> + use<'_, 'a, T, R> {
        indexed(self.iter(), self.as_dyn().shape())
    }
}

fn indexed<'a, T: Scalar, const R: usize>(
    elements: Iter<'a, T>,
    shape: &'a [usize],
) -> impl ExactSizeIterator<Item = ([usize; R], T)> + use<'a, T, R> {
    with_indices(elements, shape, |index| std::array::from_fn(|axis| index[axis]))
}

/// Elements, each with what `kept` makes of its index in `shape`.
fn with_indices<'a, 's, T: Scalar, I>(
    elements: Iter<'a, T>,
    shape: &'s [usize],
    kept: fn(&[usize]) -> I,
) -> impl ExactSizeIterator<Item = (I, T)> + use<'a, 's, T, I> {
    let mut indices = Indices::new(shape);
    elements.map(move |element| {
        let index = kept(indices.current());
        indices.advance();
        (index, element)
    })
}
