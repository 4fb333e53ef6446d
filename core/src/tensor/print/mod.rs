//! Printing, as NumPy does it: nested brackets with the last axis across, columns aligned, large tensors summarised.

mod numbers;
mod rows;

use std::fmt;

use super::{Layout, Tensor, TensorRead, TensorView, TypedTensor, TypedView};
use crate::dtype::{Scalar, ScalarValue};
use crate::with_dtype;
use rows::Rows;

/// A tensor with more elements is summarised.
const THRESHOLD: usize = 1000;

/// The indices shown at each end of an axis that is summarised.
const EDGE: usize = 3;

/// The length of a line.
const WIDTH: usize = 75;

/// Digits behind the decimal point at most, unless the format asks for another precision.
const PRECISION: usize = 8;

/// `[[1. 2.]\n [3. 4.]]`; a tensor of rank 0 as its [`ScalarValue`]. `{:.3}` shows at most three decimals.
impl fmt::Display for TensorView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rank() == 0 && f.precision().is_none() {
            return write!(f, "{}", only_value(self));
        }
        let precision = f.precision().unwrap_or(PRECISION);
        f.write_str(&text(self, precision, " ", "", WIDTH))
    }
}

/// `tensor([[1., 2.],\n        [3., 4.]], dtype=f64)`.
impl fmt::Debug for TensorView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const PREFIX: &str = "tensor(";
        let precision = f.precision().unwrap_or(PRECISION);
        let elements = text(self, precision, ", ", PREFIX, WIDTH - 1);
        let shape = if self.len() > THRESHOLD || (self.is_empty() && self.rank() > 1) {
            format!("shape={:?}, ", self.shape())
        } else {
            String::new()
        };
        let tail = format!("{shape}dtype={})", self.dtype());
        let last_line = elements.rsplit('\n').next().unwrap_or_default();
        let prefix_len = if elements.contains('\n') { 0 } else { PREFIX.len() };
        if prefix_len + last_line.len() + 1 + tail.len() > WIDTH {
            write!(f, "{PREFIX}{elements},\n{:1$}{tail}", "", PREFIX.len())
        } else {
            write!(f, "{PREFIX}{elements}, {tail}")
        }
    }
}

fn text(view: &TensorView<'_>, precision: usize, separator: &str, prefix: &str, width: usize) -> String {
    if view.is_empty() {
        return "[]".to_owned();
    }
    let shown = Shown::of(view.layout());
    let format = numbers::format_of(view.elements(), &shown.positions(view.layout()), precision);
    let rows = Rows { layout: view.layout(), shown: &shown, format: &*format, separator };
    let text = rows.text(&" ".repeat(prefix.len() + 1), width);
    // A lone element is aligned with nothing.
    if view.rank() == 0 { text.trim_start().to_owned() } else { text }
}

fn only_value(view: &TensorView<'_>) -> ScalarValue {
    with_dtype!(view.dtype(), T => view.item::<T>().unwrap_or_default().to_value())
}

/// The indices that are printed, axis by axis.
struct Shown(Vec<Vec<usize>>);

impl Shown {
    fn of(layout: &Layout) -> Shown {
        let summarised = layout.len() > THRESHOLD;
        let indices = |&extent: &usize| {
            if summarised && extent > 2 * EDGE {
                (0..EDGE).chain(extent - EDGE..extent).collect()
            } else {
                (0..extent).collect()
            }
        };
        Shown(layout.shape().iter().map(indices).collect())
    }

    /// The positions of all elements that are printed.
    fn positions(&self, layout: &Layout) -> Vec<usize> {
        let mut positions = vec![layout.offset()];
        for (axis, indices) in self.0.iter().enumerate() {
            let along = |&start: &usize| indices.iter().map(move |&i| step(layout, axis, start, i));
            positions = positions.iter().flat_map(along).collect();
        }
        positions
    }
}

/// The position `count` indices further along an axis.
fn step(layout: &Layout, axis: usize, start: usize, count: usize) -> usize {
    start.wrapping_add_signed((count as isize).wrapping_mul(layout.strides()[axis]))
}

macro_rules! print_as_view {
    ($([$($generics:tt)*] $Type:ty;)*) => { $(
        impl<$($generics)*> fmt::Display for $Type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.view(), f)
            }
        }

        impl<$($generics)*> fmt::Debug for $Type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.view(), f)
            }
        }
    )* };
}

print_as_view! {
    [] Tensor;
    [] TensorRead<'_>;
    [T: Scalar, const R: usize] TypedTensor<T, R>;
}

impl<T: Scalar, const R: usize> fmt::Display for TypedView<'_, T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_dyn(), f)
    }
}

impl<T: Scalar, const R: usize> fmt::Debug for TypedView<'_, T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_dyn(), f)
    }
}
