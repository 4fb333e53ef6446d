//! Extension payloads as constant expressions: one row for each standard family.

use std::fmt;

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use tenferro_core::extension::ExtensionOp;
use tenferro_einsum::{EinsumOp, EinsumOptimize, Goal, Nested, Objective};

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
    let (inputs, output) = (inputs.iter().map(|labels| indices(labels)), indices(output));
    let (stretch, plan, goal) = (pairs(stretch), plan_spec(plan), goal_spec(goal));
    Some(Payload {
        kind: quote!(EinsumOp),
        value: quote!(EinsumOp {
            inputs: B(&[#(#inputs),*]),
            output: #output,
            stretch: #stretch,
            plan: #plan,
            goal: #goal
        }),
    })
}

fn plan_spec(plan: &EinsumOptimize) -> TokenStream {
    match plan {
        EinsumOptimize::Path(steps) => {
            let steps = pairs(steps);
            quote!(EinsumOptimize::Path(#steps))
        }
        EinsumOptimize::Nested(order) => {
            let order = nested(order);
            quote!(EinsumOptimize::Nested(#order))
        }
        EinsumOptimize::Tree { pairs: steps, slices } => {
            let (steps, slices) = (pairs(steps), indices(slices));
            quote!(EinsumOptimize::Tree { pairs: #steps, slices: #slices })
        }
        EinsumOptimize::RandomGreedy { trials, seed } => {
            let (trials, seed) = (index(*trials), Literal::u64_unsuffixed(*seed));
            quote!(EinsumOptimize::RandomGreedy { trials: #trials, seed: #seed })
        }
        EinsumOptimize::TreeSA { nbetas, ntrials, niters, seed } => {
            let (nbetas, ntrials, niters) = (index(*nbetas), index(*ntrials), index(*niters));
            let seed = Literal::u64_unsuffixed(*seed);
            quote!(EinsumOptimize::TreeSA { nbetas: #nbetas, ntrials: #ntrials, niters: #niters, seed: #seed })
        }
        without_attributes => {
            let name = variant(without_attributes);
            quote!(EinsumOptimize::#name)
        }
    }
}

fn nested(order: &Nested) -> TokenStream {
    match order {
        Nested::Operand(operand) => {
            let operand = index(*operand);
            quote!(Nested::Operand(#operand))
        }
        Nested::Group(members) => {
            let members = members.iter().map(nested);
            quote!(Nested::Group(B(&[#(#members),*])))
        }
    }
}

fn goal_spec(goal: &Goal) -> TokenStream {
    if *goal == Goal::DEFAULT {
        return quote!(Goal::DEFAULT);
    }
    let objective = match goal.objective {
        Objective::Weighted { flops, size } => {
            let (flops, size) = (index(flops), index(size));
            quote!(Weighted { flops: #flops, size: #size })
        }
        without_attributes => {
            let name = variant(&without_attributes);
            quote!(#name)
        }
    };
    let limit = match goal.memory_limit {
        None => quote!(None),
        Some(limit) => {
            let limit = Literal::u64_unsuffixed(limit);
            quote!(Some(#limit))
        }
    };
    quote!(Goal { objective: Objective::#objective, memory_limit: #limit })
}

fn pairs(pairs: &[(u32, u32)]) -> TokenStream {
    let pairs = pairs.iter().map(|(a, b)| {
        let (a, b) = (index(*a), index(*b));
        quote!((#a, #b))
    });
    quote!(B(&[#(#pairs),*]))
}
