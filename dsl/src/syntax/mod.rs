//! Tokens to syntax tree.
//!
//! Each construct has its own file. An error inside a body costs one statement: the parser goes on
//! after its `;`, so that every mistake of a block is reported at once.

mod expression;
mod item;
mod statement;
mod tree;

use proc_macro2::TokenStream;
use syn::parse::{ParseStream, Parser};

pub use tree::*;

use crate::diagnostics::Diagnostics;

/// Reads a block; what cannot be read is reported and left out.
pub fn parse(tokens: TokenStream, diagnostics: &mut Diagnostics) -> Block {
    let mut block = Block::default();
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
