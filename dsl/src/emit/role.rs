//! The programs of a kernel: one row each, of which its methods are made.

use proc_macro2::Ident;
use quote::format_ident;
use tenferro_core::program::SemanticProgram;

use super::op::ident;
use crate::lowered::LoweredVariant;

/// One program of a kernel and the method that runs it.
pub(super) struct Role {
    /// The method, and `<method>_program`; the primal ones are `run` and `program`.
    pub method: &'static str,
    /// The `static` that holds the program, one for each dtype of a generic kernel.
    pub table: &'static str,
    /// Arguments after the kernel's own.
    pub extra: Extra,
    /// What comes back.
    pub results: &'static [Results],
    /// Only where the single result is a real scalar.
    pub scalar_only: bool,
    /// The documentation of the method; `{wrt}` is the list of arguments to differentiate by.
    pub doc: &'static str,
    /// The program.
    pub select: fn(&LoweredVariant) -> Option<&SemanticProgram>,
}

/// Arguments after the kernel's own.
#[derive(Clone, Copy)]
pub(super) enum Extra {
    None,
    Cotangents,
    Tangents,
}

/// Results that come back together.
#[derive(Clone, Copy)]
pub(super) enum Results {
    Output,
    OutputTangent,
    Gradient,
}

/// The kernel itself.
pub(super) const PRIMAL: Role = Role {
    method: "run",
    table: "PRIMAL",
    extra: Extra::None,
    results: &[Results::Output],
    scalar_only: false,
    doc: "Runs the kernel.",
    select: |v| Some(&v.primal),
};

/// Its derivatives.
pub(super) const DERIVATIVES: &[Role] = &[
    Role {
        method: "jvp",
        table: "JVP",
        extra: Extra::Tangents,
        results: &[Results::Output, Results::OutputTangent],
        scalar_only: false,
        doc: "Forward mode: the output, and its tangent for tangents of {wrt}.",
        select: |v| v.derivatives.as_ref().ok().map(|d| &d.jvp),
    },
    Role {
        method: "vjp",
        table: "VJP",
        extra: Extra::Cotangents,
        results: &[Results::Output, Results::Gradient],
        scalar_only: false,
        doc: "Reverse mode: the output, and what a cotangent of it becomes for {wrt}.",
        select: |v| v.derivatives.as_ref().ok().map(|d| &d.vjp),
    },
    Role {
        method: "grad",
        table: "GRAD",
        extra: Extra::None,
        results: &[Results::Gradient],
        scalar_only: true,
        doc: "The gradient with respect to {wrt}.",
        select: |v| v.derivatives.as_ref().ok()?.scalar.as_ref().map(|s| &s.grad),
    },
    Role {
        method: "value_and_grad",
        table: "VALUE_AND_GRAD",
        extra: Extra::None,
        results: &[Results::Output, Results::Gradient],
        scalar_only: true,
        doc: "The value, and the gradient with respect to {wrt}.",
        select: |v| v.derivatives.as_ref().ok()?.scalar.as_ref().map(|s| &s.value_and_grad),
    },
    Role {
        method: "hvp",
        table: "HVP",
        extra: Extra::Tangents,
        results: &[Results::Gradient],
        scalar_only: true,
        doc: "The Hessian with respect to {wrt}, times the tangents.",
        select: |v| v.derivatives.as_ref().ok()?.scalar.as_ref().map(|s| &s.hvp),
    },
];

impl Role {
    /// The method that returns the program.
    pub fn accessor(&self) -> Ident {
        if self.table == PRIMAL.table { ident("program") } else { format_ident!("{}_program", self.method) }
    }
}
