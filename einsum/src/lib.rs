//! The einsum family: notation, planning, payload, shape and derivative rules, free of any engine.
//!
//! The way of an einsum: text is parsed into an [`EinsumNotation`] (or labels come as integers, [`Subscripts`]); with
//! the operands' shapes it becomes the payload [`EinsumOp`], which a program holds; when extents are known an executor
//! asks it for a [`ContractionTree`] and follows its steps.
//!
//! With the feature `serde`, einsums, plans, goals and trees are written and read as their text; with the feature
//! `indicatif`, searches are shown as progress bars.
#![forbid(unsafe_code)]

mod apply;
mod cost;
mod dot_general;
mod draw;
mod flatten;
mod notation;
mod objective;
mod op;
mod planning;
#[cfg(feature = "indicatif")]
mod progress_bar;
mod report;
mod rules;
#[cfg(feature = "serde")]
mod serialize;
mod subscripts;
mod text;
mod tree;

pub use apply::{einsum, einsum_with};
pub use dot_general::dot_general;
pub use notation::{EinsumNotation, NotationError, SizeRule};
pub use objective::{Goal, Objective};
pub use op::{EinsumOp, FAMILY_ID};
pub use planning::{EinsumOptimize, Nested, OPTIMAL_LIMIT, Progress, Search, Tell};
#[cfg(feature = "indicatif")]
pub use progress_bar::show_on;
pub use rules::ad_rules;
pub use subscripts::Subscripts;
pub use text::EinsumPayloads;
pub use tree::{Access, ContractionTree, Labels, Slice, Step, StepOperand};
