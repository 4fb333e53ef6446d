//! The tenferro language as a plain library: parse, check, lower, emit.
#![forbid(unsafe_code)]

pub mod diagnostics;
mod syntax;
