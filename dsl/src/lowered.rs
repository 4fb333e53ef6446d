//! What the language hands to `emit`: checked signatures, semantic programs and gradient programs.

use proc_macro2::Span;
use quote::format_ident;
use syn::ext::IdentExt;
use tenferro_core::{DType, program::SemanticProgram};

use crate::diagnostics::Diagnostics;

/// A whole `tenferro! { .. }` block, ready to be written as tokens.
pub struct LoweredBlock {
    /// The items, in the order of the source.
    pub items: Vec<LoweredItem>,
    /// Every error of the block; rendered with [`Diagnostics::to_compile_errors`].
    pub diagnostics: Diagnostics,
    /// Whether the block is one anonymous kernel, used as an expression.
    pub expression: bool,
}

/// One item of a block.
pub enum LoweredItem {
    /// A kernel.
    Kernel(LoweredKernel),
}

/// One kernel: its signature, and its programs where the body is right.
pub struct LoweredKernel {
    /// Doc comments and other attributes to carry over; `grad` is not among them.
    pub attrs: Vec<syn::Attribute>,
    /// The visibility.
    pub vis: syn::Visibility,
    /// The name; `kernel` for an anonymous one.
    pub name: syn::Ident,
    /// The dtype parameter, if any.
    pub generic: Option<Generic>,
    /// The arguments.
    pub params: Vec<LoweredParam>,
    /// The results.
    pub outputs: LoweredOutputs,
    /// Positions of the arguments to differentiate by: those of `#[grad(..)]`, or all float ones.
    pub wrt: Vec<usize>,
    /// The programs, one for each dtype of the generic (one in all without a generic); `None` when
    /// the signature or the body has errors, so that only the signature can be written.
    pub bodies: Option<Vec<LoweredVariant>>,
}

/// A dtype parameter `<T: Real>`.
#[derive(Clone, Debug)]
pub struct Generic {
    /// Its name.
    pub ident: syn::Ident,
    /// Its bound.
    pub bound: Bound,
    /// The dtypes that the bound admits.
    pub dtypes: Vec<DType>,
}

/// The bounds that a dtype parameter may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// `f32 f64`
    Real,
    /// `f32 f64 c32 c64`
    Float,
    /// `f32 f64 c32 c64 i32 i64`
    Num,
}

/// The dtype of an argument or result in a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DTypeRef {
    /// A named dtype.
    Fixed(DType),
    /// The dtype parameter.
    Generic,
}

/// One argument.
#[derive(Clone, Debug)]
pub struct LoweredParam {
    /// Its name.
    pub ident: syn::Ident,
    /// Its dtype.
    pub dtype: DTypeRef,
    /// Its rank; 0 is a Rust scalar.
    pub rank: usize,
    /// Its shape as text, `[n, d]`, for documentation.
    pub shape_text: String,
    /// Where it stands.
    pub span: Span,
}

/// The results of a kernel.
#[derive(Clone, Debug)]
pub struct LoweredOutputs {
    /// One or more results.
    pub list: Vec<LoweredOutput>,
    /// Whether they are named, and so come back as a struct.
    pub named: bool,
}

/// One result.
#[derive(Clone, Debug)]
pub struct LoweredOutput {
    /// Its name; `Some` for all or for none.
    pub name: Option<syn::Ident>,
    /// Its dtype.
    pub dtype: DTypeRef,
    /// Its rank; 0 is a Rust scalar.
    pub rank: usize,
    /// Its shape as text, `[n, d]`, for documentation.
    pub shape_text: String,
}

/// `attention_head` returns an `AttentionHeadOutput`.
pub(crate) fn output_struct_name(kernel: &syn::Ident) -> syn::Ident {
    let camel: String = kernel
        .unraw()
        .to_string()
        .split('_')
        .map(|word| {
            let mut letters = word.chars();
            letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
        })
        .collect();
    let start = if camel.starts_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
    format_ident!("{start}{camel}Output", span = kernel.span())
}

/// Why there are no derivatives: those of one dtype alone are not offered.
pub(crate) fn why_not_differentiable(generic: Option<&Generic>, variants: &[LoweredVariant]) -> Option<String> {
    let reason = variants.iter().find_map(|variant| variant.derivatives.as_ref().err())?;
    let differentiable = |dtype: DType| variants.iter().any(|v| v.dtype == Some(dtype) && v.derivatives.is_ok());
    let bound = [Bound::Float, Bound::Real].into_iter().find(|bound| bound.dtypes().iter().all(differentiable));
    Some(match (generic, bound) {
        (Some(generic), Some(bound)) => format!("{reason}; with `{}: {bound:?}` it could be", generic.ident),
        _ => reason.clone(),
    })
}

/// The programs of a kernel for one dtype.
#[derive(Debug)]
pub struct LoweredVariant {
    /// The dtype that stands for the generic; `None` without a generic.
    pub dtype: Option<DType>,
    /// The kernel's own program.
    pub primal: SemanticProgram,
    /// The gradient programs, or why there are none.
    pub derivatives: Result<Derivatives, String>,
}

/// The gradient programs of a kernel, as `tenferro_core::ad` lays them out.
#[derive(Debug)]
pub struct Derivatives {
    /// Forward mode.
    pub jvp: SemanticProgram,
    /// Reverse mode.
    pub vjp: SemanticProgram,
    /// What exists only where the single result is a real scalar.
    pub scalar: Option<ScalarDerivatives>,
}

/// The gradient programs of a kernel whose single result is a real scalar.
#[derive(Debug)]
pub struct ScalarDerivatives {
    /// The gradient.
    pub grad: SemanticProgram,
    /// The value, then the gradient.
    pub value_and_grad: SemanticProgram,
    /// The Hessian times a vector.
    pub hvp: SemanticProgram,
}
