//! The whole way from tokens to numbers.
#![allow(clippy::unwrap_used)]

mod all {
    mod built;
    mod derivatives;
    mod engines;
    mod errors;
    mod expansion;
    mod golden;
    mod layering;
    mod methods;
    mod op_derivatives;
    mod programs;
    mod support;
}
