//! Signatures: generics, arguments, results, sizes, `#[grad(..)]`.
//!
//! A signature is always made, even from wrong parts, so that it can be emitted; `sound` says whether it may be
//! relied on.

use std::collections::HashSet;

use quote::format_ident;
use syn::Ident;
use syn::ext::IdentExt;
use tenferro_core::DType;
use tenferro_core::shape::{SizeId, SymDim};

use super::is_type;
use super::sizes::Sizes;
use super::tree::{Elem, Guard};
use crate::diagnostics::Diagnostics;
use crate::lowered::{Bound, DTypeRef, Generic, LoweredOutput, LoweredOutputs, LoweredParam};
use crate::suggest::nearest;
use crate::syntax;

/// What callers need to know of a kernel.
pub struct Signature {
    pub name: Ident,
    pub generic: Option<Generic>,
    pub sizes: Sizes,
    pub params: Vec<LoweredParam>,
    /// `None` where the type is wrong: anything done with it is silent.
    pub param_types: Vec<Option<Type>>,
    pub outputs: LoweredOutputs,
    pub output_types: Vec<Option<Type>>,
    /// What the extents in the signature demand of the sizes.
    pub guards: Vec<Guard>,
    pub wrt: Vec<usize>,
    /// Whether nothing is wrong.
    pub sound: bool,
}

/// A dtype and a shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    pub elem: Elem,
    pub shape: Vec<SymDim>,
}

impl Signature {
    /// Reads the signature of a kernel.
    pub fn read(kernel: &syntax::Kernel, diagnostics: &mut Diagnostics) -> Self {
        let errors = diagnostics.len();
        let generic = kernel.generic.as_ref().map(|generic| read_generic(generic, &kernel.name, diagnostics));
        let mut reader = Reader { generic: generic.as_ref(), sizes: Sizes::default(), guards: Vec::new(), diagnostics };
        for param in &kernel.params {
            param.ty.dims.iter().for_each(|dim| reader.declare(dim));
        }
        let (params, param_types): (Vec<_>, Vec<_>) = reader.params(&kernel.params);
        reader.solvable(kernel);
        let (outputs, output_types) = reader.outputs(&kernel.outputs);
        let Reader { sizes, guards, .. } = reader;
        if let Some(generic) = &generic
            && !params.iter().any(|param| param.dtype == DTypeRef::Generic)
        {
            let message =
                format!("no argument has the dtype `{}`: it could not be chosen when the kernel is run", generic.ident);
            diagnostics.error(&generic.ident, message);
        }
        let wrt = read_grad(kernel, &params, &param_types, diagnostics);
        let sound = diagnostics.len() == errors;
        let name = kernel.name.clone();
        Signature { name, generic, sizes, params, param_types, outputs, output_types, guards, wrt, sound }
    }
}

fn read_generic(generic: &syntax::GenericParam, kernel: &Ident, diagnostics: &mut Diagnostics) -> Generic {
    if generic.name == *kernel || is_type(&generic.name) {
        let what = if generic.name == *kernel { "the kernel" } else { "a type" };
        diagnostics.error(&generic.name, format!("the dtype parameter has the name of {what}: call it `T`"));
    }
    let name = generic.bound.to_string();
    let bound = Bound::from_name(&name).unwrap_or_else(|| {
        let message = format!(
            "unknown bound `{name}`: a dtype parameter is `Real` (f32 f64), `Float` (also c32 c64) or `Num` (also i32 i64)"
        );
        diagnostics.error(&generic.bound, message);
        Bound::Real
    });
    Generic { ident: generic.name.clone(), bound, dtypes: bound.dtypes().iter().collect() }
}

struct Reader<'a> {
    generic: Option<&'a Generic>,
    sizes: Sizes,
    guards: Vec<Guard>,
    diagnostics: &'a mut Diagnostics,
}

impl Reader<'_> {
    /// Every name in the arguments' extents is a size.
    fn declare(&mut self, dim: &syntax::Dim) {
        match &dim.kind {
            syntax::DimKind::Name(name) => {
                self.sizes.declare(name.to_string());
            }
            syntax::DimKind::Integer(_) => {}
            syntax::DimKind::Binary(left, _, right) => {
                self.declare(left);
                self.declare(right);
            }
        }
    }

    fn params(&mut self, params: &[syntax::Param]) -> (Vec<LoweredParam>, Vec<Option<Type>>) {
        let mut names = HashSet::new();
        params
            .iter()
            .map(|param| {
                let ident = self.unique(&mut names, &param.name, "argument");
                if self.sizes.find(&param.name.to_string()).is_some() {
                    let message = format!("`{}` is both an argument and a size: rename one of them", param.name);
                    self.diagnostics.error(&param.name, message);
                }
                let (dtype, ty) = self.ty(&param.ty);
                let span = param.name.span();
                let rank = param.ty.dims.len();
                (LoweredParam { ident, dtype, rank, shape_text: self.text(&param.ty.dims), span }, ty)
            })
            .unzip()
    }

    /// The name, or another one if it is taken, so that the signature stays valid Rust.
    fn unique(&mut self, taken: &mut HashSet<String>, name: &Ident, what: &str) -> Ident {
        if taken.insert(name.unraw().to_string()) {
            return name.clone();
        }
        self.diagnostics.error(name, format!("the {what} `{name}` is there twice: rename one of them"));
        format_ident!("{name}_{}", taken.len())
    }

    fn outputs(&mut self, outputs: &[syntax::Output]) -> (LoweredOutputs, Vec<Option<Type>>) {
        let named = outputs.iter().any(|output| output.name.is_some());
        let mut names = HashSet::new();
        let mut types = Vec::new();
        let list = outputs
            .iter()
            .enumerate()
            .map(|(i, output)| {
                let name = match &output.name {
                    Some(name) => Some(self.unique(&mut names, name, "result")),
                    None if named => {
                        let message = "either all results have a name or none has: write `name: type`";
                        self.diagnostics.error(output.ty.place, message);
                        Some(Ident::new(&format!("output_{i}"), output.ty.dtype.span()))
                    }
                    None => None,
                };
                let (dtype, ty) = self.ty(&output.ty);
                types.push(ty);
                LoweredOutput { name, dtype, rank: output.ty.dims.len(), shape_text: self.text(&output.ty.dims) }
            })
            .collect();
        (LoweredOutputs { list, named }, types)
    }

    fn ty(&mut self, ty: &syntax::Type) -> (DTypeRef, Option<Type>) {
        let extent = |dim| self.sizes.extent(dim, &mut self.guards, self.diagnostics);
        let dims: Vec<Option<SymDim>> = ty.dims.iter().map(extent).collect();
        let dtype = dtype(&ty.dtype, self.generic, self.diagnostics);
        let shape: Option<Vec<SymDim>> = dims.into_iter().collect();
        let ty = match (dtype, shape) {
            (Some(dtype), Some(shape)) => Some(Type { elem: elem(dtype, self.generic), shape }),
            _ => None,
        };
        (dtype.unwrap_or(DTypeRef::Fixed(DType::F64)), ty)
    }

    /// An extent whose errors are reported where it is read otherwise.
    fn silent(&self, dim: &syntax::Dim) -> Option<SymDim> {
        self.sizes.extent(dim, &mut Vec::new(), &mut Diagnostics::default())
    }

    /// As written, without blanks that are not there.
    fn text(&self, dims: &[syntax::Dim]) -> String {
        let dims: Vec<String> =
            dims.iter().map(|dim| self.silent(dim).map_or("?".to_string(), |dim| self.sizes.dim_text(&dim))).collect();
        format!("[{}]", dims.join(", "))
    }

    /// Every size must be read off an axis `scale * size + offset`.
    fn solvable(&mut self, kernel: &syntax::Kernel) {
        let dims = kernel.params.iter().flat_map(|param| &param.ty.dims);
        let extents: Vec<SymDim> = dims.clone().filter_map(|dim| self.silent(dim)).collect();
        for (i, name) in self.sizes.names().iter().enumerate() {
            let id = SizeId(i as u32);
            if extents.iter().any(|dim| dim.as_affine().is_some_and(|(size, ..)| size == id)) {
                continue;
            }
            let Some(place) = dims.clone().find_map(|dim| place_of(dim, name)) else { continue };
            let message = format!(
                "the size `{name}` cannot be solved from the shapes of the arguments: let it stand alone on one axis, \
                 or as `2*{name}` or `{name} + 1`"
            );
            self.diagnostics.error(place, message);
        }
    }
}

fn place_of<'a>(dim: &'a syntax::Dim, name: &str) -> Option<&'a Ident> {
    match &dim.kind {
        syntax::DimKind::Name(ident) => (ident == name).then_some(ident),
        syntax::DimKind::Integer(_) => None,
        syntax::DimKind::Binary(left, _, right) => place_of(left, name).or_else(|| place_of(right, name)),
    }
}

/// The dtype with this name; an unknown one is reported.
pub fn dtype(name: &Ident, generic: Option<&Generic>, diagnostics: &mut Diagnostics) -> Option<DTypeRef> {
    if generic.is_some_and(|generic| generic.ident == *name) {
        return Some(DTypeRef::Generic);
    }
    let text = name.to_string();
    let known = DType::from_name(&text).map(DTypeRef::Fixed);
    if known.is_none() {
        let names = DType::ALL.map(DType::name);
        let hint = match nearest(&text, names.into_iter()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if text.len() == 1 && text.starts_with(char::is_uppercase) => {
                format!("a kernel declares its own, as `fn f<{text}: Real>(..)`; an inline kernel cannot be generic")
            }
            None => format!("the dtypes are {}", names.join(" ")),
        };
        diagnostics.error(name, format!("unknown dtype `{text}`: {hint}"));
    }
    known
}

/// The dtype of an expression with that dtype in its type.
pub fn elem(dtype: DTypeRef, generic: Option<&Generic>) -> Elem {
    match (dtype, generic) {
        (DTypeRef::Fixed(dtype), _) => Elem::Fixed(dtype),
        (DTypeRef::Generic, Some(generic)) => Elem::Generic(generic.bound),
        (DTypeRef::Generic, None) => Elem::Generic(Bound::Real),
    }
}

/// The arguments to differentiate by: those that `#[grad(..)]` names, or all that have a float dtype.
fn read_grad(
    kernel: &syntax::Kernel,
    params: &[LoweredParam],
    types: &[Option<Type>],
    diagnostics: &mut Diagnostics,
) -> Vec<usize> {
    let differentiable = |param: &LoweredParam| match param.dtype {
        DTypeRef::Fixed(dtype) => dtype.is_float(),
        DTypeRef::Generic => true,
    };
    let Some(names) = &kernel.grad else {
        return (0..params.len()).filter(|&i| differentiable(&params[i])).collect();
    };
    if names.is_empty() {
        diagnostics
            .error(&kernel.name, "`#[grad()]` names no argument: write `#[grad(x)]`, or leave it out to have all");
    }
    let mut wrt = Vec::new();
    for name in names {
        let Some(i) = kernel.params.iter().position(|param| param.name == *name) else {
            let known: Vec<String> = kernel.params.iter().map(|param| param.name.to_string()).collect();
            let hint = nearest(&name.to_string(), known.iter().map(String::as_str))
                .map(|near| format!(": did you mean `{near}`?"))
                .unwrap_or_default();
            diagnostics.error(name, format!("`{}` has no argument `{name}`{hint}", kernel.name));
            continue;
        };
        if wrt.contains(&i) {
            diagnostics.error(name, format!("`{name}` is there twice in `#[grad(..)]`"));
        } else if !differentiable(&params[i]) && types[i].is_some() {
            let dtype = &kernel.params[i].ty.dtype;
            let message = format!(
                "`{name}` cannot be differentiated by: its dtype is {dtype}, and only f32, f64, c32 and c64 have derivatives"
            );
            diagnostics.error(name, message);
        } else {
            wrt.push(i);
        }
    }
    wrt
}
