//! Lowered kernels to tokens.
//!
//! A kernel becomes a unit struct with typed methods, and each of its programs one `static`: tables of
//! borrowed slices that need no code to run. The statics of a kernel stand in a module of their own and
//! use the short names of `tenferro::__private::program`, so that an expansion stays readable.

mod einsum_call;
mod extension;
mod kernel;
mod op;
mod program;
mod role;
mod signature;

use proc_macro2::TokenStream;
use quote::quote;

use crate::lowered::{LoweredBlock, LoweredItem};

pub use einsum_call::einsum_call;

/// Writes a block as tokens: its items and one `compile_error!` for each of its errors.
pub fn emit(block: &LoweredBlock) -> TokenStream {
    let errors = block.diagnostics.to_compile_errors();
    let items: TokenStream = block
        .items
        .iter()
        .map(|item| match item {
            LoweredItem::Kernel(kernel) => kernel::emit(kernel),
        })
        .collect();
    match &block.items[..] {
        [LoweredItem::Kernel(kernel)] if block.expression => {
            let name = &kernel.name;
            quote!({ #errors #items #name })
        }
        _ if block.expression => quote!({ #errors #items }),
        _ => quote!(#errors #items),
    }
}
