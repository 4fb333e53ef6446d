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

        /// Turns the order of the axes. Shares the elements.
        #[must_use]
        pub fn t(&self) -> Self {
            self.relaid(self.layout.t())
        }

        /// Keeps of each axis what [`s!`](crate::s) says. Shares the elements.
        ///
        /// # Errors
        /// As [`Layout::slice`].
        pub fn slice(&self, slices: &[Slice]) -> Result<Self> {
            Ok(self.relaid(self.layout.slice(slices)?))
        }

        /// Keeps the indices `start, start + stride, ..` below `limit` on every axis. Shares the elements.
        ///
        /// # Errors
        /// As [`Layout::strided_slice`].
        pub fn strided_slice(&self, start: &[usize], limit: &[usize], stride: &[usize]) -> Result<Self> {
            Ok(self.relaid(self.layout.strided_slice(start, limit, stride)?))
        }

        /// Keeps one index of an axis, which is dropped. Shares the elements.
        ///
        /// # Errors
        /// As [`Layout::index_axis`].
        pub fn index_axis(&self, axis: usize, index: usize) -> Result<Self> {
            Ok(self.relaid(self.layout.index_axis(axis, index)?))
        }

        /// What [`index_axis`](Self::index_axis) keeps for each index of an axis in turn. Shares the elements.
        ///
        /// # Errors
        /// The axis does not exist.
        pub fn axis_iter(&self, axis: usize) -> Result<impl ExactSizeIterator<Item = Self>> {
            let layouts = self.layout.axis_layouts(axis)?;
            Ok(layouts.map(|layout| self.relaid(layout)))
        }

        /// Drops some axes of extent 1. Shares the elements.
        ///
        /// # Errors
        /// As [`Layout::squeeze`].
        pub fn squeeze(&self, axes: &[usize]) -> Result<Self> {
            Ok(self.relaid(self.layout.squeeze(axes)?))
        }

        /// Puts an axis of extent 1 before `axis`, or last where that is the rank. Shares the elements.
        ///
        /// # Errors
        /// As [`Layout::unsqueeze`].
        pub fn unsqueeze(&self, axis: usize) -> Result<Self> {
            Ok(self.relaid(self.layout.unsqueeze(axis)?))
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

        /// Repeats elements as NumPy broadcasts: the shapes are aligned at their last axes, and extents of 1 stretch.
        /// Shares the elements.
        ///
        /// # Errors
        /// As [`Layout::broadcast_to`].
        pub fn broadcast_to(&self, shape: &[usize]) -> Result<Self> {
            Ok(self.relaid(self.layout.broadcast_to(shape)?))
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
            gather(self.buffer(), &self.layout().t())
        }

        /// Reorders the axes: axis `i` of the result is axis `axes[i]` of `self`. Shares the elements.
        ///
        /// # Errors
        /// As [`Layout::transpose`].
        pub fn transpose(&self, axes: [usize; R]) -> Result<Self> {
            Ok(Self::trusted(self.inner.transpose(&axes)?))
        }

        /// Turns the order of the axes. Shares the elements.
        #[must_use]
        pub fn t(&self) -> Self {
            Self::trusted(self.inner.t())
        }

        /// Keeps of each axis what [`s!`](crate::s) says; `N` axes are left. Shares the elements.
        ///
        /// # Errors
        /// As [`Layout::slice`]; or the number of axes left is not `N`.
        pub fn slice<const N: usize>(&self, slices: &[Slice]) -> Result<$Typed<$($lifetime,)? T, N>> {
            $Typed::ranked("slice", self.inner.slice(slices)?)
        }

        /// Keeps the indices `start, start + stride, ..` below `limit` on every axis. Shares the elements.
        ///
        /// # Errors
        /// As [`Layout::strided_slice`].
        pub fn strided_slice(&self, start: [usize; R], limit: [usize; R], stride: [usize; R]) -> Result<Self> {
            Ok(Self::trusted(self.inner.strided_slice(&start, &limit, &stride)?))
        }

        /// Keeps one index of an axis, which is dropped. Shares the elements.
        ///
        /// # Errors
        /// As [`Layout::index_axis`]; or `N` is not one less than the rank.
        pub fn index_axis<const N: usize>(
            &self,
            axis: usize,
            index: usize,
        ) -> Result<$Typed<$($lifetime,)? T, N>> {
            $Typed::ranked("index_axis", self.inner.index_axis(axis, index)?)
        }

        /// What [`index_axis`](Self::index_axis) keeps for each index of an axis in turn. Shares the elements.
        ///
        /// # Errors
        /// The axis does not exist, or `N` is not one less than the rank.
        pub fn axis_iter<const N: usize>(
            &self,
            axis: usize,
        ) -> Result<impl ExactSizeIterator<Item = $Typed<$($lifetime,)? T, N>>> {
            let parts = self.inner.axis_iter(axis)?;
            check_rank("axis_iter", "result", N, R - 1)?;
            Ok(parts.map($Typed::trusted))
        }

        /// Drops some axes of extent 1. Shares the elements.
        ///
        /// # Errors
        /// As [`Layout::squeeze`]; or the number of axes left is not `N`.
        pub fn squeeze<const N: usize>(&self, axes: &[usize]) -> Result<$Typed<$($lifetime,)? T, N>> {
            $Typed::ranked("squeeze", self.inner.squeeze(axes)?)
        }

        /// Puts an axis of extent 1 before `axis`, or last where that is the rank. Shares the elements.
        ///
        /// # Errors
        /// As [`Layout::unsqueeze`]; or `N` is not one more than the rank.
        pub fn unsqueeze<const N: usize>(&self, axis: usize) -> Result<$Typed<$($lifetime,)? T, N>> {
            $Typed::ranked("unsqueeze", self.inner.unsqueeze(axis)?)
        }

        /// Repeats elements as NumPy broadcasts: the shapes are aligned at their last axes, and extents of 1 stretch.
        /// Shares the elements.
        ///
        /// # Errors
        /// As [`Layout::broadcast_to`].
        pub fn broadcast_to<const N: usize>(&self, shape: [usize; N]) -> Result<$Typed<$($lifetime,)? T, N>> {
            Ok($Typed::trusted(self.inner.broadcast_to(&shape)?))
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
            $Typed::ranked("diagonal", self.inner.diagonal(axis_a, axis_b)?)
        }
    };
}

pub(super) use {dynamic_view_methods, typed_view_methods};
