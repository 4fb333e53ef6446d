//! The Rust types of a kernel's arguments and results.

use proc_macro2::{Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use tenferro_core::DType;

use super::op::ident;
use crate::lowered::{Bound, DTypeRef, Generic, LoweredKernel, LoweredOutput, LoweredParam, output_struct_name};

/// An element type and a rank: rank 0 is a Rust scalar, anything else a tensor.
#[derive(Clone, Copy)]
pub(super) struct Type {
    pub dtype: DTypeRef,
    pub rank: usize,
}

/// An argument of a method: one of the kernel's own, a cotangent or a tangent.
pub(super) struct Argument {
    pub ident: Ident,
    pub ty: Type,
    span: Span,
}

/// Results that come back together.
pub(super) enum Pack {
    /// One bare value, or a tuple of several.
    Tuple(Vec<Type>),
    /// The struct of a kernel's named outputs.
    Struct { name: Ident, generics: Option<TokenStream>, fields: Vec<(Ident, Type)> },
}

/// What the methods of a kernel are made of.
pub(super) struct Signature<'a> {
    kernel: &'a LoweredKernel,
    /// How the generated code reaches `tenferro::__private`.
    root: TokenStream,
}

impl<'a> Signature<'a> {
    pub fn new(kernel: &'a LoweredKernel, root: TokenStream) -> Self {
        Self { kernel, root }
    }

    pub fn generic(&self) -> Option<&'a Generic> {
        self.kernel.generic.as_ref()
    }

    /// `<T: Real>`, or nothing.
    pub fn generics(&self) -> Option<TokenStream> {
        self.generic().map(|Generic { ident, bound, .. }| {
            let (bound, root) = (bound_name(*bound), &self.root);
            quote!(<#ident: #root::#bound>)
        })
    }

    /// `<T>`, or nothing.
    pub fn generic_arguments(&self) -> Option<TokenStream> {
        self.generic().map(|Generic { ident, .. }| quote!(<#ident>))
    }

    /// The kernel's own arguments.
    pub fn arguments(&self) -> Vec<Argument> {
        let argument = |p: &LoweredParam| Argument { ident: p.ident.clone(), ty: param_type(p), span: p.span };
        self.kernel.params.iter().map(argument).collect()
    }

    /// One cotangent for each float output: `ct`, `ct_<name>` or `ct_<position>`.
    pub fn cotangents(&self) -> Vec<Argument> {
        let outputs = &self.kernel.outputs.list;
        let floats = outputs.iter().enumerate().filter(|(_, output)| self.is_float(output.dtype));
        floats
            .map(|(position, output)| {
                let name = match &output.name {
                    Some(name) => format!("ct_{}", name.unraw()),
                    None if outputs.len() == 1 => "ct".to_string(),
                    None => format!("ct_{position}"),
                };
                let span = Span::mixed_site().located_at(self.kernel.name.span());
                Argument { ident: Ident::new(&name, span), ty: output_type(output), span }
            })
            .collect()
    }

    /// One tangent `d_<name>` for each argument to differentiate by.
    pub fn tangents(&self) -> Vec<Argument> {
        self.wrt()
            .map(|p| {
                let span = Span::mixed_site().located_at(p.span);
                Argument { ident: Ident::new(&format!("d_{}", p.ident.unraw()), span), ty: param_type(p), span }
            })
            .collect()
    }

    /// What the kernel itself returns.
    pub fn output(&self) -> Pack {
        let list = &self.kernel.outputs.list;
        let fields: Option<Vec<_>> = list.iter().map(|o| Some((o.name.clone()?, output_type(o)))).collect();
        match fields {
            Some(fields) if self.kernel.outputs.named => Pack::Struct {
                name: output_struct_name(&self.kernel.name),
                generics: list.iter().any(|o| o.dtype == DTypeRef::Generic).then(|| self.generic_arguments()).flatten(),
                fields,
            },
            _ => Pack::Tuple(list.iter().map(output_type).collect()),
        }
    }

    /// Names for values that the outputs are written over: those of the outputs, `out` or `out_<position>`.
    pub fn destinations(&self) -> Vec<(Ident, Type)> {
        let outputs = &self.kernel.outputs.list;
        let name = |position: usize, output: &LoweredOutput| match &output.name {
            Some(name) => {
                let mut name = name.clone();
                name.set_span(Span::mixed_site());
                name
            }
            None if outputs.len() == 1 => local("out"),
            None => local(&format!("out_{position}")),
        };
        outputs.iter().enumerate().map(|(i, output)| (name(i, output), output_type(output))).collect()
    }

    /// The tangents of the float outputs.
    pub fn output_tangent(&self) -> Pack {
        let floats = self.kernel.outputs.list.iter().filter(|o| self.is_float(o.dtype));
        Pack::Tuple(floats.map(output_type).collect())
    }

    /// One gradient for each argument to differentiate by.
    pub fn gradient(&self) -> Pack {
        Pack::Tuple(self.wrt().map(param_type).collect())
    }

    /// Whether the single result is a real scalar, so that there is a gradient.
    pub fn is_real_scalar(&self) -> bool {
        match &self.kernel.outputs.list[..] {
            [LoweredOutput { dtype: DTypeRef::Fixed(dtype), rank: 0, .. }] => dtype.is_real_float(),
            [LoweredOutput { dtype: DTypeRef::Generic, rank: 0, .. }] => {
                self.generic().is_some_and(|generic| generic.bound == Bound::Real)
            }
            _ => false,
        }
    }

    /// `(q: T[n, d], k: T[m, d]) -> T[n]` for documentation.
    pub fn text(&self) -> String {
        let params =
            self.kernel.params.iter().map(|p| format!("{}: {}", p.ident, self.type_text(param_type(p), &p.shape_text)));
        let outputs: Vec<_> = self
            .kernel
            .outputs
            .list
            .iter()
            .map(|o| {
                let ty = self.type_text(output_type(o), &o.shape_text);
                o.name.as_ref().map_or(ty.clone(), |name| format!("{name}: {ty}"))
            })
            .collect();
        let outputs = match &outputs[..] {
            [one] if !self.kernel.outputs.named => one.clone(),
            several => format!("({})", several.join(", ")),
        };
        format!("({}) -> {outputs}", params.collect::<Vec<_>>().join(", "))
    }

    /// The names of the arguments to differentiate by, for documentation.
    pub fn wrt_text(&self) -> String {
        self.wrt().map(|p| format!("`{}`", p.ident)).collect::<Vec<_>>().join(", ")
    }

    pub fn type_text(&self, ty: Type, shape: &str) -> String {
        let dtype = match (ty.dtype, self.generic()) {
            (DTypeRef::Fixed(dtype), _) => dtype.name().to_string(),
            (DTypeRef::Generic, Some(generic)) => generic.ident.to_string(),
            (DTypeRef::Generic, None) => "_".to_string(),
        };
        if ty.rank == 0 { dtype } else { format!("{dtype}{shape}") }
    }

    fn wrt(&self) -> impl Iterator<Item = &'a LoweredParam> {
        let params = &self.kernel.params;
        self.kernel.wrt.iter().filter_map(|i| params.get(*i))
    }

    fn is_float(&self, dtype: DTypeRef) -> bool {
        match dtype {
            DTypeRef::Fixed(dtype) => dtype.is_float(),
            DTypeRef::Generic => true,
        }
    }

    /// The element type as Rust writes it.
    pub fn scalar(&self, dtype: DTypeRef) -> TokenStream {
        let root = &self.root;
        match dtype {
            DTypeRef::Fixed(DType::C32) => quote!(#root::Complex<f32>),
            DTypeRef::Fixed(DType::C64) => quote!(#root::Complex<f64>),
            DTypeRef::Fixed(dtype) => ident(dtype.name()).into_token_stream(),
            DTypeRef::Generic => self.generic().map(|generic| &generic.ident).into_token_stream(),
        }
    }

    /// The type of a result.
    pub fn owned(&self, ty: Type) -> TokenStream {
        self.written(ty, |scalar| quote!(#scalar), "TypedTensor")
    }

    /// The type that stands for an argument in `Kernel::Inputs`.
    pub fn described(&self, ty: Type) -> TokenStream {
        let root = &self.root;
        self.written(ty, |scalar| quote!(#root::Item<#scalar>), "Array")
    }

    fn written(&self, ty: Type, item: impl Fn(TokenStream) -> TokenStream, array: &str) -> TokenStream {
        let (root, scalar) = (&self.root, self.scalar(ty.dtype));
        if ty.rank == 0 {
            return item(scalar);
        }
        let (array, rank) = (ident(array), Literal::usize_unsuffixed(ty.rank));
        quote!(#root::#array<#scalar, #rank>)
    }

    /// `q: impl Operand<T, 2>`; a bare scalar for rank 0.
    pub fn parameter(&self, argument: &Argument) -> TokenStream {
        let Argument { ident, ty, span } = argument;
        let scalar = self.scalar(ty.dtype);
        let rank = Literal::usize_unsuffixed(ty.rank);
        // On the argument, so that rustc shows it beside a value of another type.
        match ty.rank {
            0 => on(*span, quote!(#ident: #scalar)),
            _ => quote_spanned!(*span=> #ident: impl __t::Operand<#scalar, #rank>),
        }
    }

    /// The type of a pack.
    pub fn pack_type(&self, pack: &Pack) -> TokenStream {
        match pack {
            Pack::Tuple(types) => tuple(types.iter().map(|ty| self.owned(*ty))),
            Pack::Struct { name, generics, .. } => quote!(#name #generics),
        }
    }
}

impl Argument {
    /// The argument as the runtime reads it.
    pub fn read(&self) -> TokenStream {
        let ident = &self.ident;
        if self.ty.rank == 0 { quote!(__t::scalar(&#ident)?) } else { quote!(#ident.read()) }
    }
}

impl Pack {
    /// The expression that takes the pack from the results, in order.
    pub fn take(&self, results: &Ident) -> TokenStream {
        let one = |ty: &Type| match ty.rank {
            0 => quote!(#results.scalar()?),
            _ => quote!(#results.tensor()?),
        };
        match self {
            Pack::Tuple(types) => tuple(types.iter().map(one)),
            Pack::Struct { name, fields, .. } => {
                let fields = fields.iter().map(|(field, ty)| {
                    let value = one(ty);
                    quote!(#field: #value)
                });
                quote!(#name { #(#fields),* })
            }
        }
    }
}

/// One bare, several in parentheses.
pub(super) fn tuple(items: impl ExactSizeIterator<Item = TokenStream>) -> TokenStream {
    if items.len() == 1 { quote!(#(#items)*) } else { quote!((#(#items),*)) }
}

/// The tokens as if they were written there.
pub(super) fn on(span: Span, tokens: TokenStream) -> TokenStream {
    let moved = |token| {
        let mut token = match token {
            TokenTree::Group(group) => Group::new(group.delimiter(), on(span, group.stream())).into(),
            token => token,
        };
        token.set_span(span);
        token
    };
    tokens.into_iter().map(moved).collect()
}

/// A name that no argument of the user can collide with.
pub(super) fn local(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

fn param_type(param: &LoweredParam) -> Type {
    Type { dtype: param.dtype, rank: param.rank }
}

fn output_type(output: &LoweredOutput) -> Type {
    Type { dtype: output.dtype, rank: output.rank }
}

fn bound_name(bound: Bound) -> Ident {
    ident(match bound {
        Bound::Real => "Real",
        Bound::Float => "Float",
        Bound::Num => "Num",
    })
}
