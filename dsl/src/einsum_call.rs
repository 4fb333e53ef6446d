//! `einsum!("ij,jk->ik", &a, &b)`: an einsum of tensors at hand, checked while compiling.
//!
//! It is written as a kernel of the language, generic in the element type, and compiled like any other; the operands
//! are bound to its arguments where it stands.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::LitStr;
use syn::spanned::Spanned;
use tenferro_einsum::EinsumNotation;

use crate::diagnostics::Diagnostics;
use crate::lowered::LoweredItem;
use crate::syntax::{self, EinsumCall};
use crate::{compile, emit};

/// The tokens of a call to the tokens that stand for it.
pub fn expand(tokens: TokenStream) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    let call = match syntax::einsum_call(tokens) {
        Ok(call) => call,
        Err(error) => {
            diagnostics.syntax(error);
            return refused(&diagnostics);
        }
    };
    let arguments: Vec<Ident> =
        call.operands.iter().enumerate().map(|(i, operand)| argument(i, operand.span())).collect();
    let Some(kernel) = kernel(&call, &arguments, &mut diagnostics) else { return refused(&diagnostics) };
    let block = compile(kernel);
    match &block.items[..] {
        [LoweredItem::Kernel(kernel)] if block.diagnostics.is_empty() => {
            emit::einsum_call(kernel, &arguments, &call.operands, call.session.as_ref())
        }
        _ => refused(&block.diagnostics),
    }
}

/// An expression of any type that does not compile.
fn refused(diagnostics: &Diagnostics) -> TokenStream {
    let errors = diagnostics.to_compile_errors();
    quote!({ #errors })
}

/// The name of an argument; messages about it point at the operand.
fn argument(number: usize, operand: Span) -> Ident {
    Ident::new(&format!("operand{number}"), Span::mixed_site().located_at(operand))
}

/// `fn einsum<Element: Num>(operand0: Element[i, j], ..) -> Element[i, k] { einsum("ij,jk->ik", operand0, ..) }`
fn kernel(call: &EinsumCall, arguments: &[Ident], diagnostics: &mut Diagnostics) -> Option<TokenStream> {
    let EinsumCall { notation: literal, options, .. } = call;
    let place = literal.span();
    let notation = match EinsumNotation::parse(&literal.value()) {
        Ok(notation) => notation,
        Err(error) => {
            diagnostics.error(place, format!("einsum: {error}"));
            return None;
        }
    };
    let (count, given) = (notation.operand_count(), arguments.len());
    if count != given {
        let plural = if count == 1 { "" } else { "s" };
        let are = if given == 1 { "is" } else { "are" };
        let text = literal.value();
        let message = format!("einsum: the notation \"{text}\" has {count} operand{plural}, but {given} {are} given");
        diagnostics.error(place, message);
        return None;
    }
    let (terms, output): (Option<Vec<_>>, _) =
        ((0..count).map(|operand| notation.labels(operand)).collect(), notation.output_labels());
    let (Some(terms), Some(output)) = (terms, output) else {
        let message = "einsum!: `...` stands for any number of axes, but the number of axes is part of the operands' \
                       types: write a label for each, or call `tenferro::einsum`, which takes any rank";
        diagnostics.error(place, message);
        return None;
    };
    // A label that is marked wherever it stands has extent 1.
    let extent = |letter: char| {
        let whole = terms.iter().flatten().any(|&(other, marked)| other == letter && !marked);
        if whole { size(letter, literal) } else { quote!(1) }
    };
    let types = terms.iter().map(|labels| {
        let dims = labels.iter().map(|&(letter, marked)| if marked { quote!(1) } else { extent(letter) });
        ty(dims.collect())
    });
    let result = ty(output.into_iter().map(extent).collect());
    let name = Ident::new("einsum", Span::call_site());
    Some(quote! {
        fn #name<Element: Num>(#(#arguments: #types),*) -> #result { einsum(#literal, #(#arguments),* #(, #options)*) }
    })
}

/// The size that a label stands for: its letter, or where that is no Rust name its code.
fn size(letter: char, literal: &LitStr) -> TokenStream {
    match syn::parse_str::<Ident>(&letter.to_string()) {
        Ok(mut name) => {
            name.set_span(literal.span());
            name.to_token_stream()
        }
        Err(_) => format_ident!("label_{:x}", u32::from(letter), span = literal.span()).to_token_stream(),
    }
}

fn ty(dims: Vec<TokenStream>) -> TokenStream {
    if dims.is_empty() { quote!(Element) } else { quote!(Element[#(#dims),*]) }
}
