//! Einsum: notation, contraction trees, planning, payload and derivative rules, free of any engine; and einsums of
//! tensors at hand, run on a [`Session`](crate::Session).
//!
//! | | |
//! |---|---|
//! | [`einsum`](einsum()), [`einsum_into`] | the einsum of operands of any dtype and rank |
//! | [`einsum!`](crate::einsum!) | the same with the notation, ranks and dtypes checked while compiling |
//! | [`ConcreteEinsum`] | an einsum read once and run often |
//! | [`matmul`], [`tensordot`], [`dot`], [`vdot`], [`inner`], [`outer`], [`kron`], [`trace`] | products by their usual names |
//! | [`einsum_of_values`], [`einsum_with`], [`dot_general`] | the same for programs: they add to a [`ProgramBuilder`](crate::program::ProgramBuilder) |
//!
//! All of them make one and the same operation, [`EinsumOp`], and are computed by one executor of the engine.

pub(crate) mod call;
mod concrete;
mod equation;
mod products;

pub use tenferro_einsum::einsum as einsum_of_values;
pub use tenferro_einsum::*;

// In place of the function of this name that adds to a program, so that the prelude and all of this module agree.
pub use call::{einsum, einsum_into};
pub use concrete::{ConcreteEinsum, ConcreteEinsumStats};
pub use equation::Equation;
pub use products::{TensordotAxes, dot, inner, kron, matmul, outer, tensordot, trace, vdot};

pub(crate) use equation::Equations;
