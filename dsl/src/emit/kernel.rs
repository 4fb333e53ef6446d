//! A kernel as a unit struct with typed methods over its static programs.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;

use super::op::ident;
use super::program::{Tables, program};
use super::role::{DERIVATIVES, Extra, PRIMAL, Results, Role};
use super::signature::{Argument, Pack, Signature, local, on, tuple};
use crate::lowered::{self, LoweredKernel};

/// The struct of a kernel, the struct of its named outputs, and its methods.
pub(super) fn emit(kernel: &LoweredKernel) -> TokenStream {
    let LoweredKernel { attrs, vis, name, .. } = kernel;
    let gap = attrs.iter().any(|attr| attr.path().is_ident("doc")).then(|| quote!(#[doc = ""]));
    let conditions: Vec<_> = attrs.iter().filter(|attr| attr.path().is_ident("cfg")).collect();
    let output_struct = output_struct(kernel);
    let why_not = why_not_differentiable(kernel).map(|reason| {
        let doc = format!(" Not differentiable: {reason}.");
        quote!(#[doc = ""] #[doc = #doc])
    });
    let generated = Emission::new(kernel);
    let (signature, locals) = (generated.signature_doc(), generated.locals());
    let (programs, implementation) = (generated.programs(), generated.implementation());
    // On the kernel's name, so that rustc shows that and not the whole block.
    let item = quote_spanned!(name.span()=> #vis struct #name;);
    quote! {
        #(#attrs)*
        #gap
        #[doc = #signature]
        #why_not
        #[allow(non_camel_case_types, dead_code)]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::default::Default)]
        #item

        #(#conditions)*
        #output_struct

        #(#conditions)*
        #[allow(unused, deprecated, clippy::all, clippy::pedantic)]
        const _: () = {
            use ::tenferro::__private as __t;
            use __t::{#(local as #locals),*};
            #programs
            #implementation
        };
    }
}

/// Why the kernel has no derivative methods, if it has none.
fn why_not_differentiable(kernel: &LoweredKernel) -> Option<String> {
    lowered::why_not_differentiable(kernel.generic.as_ref(), kernel.bodies.as_deref()?)
}

fn output_struct(kernel: &LoweredKernel) -> Option<TokenStream> {
    let signature = Signature::new(kernel, quote!(::tenferro::__private));
    let Pack::Struct { name, generics, fields } = signature.output() else { return None };
    let generics = generics.and(signature.generics());
    let vis = &kernel.vis;
    let doc = format!(" What [`{}`] returns.", kernel.name);
    let fields = fields.iter().zip(&kernel.outputs.list).map(|((field, ty), output)| {
        let doc = format!(" `{field}`: `{}`.", signature.type_text(*ty, &output.shape_text));
        let ty = signature.owned(*ty);
        quote!(#[doc = #doc] pub #field: #ty)
    });
    Some(quote! {
        #[doc = #doc]
        #[derive(::core::clone::Clone, ::core::fmt::Debug)]
        #vis struct #name #generics { #(#fields),* }
    })
}

struct Emission<'a> {
    kernel: &'a LoweredKernel,
    signature: Signature<'a>,
    /// The derivative roles that this kernel has.
    derivatives: Vec<&'static Role>,
}

impl<'a> Emission<'a> {
    fn new(kernel: &'a LoweredKernel) -> Self {
        let signature = Signature::new(kernel, quote!(__t));
        let differentiable =
            !kernel.wrt.is_empty() && !signature.cotangents().is_empty() && why_not_differentiable(kernel).is_none();
        let scalar = signature.is_real_scalar();
        let derivatives = DERIVATIVES.iter().filter(|role| differentiable && (scalar || !role.scalar_only)).collect();
        Self { kernel, signature, derivatives }
    }

    fn roles(&self) -> impl Iterator<Item = &'static Role> {
        std::iter::once(&PRIMAL).chain(self.derivatives.iter().copied())
    }

    /// The names of all locals of the methods, sorted. Each is imported as that of a function, which a
    /// pattern may shadow: a unit struct of that name outside, such as another kernel, it may not.
    fn locals(&self) -> BTreeSet<Ident> {
        let own = ["session", "results", "runtime", "targets", "shapes"];
        let arguments = [self.signature.arguments(), self.signature.cotangents(), self.signature.tangents()];
        let arguments = arguments.into_iter().flatten().map(|argument| argument.ident);
        let destinations = self.signature.destinations().into_iter().map(|(name, _)| name);
        let mut names: BTreeSet<_> = arguments.chain(destinations).collect();
        names.extend(own.map(ident));
        names
            .into_iter()
            .map(|mut name| {
                name.set_span(Span::call_site());
                name
            })
            .collect()
    }

    fn signature_doc(&self) -> String {
        let generic = self.kernel.generic.as_ref().map(|g| format!("<{}: {:?}>", g.ident, g.bound)).unwrap_or_default();
        format!(" `{}{generic}{}`", self.kernel.name.unraw(), self.signature.text())
    }

    /// The module of statics; nothing for a kernel with errors.
    fn programs(&self) -> Option<TokenStream> {
        let variants = self.kernel.bodies.as_ref()?;
        let mut tables = Tables::new(&variants.first()?.primal);
        let programs: Vec<_> = self
            .roles()
            .map(|role| {
                let name = ident(role.table);
                let programs: Vec<_> = variants
                    .iter()
                    .filter_map(role.select)
                    .map(|p| {
                        let program = program(p, &mut tables);
                        quote!(KernelProgram { slot: Slot::new(), program: #program })
                    })
                    .collect();
                let count = Literal::usize_unsuffixed(programs.len());
                match self.kernel.generic {
                    Some(_) => quote!(pub(super) static #name: [KernelProgram; #count] = [#(#programs),*];),
                    None => quote!(pub(super) static #name: KernelProgram = #(#programs)*;),
                }
            })
            .collect();
        let tables = tables.into_declarations();
        Some(quote! {
            mod __programs {
                use ::tenferro::__private::program::*;
                #tables
                #(#programs)*
            }
        })
    }

    /// The program of a role, for the dtype at hand.
    fn program(&self, role: &Role) -> TokenStream {
        let table = ident(role.table);
        match &self.kernel.generic {
            Some(generic) => {
                let generic = &generic.ident;
                quote!(__programs::#table[__t::position::<#generic>()])
            }
            None => quote!(__programs::#table),
        }
    }

    /// A body, or for a kernel with errors something that has every type.
    fn body(&self, body: TokenStream) -> TokenStream {
        if self.kernel.bodies.is_some() { body } else { quote!(__t::erroneous()) }
    }

    fn implementation(&self) -> TokenStream {
        let name = &self.kernel.name;
        let run = self.method(&PRIMAL);
        let derivatives = self.derivatives.iter().map(|role| self.method(role));
        let accessors = self.roles().map(|role| self.accessor(role));
        let (run_into, prepare, kernel_trait) = (self.run_into(), self.prepare(), self.kernel_trait());
        quote! {
            impl #name {
                #run
                #run_into
                #prepare
                #(#derivatives)*
                #(#accessors)*
            }
            #kernel_trait
        }
    }

    fn accessor(&self, role: &Role) -> TokenStream {
        let header = self.header(&role.accessor(), quote!(), quote!(&'static __t::SemanticProgram));
        let program = self.program(role);
        let body = self.body(quote!(&#program.program));
        let doc = format!(" The program behind [`{}`](Self::{}), made while compiling.", role.method, role.method);
        quote! {
            #[doc = #doc]
            #header { #body }
        }
    }

    /// `pub fn method(self, ..) -> ..`, on the kernel's name.
    fn header(&self, method: &Ident, parameters: TokenStream, result: TokenStream) -> TokenStream {
        let span = self.kernel.name.span();
        let (method, generics) = (on(span, quote!(#method)), self.signature.generics());
        let result = on(span, result);
        quote_spanned!(span=> pub fn #method #generics (self, #parameters) -> #result)
    }

    /// A parameter that is none of the kernel's own.
    fn parameter(&self, name: &Ident, ty: TokenStream) -> TokenStream {
        on(Span::mixed_site().located_at(self.kernel.name.span()), quote!(#name: #ty))
    }

    fn method(&self, role: &Role) -> TokenStream {
        let mut arguments = self.signature.arguments();
        match role.extra {
            Extra::None => {}
            Extra::Cotangents => arguments.extend(self.signature.cotangents()),
            Extra::Tangents => arguments.extend(self.signature.tangents()),
        }
        let packs: Vec<_> = role
            .results
            .iter()
            .map(|results| match results {
                Results::Output => self.signature.output(),
                Results::OutputTangent => self.signature.output_tangent(),
                Results::Gradient => self.signature.gradient(),
            })
            .collect();
        let (session, results) = (local("session"), local("results"));
        let parameters = arguments.iter().map(|argument| self.signature.parameter(argument));
        let reads = arguments.iter().map(Argument::read);
        let result = tuple(packs.iter().map(|pack| self.signature.pack_type(pack)));
        let taken = tuple(packs.iter().map(|pack| pack.take(&results)));
        let program = self.program(role);
        let body = self.body(quote! {
            let mut #results = __t::call(#session, &#program, &[#(#reads),*])?;
            ::core::result::Result::Ok(#taken)
        });
        let session = self.parameter(&session, quote!(&mut __t::Session));
        let header = self.header(&ident(role.method), quote!(#session, #(#parameters),*), quote!(__t::Result<#result>));
        let doc = format!(" {}", role.doc.replace("{wrt}", &self.signature.wrt_text()));
        let shapes = self.signature_doc();
        quote! {
            #[doc = #doc]
            #[doc = ""]
            #[doc = #shapes]
            #header { #body }
        }
    }

    fn run_into(&self) -> TokenStream {
        let session = local("session");
        let arguments = self.signature.arguments();
        let parameters = arguments.iter().map(|argument| self.signature.parameter(argument));
        let reads = arguments.iter().map(Argument::read);
        let outputs = self.signature.destinations();
        let destinations = outputs.iter().map(|(name, ty)| {
            let ty = self.signature.owned(*ty);
            self.parameter(name, quote!(&mut #ty))
        });
        let names = outputs.iter().map(|(name, ty)| match ty.rank {
            0 => quote!(&mut __t::Place(#name)),
            _ => quote!(#name),
        });
        let program = self.program(&PRIMAL);
        let body = self.body(quote! {
            __t::call_into(#session, &#program, &[#(#reads),*], &mut [#(#names),*])
        });
        let shapes = self.signature_doc();
        let session = self.parameter(&session, quote!(&mut __t::Session));
        let parameters = quote!(#session, #(#parameters,)* #(#destinations),*);
        let header = self.header(&ident("run_into"), parameters, quote!(__t::Result<()>));
        quote! {
            #[doc = " Runs the kernel and writes the result over existing values, whose shapes must be those of the result."]
            #[doc = ""]
            #[doc = #shapes]
            #header { #body }
        }
    }

    fn prepare(&self) -> TokenStream {
        let generic_arguments = self.prepared_dtype();
        let (runtime, targets, shapes) = (local("runtime"), local("targets"), local("shapes"));
        let ranks: Vec<_> = self.kernel.params.iter().map(|p| Literal::usize_unsuffixed(p.rank)).collect();
        let ty = tuple(ranks.iter().map(|rank| quote!([usize; #rank])));
        let references = match ranks.len() {
            1 => quote!(&#shapes),
            count => {
                let positions = (0..count).map(Literal::usize_unsuffixed);
                quote!(#(&#shapes.#positions),*)
            }
        };
        let body = self.body(quote!(__t::Prepared::new(#runtime, #targets, &[#references])));
        let text = self.signature_doc();
        let parameters = [
            self.parameter(&runtime, quote!(&__t::Runtime)),
            self.parameter(&targets, quote!(&[__t::EngineTarget])),
            self.parameter(&shapes, ty),
        ];
        let result = quote!(__t::Result<__t::Prepared<Self #generic_arguments>>);
        let header = self.header(&ident("prepare"), quote!(#(#parameters),*), result);
        quote! {
            #[doc = " Prepares the kernel for engines and for the shapes of its arguments, to be run without a session."]
            #[doc = ""]
            #[doc = #text]
            #header { #body }
        }
    }

    /// `, T` for a generic kernel.
    fn prepared_dtype(&self) -> Option<TokenStream> {
        self.kernel.generic.as_ref().map(|generic| {
            let generic = &generic.ident;
            quote!(, #generic)
        })
    }

    fn kernel_trait(&self) -> TokenStream {
        let name = &self.kernel.name;
        let text = name.unraw().to_string();
        let (generics, arguments) = (self.signature.generics(), self.signature.generic_arguments());
        let inputs = self.signature.arguments();
        let inputs = inputs.iter().map(|argument| {
            let described = self.signature.described(argument.ty);
            quote!(#described,)
        });
        let (output, results) = (self.signature.output(), local("results"));
        let (ty, taken) = (self.signature.pack_type(&output), output.take(&results));
        let (program, take) = {
            let program = self.program(&PRIMAL);
            (self.body(quote!(&#program.program)), self.body(quote!(::core::result::Result::Ok(#taken))))
        };
        quote! {
            impl #generics __t::Kernel #arguments for #name {
                const NAME: &'static str = #text;
                type Inputs = (#(#inputs)*);
                type Output = #ty;
                fn program() -> &'static __t::SemanticProgram { #program }
                fn output(#results: &mut __t::Results) -> __t::Result<#ty> { #take }
            }
        }
    }
}
