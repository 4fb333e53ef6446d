//! Slicing as it is written: an index, a range with a step, or a new axis for each axis in turn.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use smallvec::SmallVec;

use super::layout::{Layout, Shape, Strides};
use crate::error::{Error, Result};

/// What a slice does with one axis; [`s!`](crate::s) writes a list of them.
///
/// Negative numbers count from the end: `-1` is the last index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slice {
    /// Keeps one index and drops the axis.
    Index(isize),
    /// Keeps every `step`th index of `start..end`. A negative step walks the same range from its end.
    Range {
        /// The first index.
        start: isize,
        /// The index after the last; `None` is the extent.
        end: Option<isize>,
        /// The distance between the indices kept.
        step: isize,
    },
    /// Puts an axis of extent 1 here.
    NewAxis,
    /// Keeps as many whole axes as the other entries leave.
    Ellipsis,
}

/// A new axis of extent 1 in [`s!`](crate::s).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewAxis;

/// The axes that the other entries of [`s!`](crate::s) leave, kept whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ellipsis;

/// What `; step` may follow in [`s!`](crate::s): a range. An index, a new axis and an ellipsis have no steps.
pub trait Steps {
    /// Every `step`th index, backwards if negative.
    fn every(self, step: isize) -> Slice;
}

/// Writes how a tensor is sliced, axis by axis: `s![1..3, .., ..;-1, 0, NewAxis, Ellipsis]`.
///
/// An integer keeps that index and drops the axis; a range keeps the axis; `range; step` keeps every `step`th index of
/// the range, from its end if `step` is negative. Negative numbers count from the end. `NewAxis` makes an axis of
/// extent 1, `Ellipsis` stands for whole axes, and axes after the last entry are whole.
///
/// ```
/// use tenferro_core::tensor::{Ellipsis, NewAxis};
/// use tenferro_core::{TypedTensor, s};
/// let a = TypedTensor::from([[1, 2, 3], [4, 5, 6]]);
/// let row: TypedTensor<_, 1> = a.slice(&s![1])?;
/// assert_eq!(row, TypedTensor::from([4, 5, 6]));
/// assert_eq!(a.slice(&s![.., ..;-2])?, TypedTensor::from([[3, 1], [6, 4]]));
/// assert_eq!(a.slice::<1>(&s![.., -1])?, a.slice(&s![Ellipsis, 2])?);
/// assert_eq!(a.slice::<3>(&s![NewAxis, 1.., ..-1])?.shape(), [1, 1, 2]);
/// # Ok::<(), tenferro_core::Error>(())
/// ```
///
/// Only a range has a step:
///
/// ```compile_fail,E0277
/// let _ = tenferro_core::s![tenferro_core::tensor::Ellipsis; -1];
/// ```
#[macro_export]
macro_rules! s {
    (@ [$($done:expr),*]) => {
        [$($done),*]
    };
    (@ [$($done:expr),*] $entry:expr; $step:expr $(, $($rest:tt)*)?) => {
        $crate::s!(@ [$($done,)* $crate::s!(@entry $entry, $step)] $($($rest)*)?)
    };
    (@ [$($done:expr),*] $entry:expr $(, $($rest:tt)*)?) => {
        $crate::s!(@ [$($done,)* $crate::s!(@entry $entry)] $($($rest)*)?)
    };
    (@entry $entry:expr) => {{
        // Nothing iterates over the range: `1..-1` is as good as any.
        #[allow(clippy::reversed_empty_ranges)]
        let entry = $crate::tensor::Slice::from($entry);
        entry
    }};
    (@entry $entry:expr, $step:expr) => {{
        #[allow(clippy::reversed_empty_ranges)]
        let entry = $crate::tensor::Steps::every($entry, $step);
        entry
    }};
    ($($entries:tt)*) => {
        $crate::s!(@ [] $($entries)*)
    };
}

impl From<NewAxis> for Slice {
    fn from(_: NewAxis) -> Self {
        Slice::NewAxis
    }
}

impl From<Ellipsis> for Slice {
    fn from(_: Ellipsis) -> Self {
        Slice::Ellipsis
    }
}

impl Steps for RangeFull {
    fn every(self, step: isize) -> Slice {
        Slice::Range { start: 0, end: None, step }
    }
}

impl From<RangeFull> for Slice {
    fn from(range: RangeFull) -> Self {
        range.every(1)
    }
}

/// An index as an `isize`. One too large for that is outside of every tensor, as `isize::MAX` is.
trait Position {
    fn position(self) -> isize;
}

impl Position for isize {
    fn position(self) -> isize {
        self
    }
}

impl Position for usize {
    fn position(self) -> isize {
        isize::try_from(self).unwrap_or(isize::MAX)
    }
}

impl Position for i32 {
    fn position(self) -> isize {
        self as isize
    }
}

/// The end of a range that includes `last`: the index after the last one, `-1`, is the extent.
fn after(last: impl Position) -> Option<isize> {
    match last.position() {
        -1 => None,
        last => Some(last.saturating_add(1)),
    }
}

macro_rules! from_integers {
    ($($Integer:ty)*) => { $(
        impl From<$Integer> for Slice {
            fn from(index: $Integer) -> Self {
                Slice::Index(index.position())
            }
        }

        from_ranges! {
            Range<$Integer>, range => range.start.position(), Some(range.end.position());
            RangeInclusive<$Integer>, range => range.start().position(), after(*range.end());
            RangeFrom<$Integer>, range => range.start.position(), None;
            RangeTo<$Integer>, range => 0, Some(range.end.position());
            RangeToInclusive<$Integer>, range => 0, after(range.end);
        }
    )* };
}

macro_rules! from_ranges {
    ($($Range:ty, $range:ident => $start:expr, $end:expr;)*) => { $(
        impl Steps for $Range {
            fn every(self, step: isize) -> Slice {
                let $range = self;
                Slice::Range { start: $start, end: $end, step }
            }
        }

        impl From<$Range> for Slice {
            fn from(range: $Range) -> Self {
                range.every(1)
            }
        }
    )* };
}

from_integers! { isize usize i32 }

impl Layout {
    /// Keeps of each axis what the slices say; [`s!`](crate::s) writes them.
    ///
    /// # Errors
    /// There are more entries than axes or two ellipses, an index is outside its axis, a range does not hold
    /// `start <= end <= extent`, or a step is 0.
    pub fn slice(&self, slices: &[Slice]) -> Result<Layout> {
        let op = "slice";
        let refuse = |message: String| Error::argument(op, "slices", message);
        let takes_axis = |slice: &&Slice| matches!(slice, Slice::Index(_) | Slice::Range { .. });
        let named = slices.iter().filter(takes_axis).count();
        if named > self.rank() {
            return Err(Error::Rank { op: op.into(), argument: "slices".into(), expected: self.rank(), actual: named });
        }
        if slices.iter().filter(|&&slice| slice == Slice::Ellipsis).count() > 1 {
            return Err(refuse("have more than one ellipsis".to_owned()));
        }
        let mut kept = Kept { source: self, shape: Shape::new(), strides: Strides::new(), first: Shape::new() };
        for slice in slices {
            let axis = kept.first.len();
            match *slice {
                Slice::NewAxis => {
                    kept.shape.push(1);
                    kept.strides.push(0);
                }
                Slice::Ellipsis => kept.whole_axes(self.rank() - named),
                Slice::Index(index) => match from_start(index, self.shape()[axis]) {
                    Some(first) if first < self.shape()[axis] => kept.first.push(first),
                    _ => return Err(refuse(format!("ask for {index} on axis {axis} of shape {:?}", self.shape()))),
                },
                Slice::Range { start, end, step } => {
                    let extent = self.shape()[axis];
                    let range = from_start(start, extent).zip(end.map_or(Some(extent), |end| from_start(end, extent)));
                    match range {
                        _ if step == 0 => return Err(refuse(format!("have step 0 on axis {axis}"))),
                        Some((first, end)) if first <= end && end <= extent => kept.range(axis, first, end, step),
                        _ => {
                            let end = end.map_or(String::new(), |end| end.to_string());
                            let shape = self.shape();
                            return Err(refuse(format!("ask for {start}..{end} on axis {axis} of shape {shape:?}")));
                        }
                    }
                }
            }
        }
        kept.whole_axes(self.rank() - kept.first.len());
        Ok(kept.layout())
    }
}

/// An index counted from the start; `None` before it.
fn from_start(index: isize, extent: usize) -> Option<usize> {
    if index < 0 { extent.checked_sub(index.unsigned_abs()) } else { Some(index.unsigned_abs()) }
}

/// What has been kept so far.
struct Kept<'a> {
    source: &'a Layout,
    shape: Shape,
    strides: Strides,
    /// For each axis of the source dealt with, the index that becomes the first, or the only one.
    first: SmallVec<[usize; 6]>,
}

impl Kept<'_> {
    fn whole_axes(&mut self, count: usize) {
        for _ in 0..count {
            let axis = self.first.len();
            self.range(axis, 0, self.source.shape()[axis], 1);
        }
    }

    /// Keeps every `step`th index of `first..end`, which lie within the axis.
    fn range(&mut self, axis: usize, first: usize, end: usize, step: isize) {
        let extent = (end - first).div_ceil(step.unsigned_abs());
        let stride = self.source.strides()[axis];
        self.shape.push(extent);
        // The stride of a lone index does not matter, and need not be an `isize` times the step.
        self.strides.push(if extent > 1 { stride * step } else { stride });
        self.first.push(if step < 0 && extent > 0 { end - 1 } else { first });
    }

    fn layout(self) -> Layout {
        // Without elements there is no first one to point to.
        let origin =
            if self.shape.contains(&0) { Some(self.source.offset()) } else { self.source.position(&self.first) };
        Layout::trusted(self.shape, self.strides, origin.unwrap_or_default())
    }
}
