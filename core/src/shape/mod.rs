//! Symbolic sizes: the algebra of extents that are known only when inputs arrive.

mod dim;
mod text;

pub use dim::{Factor, SizeId, SymDim, Term};
