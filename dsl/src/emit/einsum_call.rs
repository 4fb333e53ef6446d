//! `einsum!` as an expression: a kernel beside the operands that it is to be run with.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Expr;
use syn::spanned::Spanned;

use super::kernel;
use super::signature::{Pack, Signature};
use crate::lowered::LoweredKernel;

/// The operands are evaluated outside of the block that holds the kernel, so that no name in them can mean one inside.
pub fn einsum_call(
    lowered: &LoweredKernel,
    arguments: &[Ident],
    operands: &[Expr],
    session: Option<&Expr>,
) -> TokenStream {
    let name = &lowered.name;
    let items = kernel::emit(lowered);
    let signature = Signature::new(lowered, quote!(::tenferro::__private));
    let output = signature.output();
    let Pack::Tuple(_) = output else { unreachable!("the result of an einsum has no name") };
    let output = signature.pack_type(&output);

    // A scalar is of the element type; every other operand has a type of its own.
    let types: Vec<Ident> = (0..arguments.len()).map(|i| format_ident!("Operand{i}")).collect();
    let bounds = lowered.params.iter().zip(&types).zip(operands).filter(|((param, _), _)| param.rank > 0);
    let bounds = bounds.map(|((param, ty), operand)| {
        let rank = Literal::usize_unsuffixed(param.rank);
        let scalar = signature.scalar(param.dtype);
        quote_spanned!(operand.span()=> #ty: ::tenferro::__private::Operand<#scalar, #rank> + ::core::clone::Clone)
    });
    let bounds: Vec<TokenStream> = bounds.collect();
    let fields: Vec<TokenStream> = lowered
        .params
        .iter()
        .zip(&types)
        .map(|(param, ty)| if param.rank == 0 { signature.scalar(param.dtype) } else { quote!(#ty) })
        .collect();
    let free = types.iter().zip(&lowered.params).filter(|(_, param)| param.rank > 0);
    let free: Vec<&Ident> = free.map(|(ty, _)| ty).collect();
    let dtype = lowered.generic.as_ref().map(|generic| &generic.ident);
    let positions: Vec<Literal> = (0..arguments.len()).map(Literal::usize_unsuffixed).collect();
    let session_name = Ident::new("session", Span::mixed_site());
    let (value, pattern, run) = match session {
        Some(session) => {
            (quote_spanned!(session.span()=> &mut *#session,), quote!(#session_name,), quote!(.run(#session_name)))
        }
        None => Default::default(),
    };
    quote! {
        match (#value #(#operands,)*) {
            (#pattern #(#arguments,)*) => {
                #items
                #[allow(dead_code)]
                #[must_use = "an einsum computes nothing until it is run"]
                #[derive(::core::clone::Clone)]
                struct Einsum<#dtype, #(#free),*>(#(#fields,)* ::core::marker::PhantomData<#dtype>);
                #[allow(dead_code)]
                impl<#dtype: ::tenferro::__private::Num, #(#bounds),*> Einsum<#dtype, #(#free),*> {
                    fn new(#(#arguments: #fields),*) -> Self {
                        Self(#(#arguments,)* ::core::marker::PhantomData)
                    }
                    fn run(&self, session: &mut ::tenferro::Session) -> ::tenferro::Result<#output> {
                        #name.run(session, #(::core::clone::Clone::clone(&self.#positions)),*)
                    }
                    fn run_into(&self, session: &mut ::tenferro::Session, out: &mut #output) -> ::tenferro::Result<()> {
                        #name.run_into(session, #(::core::clone::Clone::clone(&self.#positions),)* out)
                    }
                }
                Einsum::new(#(#arguments),*) #run
            }
        }
    }
}
