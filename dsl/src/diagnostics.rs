//! Collected errors: a block reports all of its mistakes together, each on its tokens.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

/// One error: what to say, and from which token to which.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    start: Span,
    end: Span,
    message: String,
}

impl Diagnostic {
    /// What is wrong, and what to write instead.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The first token that the error points at.
    pub fn span(&self) -> Span {
        self.start
    }
}

/// A stretch of tokens: the spans of its first and its last.
///
/// Stable proc macros cannot join spans, but rustc joins those of the first and last token of what
/// a macro returns; so both are kept until the error is written.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    start: Span,
    end: Span,
}

impl Place {
    /// The span of the first token.
    pub fn start(self) -> Span {
        self.start
    }

    /// From the first token of `self` to the last of `other`.
    pub fn to(self, other: impl Into<Place>) -> Place {
        Place { start: self.start, end: other.into().end }
    }
}

impl From<Span> for Place {
    fn from(span: Span) -> Self {
        Place { start: span, end: span }
    }
}

impl From<&syn::Ident> for Place {
    fn from(ident: &syn::Ident) -> Self {
        ident.span().into()
    }
}

/// The errors of a block, in the order in which they were found.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Records an error.
    pub fn error(&mut self, place: impl Into<Place>, message: impl Into<String>) {
        let Place { start, end } = place.into();
        self.list.push(Diagnostic { start, end, message: message.into() });
    }

    /// Records what syn found while parsing.
    pub fn syntax(&mut self, error: syn::Error) {
        for error in error {
            self.error(error.span(), error.to_string());
        }
    }

    /// Whether there is no error.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The number of errors.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// The errors in order.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// One `compile_error!` for each error, valid where items and where statements stand.
    pub fn to_compile_errors(&self) -> TokenStream {
        self.list
            .iter()
            .map(|Diagnostic { start, end, message }| {
                let path = quote_spanned!(*start=> ::core::compile_error!);
                let body = quote_spanned!(*end=> { #message });
                quote_spanned!(*start=> #path #body)
            })
            .collect()
    }
}
