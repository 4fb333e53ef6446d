//! Walking the positions of a layout.

use smallvec::SmallVec;

use super::Layout;

/// The positions of a layout's elements in column-major order.
#[derive(Debug, Clone)]
pub struct Offsets {
    axes: SmallVec<[Axis; 6]>,
    position: usize,
    left: usize,
}

#[derive(Debug, Clone)]
struct Axis {
    extent: usize,
    stride: isize,
    index: usize,
}

impl Offsets {
    pub(super) fn new(shape: &[usize], strides: &[isize], offset: usize) -> Offsets {
        let axes = shape.iter().zip(strides);
        Offsets {
            axes: axes.map(|(&extent, &stride)| Axis { extent, stride, index: 0 }).collect(),
            position: offset,
            left: shape.iter().product(),
        }
    }
}

impl Iterator for Offsets {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let position = self.position;
        // Stepping past the last element may leave the range of positions, hence the wrapping arithmetic.
        for axis in &mut self.axes {
            axis.index += 1;
            if axis.index < axis.extent {
                self.position = self.position.wrapping_add_signed(axis.stride);
                break;
            }
            let back = axis.stride.wrapping_mul(axis.extent as isize - 1);
            self.position = self.position.wrapping_sub(back as usize);
            axis.index = 0;
        }
        Some(position)
    }

    /// Walks the first axis in a loop of its own, for sums and the like.
    fn fold<A, F: FnMut(A, usize) -> A>(mut self, mut folded: A, mut f: F) -> A {
        while self.left > 0 {
            if let Some(axis) = self.axes.first_mut() {
                let steps = axis.extent - 1 - axis.index;
                for _ in 0..steps {
                    folded = f(folded, self.position);
                    self.position = self.position.wrapping_add_signed(axis.stride);
                }
                axis.index += steps;
                self.left -= steps;
            }
            if let Some(position) = self.next() {
                folded = f(folded, position);
            }
        }
        folded
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Offsets {}

/// The elements of a layout in column-major order, as evenly spaced runs of one length.
pub(crate) struct Runs {
    /// The position of the first element of each run.
    pub starts: Offsets,
    /// Elements in a run.
    pub len: usize,
    /// The distance between neighbours in a run.
    pub stride: isize,
}

impl Layout {
    /// The longest runs that are evenly spaced.
    pub(crate) fn runs(&self) -> Runs {
        let axes = self.merged_axes();
        let ((len, stride), outer) = match axes.split_first() {
            Some((&inner, outer)) => (inner, outer),
            None => ((1, 1), &[][..]),
        };
        let (shape, strides): (SmallVec<[_; 6]>, SmallVec<[_; 6]>) = outer.iter().copied().unzip();
        Runs { starts: Offsets::new(&shape, &strides, self.offset), len, stride }
    }
}
