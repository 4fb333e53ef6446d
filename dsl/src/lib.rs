//! The tenferro language as a plain library: parse, check, lower, emit.
//!
//! [`expand`] is four steps, each a function from one type to the next; errors are collected beside them, and none
//! can occur after `check`. [`compile`] is the first three.
#![forbid(unsafe_code)]

mod check;
pub mod diagnostics;
mod einsum_call;
mod emit;
mod functions;
mod lower;
pub mod lowered;
mod suggest;
mod syntax;

use proc_macro2::TokenStream;

use diagnostics::Diagnostics;
use lowered::LoweredBlock;

/// Reads, checks and lowers the tokens of a block.
pub fn compile(tokens: TokenStream) -> LoweredBlock {
    let mut diagnostics = Diagnostics::default();
    let block = syntax::parse(tokens, &mut diagnostics);
    let block = check::check(block, &mut diagnostics);
    lower::lower(block, diagnostics)
}

/// The whole of the language: the tokens of a block to the tokens that stand for it.
pub fn expand(tokens: TokenStream) -> TokenStream {
    emit::emit(&compile(tokens))
}

/// The tokens of a call of `einsum!` to the expression that stands for it.
pub fn expand_einsum(tokens: TokenStream) -> TokenStream {
    einsum_call::expand(tokens)
}
