//! Moving elements without computing: copies of any strides, tiles, and the operations that place entries elsewhere.

mod copy;
mod gather;
mod indexed;
mod lines;
mod place;
mod transpose;

pub(crate) use copy::{CopyAxes, copy};
pub(crate) use gather::{gather, gather_points};
pub(crate) use indexed::{dynamic_slice, dynamic_update_slice, gather as gather_along, scatter};
pub(crate) use place::{concatenate, copy_view, embed_diagonal, iota, pad, triangle};
