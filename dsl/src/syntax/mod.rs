//! Tokens to syntax tree.
//!
//! Each construct has its own file. An error inside a body costs one statement: the parser goes on
//! after its `;`, so that every mistake of a block is reported at once.

mod einsum_call;
mod expression;
mod item;
mod statement;
mod tree;

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};

pub use einsum_call::{EinsumCall, einsum_call};
pub use tree::*;

use crate::diagnostics::Diagnostics;

/// How many delimiters or expressions may stand in one another: what follows recurses through them.
const DEPTH: usize = 128;
const TOO_DEEP: &str = "this is nested too deep: split it with `let`";

/// Reads a block; what cannot be read is reported and left out.
pub fn parse(tokens: TokenStream, diagnostics: &mut Diagnostics) -> Block {
    let mut block = Block::default();
    if let Some(span) = too_deep(&tokens, DEPTH) {
        diagnostics.error(span, TOO_DEEP);
        return block;
    }
    let parser = |input: ParseStream<'_>| {
        block = item::block(input, diagnostics);
        Ok(())
    };
    // Tokens left over after an error that is already reported make syn complain once more.
    if let Err(error) = parser.parse2(tokens)
        && diagnostics.is_empty()
    {
        diagnostics.syntax(error);
    }
    block
}

/// A place where more than `depth` delimiters stand in one another.
fn too_deep(tokens: &TokenStream, depth: usize) -> Option<Span> {
    tokens.clone().into_iter().find_map(|token| match token {
        TokenTree::Group(group) if depth == 0 => Some(group.span_open()),
        TokenTree::Group(group) => too_deep(&group.stream(), depth - 1),
        _ => None,
    })
}
