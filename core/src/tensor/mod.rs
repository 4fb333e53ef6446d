//! Tensors: column-major arrays of any dtype and rank, owned or borrowed, dynamic or typed.
//!
//! | | dtype and rank known at run time | dtype and rank in the type |
//! |---|---|---|
//! | owned, reference-counted | [`Tensor`] | [`TypedTensor`] |
//! | borrowed | [`TensorView`] | [`TypedView`] |
//!
//! [`TensorRead`] is either of the dynamic two, as an argument. A [`Layout`] says where the elements lie; views
//! share the elements and change the layout alone. Clones are cheap, and writing to shared elements copies them first.

mod compare;
mod construct;
mod dynamic;
mod interop;
mod iter;
mod join;
mod layout;
mod memory;
mod nested;
mod pool;
mod print;
mod read;
mod slice;
mod storage;
mod typed;
mod typed_view;
mod view;
mod view_methods;
mod write;

pub use compare::{Mismatch, all_close, compare};
pub use dynamic::Tensor;
#[cfg(feature = "npy")]
pub use interop::npy;
pub use iter::Iter;
pub use layout::{Layout, Offsets, Shape, Strides};
pub use memory::{reserved_bytes, set_reserve_limit, trim_reserve};
pub use nested::Nested;
pub use read::TensorRead;
pub use slice::{Ellipsis, NewAxis, Slice, Steps};
pub use typed::TypedTensor;
pub use typed_view::TypedView;
pub use view::TensorView;
