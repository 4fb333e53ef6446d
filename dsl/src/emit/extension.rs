//! Extension payloads as constant expressions: one row for each standard family.

use std::fmt;

use proc_macro2::TokenStream;
use quote::quote;
use tenferro_core::extension::ExtensionOp;
use tenferro_einsum::{EinsumOp, EinsumOptimize, Goal};

use super::op::{index, indices, variant};

/// A payload: the type of its `static`, and its value.
pub(super) struct Payload {
    pub kind: TokenStream,
    pub value: TokenStream,
}

/// The families that the language can write, each with its constant expression.
const FAMILIES: &[fn(&dyn ExtensionOp) -> Option<Payload>] = &[einsum];

/// The constant expression of a payload.
pub(super) fn payload(op: &dyn ExtensionOp) -> Payload {
    FAMILIES
        .iter()
        .find_map(|family| family(op))
        .unwrap_or_else(|| unreachable!("lowering makes no operation of family {}", op.family_id()))
}

/// The payload as the text form of a program prints it.
pub(super) fn describe(op: &dyn ExtensionOp) -> String {
    struct Text<'a>(&'a dyn ExtensionOp);
    impl fmt::Display for Text<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.fmt_payload(f)
        }
    }
    Text(op).to_string()
}

fn einsum(op: &dyn ExtensionOp) -> Option<Payload> {
    let EinsumOp { inputs, output, stretch, plan, goal } = op.as_any().downcast_ref()?;
    debug_assert_eq!(*goal, Goal::DEFAULT, "the language has no other goal");
    let (inputs, output) = (inputs.iter().map(|labels| indices(labels)), indices(output));
    let (stretch, plan) = (pairs(stretch), plan_spec(plan));
    Some(Payload {
        kind: quote!(EinsumOp),
        value: quote!(EinsumOp {
            inputs: B(&[#(#inputs),*]),
            output: #output,
            stretch: #stretch,
            plan: #plan,
            goal: Goal::DEFAULT,
        }),
    })
}

fn plan_spec(plan: &EinsumOptimize) -> TokenStream {
    match plan {
        EinsumOptimize::Path(steps) => {
            let steps = pairs(steps);
            quote!(EinsumOptimize::Path(#steps))
        }
        EinsumOptimize::Tree { pairs: steps, slices } => {
            let (steps, slices) = (pairs(steps), indices(slices));
            quote!(EinsumOptimize::Tree { pairs: #steps, slices: #slices })
        }
        without_attributes => {
            let name = variant(without_attributes);
            quote!(EinsumOptimize::#name)
        }
    }
}

fn pairs(pairs: &[(u32, u32)]) -> TokenStream {
    let pairs = pairs.iter().map(|(a, b)| {
        let (a, b) = (index(*a), index(*b));
        quote!((#a, #b))
    });
    quote!(B(&[#(#pairs),*]))
}
