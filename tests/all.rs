//! The whole way from tokens to numbers.
#![allow(clippy::unwrap_used)]

mod all {
    mod ad_context;
    mod built;
    mod checkpoint;
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
    mod op_derivatives;
    mod orders;
    mod passes;
    mod programs;
    mod support;
    mod table;
}
