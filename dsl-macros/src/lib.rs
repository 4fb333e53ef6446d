//! The entry points of the tenferro language.
//!
//! Nothing but the shell that rustc calls; the language itself is the library `tenferro-dsl`.

use proc_macro::TokenStream;

/// Checks kernels written in the tenferro language and compiles them to static programs.
#[proc_macro]
pub fn tenferro(input: TokenStream) -> TokenStream {
    tenferro_dsl::expand(input.into()).into()
}

/// Checks an einsum of tensors at hand, notation, ranks and dtypes, and compiles it to a static program.
#[proc_macro]
pub fn einsum(input: TokenStream) -> TokenStream {
    tenferro_dsl::expand_einsum(input.into()).into()
}
