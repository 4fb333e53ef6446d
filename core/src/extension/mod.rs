//! The extension contract: operations that are not in the core table.
//!
//! An operation family is named by a [family id](check_family_id); one node of a program carries one
//! *payload*, a value that implements [`ExtensionOp`]. Kernels are installed in a runtime, derivative rules in an
//! [`AdContext`](crate::ad::AdContext); the family id ties the three together.

mod context;
mod payload;

pub use context::ShapeContext;
pub use payload::{AliasDeclaration, Effect, EffectDeclaration, ExtensionOp, ExtensionRef, check_family_id};
