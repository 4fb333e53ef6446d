//! The methods that dynamic tensors and views, and typed tensors and views, have in common.

/// Views of a dynamic tensor. The type has `layout`, `dtype()`, `buffer_len()` and `relaid(Layout)`.
macro_rules! dynamic_view_methods {
    () => {
        /// Reorders the axes: axis `i` of the result is axis `axes[i]` of `self`. Shares the elements.
        ///
        /// # Errors
        /// As [`Layout::transpose`].
        pub fn transpose(&self, axes: &[usize]) -> Result<Self> {
            Ok(self.relaid(self.layout.transpose(axes)?))
        }

        /// Keeps the indices `start, start + stride, ..` below `limit` on every axis. Shares the elements.
        ///
        /// # Errors
        /// As [`Layout::slice`].
        pub fn slice(&self, start: &[usize], limit: &[usize], stride: &[usize]) -> Result<Self> {
            Ok(self.relaid(self.layout.slice(start, limit, stride)?))
        }

        /// Turns the order of the elements along some axes. Shares the elements.
        ///
        /// # Errors
        /// As [`Layout::reverse`].
        pub fn reverse(&self, axes: &[usize]) -> Result<Self> {
            Ok(self.relaid(self.layout.reverse(axes)?))
        }

        /// Repeats elements along new and length-1 axes; axis `i` becomes axis `axes[i]` of `shape`. Shares the
        /// elements.
        ///
        /// # Errors
        /// As [`Layout::broadcast_in_dim`].
        pub fn broadcast_in_dim(&self, shape: &[usize], axes: &[usize]) -> Result<Self> {
            Ok(self.relaid(self.layout.broadcast_in_dim(shape, axes)?))
        }

        /// Keeps the elements whose indices on two axes agree; their common index becomes the last axis. Shares the
        /// elements.
        ///
        /// # Errors
        /// As [`Layout::diagonal`].
        pub fn diagonal(&self, axis_a: usize, axis_b: usize) -> Result<Self> {
            Ok(self.relaid(self.layout.diagonal(axis_a, axis_b)?))
        }

        /// Another layout over the same elements.
        ///
        /// # Errors
        /// The layout reaches beyond the elements there are.
        pub fn with_layout(&self, layout: Layout) -> Result<Self> {
            check_reach("with_layout", &layout, self.buffer_len())?;
            Ok(self.relaid(layout))
        }

        /// The dtype of the elements.
        pub fn dtype(&self) -> DType {
            self.elements().dtype()
        }

        /// The extents.
        pub fn shape(&self) -> &[usize] {
            self.layout.shape()
        }

        /// Where the elements lie in the underlying buffer.
        pub fn layout(&self) -> &Layout {
            &self.layout
        }

        /// The number of axes.
        pub fn rank(&self) -> usize {
            self.layout.rank()
        }

        /// The number of elements.
        pub fn len(&self) -> usize {
            self.layout.len()
        }

        /// Whether there are no elements.
        pub fn is_empty(&self) -> bool {
            self.layout.is_empty()
        }
    };
}

/// Methods of a typed tensor that its dynamic one, `self.inner`, has without types.
macro_rules! typed_view_methods {
    ($Typed:ident $(<$lifetime:lifetime>)?) => {
        /// The extents.
        pub fn shape(&self) -> [usize; R] {
            std::array::from_fn(|axis| self.inner.shape()[axis])
        }

        /// Where the elements lie in the underlying buffer.
        pub fn layout(&self) -> &Layout {
            self.inner.layout()
        }

        /// The number of elements.
        pub fn len(&self) -> usize {
            self.inner.len()
        }

        /// Whether there are no elements.
        pub fn is_empty(&self) -> bool {
            self.inner.is_empty()
        }

        /// The element at an index, or `None` outside the shape.
        pub fn get(&self, index: [usize; R]) -> Option<T> {
            self.element(index).copied()
        }

        /// The elements in column-major order.
        pub fn to_vec_col_major(&self) -> Vec<T> {
            gather(self.buffer(), self.layout())
        }

        /// The elements with the last axis varying fastest.
        pub fn to_vec_row_major(&self) -> Vec<T> {
            gather(self.buffer(), &self.layout().with_axes_reversed())
        }

        /// Reorders the axes: axis `i` of the result is axis `axes[i]` of `self`. Shares the elements.
        ///
        /// # Errors
        /// As [`Layout::transpose`].
        pub fn transpose(&self, axes: [usize; R]) -> Result<Self> {
            Ok(Self::trusted(self.inner.transpose(&axes)?))
        }

        /// Keeps the indices `start, start + stride, ..` below `limit` on every axis. Shares the elements.
        ///
        /// # Errors
        /// As [`Layout::slice`].
        pub fn slice(&self, start: [usize; R], limit: [usize; R], stride: [usize; R]) -> Result<Self> {
            Ok(Self::trusted(self.inner.slice(&start, &limit, &stride)?))
        }

        /// Turns the order of the elements along some axes. Shares the elements.
        ///
        /// # Errors
        /// As [`Layout::reverse`].
        pub fn reverse(&self, axes: &[usize]) -> Result<Self> {
            Ok(Self::trusted(self.inner.reverse(axes)?))
        }

        /// Repeats elements along new and length-1 axes; axis `i` becomes axis `axes[i]` of `shape`. Shares the
        /// elements.
        ///
        /// # Errors
        /// As [`Layout::broadcast_in_dim`].
        pub fn broadcast_in_dim<const N: usize>(
            &self,
            shape: [usize; N],
            axes: [usize; R],
        ) -> Result<$Typed<$($lifetime,)? T, N>> {
            Ok($Typed::trusted(self.inner.broadcast_in_dim(&shape, &axes)?))
        }

        /// Keeps the elements whose indices on two axes agree; their common index becomes the last axis. Shares the
        /// elements.
        ///
        /// # Errors
        /// As [`Layout::diagonal`]; or `N` is not one less than the rank.
        pub fn diagonal<const N: usize>(
            &self,
            axis_a: usize,
            axis_b: usize,
        ) -> Result<$Typed<$($lifetime,)? T, N>> {
            self.inner.diagonal(axis_a, axis_b)?.try_into_typed()
        }
    };
}

pub(super) use {dynamic_view_methods, typed_view_methods};
