//! Moving elements without computing: copies of any strides, tiles, and the operations that place entries elsewhere.

mod copy;
mod gather;

pub(crate) use copy::copy;
pub(crate) use gather::gather;
