//! Where the elements of a tensor lie: shape, strides and offset, and the algebra of views over them.

mod offsets;
mod views;

pub use offsets::Offsets;
pub(super) use views::check_rank;

use std::ops::Range;
use std::sync::LazyLock;

use smallvec::SmallVec;

use crate::error::{Error, Result};

/// The extents of a tensor; ranks up to 6 are held in place.
pub type Shape = SmallVec<[usize; 6]>;

/// The distances between neighbours along each axis, in elements; ranks up to 6 are held in place.
pub type Strides = SmallVec<[isize; 6]>;

/// Shape, strides and offset, counted in elements.
///
/// Element `[i, j, ..]` lies at position `offset + i * strides[0] + j * strides[1] + ..`. A layout is valid by
/// construction: the number of elements and every position fit an `isize`, and no position is negative.
///
/// ```
/// use tenferro_core::Layout;
/// let layout = Layout::col_major(&[2, 3])?;
/// assert_eq!(layout.strides(), [1, 2]);
/// let turned = layout.transpose(&[1, 0])?;
/// assert_eq!(turned.shape(), [3, 2]);
/// assert_eq!(turned.index(&[2, 1])?, layout.index(&[1, 2])?);
/// # Ok::<(), tenferro_core::Error>(())
/// ```
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    shape: Shape,
    strides: Strides,
    offset: usize,
}

impl Clone for Layout {
    /// Written out because `SmallVec::from_slice` copies at once what its `clone` copies one by one.
    fn clone(&self) -> Layout {
        Layout {
            shape: Shape::from_slice(&self.shape),
            strides: Strides::from_slice(&self.strides),
            offset: self.offset,
        }
    }
}

impl Layout {
    /// The layout of compact elements with the first axis varying fastest.
    ///
    /// # Errors
    /// The product of the extents (those of 0 left out) does not fit an `isize`.
    pub fn col_major(shape: &[usize]) -> Result<Layout> {
        Layout::col_major_for("col_major", shape)
    }

    /// The layout of compact elements with the last axis varying fastest.
    ///
    /// # Errors
    /// As [`col_major`](Self::col_major).
    pub fn row_major(shape: &[usize]) -> Result<Layout> {
        Layout::row_major_for("row_major", shape)
    }

    /// The layout of one element at the start, of rank 0.
    pub fn scalar() -> &'static Layout {
        static SCALAR: LazyLock<Layout> =
            LazyLock::new(|| Layout { shape: Shape::new(), strides: Strides::new(), offset: 0 });
        &SCALAR
    }

    /// A layout given in full.
    ///
    /// # Errors
    /// `shape` and `strides` differ in length, a position is negative, or one does not fit an `isize`.
    pub fn new(shape: &[usize], strides: &[isize], offset: usize) -> Result<Layout> {
        let op = "Layout::new";
        if shape.len() != strides.len() {
            return Err(Error::Rank {
                op: op.into(),
                argument: "strides".into(),
                expected: shape.len(),
                actual: strides.len(),
            });
        }
        check_size(op, shape)?;
        let (mut lowest, mut highest) = (offset as i128, offset as i128);
        if !shape.contains(&0) {
            for (&extent, &stride) in shape.iter().zip(strides) {
                let span = (extent as i128 - 1) * stride as i128;
                lowest += span.min(0);
                highest += span.max(0);
            }
        }
        if lowest < 0 {
            return Err(Error::Argument {
                op: op.into(),
                argument: "strides".into(),
                message: format!("{strides:?} with offset {offset} reach before the first element of shape {shape:?}"),
            });
        }
        if highest > isize::MAX as i128 {
            return Err(overflow(op, shape));
        }
        Ok(Layout { shape: Shape::from_slice(shape), strides: Strides::from_slice(strides), offset })
    }

    pub(super) fn col_major_for(op: &'static str, shape: &[usize]) -> Result<Layout> {
        check_size(op, shape)?;
        Ok(Layout { shape: Shape::from_slice(shape), strides: compact_strides(shape.iter()), offset: 0 })
    }

    pub(super) fn row_major_for(op: &'static str, shape: &[usize]) -> Result<Layout> {
        check_size(op, shape)?;
        let mut strides = compact_strides(shape.iter().rev());
        strides.reverse();
        Ok(Layout { shape: Shape::from_slice(shape), strides, offset: 0 })
    }

    /// A layout whose positions are known to fit an `isize`, none of them negative.
    pub(super) fn trusted(shape: Shape, strides: Strides, offset: usize) -> Layout {
        Layout { shape, strides, offset }
    }

    /// The compact column-major layout of the same shape.
    pub(super) fn compacted(&self) -> Layout {
        Layout { shape: Shape::from_slice(&self.shape), strides: compact_strides(self.shape.iter()), offset: 0 }
    }

    /// The extents.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The distance between neighbours along each axis, in elements.
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// The position of element `[0, 0, ..]`.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Whether the elements lie one after the other in column-major order, at any offset.
    ///
    /// The strides of axes with extent 1 do not matter, and a layout without elements is contiguous.
    pub fn is_contiguous(&self) -> bool {
        self.contiguous_range().is_some()
    }

    /// The positions of the elements if they are [contiguous](Self::is_contiguous).
    #[inline]
    pub(super) fn contiguous_range(&self) -> Option<Range<usize>> {
        let (mut len, mut is_contiguous) = (1, true);
        for (&extent, &stride) in self.shape.iter().zip(&self.strides) {
            is_contiguous &= extent == 1 || stride == len as isize;
            len *= extent;
        }
        match len {
            // Strides say nothing then, and the offset may be any number.
            0 => Some(0..0),
            len => is_contiguous.then(|| self.offset..self.offset + len),
        }
    }

    /// The length a buffer must have to hold every position.
    pub fn required_len(&self) -> usize {
        if self.is_empty() {
            return 0;
        }
        let forward = self.shape.iter().zip(&self.strides);
        let highest =
            forward.fold(self.offset, |position, (&extent, &stride)| position + (extent - 1) * stride.max(0) as usize);
        highest + 1
    }

    /// The position of an element.
    ///
    /// # Errors
    /// The index has the wrong length or lies outside the shape.
    pub fn index(&self, index: &[usize]) -> Result<usize> {
        self.position(index).ok_or_else(|| Error::Index {
            op: "index".into(),
            index: index.into(),
            shape: self.shape.to_vec(),
        })
    }

    /// The position of an element, or `None` outside the shape.
    pub(super) fn position(&self, index: &[usize]) -> Option<usize> {
        let inside = index.len() == self.rank() && index.iter().zip(&self.shape).all(|(i, n)| i < n);
        inside.then(|| {
            let steps = index.iter().zip(&self.strides);
            steps.fold(self.offset, |position, (&i, &stride)| {
                position.wrapping_add_signed((i as isize).wrapping_mul(stride))
            })
        })
    }

    /// The positions of all elements in column-major order.
    pub fn offsets(&self) -> Offsets {
        Offsets::new(&self.shape, &self.strides, self.offset)
    }
}

/// Strides of compact elements, for extents named from the fastest axis on. The product fits, by `check_size`.
fn compact_strides<'a>(extents: impl Iterator<Item = &'a usize>) -> Strides {
    let mut next = 1;
    let advance = |&extent: &usize| {
        let stride = next;
        next *= extent.max(1) as isize;
        stride
    };
    extents.map(advance).collect()
}

/// Refuses a shape whose strides or number of elements would not fit an `isize`.
fn check_size(op: &'static str, shape: &[usize]) -> Result<()> {
    let product = shape.iter().try_fold(1_usize, |product, &extent| product.checked_mul(extent.max(1)));
    match product {
        Some(product) if product <= isize::MAX as usize => Ok(()),
        _ => Err(overflow(op, shape)),
    }
}

fn overflow(op: &'static str, shape: &[usize]) -> Error {
    Error::Overflow { op: op.into(), shape: shape.into() }
}
