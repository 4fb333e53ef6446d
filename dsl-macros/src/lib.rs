//! The entry points of the tenferro language.
//!
//! Nothing but the shell that rustc calls; the language itself is the library `tenferro-dsl`.

use proc_macro::TokenStream;

/// Checks kernels written in the tenferro language and compiles them to static programs.
#[proc_macro]
pub fn tenferro(input: TokenStream) -> TokenStream {
    tenferro_dsl::expand(input.into()).into()
}
