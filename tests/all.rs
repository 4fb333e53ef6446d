//! The whole way from tokens to numbers.
#![allow(clippy::unwrap_used)]

mod all {
    mod ad_context;
    mod built;
    mod checkpoint;
    mod composites;
    mod derivatives;
    mod einsum_calls;
    mod einsum_faults;
    mod engines;
    mod errors;
    mod expansion;
    mod extension;
    mod golden;
    mod jacobian;
    mod layering;
    mod methods;
    mod observing;
    mod op_derivatives;
    mod op_errors;
    mod orders;
    mod passes;
    mod powers;
    mod prepared_cache;
    mod processes;
    mod programs;
    mod ranked_derivatives;
    mod sessions;
    mod support;
    mod table;
    mod value_sizes;
}
