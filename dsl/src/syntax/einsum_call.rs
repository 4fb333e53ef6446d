//! The tokens of `einsum!`: a session or none, the notation, operands and options.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser, Result};
use syn::{Expr, Ident, LitStr, Token};

/// A call of `einsum!` as written.
pub struct EinsumCall {
    /// What to run on, if it is named: then the call is its result.
    pub session: Option<Expr>,
    /// The notation.
    pub notation: LitStr,
    /// Rust expressions.
    pub operands: Vec<Expr>,
    /// `path = ..`, `nested = ..` or `optimize = ..`, `objective = ..` and `memory_limit = ..`, as the language reads them.
    pub options: Vec<TokenStream>,
}

/// Reads the tokens of a call.
pub fn einsum_call(tokens: TokenStream) -> Result<EinsumCall> {
    call.parse2(tokens)
}

fn call(input: ParseStream<'_>) -> Result<EinsumCall> {
    let session = if input.peek(LitStr) || input.is_empty() {
        None
    } else {
        let session = input.parse()?;
        input.parse::<Token![,]>()?;
        Some(session)
    };
    let notation = input.parse().map_err(|error| {
        let usage = "expected the notation, a string literal: `einsum!(\"ij,jk->ik\", &a, &b)`, or \
                     `einsum!(&mut session, \"ij,jk->ik\", &a, &b)`";
        syn::Error::new(error.span(), usage)
    })?;
    let (mut operands, mut options) = (Vec::new(), Vec::new());
    while !input.is_empty() {
        input.parse::<Token![,]>()?;
        if input.is_empty() {
            break;
        }
        if input.peek(Ident) && input.peek2(Token![=]) && !input.peek2(Token![==]) {
            options.push(option(input)?);
        } else if options.is_empty() {
            operands.push(input.parse()?);
        } else {
            return Err(input.error("operands come before `path` and `optimize`"));
        }
    }
    Ok(EinsumCall { session, notation, operands, options })
}

/// The tokens up to the next comma.
fn option(input: ParseStream<'_>) -> Result<TokenStream> {
    let mut tokens = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<TokenTree>()?.to_tokens(&mut tokens);
    }
    Ok(tokens)
}
