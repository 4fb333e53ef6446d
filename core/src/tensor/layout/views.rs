//! Layouts made from layouts: transpose, strided slice, reverse, broadcast, squeeze, diagonal, reshape.

use smallvec::{SmallVec, smallvec};

use super::{Layout, Shape, Strides, check_size};
use crate::error::{Error, Result, check_axes};

impl Layout {
    /// Reorders the axes: axis `i` of the result is axis `axes[i]` of `self`.
    ///
    /// # Errors
    /// `axes` is not a permutation of `0..rank`.
    pub fn transpose(&self, axes: &[usize]) -> Result<Layout> {
        let op = "transpose";
        check_rank(op, "axes", self.rank(), axes.len())?;
        check_axes(op, "axes", axes, self.rank())?;
        Ok(Layout {
            shape: axes.iter().map(|&axis| self.shape[axis]).collect(),
            strides: axes.iter().map(|&axis| self.strides[axis]).collect(),
            offset: self.offset,
        })
    }

    /// Keeps the indices `start, start + stride, ..` below `limit` on every axis.
    ///
    /// # Errors
    /// An argument has the wrong length, a stride is 0, or `start <= limit <= extent` does not hold.
    pub fn strided_slice(&self, start: &[usize], limit: &[usize], stride: &[usize]) -> Result<Layout> {
        let op = "strided_slice";
        check_rank(op, "start", self.rank(), start.len())?;
        check_rank(op, "limit", self.rank(), limit.len())?;
        check_rank(op, "stride", self.rank(), stride.len())?;
        let mut shape = Shape::with_capacity(self.rank());
        for axis in 0..self.rank() {
            let (first, end, step) = (start[axis], limit[axis], stride[axis]);
            if first > end || end > self.shape[axis] {
                return Err(Error::Argument {
                    op: op.into(),
                    argument: "limit".into(),
                    message: format!("asks for {first}..{end} on axis {axis} of shape {:?}", self.shape),
                });
            }
            if step == 0 {
                return Err(Error::Argument {
                    op: op.into(),
                    argument: "stride".into(),
                    message: format!("is 0 on axis {axis}"),
                });
            }
            shape.push((end - first).div_ceil(step));
        }
        let mut layout = Layout { shape, ..self.clone() };
        if !layout.is_empty() {
            // `start` is an index of an element here, so the new offset is a position of `self`.
            for (axis, (&first, &step)) in start.iter().zip(stride).enumerate() {
                layout.advance(axis, first);
                if layout.shape[axis] > 1 {
                    layout.strides[axis] *= step as isize;
                }
            }
        }
        Ok(layout)
    }

    /// Turns the order of the elements along some axes.
    ///
    /// # Errors
    /// An axis does not exist or is named twice.
    pub fn reverse(&self, axes: &[usize]) -> Result<Layout> {
        check_axes("reverse", "axes", axes, self.rank())?;
        let mut layout = self.clone();
        if !layout.is_empty() {
            for &axis in axes {
                layout.advance(axis, self.shape[axis] - 1);
                // The stride of a lone index is arbitrary; `isize::MIN` has no negative.
                layout.strides[axis] = layout.strides[axis].wrapping_neg();
            }
        }
        Ok(layout)
    }

    /// Repeats elements along new and length-1 axes: axis `i` becomes axis `axes[i]` of `shape`, where the extent is
    /// the same unless it is 1.
    ///
    /// # Errors
    /// `axes` has the wrong length, names an axis that `shape` lacks or one twice, an extent is neither 1 nor that of
    /// `shape`, or the elements of `shape` cannot be counted by an `isize`.
    pub fn broadcast_in_dim(&self, shape: &[usize], axes: &[usize]) -> Result<Layout> {
        let op = "broadcast_in_dim";
        check_rank(op, "axes", self.rank(), axes.len())?;
        check_axes(op, "axes", axes, shape.len())?;
        check_size(op, shape)?;
        let mut strides: Strides = smallvec![0; shape.len()];
        for (axis, &target) in axes.iter().enumerate() {
            if self.shape[axis] == shape[target] {
                strides[target] = self.strides[axis];
            } else if self.shape[axis] != 1 {
                return Err(Error::Shape {
                    op: op.into(),
                    argument: "operand".into(),
                    expected: format!("extents of 1 or those of {shape:?} on its axes {axes:?}"),
                    actual: format!("{:?}", self.shape),
                });
            }
        }
        Ok(Layout { shape: Shape::from_slice(shape), strides, offset: self.offset })
    }

    /// Repeats elements as NumPy broadcasts: the shapes are aligned at their last axes, and extents of 1 stretch.
    ///
    /// # Errors
    /// `shape` has fewer axes, an extent is neither 1 nor that of `shape`, or the elements of `shape` cannot be counted
    /// by an `isize`.
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Layout> {
        let op = "broadcast_to";
        let new_axes = shape.len().checked_sub(self.rank());
        let stretches = |(&extent, &target): (&usize, &usize)| extent == target || extent == 1;
        match new_axes {
            Some(new) if self.shape.iter().zip(&shape[new..]).all(stretches) => {
                check_size(op, shape)?;
                let axes: Shape = (new..shape.len()).collect();
                self.broadcast_in_dim(shape, &axes)
            }
            _ => Err(Error::shape(
                op,
                "operand",
                format!("extents of 1 or those of {shape:?}, aligned at the last axes"),
                format!("{:?}", self.shape),
            )),
        }
    }

    /// Drops some axes of extent 1.
    ///
    /// # Errors
    /// An axis does not exist, is named twice or has another extent.
    pub fn squeeze(&self, axes: &[usize]) -> Result<Layout> {
        let op = "squeeze";
        check_axes(op, "axes", axes, self.rank())?;
        if axes.iter().any(|&axis| self.shape[axis] != 1) {
            let expected = format!("extents of 1 on axes {axes:?}");
            return Err(Error::shape(op, "operand", expected, format!("{:?}", self.shape)));
        }
        let kept = |axis: &usize| !axes.contains(axis);
        Ok(Layout {
            shape: (0..self.rank()).filter(kept).map(|axis| self.shape[axis]).collect(),
            strides: (0..self.rank()).filter(kept).map(|axis| self.strides[axis]).collect(),
            offset: self.offset,
        })
    }

    /// Puts an axis of extent 1 before `axis`, or last where that is the rank.
    ///
    /// # Errors
    /// `axis` is larger than the rank.
    pub fn unsqueeze(&self, axis: usize) -> Result<Layout> {
        if axis > self.rank() {
            return Err(Error::axis("unsqueeze", "axis", axis, self.rank() + 1));
        }
        let mut layout = self.clone();
        layout.shape.insert(axis, 1);
        layout.strides.insert(axis, 0);
        Ok(layout)
    }

    /// Keeps one index of an axis, which is dropped.
    ///
    /// # Errors
    /// The axis does not exist, or the index is outside it.
    pub fn index_axis(&self, axis: usize, index: usize) -> Result<Layout> {
        let op = "index_axis";
        check_axes(op, "axis", &[axis], self.rank())?;
        if index >= self.shape[axis] {
            let message = format!("is {index} on axis {axis} of shape {:?}", self.shape);
            return Err(Error::argument(op, "index", message));
        }
        let mut layout = self.clone();
        if !layout.is_empty() {
            layout.advance(axis, index);
        }
        layout.shape.remove(axis);
        layout.strides.remove(axis);
        Ok(layout)
    }

    /// The layouts of [`index_axis`](Self::index_axis) for each index of an axis.
    pub(in crate::tensor) fn axis_layouts(&self, axis: usize) -> Result<impl ExactSizeIterator<Item = Layout> + use<>> {
        check_axes("axis_iter", "axis", &[axis], self.rank())?;
        let (extent, stride) = (self.shape[axis], self.strides[axis]);
        let mut next = self.clone();
        next.shape.remove(axis);
        next.strides.remove(axis);
        let step = if next.is_empty() { 0 } else { stride };
        Ok((0..extent).map(move |_| {
            let layout = next.clone();
            // The step past the last index is taken but not used.
            next.offset = next.offset.wrapping_add_signed(step);
            layout
        }))
    }

    /// Keeps the elements whose indices on two axes agree; the two vanish and their common index comes last.
    ///
    /// # Errors
    /// An axis does not exist, the two are the same, or their extents differ.
    pub fn diagonal(&self, axis_a: usize, axis_b: usize) -> Result<Layout> {
        let op = "diagonal";
        check_axes(op, "axes", &[axis_a, axis_b], self.rank())?;
        let extent = self.shape[axis_a];
        if extent != self.shape[axis_b] {
            return Err(Error::Shape {
                op: op.into(),
                argument: "operand".into(),
                expected: format!("equal extents on axes {axis_a} and {axis_b}"),
                actual: format!("{:?}", self.shape),
            });
        }
        let mut layout = self.clone();
        // With two elements or more on the diagonal the sum is the distance of two positions; else it is arbitrary.
        let stride = self.strides[axis_a].wrapping_add(self.strides[axis_b]);
        for axis in [axis_a.max(axis_b), axis_a.min(axis_b)] {
            layout.shape.remove(axis);
            layout.strides.remove(axis);
        }
        layout.shape.push(extent);
        layout.strides.push(stride);
        Ok(layout)
    }

    /// Reads the elements, in column-major order, as another shape; `None` if that needs a copy.
    ///
    /// # Errors
    /// The numbers of elements differ.
    pub fn reshape(&self, shape: &[usize]) -> Result<Option<Layout>> {
        let mut layout = Layout::col_major_for("reshape", shape)?;
        layout.offset = self.offset;
        if layout.len() != self.len() {
            return Err(Error::Shape {
                op: "reshape".into(),
                argument: "shape".into(),
                expected: format!("as many elements as {:?}", self.shape),
                actual: format!("{shape:?}"),
            });
        }
        if self.is_contiguous() {
            return Ok(Some(layout));
        }
        // Each new axis must be cut from one run of evenly spaced elements, fastest first.
        let mut runs = self.merged_axes().into_iter();
        let (mut left, mut step) = (1, 1);
        for (axis, &extent) in shape.iter().enumerate() {
            if extent == 1 {
                continue;
            }
            if left == 1 {
                match runs.next() {
                    Some(run) => (left, step) = run,
                    None => return Ok(None),
                }
            }
            if left % extent != 0 {
                return Ok(None);
            }
            layout.strides[axis] = step;
            left /= extent;
            step = step.wrapping_mul(extent as isize);
        }
        Ok(Some(layout))
    }

    /// The axes without those of extent 1, neighbours that continue each other joined: `(extent, stride)`.
    ///
    /// The elements and their column-major order are those of `self`.
    pub(crate) fn merged_axes(&self) -> SmallVec<[(usize, isize); 6]> {
        let mut merged: SmallVec<[(usize, isize); 6]> = SmallVec::new();
        for (&extent, &stride) in self.shape.iter().zip(&self.strides) {
            if extent == 1 {
                continue;
            }
            match merged.last_mut() {
                Some((run, step)) if step.checked_mul(*run as isize) == Some(stride) => *run *= extent,
                _ => merged.push((extent, stride)),
            }
        }
        merged
    }

    /// The axes in the opposite order, so that column-major order of the result is row-major order of `self`.
    #[must_use]
    pub fn t(&self) -> Layout {
        let mut layout = self.clone();
        layout.shape.reverse();
        layout.strides.reverse();
        layout
    }

    /// Moves the origin `count` indices along an axis, to a position of this layout.
    fn advance(&mut self, axis: usize, count: usize) {
        let distance = (count as isize).wrapping_mul(self.strides[axis]);
        self.offset = self.offset.wrapping_add_signed(distance);
    }
}

pub(in crate::tensor) fn check_rank(
    op: &'static str,
    argument: &'static str,
    expected: usize,
    actual: usize,
) -> Result<()> {
    if expected == actual {
        return Ok(());
    }
    Err(Error::Rank { op: op.into(), argument: argument.into(), expected, actual })
}
