//! Symbolic sizes: the algebra of extents that are known only when inputs arrive.

mod dim;
mod range;
mod text;

pub use dim::{Factor, SizeId, SymDim, Term};
pub(crate) use range::{Range, never_negative};
