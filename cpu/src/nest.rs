//! Loop nests: the axes that several operands walk together.
//!
//! Kernels do not see layouts but nests, in which axes of extent 1 are gone and neighbouring axes that every operand
//! walks as one are one.

use smallvec::SmallVec;
use tenferro_core::Layout;

/// One loop: its extent, and the stride of each operand, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axis<const N: usize> {
    pub extent: usize,
    pub strides: [isize; N],
}

/// Loops, the innermost first.
pub(crate) type Axes<const N: usize> = SmallVec<[Axis<N>; 6]>;

/// The axes of layouts of equal shape.
pub(crate) fn axes_of<const N: usize>(layouts: [&Layout; N]) -> Axes<N> {
    let rank = layouts.first().map_or(0, |layout| layout.rank());
    let axis = |i| Axis { extent: layouts[0].shape()[i], strides: layouts.map(|layout| layout.strides()[i]) };
    (0..rank).map(axis).collect()
}

/// Drops axes of extent 1 and merges each axis into the one before it where all operands allow it.
pub(crate) fn fuse<const N: usize>(axes: impl IntoIterator<Item = Axis<N>>) -> Axes<N> {
    let mut fused = Axes::<N>::new();
    for axis in axes {
        if axis.extent == 1 {
            continue;
        }
        match fused.last_mut() {
            Some(last) if continues(last, &axis) => last.extent *= axis.extent,
            _ => fused.push(axis),
        }
    }
    fused
}

/// Whether `outer` goes on where `inner` ends, for every operand.
fn continues<const N: usize>(inner: &Axis<N>, outer: &Axis<N>) -> bool {
    let ends = inner.strides.map(|stride| stride * inner.extent as isize);
    ends == outer.strides
}

/// The number of points of a nest.
pub(crate) fn points<const N: usize>(axes: &[Axis<N>]) -> usize {
    axes.iter().map(|axis| axis.extent).product()
}

/// Only the strides of operand `i`.
pub(crate) fn operand<const N: usize>(axes: &[Axis<N>], i: usize) -> impl Iterator<Item = Axis<1>> {
    axes.iter().map(move |axis| Axis { extent: axis.extent, strides: [axis.strides[i]] })
}

/// The positions of a nest's points, one after the other.
pub(crate) struct Walk<'a, const N: usize> {
    axes: &'a [Axis<N>],
    index: SmallVec<[usize; 6]>,
    pub positions: [isize; N],
}

impl<'a, const N: usize> Walk<'a, N> {
    /// Starts at the point of number `point`, where `starts` are the positions of point 0.
    pub fn new(axes: &'a [Axis<N>], starts: [isize; N], mut point: usize) -> Self {
        let mut positions = starts;
        let mut index = SmallVec::new();
        for axis in axes {
            let i = point % axis.extent.max(1);
            point /= axis.extent.max(1);
            advance(&mut positions, axis.strides, i as isize);
            index.push(i);
        }
        Walk { axes, index, positions }
    }

    /// The positions of this point; goes to the next.
    pub fn visit(&mut self) -> [isize; N] {
        let positions = self.positions;
        self.step();
        positions
    }

    /// Goes to the next point; after the last one comes the first again.
    pub fn step(&mut self) {
        for (axis, i) in self.axes.iter().zip(&mut self.index) {
            *i += 1;
            if *i < axis.extent {
                advance(&mut self.positions, axis.strides, 1);
                return;
            }
            advance(&mut self.positions, axis.strides, 1 - axis.extent as isize);
            *i = 0;
        }
    }
}

/// Moves positions by `steps` strides.
pub(crate) fn advance<const N: usize>(positions: &mut [isize; N], strides: [isize; N], steps: isize) {
    for (position, stride) in positions.iter_mut().zip(strides) {
        *position += stride * steps;
    }
}

/// How many of the innermost axes make up a tile of at most `budget` points, and how far a tile goes along the last
/// of them: all but that last one are walked whole.
pub(crate) fn tile<const N: usize>(axes: &[Axis<N>], budget: usize) -> (usize, usize) {
    let mut inner = 1;
    for (count, axis) in axes.iter().enumerate() {
        match budget / inner {
            // A part of one point is none.
            0 | 1 if count > 0 => return (count, axes[count - 1].extent),
            steps if steps < axis.extent => return (count + 1, steps),
            _ => inner *= axis.extent,
        }
    }
    (axes.len(), axes.last().map_or(1, |axis| axis.extent))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nest<const N: usize>(axes: &[(usize, [isize; N])]) -> Axes<N> {
        axes.iter().map(|&(extent, strides)| Axis { extent, strides }).collect()
    }

    #[test]
    fn axes_fuse_where_all_operands_agree() {
        let fused = fuse(nest(&[(2, [1, 0]), (3, [2, 0]), (1, [9, 9]), (4, [6, 1])]));
        assert_eq!(fused, nest(&[(6, [1, 0]), (4, [6, 1])]));
    }

    #[test]
    fn a_walk_can_start_anywhere() {
        let axes = nest(&[(2, [1]), (3, [10]), (2, [-100])]);
        let mut walk = Walk::new(&axes, [1000], 0);
        for point in 0..points(&axes) {
            assert_eq!(Walk::new(&axes, [1000], point).positions, walk.positions);
            walk.step();
        }
        assert_eq!(walk.positions, [1000]);
    }

    #[test]
    fn tiles_stay_within_the_budget() {
        let axes = nest(&[(4, [1]), (5, [4]), (6, [20])]);
        assert_eq!(tile(&axes, 1000), (3, 6));
        assert_eq!(tile(&axes, 50), (3, 2));
        assert_eq!(tile(&axes, 8), (2, 2));
        assert_eq!(tile(&axes, 7), (1, 4));
        assert_eq!(tile(&axes, 3), (1, 3));
        assert_eq!(tile::<1>(&[], 3), (0, 1));
    }
}
