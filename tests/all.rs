//! The whole way from tokens to numbers.
#![allow(clippy::unwrap_used)]

#[path = "all/built.rs"]
mod built;
#[path = "all/derivatives.rs"]
mod derivatives;
#[path = "all/engines.rs"]
mod engines;
#[path = "all/errors.rs"]
mod errors;
#[path = "all/expansion.rs"]
mod expansion;
#[path = "all/golden/mod.rs"]
mod golden;
#[path = "all/layering.rs"]
mod layering;
#[path = "all/methods.rs"]
mod methods;
#[path = "all/op_derivatives.rs"]
mod op_derivatives;
#[path = "all/support.rs"]
mod support;
